"""Hints: where they come from, when they are given, and that they never tell all."""

import json
import pickle
import threading

import gymnasium as gym
import pytest

import rlvr_envs
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.source import open_source
from rlvr_envs.core.verdict import Status
from rlvr_envs.wrappers import (
    Failures,
    GuidanceAfterFailure,
    HintOnFailure,
    HintOnRequest,
    ItemResponse,
    ItemResponseHints,
    UnaryRetry,
    reference_prefixes,
    solution_prefixes,
    worked_prefixes,
)
from rlvr_envs.wrappers.hints import HintSequence

ID = "rlvr/Gcd-v0"
WRONG = r"\boxed{90001}"
PREFIXED = ("rlvr/SubsetSum-v0", "rlvr/Sudoku-v0", "rlvr/PrimeFactorization-v0")


def instance(task, seed=1, difficulty=1):
    return open_source(task, difficulty=difficulty).draw(seed)


class Told:
    """Stands for an instance whose oracle's answer is known."""

    def __init__(self, reference):
        self._reference = reference

    def reference(self):
        return self._reference


class Worked(Told):
    """Stands for an instance whose worked solution is known too."""

    def __init__(self, steps, reference):
        super().__init__(reference)
        self.task, self.problem = self, None
        self.explain = lambda problem: steps


@pytest.mark.parametrize(
    ("reference", "prefixes"),
    [
        ("3, 4, 5", ["3,", "3, 4,"]),
        ("one\n two\nthree\n", ["one", "one\n two"]),
        ("a\n\nb", ["a"]),
        ("1234", ["1", "12", "123"]),
        ("7", []),
        ("", []),
        (["look", "go north", "take it"], ["look", "look\ngo north"]),
        (["done"], []),
    ],
)
def test_prefixes_of_a_reference(reference, prefixes):
    assert reference_prefixes(Told(reference)) == prefixes


def test_hints_are_first_steps_of_the_worked_solution():
    posed = instance("rlvr/WordProblem-v0", difficulty=2)
    steps = posed.task.explain(posed.problem)
    assert len(steps) > 4
    hints = solution_prefixes(posed)
    assert hints == worked_prefixes(posed) == ["\n".join(steps[:k]) for k in range(1, len(steps))]
    level, told = HintSequence(posed, solution_prefixes, reveal=False).at(2)
    assert (level, told) == (2, "Hint, how a worked solution begins:\n" + "\n".join(steps[:2]))


def test_a_worked_solution_of_one_step_is_cut_into_sentences():
    posed = Worked(["Words with i: rips, tie. Take tie; rips is left."], "tie, rips")
    openings = ["Words with i: rips, tie.", "Words with i: rips, tie. Take tie;"]
    assert worked_prefixes(posed) == openings


def test_a_single_sentence_is_cut_into_words():
    posed = instance("rlvr/WordProblem-v0", difficulty=0)
    (step,) = posed.task.explain(posed.problem)[-1:]
    posed = Worked([step], "7")
    assert worked_prefixes(posed)[-1] == step.rpartition(" ")[0]


@pytest.mark.parametrize(("steps", "hints"), [([], ["1"]), (["a b", "c"], ["a b"])])
def test_without_a_worked_solution_hints_are_beginnings_of_the_answer(steps, hints):
    assert solution_prefixes(Worked(steps, "12")) == hints


def test_a_step_that_ends_in_the_answer_gives_way_to_a_weaker_one():
    posed = instance(ID)
    told = ["first", f"so it is {posed.reference()}.", f"thus = {posed.reference()}"]
    assert HintSequence(posed, lambda _: told, reveal=False).at(3) == (1, "Hint: first")


def test_long_references_are_cut_at_few_places():
    words = " ".join(str(number) for number in range(1000))
    prefixes = reference_prefixes(Told(words))
    assert len(prefixes) == 32
    assert all(words.startswith(prefix) and prefix != words for prefix in prefixes)
    assert [len(prefix) for prefix in prefixes] == sorted({len(prefix) for prefix in prefixes})


@pytest.mark.parametrize("task", PREFIXED)
def test_no_hint_is_a_right_answer(task):
    shown = 0
    for seed in range(6):
        posed = instance(task, seed)
        sequence = HintSequence(posed, reference_prefixes, reveal=False)
        for level in range(len(sequence) + 3):
            got, told = sequence.at(level)
            assert got <= level
            assert posed.reference() not in told
            assert posed.judge(told).status is not Status.CORRECT
            shown += bool(told)
    assert shown > 0


def test_a_hint_that_is_a_right_answer_gives_way_to_a_weaker_one():
    posed = instance(ID)
    answer, response = posed.reference(), posed.solution()
    for telling in (answer, f"It is {response}"):
        sequence = HintSequence(posed, lambda _, telling=telling: ["Euclid", telling], reveal=False)
        assert sequence.at(2) == (1, "Hint: Euclid")
        sequence = HintSequence(posed, lambda _, telling=telling: [telling], reveal=False)
        assert sequence.at(1) == (0, "")


def test_the_answer_is_told_where_it_is_asked_for():
    posed = instance(ID)
    sequence = HintSequence(posed, lambda _: ["Euclid"], reveal=True)
    assert len(sequence) == 2
    assert sequence.at(2) == (2, f"Hint: {posed.reference()}")


def test_a_hint_that_has_no_room_gives_way_to_a_shorter_one():
    sequence = HintSequence(instance(ID), lambda _: ["short", "x" * 500], reveal=False)
    assert sequence.at(2, 100) == (1, "Hint: short")
    assert sequence.at(2, 1000)[0] == 2


@pytest.mark.parametrize("given", ["a text", [1], None, iter(["x"])])
def test_hints_that_are_none(given):
    with pytest.raises(ConfigError, match="list of texts"):
        HintSequence(instance(ID), lambda _: given, reveal=False).at(1)
    with pytest.raises(ConfigError, match="called with an instance"):
        HintOnFailure(gym.make(ID), hints=["x"])


@pytest.mark.parametrize(
    "wrap", [HintOnRequest, HintOnFailure, ItemResponseHints, GuidanceAfterFailure]
)
def test_hints_have_names(wrap):
    env = wrap(gym.make(ID), hints="reference")
    assert env._hints is reference_prefixes
    with pytest.raises(ConfigError, match=r"'refrence'; did you mean 'reference'\?.*worked"):
        wrap(gym.make(ID), hints="refrence")


def test_a_response_that_follows_a_hint_begins_as_the_oracles():
    env = HintOnRequest(gym.make("rlvr/SubsetSum-v0", difficulty=1), hints="reference")
    for level in (1, 2):
        _, info = env.reset(options={"problem_seed": 3, "hint_level": level})
        posed = env.unwrapped.instance
        prefix = reference_prefixes(posed)[level - 1]
        assert info["hint_opening"] == rf"\boxed{{{prefix}"
        assert f"\\boxed{{{posed.reference()}}}".startswith(info["hint_opening"])
    _, info = env.reset(options={"problem_seed": 3})
    assert info["hint_opening"] == ""
    worked = HintOnRequest(gym.make(ID), hints="worked")
    _, info = worked.reset(options={"problem_seed": 5, "hint_level": 1})
    assert info["hint_level"] == 1
    assert info["hint_opening"] == worked_prefixes(worked.unwrapped.instance)[0]


def test_an_answer_of_one_letter_is_not_found_in_its_frame():
    # The "b" of \boxed comes before the answer.
    posed = instance("rlvr/LetterConstraint-v0")
    sequence = HintSequence(posed, reference_prefixes, reveal=False)
    assert sequence.opening(1) == r"\boxed{" + posed.reference()[0]


def two(posed):
    return ["first", "second"]


def test_failures_raise_a_hint_and_a_success_lowers_it():
    memory = Failures(patience=2)
    levels = []
    for score in (0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0):
        levels.append(memory.level("p"))
        memory.record("p", levels[-1], 2, score)
    assert levels == [0, 0, 1, 1, 2, 2, 2, 1, 0]
    assert memory.level("q") == 0
    assert memory.state_dict()["problems"] == {}  # nothing is kept of problems without a hint


def test_a_success_between_failures_begins_the_count_again():
    memory = Failures(patience=3)
    for score in (0.0, 0.0, 1.0, 0.0, 0.0):
        memory.record("p", 0, 2, score)
    assert memory.level("p") == 0
    memory.record("p", 0, 2, 0.0)
    assert memory.level("p") == 1


def test_what_counts_as_solved():
    memory = Failures(patience=1, solved=0.5)
    memory.record("p", 0, 2, 0.5)
    assert memory.level("p") == 0
    memory.record("p", 0, 2, 0.49)
    assert memory.level("p") == 1


def test_episodes_of_an_earlier_hint_do_not_count():
    memory = Failures(patience=2)
    for _ in range(8):  # a group of eight, all posed without a hint
        memory.record("p", 0, 5, 0.0)
    assert memory.level("p") == 1


def test_the_state_of_failures_goes_through_json():
    memory = Failures(patience=2)
    for problem, level in (("p", 0), ("p", 0), ("p", 1), ("q", 0)):
        memory.record(problem, level, 2, 0.0)
    other = Failures(patience=2)
    other.load_state_dict(json.loads(json.dumps(memory.state_dict())))
    assert other.state_dict() == memory.state_dict()
    other.record("p", 1, 2, 0.0)
    assert (other.level("p"), memory.level("p")) == (2, 1)
    for state in (None, {"kind": "item_response", "problems": {}}, {"kind": "failures"}):
        with pytest.raises(ConfigError, match="state of"):
            other.load_state_dict(state)


def test_a_copy_in_another_process_goes_its_own_way():
    memory = Failures(patience=2)
    memory.record("p", 0, 2, 0.0)
    other = pickle.loads(pickle.dumps(memory))
    other.record("p", 0, 2, 0.0)
    assert (other.level("p"), memory.level("p")) == (1, 0)


@pytest.mark.parametrize(
    "options", [{"patience": 0}, {"patience": True}, {"solved": 0.0}, {"solved": 2.0}]
)
def test_arguments_of_failures_out_of_range(options):
    with pytest.raises(ConfigError):
        Failures(**options)


def test_threads_lose_no_failure():
    memory = Failures(patience=10**6)

    def work():
        for _ in range(200):
            memory.record("p", 0, 1, 0.0)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert memory.state_dict()["problems"]["p"]["failed"] == 800


def once(env, action, **options):
    """Play an episode of one action on problem 5; return its prompt, infos and reward."""
    prompt, begun = env.reset(options={"problem_seed": 5, **options})
    right = env.unwrapped.instance.solution()
    _, reward, _, _, info = env.step(right if action == "right" else action)
    return prompt, begun, reward, info


def test_a_failed_problem_gets_a_hint_in_its_prompt():
    env = HintOnFailure(gym.make(ID), Failures(patience=2), hints=two)
    bare = gym.make(ID).reset(options={"problem_seed": 5})[0]
    prompts = [once(env, WRONG)[0] for _ in range(6)]
    first, second = f"{bare}\n\nHint: first", f"{bare}\n\nHint: second"
    assert prompts == [bare, bare, first, first, second, second]
    prompt, begun, reward, info = once(env, "right")
    assert (prompt, reward, info["verdict"].score) == (second, 1.0, 1.0)
    assert begun["bare_prompt"] == bare
    assert (begun["hint"], info["hint_level"]) == ("Hint: second", 2)
    assert once(env, "right")[0] == first
    assert once(env, "right")[0] == bare
    assert env.reset(options={"problem_seed": 6})[1]["hint_level"] == 0


def test_a_group_shares_what_it_remembers():
    memory = Failures(patience=4)
    group = [HintOnFailure(gym.make(ID), memory, hints=two) for _ in range(4)]
    for env in group:
        env.reset(options={"problem_seed": 5})
    for env in group[:3]:
        env.step(WRONG)
    assert memory.state_dict()["problems"].popitem()[1] == {"level": 0, "failed": 3}
    group[3].step(WRONG)
    assert all(once(env, "right")[1]["hint_level"] == 1 for env in group[:1])
    apart = HintOnFailure(gym.make(ID), hints=two)
    assert once(apart, WRONG)[1]["hint_level"] == 0


def test_a_hint_can_be_asked_for():
    env = HintOnFailure(gym.make(ID), hints=two)
    assert once(env, WRONG, hint_level=1)[1]["hint"] == "Hint: first"
    assert once(env, WRONG, hint_level=9)[1]["hint_level"] == 2
    assert once(env, WRONG)[1]["hint_level"] == 0
    for level in (-1, True, "1", 1.0):
        with pytest.raises(ConfigError, match="integer from 0"):
            env.reset(options={"hint_level": level})
    with pytest.raises(ConfigError, match="no reset option"):
        env.reset(options={"hint": 1})
    with pytest.raises(ConfigError, match="reset options are a dict"):
        env.reset(options=["hint_level"])
    asked = {"problem_seed": 5, "hint_level": 1}
    env.reset(options=asked)
    assert asked == {"problem_seed": 5, "hint_level": 1}  # the caller's, left as it was


def test_a_problem_without_hints_stays_as_it_is():
    env = HintOnFailure(gym.make(ID), Failures(patience=1), hints=lambda _: [])
    bare = gym.make(ID).reset(options={"problem_seed": 5})[0]
    for _ in range(4):
        assert once(env, WRONG)[0] == bare


def test_an_episode_that_is_not_scored_is_no_failure(scripted):
    memory = Failures(patience=1)
    env = HintOnFailure(gym.make(scripted), memory, hints=two)
    once(env, "fault")
    assert memory.state_dict()["problems"] == {}
    once(env, '{"score": 0.0}')
    prompt, _, _, info = once(env, '{"score": 1.0}')
    assert prompt.endswith("Hint: first")
    assert info["verdict"].status is Status.CORRECT


def test_actions_of_the_oracle_are_hints_to_tasks_of_several_turns(scripted):
    env = HintOnFailure(gym.make(scripted), Failures(patience=1))
    once(env, '{"score": 0.0}')
    assert once(env, "fault")[0].endswith("Hint, how a right answer begins:\nhm")


def test_all_attempts_of_an_episode_are_one():
    memory = Failures(patience=2)
    env = HintOnFailure(UnaryRetry(gym.make(ID), attempts=2), memory, hints=two)
    env.reset(options={"problem_seed": 5})
    env.step(WRONG)
    assert memory.state_dict()["problems"] == {}
    env.step(env.unwrapped.instance.solution())
    assert memory.state_dict()["problems"] == {}
    with pytest.raises(ConfigError, match="inside of HintOnFailure"):
        UnaryRetry(HintOnFailure(gym.make(ID)))


def eight(posed):
    return [f"step {number}" for number in range(1, 8)]


def test_hints_by_item_response_follow_the_memory():
    memory = ItemResponse(rollouts=2, rounds=3)
    env = ItemResponseHints(gym.make(ID), memory, hints=eight)
    prompt, begun, *_ = once(env, "right")
    assert prompt.endswith("\n\nHint: step 7")
    assert begun["hint_level"] == 7
    assert once(env, "right")[1]["hint_level"] == 7
    (problem,) = memory.state_dict()["problems"]
    level = memory.level(problem, 8)
    assert level < 7
    _, begun, reward, info = once(env, WRONG)
    assert (begun["hint"], reward) == (f"Hint: step {level}", 0.0)
    assert info["verdict"].status is Status.WRONG
    assert memory.state_dict()["problems"][problem]["scores"] == [0.0]


def test_a_level_that_was_not_asked_of_the_memory_does_not_count():
    memory = ItemResponse(rollouts=1)
    env = ItemResponseHints(gym.make(ID), memory, hints=eight)
    once(env, "right", hint_level=2)
    assert memory.state_dict()["problems"] == {}


def test_a_solution_of_one_step_is_never_shown():
    env = ItemResponseHints(gym.make(ID), ItemResponse(rollouts=1), hints=lambda _: [])
    for _ in range(3):
        assert once(env, WRONG)[1]["hint_level"] == 0


def guided(*answers, task=ID, **options):
    env = GuidanceAfterFailure(gym.make(task), **options)
    env.reset(seed=3)
    right = env.unwrapped.instance.solution()
    return [env.step(right if answer == "right" else answer) for answer in answers]


def test_guidance_grows_with_each_failure():
    steps = guided(WRONG, WRONG, WRONG, "right", attempts=4, hints=two)
    told = [step[0] for step in steps[:3]]
    assert all(text.startswith("That is not right: ") for text in told)
    assert [text.rsplit("\n\n", 1)[1] for text in told] == [
        "Hint: first",
        "Hint: second",
        "Hint: second",
    ]
    _, reward, terminated, _, info = steps[-1]
    assert (reward, terminated, info["verdict"].status) == (1.0, True, Status.CORRECT)
    assert info["attempt_scores"] == (0.0, 0.0, 0.0, 1.0)
    assert info["guidance"] == tuple(told)
    assert [step[1] for step in steps] == [0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize(("answers", "earned"), [(["right"], 1.0), ([WRONG, WRONG], 0.0)])
def test_guidance_is_for_failures_only(answers, earned):
    steps = guided(*answers)
    assert steps[-1][1:3] == (earned, True)
    assert len(steps[-1][4]["guidance"]) == len(answers) - 1


@pytest.mark.parametrize("task", [ID, *PREFIXED])
def test_guidance_never_tells_the_answer(task):
    for seed in range(3):
        env = GuidanceAfterFailure(gym.make(task, difficulty=1), attempts=9)
        env.reset(seed=seed)
        posed = env.unwrapped.instance
        for _ in range(8):
            text = env.step("I give up")[0]
            assert posed.judge(text).status is not Status.CORRECT
            assert posed.solution() not in text


def test_guidance_of_ones_own(scripted):
    asked = []

    def guidance(posed, verdict, action):
        asked.append((posed.spec.id, verdict.score, action))
        return "look left"

    steps = guided("hm", '{"score": 0.0}', "hm", task=scripted, guidance=guidance)
    assert steps[1][0].startswith("look left\n\n")
    assert asked == [(scripted, 0.0, '{"score": 0.0}')]


def test_each_episode_has_its_own_guidance():
    env = GuidanceAfterFailure(gym.make(ID), guidance=lambda posed, verdict, action: action)
    for action in (WRONG, "hm"):
        env.reset(seed=3)
        env.step(action)
        assert env.step(WRONG)[4]["guidance"] == (action,)


@pytest.mark.parametrize(
    "options", [{"attempts": 0}, {"guidance": "text"}, {"hints": None, "guidance": 3}]
)
def test_arguments_of_guidance_out_of_range(options):
    with pytest.raises(ConfigError):
        GuidanceAfterFailure(gym.make(ID), **options)


def test_they_are_made_again_from_their_specs():
    memory = Failures(patience=1)
    env = HintOnFailure(gym.make(ID), memory, hints=two)
    again = gym.make(env.spec)
    once(again, WRONG)
    assert once(env, WRONG)[1]["hint_level"] == 1  # the memory is the same one


def test_the_tasks_of_these_tests_are_registered():
    assert set(PREFIXED) <= set(rlvr_envs.list_tasks())
