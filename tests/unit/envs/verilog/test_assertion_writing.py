"""AssertionWriting: what assertions earn, a red team, and modules that are told completely."""

from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.verilog.assertion_writing import (
    AssertionWritingConfig,
    AssertionWritingProblem,
    AssertionWritingTask,
    draw_module,
)
from rlvr_envs.verifiers.hdl.interface import Clocking, Port

TASK = AssertionWritingTask(AssertionWritingConfig())
COUNTER = """module TopModule(input clk, input rst, input up, input zero, output reg [2:0] n,
    output late);
reg [1:0] pipe;
assign late = pipe[1];
always @(posedge clk) if (rst) begin n <= 0; pipe <= 0; end else begin
    pipe <= {pipe[0], up};
    if (zero) n <= 0;
    else if (up && n != 5) n <= n + 1;
end
endmodule
"""
CHANGES = (  # one for each line below
    ("if (zero) n <= 0;", "if (zero) n <= 1;"),
    ("n <= n + 1", "n <= n + 2"),
    ("n != 5", "n != 4"),
    ("if (zero) n <= 0;\n    else", ""),
    ("assign late = pipe[1];", "assign late = pipe[0];"),
    ("pipe <= 0;", "pipe <= 1;"),
)
LINES = (
    "assert property (zero |=> n == 0);",
    "assert property (!zero && up && n != 5 |=> n == $past(n) + 1);",
    "assert property (n <= 5 ##0 n == 4 && up && !zero |=> n == 5);",
    "assert property (!zero && !up |=> $stable(n));",
    "assert property (up |-> ##2 late); assert property (!up |-> ##2 !late);",
    "assert property ($fell(rst) |-> !late ##1 !late);",
)


def counter(*changes, reward="share"):
    ports = [Port(name, "input") for name in ("clk", "rst", "up", "zero")]
    return AssertionWritingProblem(
        description="it",
        ports=(*ports, Port("n", "output", 3), Port("late", "output")),
        clocking=Clocking("clk", "rst", 1, asynchronous=False),
        reward=reward,
        golden=COUNTER,
        faulty=tuple(COUNTER.replace(*change) for change in changes or CHANGES),
        assertions=LINES,
    )


def test_assertions_that_tell_everything_find_all():
    assert TASK.verify(counter(), "\n".join(LINES)).score == 1.0
    assert TASK.verify(counter(reward="all"), "\n".join(LINES)).score == 1.0


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("assert property (zero |=> n == 0);", {0, 3}),
        ("assert property (!zero && up && n != 5 |=> n == $past(n) + 1);", {1, 2}),
        ("assert property (n <= 5);", {1}),
        ("assert property (up |-> ##2 late);", {4}),
        ("assert property ($fell(rst) |-> !late ##1 !late);", {4, 5}),
        ("assert property (!zero && !up |=> $stable(n));", set()),
        ("assert property (n == 5 |-> ##1 n == 5 || n == 0);", {0}),
    ],
)
def test_each_fault_is_found_by_what_it_breaks(lines, found):
    told = {
        number
        for number, change in enumerate(CHANGES)
        if TASK.verify(counter(change), lines).score == 1.0
    }
    assert told == found
    verdict = TASK.verify(counter(), lines)
    assert verdict.score == pytest.approx(len(found) / len(CHANGES))
    assert verdict.parts["sound"] == 1.0
    assert TASK.verify(counter(reward="all"), lines).score == 0.0


@pytest.mark.parametrize(
    "answer",
    [
        "assert property (1 |-> 1);",
        "assert property (1);",
        "assert property (0 |-> n == 7);",
        "assert property (n == n);",
        "assert property (up |-> up);",
        "assert property (rst |-> n == 3);",  # under reset no attempt counts
        "assert property (n == 7 |-> late);",  # never the case
        "assert property ($stable(up) || $changed(up));",
        "assert property (0);",
        "assert property (n == 0);",
        "assert property (zero |-> n == 0);",  # a cycle too early
        "assert property (zero |-> ##2 n == 0);",  # and too late
        "assert property (up |=> n == $past(n) + 1);",  # it may be cleared or at its end
        "assert property (!zero && up |=> n == $past(n) + 1);",
        "assert property (!zero && up && n != 5 |=> n == $past(n));",
        "assert property (n < 5);",
        "assert property (up |-> ##1 late);",
        "assert property (up |-> ##3 late);",
        "assert property (late == $past(up, 2));",  # wrong just after a reset
        "assert property ($rose(late) |-> $rose(up));",
        "assert property (zero ##1 zero |=> n == 1);",
        "assert property ($fell(rst) |-> n == 1);",
        "assert property ($fell(rst) |-> !late[*3]);",
        "\n".join([*LINES, "assert property (n != 4);"]),  # one false one among true ones
        "\n".join(LINES)[:-1],
        "\n".join(LINES).replace("property", "propery"),
        "\n".join(LINES).replace("n ", "m "),
        COUNTER,
        f"{COUNTER}\nassert property (zero |=> n == 0);",
        "module Monitor(output ok); assign ok = 1; endmodule",
        "assign ok = n <= 5;",
        "assume property (n <= 5);",
        "always @(posedge clk) assert (n <= 5);",
        "bind TopModule Checker c(.*);",
        "if zero is 1, n must be 0 in the next cycle",
        "assert property (TopModule.pipe[1] == late);",
        "assert property (n <= 5) else $fatal; $finish;",
        "1",
        "",
    ],
)
def test_a_wrong_answer_earns_nothing(answer):
    assert TASK.verify(counter(), answer).score == 0.0


@pytest.mark.parametrize(
    "answer",
    [
        "assert property (@(posedge clk) disable iff (rst) n <= 5);",
        'bounded: assert property (@(posedge clk) !(n > 3\'d5)) else $error("n");',
        (
            "property bounded; @(posedge clk) disable iff (rst) n < 6; endproperty\n"
            "assert property (bounded);"
        ),
        "assert property (n[2] && n[1] |-> 0);",
        "assert property (n <= 5);\n" * 3,
    ],
)
def test_the_same_is_written_in_several_forms(answer):
    assert TASK.verify(counter(), answer).parts["found"] == 1.0


def many(text, size=19_900):
    return text * (size // len(text))


@pytest.mark.parametrize(
    "answer",
    [
        many("assert property (n <= 5);\n"),  # hundreds of them
        many("assert property (n <= 5);\n", 900_000),
        f"assert property ({'(' * 9_000}n <= 5{')' * 9_000});",
        f"assert property ({'(' * 9_000}n <= 5);",
        f"assert property ({'!' * 19_000}up);",
        f"assert property ({'up ? ' * 3_000}up{' : up' * 3_000});",
        f"assert property (up {'## 1 up ' * 2_000});",
        f"assert property ({'up |-> ' * 2_000}up);",
        f"assert property (up{'[*32]' * 1_000});",
        f"assert property ({'(' * 60}up{'[*32])' * 60});",
        f"assert property ({'$past(' * 2_000}n{', 32)' * 2_000} == 0);",
        "assert property ($past(n, 99999999999999999999) == 0);",
        "assert property (up ##99999999999999999999 up);",
        f"assert property ({{{'n,' * 9_000}n}} == 0);",
        f"assert property (n == {'9' * 15_000});",
        "assert property (n == 99999999999'h0);",
        "assert property (n << 99999999999 == 1 << n << n << n);",
        f"assert property (n == 0 {'+ n * n ' * 2_000});",
        f"/*{'*' * 19_000}",
        f"{many('property p; n; endproperty ', 9_000)}assert property (p);",
        "property p; p; endproperty assert property (p);",
        "property p; q; endproperty property q; p; endproperty assert property (p);",
        '`include "/etc/passwd"\nassert property (n <= 5);',
        "`define A `A\nassert property (`A);",
        '$readmemh("/etc/passwd", n); assert property (n <= 5);',
        "assert property ($system(1));",
        "assert property ($fopen(n) || $display(n) || 1);",
        "assert property (n <= 5) else begin while (1); end",
        "assert property (n <= 5); initial while (1);",
        'import "DPI-C" function int f(); assert property (f());',
        "assert property ($root.TopModule.n == 0);",
    ],
    ids=lambda answer: f"{answer[:24]!r} of {len(answer)}",
)
def test_a_hostile_answer_ends_and_earns_nothing(answer):
    verdict = TASK.verify(counter(), answer)
    assert verdict.score == 0.0
    assert verdict.scored, verdict.detail


def test_what_a_report_would_do_is_not_read():
    answer = 'assert property (n <= 5) else $error("%s", $fopen("x"));'
    plain = TASK.verify(counter(), "assert property (n <= 5);")
    assert TASK.verify(counter(), answer) == plain


def test_the_most_that_is_allowed_is_judged():
    lines = [f"assert property (up ##32 up |-> ##32 n <= 5 || n == {k % 8});" for k in range(64)]
    verdict = TASK.verify(counter(), "\n".join(lines))
    assert verdict.scored, verdict.detail


def test_a_failure_is_shown_with_the_ports():
    verdict = TASK.verify(counter(), "assert property (n < 5);")
    assert verdict.status is Status.WRONG
    assert "an assertion fails for the correct module" in verdict.detail
    assert "late" in verdict.detail


def test_a_text_that_is_not_read_says_why():
    verdict = TASK.verify(counter(), "assert property (n until 5);")
    assert verdict.status is Status.UNPARSABLE
    assert "'until' is no port" in verdict.detail


def test_a_failure_after_thousands_of_cycles_is_found():
    wide = COUNTER.replace("[2:0] n", "[12:0] n").replace("n != 5", "n != 5000")
    ports = tuple(replace(p, width=13) if p.name == "n" else p for p in counter().ports)
    problem = replace(
        counter(), golden=wide, ports=ports, faulty=(wide.replace("n <= n + 1", "n <= n + 2"),)
    )
    assert TASK.verify(problem, "assert property (n <= 5000);").parts["sound"] == 1.0
    assert TASK.verify(problem, "assert property (n <= 4999);").score == 0.0


@pytest.mark.parametrize("difficulty", [0, 4, pytest.param(9, marks=pytest.mark.slow)])
def test_all_faults_are_found_by_what_tells_the_module(difficulty):
    task = AssertionWritingTask(AssertionWritingConfig.at(difficulty))
    for seed in range(2):
        problem = task.generate(stream("assertions", difficulty, seed))
        assert 1 <= len(set(problem.faulty)) == len(problem.faulty) <= 3 + difficulty // 2
        assert task.verify(problem, task.solve(problem)).score == 1.0
        assert task.verify(problem, "assert property (1 |-> 1);").score == 0.0
        assert task.generate(stream("assertions", difficulty, seed)) == problem
        hidden = replace(problem, faulty=(), golden="", assertions=())
        assert task.prompt(problem) == task.prompt(hidden)


def test_every_part_is_told():
    # A module whose output is inverted breaks what is said of it, whatever the part is.
    config = AssertionWritingConfig(parts=10, tier=2, longest=3)
    design, assertions = draw_module(stream("parts"), counter().clocking, config)
    outputs = [port for port in design.reference.ports if port.direction == "output"]
    assert len(outputs) == 10
    inner = design.golden.replace("TopModule", "Inner")
    faulty = []
    for wrong in outputs:
        declared = ", ".join(port.declaration() for port in design.reference.ports)
        wired = ", ".join(
            f".{port.name}({'raw' if port == wrong else port.name})"
            for port in design.reference.ports
        )
        faulty.append(
            f"{inner}\nmodule TopModule({declared});\nwire [{wrong.width - 1}:0] raw;\n"
            f"Inner inner({wired});\nassign {wrong.name} = ~raw;\nendmodule\n"
        )
    problem = replace(
        counter(),
        ports=design.reference.ports,
        clocking=design.clocking,
        golden=design.golden,
        faulty=tuple(faulty),
    )
    verdict = TASK.verify(problem, "\n".join(assertions))
    assert (verdict.score, verdict.parts["found"]) == (1.0, 10.0), verdict.detail


@pytest.mark.parametrize(
    "knobs",
    [{"parts": 0}, {"parts": 11}, {"tier": 3}, {"longest": 1}, {"faults": 0}, {"reward": "graded"}],
)
def test_knobs_out_of_range_are_errors(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        AssertionWritingConfig(**knobs)
