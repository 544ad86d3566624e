"""Verilog problems from files: layouts, what is refused, and rows that outlive their file."""

import dataclasses
import json
import pickle

import gymnasium as gym
import pytest

import rlvr_envs
from rlvr_envs.core.errors import ConfigError, ToolchainMissing
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.verilog import verilog_dataset
from rlvr_envs.envs.verilog.verilog_dataset import VerilogDatasetConfig, VerilogDatasetTask
from rlvr_envs.generators.published import verilog_references
from rlvr_envs.generators.published.verilog_references import Unusable, reference_of
from rlvr_envs.generators.published.verilog_rows import (
    NotARow,
    header_of,
    modules,
    read_row,
    top_of,
)
from rlvr_envs.verifiers.hdl import elaborate as elaborate_module
from rlvr_envs.verifiers.hdl import equivalence, icarus
from rlvr_envs.verifiers.hdl.elaborate import ElaborationLimits, Refusal, elaborate_once
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge
from rlvr_envs.verifiers.hdl.prove import Proof

ID = "rlvr/VerilogDataset-v0"

BODY = "(input a, input b, output y);\n    assign y = a & b;\nendmodule\n"
ASKED = "The output y is 1 if both inputs a and b are."
V1 = {
    "task_id": "both",
    "prompt": "module top_module (\n    input a, input b, output y\n);",
    "canonical_solution": "\nassign y = a & b;\nendmodule\n",
    "test": "module tb; endmodule",
}
V2 = {
    "task_id": "Prob900_both",
    "prompt": f"Implement TopModule. {ASKED}",
    "ref": f"\nmodule RefModule {BODY}",
    "test": "module tb; endmodule",
}
RTLLM = {
    "design_description": f"{ASKED}\nModule name:\n    both\n",
    "verified": f"module verified_both {BODY}",
    "testbench": "module tb; endmodule",
}
CODE = f"module both {BODY}"
ANSWER = {
    "answer": {"code": CODE, "input_port_width": {("a", 1), ("b", 1)}},
    "clock_port_polarity": set(),
}
CODEV = {
    "prompt": [{"role": "system", "content": "Think."}, {"role": "user", "content": ASKED}],
    "reward_model": {"style": "rule", "ground_truth": pickle.dumps(ANSWER)},
}
CODEV_JSON = CODEV | {"reward_model": {"ground_truth": json.dumps({"code": CODE})}}
RESBENCH = {
    "module": "both",
    "Problem": ASKED,
    "Module header": "module both (input a, input b, output y);",
    "Testbench": 'module tb; initial $display("All tests passed"); endmodule',
}
PLAIN = {"prompt": ASKED, "reference": CODE}
GOOD = {"VerilogEval 2": V2, "RTLLM": RTLLM, "CodeV-R1": CODEV, "CodeV-R1 in JSON": CODEV_JSON}
GOOD |= {"plain": PLAIN, "question and code": {"question": ASKED, "code": CODE, "id": 7}}
GOOD |= {"VerilogEval 1": V1 | {"detail_description": ASKED}}
GOOD |= {"ResBench by mistake": RESBENCH | {"Module header": CODE}}


TESTS = """module tb;
    reg a, b;
    wire y;
    integer errors = 0, i;
    both dut(.a(a), .b(b), .y(y));
    initial begin
        for (i = 0; i < 4; i = i + 1) begin
            {a, b} = i;
            #1 if (y !== (i == 3)) errors = errors + 1;
        end
        if (errors == 0) $display("All tests passed");
        else $display("%0d tests failed", errors);
        $finish;
    end
endmodule
"""
TESTED = RESBENCH | {"Testbench": TESTS}
needs_icarus = pytest.mark.skipif(
    not icarus.available(), reason=f"Icarus Verilog {icarus.LEAST_VERSION} is not installed"
)


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def task(path, **knobs):
    return VerilogDatasetTask(VerilogDatasetConfig(path=str(path), **knobs))


@pytest.mark.parametrize("data", GOOD.values(), ids=GOOD)
def test_each_layout_is_recognised_and_its_reference_read(data):
    row = read_row(data, {})
    assert ASKED in row.statement
    assert row.top in modules(row.reference)
    assert row.top in ("both", "TopModule", "top_module")
    reference = reference_of(row.reference, row.top)
    assert [port.name for port in reference.ports] == ["a", "b", "y"]
    assert reference.clocking is None
    assert "assign" not in row.statement  # what is asked does not tell the answer


def test_no_pickle_is_ever_loaded(tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "written"), "w"))

    data = pickle.dumps({"answer": {"code": CODE, "trap": Trap()}})
    row = read_row(CODEV | {"reward_model": {"ground_truth": data}}, {})
    assert row.reference == CODE
    assert not (tmp_path / "written").exists()


def test_descriptions_may_stand_in_another_file(tmp_path):
    told = write(tmp_path / "told.jsonl", [{"task_id": "both", "detail_description": ASKED}])
    path = write(tmp_path / "a.jsonl", [V1])
    found = task(path, descriptions=told)
    problem = found.problem_at(0)
    assert ASKED in found.prompt(problem)
    assert "top_module" in found.prompt(problem)
    assert found.verify(problem, found.solve(problem)).status is Status.CORRECT


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (V1, "'descriptions'"),
        (RESBENCH, "testbench and no reference"),
        ({"prompt": ASKED, "test": "module tb; endmodule"}, "testbench and no reference"),
        (RTLLM | {"verified": ""}, "no header"),
        (RESBENCH, "no header of the module that the testbench contains"),
        (TESTED | {"Testbench": TESTS + CODE}, "defines the module both itself"),
        (TESTED | {"Module header": "module both;"}, "no header"),
        ({"prompt": ASKED}, "no layout"),
        (V2 | {"ref": f"module Other {BODY}"}, "no RefModule"),
        (PLAIN | {"top": "other"}, "does not define"),
        (PLAIN | {"reference": f"module n{BODY}module m{BODY}"}, "no single module"),
        (CODEV | {"reward_model": {"ground_truth": b"not a pickle"}}, "ground truth"),
        (CODEV | {"reward_model": {"ground_truth": "{}"}}, "no code"),
        (CODEV | {"prompt": []}, "asks"),
    ],
)
def test_a_row_that_cannot_be_judged_is_refused_with_a_reason(data, reason):
    with pytest.raises(NotARow, match=reason):
        read_row(data, {})


BAD_REFERENCES = {
    "module both(input a, output y); assign y = ; endmodule": "compile",
    "module both(input a, inout y); endmodule": "inout",
    "module both(input a); endmodule": "no outputs",
    "module both(input a, output reg y); always @(*) y = a === 1'bx; endmodule": "x from",
    "module both(input a, c, output y); reg q; always @(posedge c) q <= a;\n"
    "assign y = q === 1'bx; endmodule": "x from 0 and 1",
    "module both(input a, c, output reg q, y); always @(posedge c) begin q <= a; y <= ~y; end\n"
    "endmodule": "output y is never known",
}


@pytest.mark.parametrize("source", BAD_REFERENCES)
def test_a_reference_that_cannot_be_compared_with_is_refused(source, tmp_path):
    path = write(tmp_path / "a.jsonl", [PLAIN, PLAIN | {"reference": source}])
    with pytest.raises(ConfigError, match=BAD_REFERENCES[source]) as caught:
        len(task(path))
    assert "a.jsonl:2" in str(caught.value)
    assert 'on_bad_row="skip"' in str(caught.value)
    assert len(task(path, on_bad_row="skip")) == 1
    unchecked = task(path, check_references=False)
    assert len(unchecked) == 2
    assert not unchecked.verify(unchecked.problem_at(1), CODE).scored


CLOCKINGS = {
    "always @(posedge ck) q <= d;": Clocking("ck"),
    "always @(posedge ck) if (rst) q <= 0; else q <= d;": Clocking("ck", "rst", 1),
    "always @(posedge ck) if (!RST_N) q <= 0; else q <= d;": Clocking("ck", "RST_N", 0),
    "always @(posedge ck or posedge e) if (e) q <= 0; else q <= d;": Clocking("ck", "e", 1, True),
    "always @(posedge ck or negedge rst) if (!rst) q <= 1; else q <= d;": Clocking(
        "ck", "rst", 0, True
    ),
    "always @(negedge ck) q <= d;": Clocking("ck"),
    "always @(posedge ck) q[0] <= d; always @(negedge e) q[1] <= d;": Clocking("ck"),
    "always @(*) if (e) q = d;": None,
    "always @(*) q = {d, e};": None,
}


@pytest.mark.parametrize("body", CLOCKINGS)
def test_clock_and_reset_are_found_in_the_netlist_and_by_name(body):
    names = [name for name in ("rst", "RST_N") if name in body]
    ports = ", ".join(["input ck", *(f"input {name}" for name in names), "input e", "input d"])
    source = f"module m({ports}, output reg [1:0] q);\n{body}\nendmodule"
    assert reference_of(source, "m").clocking == CLOCKINGS[body]


def test_x_is_followed_only_where_the_reference_shows_it():
    head = "module m(input clk, rst, d, output reg q); always @(posedge clk) "
    assert not reference_of(f"{head} q <= rst ? 1'b0 : d; endmodule", "m").free_x
    late = f"{head} q <= rst ? q : d; endmodule"
    assert reference_of(late, "m").free_x
    row = PLAIN | {"reference": late}
    found = VerilogDatasetTask(VerilogDatasetConfig())
    problem = read_row(row, {})
    posed = verilog_dataset.VerilogDatasetProblem(statement=ASKED, top="m", golden=late)
    assert problem.top == "m"
    initial = late.replace("always", "initial q = 1; always")
    assert found.verify(posed, initial).status is Status.CORRECT
    assert found.verify(posed, late.replace("? q", "? 1'b0")).status is Status.WRONG


KEPT_IN_RESET = """module m(input c, r, e, d, output reg q);
    always @(posedge c or negedge r) if (!r) ; else if (e) q <= d;
endmodule
"""
BEYOND_THE_END = """module m(input c, w, d, input [1:0] a, output q);
    reg n [0:2];
    always @(posedge c) if (w) n[a] <= d;
    assign q = n[a];
endmodule
"""


@pytest.mark.parametrize(
    ("source", "other", "wrong"),
    [
        (KEPT_IN_RESET, ("always", "initial q = 1; always"), ("else if (e)", "else")),
        (BEYOND_THE_END, ("= n[a]", "= a == 3 ? 1 : n[a]"), ("= n[a]", "= a == 2 ? 1 : n[a]")),
    ],
)
def test_what_a_reference_never_sets_is_an_x(source, other, wrong):
    reference = reference_of(source, "m")
    assert reference.free_x
    assert judge(source, reference).score == 1.0
    assert judge(source.replace(*other), reference).score == 1.0
    assert judge(source.replace(*wrong), reference).score == 0.0


def test_the_module_on_top_is_the_one_that_nothing_contains():
    inner = "module inner(input a, output y); assign y = a; endmodule\n"
    outer = "module outer(input a, output y); inner i(a, y); endmodule // inner, outer\n"
    assert top_of(inner + outer) == "outer"
    assert top_of(outer + inner) == "outer"
    with pytest.raises(NotARow, match="no single module"):
        top_of("// nothing\n")


def test_a_folder_of_verilog_eval_is_read_as_published(tmp_path):
    for end, column in (("_prompt.txt", "prompt"), ("_ref.sv", "ref"), ("_test.sv", "test")):
        (tmp_path / f"Prob900_both{end}").write_text(V2[column])
    found = task(tmp_path)
    problem = found.problem_at(0)
    assert (problem.name, problem.top) == ("Prob900_both", "TopModule")
    assert "RefModule" not in problem.golden


def test_a_folder_of_rtllm_is_read_as_published(tmp_path):
    for number, name in enumerate(("one", "two")):
        folder = tmp_path / "Logic" / name
        folder.mkdir(parents=True)
        (folder / "design_description.txt").write_text(RTLLM["design_description"])
        (folder / "testbench.v").write_text(RTLLM["testbench"])
        if number == 0:
            (folder / "verified_both.v").write_text(RTLLM["verified"])
    with pytest.raises(ConfigError, match="testbench and no reference"):
        len(task(tmp_path))
    found = task(tmp_path, on_bad_row="skip")
    assert [found.problem_at(n).name for n in range(len(found))] == ["one"]
    assert found.problem_at(0).top == "both"


def both_with(reference, description=RTLLM["design_description"]):
    return RTLLM | {
        "design_description": description,
        "verified": reference,
        "testbench": TESTS,
    }


EVENTS = """module verified_both(a, b, y);
    input a, b;
    output reg y;
    initial forever begin
        y = a & b;
        @(a or b);
    end
endmodule
"""


@needs_icarus
@pytest.mark.parametrize("category", [".", "Logic/Gates and more"])
def test_a_reference_that_is_no_hardware_leaves_the_testbench(category, tmp_path):
    folder = tmp_path / category / "both"
    folder.mkdir(parents=True)
    data = both_with(EVENTS)
    (folder / "design_description.txt").write_text(data["design_description"])
    (folder / "verified_both.v").write_text(data["verified"])
    (folder / "testbench.v").write_text(data["testbench"])
    (folder / "gpt_both.v").write_text("module both; endmodule")  # an answer, and no reference
    found = task(tmp_path)
    problem = found.problem_at(0)
    assert (problem.top, problem.golden) == ("both", "")
    header = "module both(a, b, y);\ninput a, b;\noutput reg y;"
    assert problem.header == header
    assert found.verify(problem, CODE).parts["testbench"] == 1.0
    assert found.verify(problem, CODE.replace("&", "|")).status is Status.WRONG
    assert found.solve(problem) == ""
    unchecked = task(tmp_path, check_references=False)
    assert unchecked.verify(unchecked.problem_at(0), CODE).parts["testbench"] == 1.0
    with pytest.raises(ConfigError, match="cannot be elaborated"):
        len(task(tmp_path, accept_bounded=False))


@needs_icarus
def test_a_testbench_that_its_reference_fails_is_refused(tmp_path):
    path = write(tmp_path / "a.jsonl", [both_with(EVENTS.replace("&", "|"))])
    with pytest.raises(ConfigError, match="its testbench does not let its reference pass"):
        len(task(path))


def test_a_reference_comes_before_its_testbench(tmp_path):
    path = write(tmp_path / "a.jsonl", [both_with(RTLLM["verified"])])
    problem = task(path).problem_at(0)
    assert (problem.header, problem.testbench) == ("", "")
    assert problem.golden.startswith("module both ")


@pytest.mark.parametrize("asking", ["prompt", "design_description"])
@pytest.mark.parametrize("named", ["verified_both", "both", "other"])
def test_the_module_is_called_as_description_and_testbench_call_it(asking, named):
    golden = "verified" if asking == "design_description" else "reference"
    row = read_row(
        {
            asking: RTLLM["design_description"],
            golden: f"module {named} {BODY}",
            "testbench": TESTS,
        },
        {},
    )
    assert (row.top, modules(row.reference)) == ("both", ["both"])
    assert row.testbench == TESTS


@pytest.mark.parametrize(
    ("source", "header"),
    [
        (CODE, f"module both {BODY.partition(';')[0]};"),
        ("module m #(parameter W = 2) (input [W-1:0] a); endmodule", ""),
        (
            (
                "module m(a, y); parameter W = 2; input [W-1:0] a; output y; reg y; function f; "
                "input x; f = x; endfunction endmodule"
            ),
            "module m(a, y); parameter W = 2; input [W-1:0] a; output y;",
        ),
        ("module n(input a); endmodule module m; endmodule", "module m;"),
    ],
)
def test_a_header_says_which_ports_there_are(source, header):
    name = top_of(source) if "module n" not in source else "m"
    assert header_of(source, name).split() == (header or source.partition(" endm")[0]).split()


def cvdp(given, solved, top="both"):
    return {
        "id": "cvdp_copilot_both_0001",
        "categories": ["cid003", "easy"],
        "input": {"prompt": ASKED, "context": given},
        "output": {"response": "", "context": solved},
        "harness": {"files": {"src/.env": f"SIM      = icarus\nTOPLEVEL        = {top}\n"}},
    }


def test_cvdp_is_read_where_it_has_solutions(tmp_path):
    inner = "module inner(input a, b, output y); assign y = a & b; endmodule\n"
    outer = "module both(input a, b, output y); inner i(a, b, y); endmodule\n"
    path = write(
        tmp_path / "a.jsonl",
        [
            cvdp({}, {"rtl/both.sv": CODE}),
            cvdp(
                {"rtl/inner.v": inner, "rtl/both.v": "bad", "docs/a.md": "x"}, {"rtl/both.v": outer}
            ),
        ],
    )
    found = task(path)
    alone, composed = found.problem_at(0), found.problem_at(1)
    assert (alone.statement, alone.top) == (ASKED, "both")
    assert inner.strip() in composed.statement
    assert outer.strip() not in composed.statement
    for problem in (alone, composed):
        assert found.verify(problem, CODE).score == 1.0
        assert found.verify(problem, CODE.replace("&", "|")).score == 0.0


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (cvdp({"rtl/both.v": CODE}, {}), "without its solutions"),
        (cvdp({"rtl/both.v": CODE}, {"verif/tb.sv": "module tb; endmodule"}), "does not define"),
    ],
)
def test_cvdp_without_a_design_to_compare_with_is_refused(data, reason):
    with pytest.raises(NotARow, match=reason):
        read_row(data, {})


def test_lists_of_json_are_read_with_and_without_categories(tmp_path):
    path = tmp_path / "a.json"
    for content in ([PLAIN, V2], {"logic": [PLAIN], "more": [V2]}):
        path.write_text(json.dumps(content, indent=len(str(content)) % 3))
        assert [task(path).problem_at(n).top for n in range(2)] == ["both", "TopModule"]


@pytest.mark.parametrize(
    ("content", "reason"), [("", "no rows"), ("[1", "JSON"), ("3", "JSON object")]
)
def test_a_file_that_is_no_table_is_an_error(content, reason, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(content)
    with pytest.raises(ConfigError, match=reason):
        len(task(path))
    with pytest.raises(ConfigError, match="there is no file"):
        len(task(tmp_path / "b.jsonl"))


@pytest.mark.parametrize(
    "knobs",
    [{"path": ""}, {"reward": "some"}, {"on_bad_row": "stop"}, {"descriptions": None}],
)
def test_a_config_that_cannot_be_is_an_error(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        VerilogDatasetConfig(**knobs)


def test_there_are_no_levels_and_indices_have_bounds():
    with pytest.raises(ConfigError, match="no difficulty"):
        VerilogDatasetConfig.at(3)
    found = VerilogDatasetTask(VerilogDatasetConfig())
    for index in (-1, len(found), "0", 1.5):
        with pytest.raises(ConfigError, match="no problem"):
            found.problem_at(index)


def test_answers_are_judged_by_what_they_do(tmp_path):
    found = task(write(tmp_path / "a.jsonl", [PLAIN]), reward="graded")
    problem = found.problem_at(0)
    nand = CODE.replace("a & b", "~(~a | ~b)")
    assert found.verify(problem, nand).score == 1.0
    other = found.verify(problem, CODE.replace("&", "|"))
    assert 0 < other.score < 1
    cheat = CODE.replace("assign", 'initial $display("All tests passed");\nassign')
    assert found.verify(problem, cheat).score == 0.0


def test_strict_wants_icarus_and_says_so(monkeypatch):
    def missing():
        raise ToolchainMissing("Icarus is not installed")

    monkeypatch.setattr(verilog_dataset, "require", missing)
    with pytest.raises(ToolchainMissing):
        len(VerilogDatasetTask(VerilogDatasetConfig(strict=True)))


def test_strict_asks_icarus_about_right_answers_only(monkeypatch, tmp_path):
    asked = []

    def second(answer, reference, verdict):
        asked.append(answer)
        return verdict

    monkeypatch.setattr(verilog_dataset, "require", lambda: None)
    monkeypatch.setattr(verilog_dataset, "cosimulate", second)
    found = task(write(tmp_path / "a.jsonl", [PLAIN]), strict=True)
    problem = found.problem_at(0)
    assert found.verify(problem, CODE).score == 1.0
    assert found.verify(problem, CODE.replace("&", "|")).score == 0.0
    assert asked == [CODE]


def test_a_row_outlives_its_file(tmp_path):
    path = tmp_path / "a.jsonl"
    write(path, [PLAIN, V2])
    row = rlvr_envs.make_problem(ID, seed=1, path=str(path))
    solution = rlvr_envs.solve(row)
    path.unlink()
    assert rlvr_envs.verify(row, solution).score == 1.0


def test_every_sample_is_sound_and_shown():
    env = gym.make(ID)
    found = VerilogDatasetTask(VerilogDatasetConfig())
    for index in range(len(found)):
        prompt, _ = env.reset(options={"index": index})
        problem = found.problem_at(index)
        assert f"`{problem.top}`" in prompt
        assert problem.golden not in prompt
        reference = reference_of(problem.golden, problem.top)
        assert all(f"`{port.name}`" in problem.statement for port in reference.ports)
        assert found.verify(problem, found.solve(problem)).parts["proved"] == 1.0


def test_a_reference_that_the_machine_could_not_read_is_no_verdict(monkeypatch):
    with pytest.raises(Unusable, match="compile"):
        reference_of("module m(; endmodule", "m")
    found = VerilogDatasetTask(VerilogDatasetConfig())
    problem = verilog_dataset.VerilogDatasetProblem("?", "m", golden="module m(; endmodule")
    assert not found.verify(problem, CODE).scored


def test_a_row_whose_reference_took_too_long_is_tried_again(monkeypatch, tmp_path):
    slow = CODE.replace("a & b", "a ^ b")
    path = write(tmp_path / "a.jsonl", [PLAIN, {"prompt": ASKED, "reference": slow}])

    def late(source, *args, **kwargs):
        if source == slow:
            return Refusal("fault", "elaborating the design takes too much (30 s of CPU time)")
        return elaborate_once(source, *args, **kwargs)

    with monkeypatch.context() as machine:
        machine.setattr(verilog_references, "elaborate_once", late)
        skipping = task(path, on_bad_row="skip")
        assert len(skipping) == 1
        told = r"a.jsonl:2: the machine could not check it, now at least: .*30 s.*\"skip\""
        with pytest.raises(ConfigError, match=told):
            len(task(path))
        unchecked = task(path, check_references=False)
        assert not unchecked.verify(unchecked.problem_at(1), slow).scored
    assert len(task(path)) == 2
    assert len(task(path, on_bad_row="skip")) == len(skipping) == 1  # numbers stay, while in use
    del skipping
    assert len(task(path, on_bad_row="skip")) == 2
    assert unchecked.verify(unchecked.problem_at(1), slow).score == 1.0


PRODUCT = """module both(input [39:0] a, b, output y);
    wire [79:0] p = a * b;
    assign y = ^(p * p);
endmodule
"""


def test_a_reference_that_takes_too_long_for_real_is_left_out_for_now(monkeypatch, tmp_path):
    path = write(tmp_path / "a.jsonl", [PLAIN, {"prompt": ASKED, "reference": PRODUCT}])
    with monkeypatch.context() as machine:
        machine.setattr(elaborate_module, "REFERENCE", ElaborationLimits(cpu_s=0.3))
        skipping = task(path, on_bad_row="skip")
        assert len(skipping) == 1
        [refused] = skipping.file().refused
        assert refused.passing
        assert "takes too much" in refused.reason
    del skipping
    assert len(task(path, on_bad_row="skip")) == 2


def test_a_reference_that_is_too_large_with_its_x_is_refused(monkeypatch, tmp_path):
    late = "module m(input clk, rst, d, output reg q); always @(posedge clk) q <= rst ? q : d; "
    path = write(tmp_path / "a.jsonl", [PLAIN, {"prompt": ASKED, "reference": f"{late}endmodule"}])
    monkeypatch.setattr(elaborate_module, "REFERENCE", ElaborationLimits(ands=6))
    assert len(task(path, on_bad_row="skip")) == 1
    with pytest.raises(ConfigError, match=r"a.jsonl:2: its reference cannot be compared with"):
        len(task(path))


LATE = """module late(input clk, input rst, output y);
    reg [12:0] n;
    always @(posedge clk) n <= rst ? 0 : n + 1;
    assign y = n == 7000;
endmodule
"""


def test_without_a_proof_late_differences_are_found_all_the_same(monkeypatch):
    monkeypatch.setattr(equivalence, "prove", lambda *args, **kwargs: Proof("open"))
    answer = LATE.replace("7000", "7001")
    found = VerilogDatasetTask(VerilogDatasetConfig())
    problem = verilog_dataset.VerilogDatasetProblem("Late.", "late", golden=LATE)
    verdict = found.verify(problem, answer)
    assert verdict.status is Status.WRONG
    assert verdict.parts["cycle"] == 7001
    usual = judge(answer, reference_of(LATE, "late"))  # 13 bits can count further than 5,000
    assert (usual.status, usual.parts["cycle"]) == (Status.WRONG, 7001)


@needs_icarus
@pytest.mark.parametrize(
    "data",
    [
        TESTED,
        {
            "prompt": f"Write a module that does this; {ASKED}\n{RESBENCH['Module header']}",
            "test": TESTS,
        },
        {"question": ASKED, "testbench": TESTS, "header": RESBENCH["Module header"]},
    ],
)
def test_a_row_with_a_testbench_alone_is_judged_by_it(data, tmp_path):
    found = task(write(tmp_path / "a.jsonl", [data]))
    problem = found.problem_at(0)
    assert "module both" in found.prompt(problem)
    assert "errors" not in found.prompt(problem)
    verdict = found.verify(problem, CODE)
    assert (verdict.score, verdict.parts["proved"]) == (1.0, 0.0)
    assert "4 tests failed" in found.verify(problem, CODE.replace("a & b", "~(a & b)")).detail
    cheat = CODE.replace("a & b", '0; initial $display("All tests passed")')
    assert found.verify(problem, cheat).status is Status.WRONG
    assert found.solve(problem) == ""


@needs_icarus
def test_a_testbench_that_tells_nothing_is_refused(tmp_path):
    always = TESTED | {"Testbench": TESTS.replace("errors == 0", "1")}
    path = write(
        tmp_path / "a.jsonl", [TESTED, always, TESTED | {"Module header": "module both(input a);"}]
    )
    with pytest.raises(ConfigError, match=r"a.jsonl:2: its testbench lets a module pass") as caught:
        len(task(path))
    assert "no outputs" in str(caught.value)
    assert len(task(path, on_bad_row="skip")) == 1
    unchecked = task(path, check_references=False)
    assert not unchecked.verify(unchecked.problem_at(1), CODE).scored


def test_a_reference_in_the_testbench_is_taken_for_one():
    inner = "module inner(input a, b, output y); assign y = a & b; endmodule\n"
    bench = (
        f"{inner}module RefModule(input a, b, output y); inner i(a, b, y); endmodule // {ASKED}\n"
        "module tb; RefModule r(); TopModule t(); endmodule"
    )
    row = read_row({"prompt": ASKED, "test": bench}, {})
    assert (row.top, row.testbench) == ("TopModule", "")
    assert modules(row.reference) == ["TopModule", "inner"]
    reference = reference_of(row.reference, row.top)
    assert judge(f"module TopModule {BODY}", reference).score == 1.0
    assert judge(f"module TopModule {BODY.replace('&', '|')}", reference).score == 0.0


def test_bounded_verdicts_may_be_refused(monkeypatch, tmp_path):
    with pytest.raises(ConfigError, match="passing a testbench is no proof"):
        len(task(write(tmp_path / "a.jsonl", [TESTED]), accept_bounded=False))
    monkeypatch.setattr(equivalence, "prove", lambda *args, **kwargs: Proof("open"))
    found = VerilogDatasetTask(VerilogDatasetConfig())
    posed = verilog_dataset.VerilogDatasetProblem("Late.", "late", golden=LATE)
    strictly = dataclasses.replace(posed, accept_bounded=False)
    assert found.verify(posed, LATE).score == 1.0
    assert found.verify(strictly, LATE).status is Status.VERIFIER_ERROR
    wrong = found.verify(strictly, LATE.replace("7000", "7"))
    assert wrong.status is Status.WRONG
    plain = verilog_dataset.VerilogDatasetProblem("?", "both", golden=CODE, accept_bounded=False)
    assert found.verify(plain, CODE).score == 1.0
