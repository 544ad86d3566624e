"""The verdict on an answer: what it says, and what it gives."""

import pytest

from rlvr_envs.core.errors import ConfigError, SandboxError
from rlvr_envs.core.verdict import Status
from rlvr_envs.verifiers.hdl import equivalence
from rlvr_envs.verifiers.hdl import judge as judge_module
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.judge import COMPILES, OUTPUTS, PORTS, judge
from rlvr_envs.verifiers.hdl.source import Refusal

HEAD = "module TopModule(input clk, input rst_n, input go, output reg [4:0] n, output last);\n"
BODY = (
    "always @(posedge clk) if (!rst_n) n <= 13; else if (go) n <= n == 29 ? 0 : n + 1;\n"
    "assign last = n == 29;\nendmodule\n"
)
COUNTER = Reference(
    HEAD + BODY,
    (
        Port("clk", "input"),
        Port("rst_n", "input"),
        Port("go", "input"),
        Port("n", "output", 5),
        Port("last", "output"),
    ),
    Clocking("clk", "rst_n", 0),
)
AND = Reference(
    "module TopModule(input a, input b, output y); assign y = a & b; endmodule",
    (Port("a", "input"), Port("b", "input"), Port("y", "output")),
)


def test_right_answers_are_proved():
    verdict = judge(HEAD + BODY.replace("n == 29 ? 0", "n > 28 ? 5'd0"), COUNTER)
    assert (verdict.status, verdict.parts["proved"]) == (Status.CORRECT, 1.0)
    verdict = judge(AND.source.replace("a & b", "~(~a | ~b)"), AND)
    assert (verdict.status, verdict.parts["proved"]) == (Status.CORRECT, 1.0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("29 ? 0", "30 ? 0"),
        ("<= 13", "<= 12"),
        ("if (!rst_n)", "if (rst_n)"),
        ("if (!rst_n) n <= 13; else", ""),
        ("posedge clk", "negedge clk"),
        ("posedge clk", "posedge clk or negedge rst_n"),
        ("last = n == 29", "last = n == 28"),
    ],
)
def test_wrong_answers_get_a_counterexample(old, new):
    assert old in BODY
    verdict = judge(HEAD + BODY.replace(old, new), COUNTER)
    assert verdict.status is Status.WRONG
    assert "behaves differently" in verdict.detail
    assert verdict.parts["cycle"] >= 0


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("", "no module TopModule"),
        ("module Other(input a); endmodule", "TopModule"),
        (HEAD + "assign last = nothing; endmodule", "does not compile"),
        (HEAD.replace("go", "start") + BODY.replace("go", "start"), "`go` is missing"),
        (HEAD.replace("[4:0] n", "[5:0] n") + BODY, "has 6 bits, it has to have 5 bits"),
        (HEAD.replace("output last", "output last, output x") + BODY, "no port `x`"),
    ],
)
def test_what_cannot_be_compared_is_told(answer, words):
    verdict = judge(answer, COUNTER)
    assert (verdict.score, verdict.scored) == (0.0, True)
    assert words in verdict.detail


def test_graded_rewards_grow_with_what_is_right():
    ports = HEAD.replace("go", "start") + BODY.replace("go", "start")
    one_output = HEAD + BODY.replace("last = n == 29", "last = 0")
    none = HEAD + BODY.replace("last = n == 29", "last = 0").replace("<= 13", "<= 3")
    scores = [judge(text, COUNTER, reward="graded").score for text in ("", ports, none, one_output)]
    assert scores == pytest.approx([0.0, COMPILES, PORTS, PORTS + OUTPUTS / 2])
    assert judge(HEAD + BODY, COUNTER, reward="graded").score == 1.0


def test_a_function_may_be_called_from_two_blocks():
    """Of the language its variables are shared; in hardware that would be two drivers."""
    function = "function [4:0] after(input [4:0] c); after = c == 29 ? 0 : c + 1; endfunction\n"
    body = BODY.replace("n == 29 ? 0 : n + 1", "after(n)").replace("n == 29;", "after(n) == 0;")
    assert judge(HEAD + function + body, COUNTER).score == 1.0
    own = function.replace("function ", "function automatic ", 1)
    assert judge(HEAD + own + body, COUNTER).score == 1.0


def test_a_function_keeps_nothing_between_calls():
    function = (
        "function [4:0] after(input [4:0] c); reg [4:0] kept;\n"
        "begin if (go) kept = c == 29 ? 0 : c + 1; after = kept; end endfunction\n"
    )
    body = BODY.replace("else if (go) n <= n == 29 ? 0 : n + 1;", "else n <= after(n);")
    assert "after" in body
    assert judge(HEAD + function + body, COUNTER).score == 0.0


def test_a_broken_reference_is_not_the_answer_s_fault():
    broken = Reference("module TopModule(input a; endmodule", AND.ports)
    assert not judge(AND.source, broken).scored
    other = Reference("module TopModule(input a, output y); assign y = a; endmodule", AND.ports)
    assert not judge(AND.source, other).scored


def test_a_failing_sandbox_is_not_the_answer_s_fault(monkeypatch):
    def fails(pair, *args):
        raise SandboxError("the slot is gone")

    monkeypatch.setattr(judge_module, "decide_once", fails)
    verdict = judge(AND.source, AND)
    assert (verdict.status, verdict.scored) == (Status.VERIFIER_ERROR, False)


def test_a_reference_that_takes_too_long_is_not_the_answer_s_fault(monkeypatch):
    late = Refusal("fault", "elaborating the design takes too much")
    monkeypatch.setattr(equivalence, "elaborate_once", lambda *args, **kwargs: late)
    verdict = judge(AND.source, AND)
    assert (verdict.status, verdict.scored) == (Status.VERIFIER_ERROR, False)
    assert "takes too much" in verdict.detail


def test_rewards_are_named():
    with pytest.raises(ConfigError, match="did you mean 'graded'"):
        judge(AND.source, AND, reward="grade")
