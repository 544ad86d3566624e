"""Void turns (SimpleTIR) and over-turn (Mini-o3), as the tasks and tools of the suite report them."""

import pytest

from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.source import open_source
from rlvr_envs.wrappers import PythonTool, UnaryRetry

GUESS = r"\boxed{1}"
CODE = "```python\nprint(1)\n```"
MOVES = {
    "PythonTool-v0": None,  # its runs need a sandbox; the wrapper below has the same rule
    "RepairDialogue-v0": None,
    "VerilogDialogue-v0": None,
    "Search-v0": "<search>who</search>",
    "SearchProposer-v0": "<search>who</search>",
    "WordGuess-v0": r"\boxed{zzzz}",
    "GuessNumber-v0": None,
    "Mastermind-v0": None,
    "TowerOfHanoiGame-v0": r"\boxed{nowhere}",
    "MazeExplorer-v0": r"\boxed{U}",
    "MinesweeperGame-v0": r"\boxed{flag (1, 1)}",
    "SokobanGame-v0": r"\boxed{U}",
}


def played(env, action):
    """Return whether turns were void, and the last info."""
    env.reset(seed=1)
    void = []
    while True:
        *_, terminated, truncated, info = env.step(action)
        void.append(info["void_turn"])
        if terminated or truncated:
            return void, info


@pytest.mark.parametrize("task", MOVES)
def test_messages_without_an_action_are_void_and_use_up_the_turns(task):
    void, info = played(TextEnv(task, difficulty=0), "hm")
    assert all(void)
    assert info["out_of_turns"]


@pytest.mark.parametrize("task", [task for task, move in MOVES.items() if move])
def test_messages_with_an_action_are_not_void(task):
    env = TextEnv(task, difficulty=0)
    if task == "WordGuess-v0":  # a word of the list that is not the secret
        env.reset(seed=1)
        move = next(a for a in env.instance.solution() if a != env.instance.solution()[-1])
    else:
        move = MOVES[task]
    void, info = played(env, move)
    assert not any(void[:-1])
    assert info["out_of_turns"]


@pytest.mark.parametrize("task", ["Search-v0", "GuessNumber-v0", "MazeExplorer-v0"])
def test_an_episode_that_is_solved_has_neither(task):
    env = TextEnv(task, difficulty=0)
    env.reset(seed=1)
    for action in env.instance.solution():
        *_, info = env.step(action)
        assert not info["void_turn"]
    assert not info["out_of_turns"]


def test_tasks_of_one_message():
    env = TextEnv("Gcd-v0", difficulty=0)
    for action, void in (("hm", [True]), (GUESS, [False])):
        assert played(env, action)[0] == void
        assert not played(env, action)[1]["out_of_turns"]


def test_the_python_tool():
    env = PythonTool(TextEnv("Gcd-v0", difficulty=0), max_turns=2)
    assert played(env, "hm")[0] == [True, True]
    assert played(env, "hm")[1]["out_of_turns"]
    void, info = played(env, GUESS)
    assert (void, info["out_of_turns"]) == ([False], False)


def test_the_python_tool_with_code(backend):
    env = PythonTool(TextEnv("Gcd-v0", difficulty=0), max_turns=2)
    void, info = played(env, CODE)
    assert (void, info["out_of_turns"]) == ([False, False], True)


def test_attempts_without_an_answer():
    env = UnaryRetry(TextEnv("Gcd-v0", difficulty=0), attempts=2)
    assert played(env, "hm")[0] == [True, True]


GCD = open_source("Gcd-v0", difficulty=0).draw(1).solution()


def four_ways(heard, place):
    """Right at once; twice without an answer; right after a void turn; wrong."""
    again = "Send Python code" in heard
    return [GCD, "hm", GCD if again else "hm", r"\boxed{90001}"][place if not again else place + 1]


@pytest.mark.parametrize(
    ("masks", "left"),
    [((), [0, 1, 2, 3]), (("void_turn",), [0, 3]), (("over_turn",), [0, 2, 3])],
)
def test_training_leaves_them_out_and_counts_them(learn, masks, left):
    seen = learn(
        four_ways,
        [{"task": "Gcd-v0", "difficulty": 0, "problem_seed": 1}],
        tasks=("Gcd-v0",),
        difficulty="0",
        wrappers=("PythonTool(max_turns=2)",),
        leave_out=masks,
    )
    (episodes,) = seen.batches
    assert [e.score for e in episodes] == [1.0, 0.0, 1.0, 0.0]
    assert [e.info.get("void_turn", 0) for e in episodes] == [0, 1, 1, 0]
    assert [e.info["over_turn"] for e in episodes] == [0, 1, 0, 0]
    assert seen.metrics[1]["tokens"] == sum(episodes[i].n_trained for i in left)
    (inputs,) = seen.inputs
    worth = sorted(inputs.advantages[:, 0].tolist())
    assert worth == sorted([0.5, -0.5, 0.5, -0.5][i] for i in left)  # all four count


def test_training_on_a_game_that_ends_its_own_turns(learn):
    posed = open_source("GuessNumber-v0", difficulty=0).draw(1)
    secret = posed.solution()[-1]
    seen = learn(
        lambda heard, place: "hm" if place or "left.)" in heard else secret,
        [{"task": "GuessNumber-v0", "difficulty": 0, "problem_seed": 1}],
        tasks=("GuessNumber-v0",),
        difficulty="0",
        leave_out=("over_turn",),
    )
    (episodes,) = seen.batches
    assert [e.info["over_turn"] for e in episodes] == [0, 1, 1, 1]
    assert len(episodes[1].actions) > 1
    assert seen.metrics[1]["tokens"] == episodes[0].n_trained
