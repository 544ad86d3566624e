import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.verilog.verilog_dialogue import (
    VerilogDialogueConfig,
    VerilogDialogueProblem,
    VerilogDialogueTask,
)
from rlvr_envs.verifiers.hdl.interface import Port

TASK = VerilogDialogueTask(VerilogDialogueConfig())
HEAD = "module TopModule(input [3:0] a, output [3:0] y);"
GOLDEN = f"{HEAD} assign y = a + 4'd3; endmodule // the reference"


def message(body):
    return f"Perhaps this one:\n\n```verilog\n{HEAD} {body} endmodule\n```"


RIGHT = message("assign y = a - 4'd13;")
WRONG = message("assign y = a + 4'd2;")


def problem(attempts=3, discount=1.0, reward="equivalence"):
    ports = (Port("a", "input", 4), Port("y", "output", 4))
    return VerilogDialogueProblem(
        "it adds 3", ports, None, attempts, discount, reward, GOLDEN, GOLDEN
    )


def test_a_wrong_module_is_answered_with_a_run():
    session = TASK.begin(problem())
    reply = session.reply(WRONG)
    assert reply.verdict is None
    assert "y expected" in reply.text
    assert "2 more attempts" in reply.text
    assert session.reply(RIGHT).verdict.score == 1.0


def test_errors_of_the_compiler_come_back():
    reply = TASK.begin(problem()).reply(message("assign y = b;"))
    assert "does not compile" in reply.text
    assert "'b'" in reply.text


def test_missing_ports_come_back():
    reply = TASK.begin(problem()).reply("```verilog\nmodule TopModule(input a); endmodule\n```")
    assert "port `a` has 1 bit" in reply.text


def test_nothing_of_the_reference_but_the_run_comes_back():
    for body in ("assign y = a;", "assign y = ;", "assign y = TopModule.y;"):
        reply = TASK.begin(problem()).reply(message(body))
        assert "4'd3" not in reply.text
        assert "the reference" not in reply.text.replace("a reference", "")


def test_the_last_attempt_ends_the_episode():
    session = TASK.begin(problem(attempts=2))
    assert "1 more attempt." in session.reply(WRONG).text
    verdict = session.reply(WRONG).verdict
    assert (verdict.score, verdict.status) == (0.0, Status.WRONG)
    assert verdict.parts["failed"] == 2.0


def test_a_message_without_a_module_is_an_attempt():
    session = TASK.begin(problem(attempts=2))
    reply = session.reply("I shall think about it.")
    assert reply.verdict is None
    assert "the message has no module" in reply.text
    verdict = session.reply("").verdict
    assert (verdict.score, verdict.status) == (0.0, Status.UNPARSABLE)


@pytest.mark.parametrize(("discount", "scores"), [(1.0, (1, 1, 1)), (0.5, (1, 0.5, 0.25))])
def test_a_discount_makes_later_attempts_worth_less(discount, scores):
    for failed, score in enumerate(scores):
        verdict = TASK.replay(problem(discount=discount), [WRONG] * failed + [RIGHT])
        assert verdict.score == score
        assert verdict.parts["failed"] == failed


def test_graded_gives_a_little_for_the_last_attempt_only():
    graded = problem(attempts=2, reward="graded")
    half_right = message("assign y = {a[3], 1'b0, a[1:0] + 2'd3};")
    assert 0.0 < TASK.replay(graded, [WRONG, half_right]).score < 0.5
    assert TASK.replay(graded, [half_right, "nothing"]).score == 0.0


def test_an_episode_that_is_not_over_earns_nothing():
    assert TASK.replay(problem(), [WRONG]).score == 0.0


def test_the_oracle_is_right_at_once():
    for difficulty in (0, 4, 9):
        made = VerilogDialogueTask(VerilogDialogueConfig.at(difficulty))
        found = made.generate(stream("dialogue", difficulty))
        actions = made.play(found)
        assert len(actions) == 1
        assert made.replay(found, actions).score == 1.0
        assert f"{found.attempts} attempts" in made.prompt(found)


def test_knobs_out_of_range_are_errors():
    for knobs in (
        {"level": -1},
        {"attempts": 0},
        {"attempts": 33},
        {"discount": 0.0},
        {"discount": 1.5},
        {"reward": "any"},
        {"families": ("x",)},
    ):
        with pytest.raises(ConfigError):
            VerilogDialogueConfig(**knobs)
