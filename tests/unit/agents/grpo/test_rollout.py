"""Groups played with scripted samplers, on real environments and on ones that break."""

import threading
from dataclasses import replace

import gymnasium
import pytest
from fakes.letters import END, Letters, Scripted

from rlvr_envs.agents.grpo.rollout import Rollout
from rlvr_envs.agents.grpo.sampling.sampler import Completion
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError, DependencyError, SandboxError
from rlvr_envs.core.source import open_source
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.curricula import Proposal
from rlvr_envs.wrappers import Horizon


def make(task, difficulty):
    return TextEnv(task or "Gcd-v0", difficulty=difficulty)


def roll(answer, *, make_env=make, **given):
    sampler = answer if isinstance(answer, Scripted) else Scripted(answer)
    sizes = {"max_tokens": 64, "context": 4000, "temperature": 0.7, **given}
    return Rollout(make_env, sampler, Letters(), **sizes)


def solutions(task, seeds, difficulty=0):
    """Return prompt → the oracle's response."""
    source = open_source(task, difficulty=difficulty)
    drawn = [source.draw(seed) for seed in seeds]
    return {instance.prompt(): instance.solution() for instance in drawn}


def played(rollout, proposals, seeds, size, *, seed):
    """Return the episodes of all groups, of problems with these seeds where none is proposed."""
    posed = [
        each if each.problem_seed is not None else replace(each, problem_seed=number)
        for each, number in zip(proposals, seeds, strict=True)
    ]
    groups = rollout.play(posed, size, seed=seed)
    assert [group.proposal for group in groups] == posed
    assert all(each.group == place for place, g in enumerate(groups) for each in g.episodes)
    return [episode for group in groups for episode in group.episodes]


GCD = Proposal(task="Gcd-v0", difficulty=0)
GUESS = Proposal(task="GuessNumber-v0", difficulty=0)


def halving(prompt):
    """Play GuessNumber by what the conversation says."""
    heard = prompt.split(" from ")[1].split(",")[0]
    low, high = map(int, heard.split(" to "))
    for told in prompt.split("The number is ")[1:]:
        word, guess = told.split(".")[0].split(" than ")
        low, high = (int(guess) + 1, high) if word == "larger" else (low, int(guess) - 1)
    return f"\\boxed{{{(low + high) // 2}}}"


def test_right_and_wrong_answers_of_two_groups():
    answers = solutions("Gcd-v0", [3])
    sampler = Scripted(lambda prompt: answers.get(prompt[:-1], "\\boxed{0}"))
    episodes = played(roll(sampler), [GCD, GCD], [3, 4], 2, seed=0)
    assert [episode.group for episode in episodes] == [0, 0, 1, 1]
    assert [episode.reward for episode in episodes] == [1, 1, 0, 0]
    assert [episode.score for episode in episodes] == [1, 1, 0, 0]
    assert [episode.turn_rewards for episode in episodes] == [[1], [1], [0], [0]]
    assert [episode.status for episode in episodes] == ["correct", "correct", "wrong", "wrong"]
    assert [episode.problem_seed for episode in episodes] == [3, 3, 4, 4]
    first = episodes[0]
    assert (first.task, first.difficulty, first.finished) == ("rlvr/Gcd-v0", 0, True)
    assert first.texts[0] == next(iter(answers.values()))
    assert first.texts[1].startswith("[correct: 1]")
    opening, action = first.segments
    assert opening.tokens == Letters().opening(next(iter(answers)))
    assert opening.logps is None
    assert action.tokens == (*map(ord, first.texts[0]), END)
    assert action.logps == tuple(-token / 7 for token in action.tokens)


def test_a_group_has_one_prompt_and_one_call_asks_for_all():
    sampler = Scripted(lambda prompt: "?")
    played(roll(sampler), [GCD, GUESS], [3, 8], 3, seed=0)
    first = sampler.calls[0]
    assert len(first) == 6
    assert len({request.prompt for request in first[:3]}) == 1
    assert len({request.prompt for request in first[3:]}) == 1
    assert first[0].prompt != first[3].prompt
    assert [len(call) for call in sampler.calls] == [6, *[3] * 3]  # a game of four tries


def test_the_samplers_seed_differs_by_turn_and_repeats():
    sampler = Scripted(lambda prompt: "?")
    rollout = roll(sampler)
    played(rollout, [GUESS], [8], 1, seed=4)
    first = list(sampler.seeds)
    assert len(set(first)) == len(first) == 4
    assert {temperature for temperature, _ in first} == {0.7}
    played(rollout, [GUESS], [8], 1, seed=4)
    assert sampler.seeds[4:] == first
    played(rollout, [GUESS], [8], 1, seed=5)
    assert not set(sampler.seeds[8:]) & set(first)


def test_a_game_of_several_turns_is_one_growing_sequence():
    sampler = Scripted(halving)
    episodes = played(roll(sampler), [GUESS] * 8, range(8), 1, seed=0)
    assert all(episode.reward == episode.score == 1 for episode in episodes)
    assert max(len(episode.actions) for episode in episodes) > 1
    solved = [(*open_source("GuessNumber-v0", difficulty=0).draw(s).solution(),) for s in range(8)]
    assert [tuple(episode.texts[:-1]) for episode in episodes] == solved
    for episode in episodes:
        assert episode.turn_rewards == [0.0] * (len(episode.actions) - 1) + [1.0]
        assert [segment.logps is None for segment in episode.segments] == (
            [True, False] * len(episode.actions)
        )
        whole = sum((segment.tokens for segment in episode.segments), ())
        for turn, call in enumerate(sampler.calls[: len(episode.actions)]):
            before = sum((s.tokens for s in episode.segments[: 2 * turn + 1]), ())
            assert before in {request.prompt for request in call}
            assert whole[: len(before)] == before


def test_a_cut_off_action_is_judged_and_closed_before_the_next():
    cut = roll(lambda prompt: "\\boxed{1}" + "x" * 99, max_tokens=9)
    episode = played(cut, [GUESS], [8], 1, seed=0)[0]
    assert not episode.finished
    assert len(episode.turn_rewards) == len(episode.actions) == 4
    assert all(segment.tokens[0] == END for segment in episode.segments[2::2])
    assert episode.texts[0] == "\\boxed{1}"
    (answer,) = solutions("Gcd-v0", [3]).values()
    right = roll(lambda prompt: answer + "x" * 99, max_tokens=len(answer))
    episode = played(right, [GCD], [3], 1, seed=0)[0]
    assert (episode.reward, episode.finished) == (1, False)
    ended = played(roll(lambda prompt: "?"), [GUESS], [8], 1, seed=0)[0]
    assert ended.finished
    assert all(segment.tokens[0] != END for segment in ended.segments[2::2])


def test_a_full_context_ends_an_episode_without_a_score():
    prompt = next(iter(solutions("GuessNumber-v0", [8])))
    opening = len(Letters().opening(prompt))
    told = len(played(roll(halving), [GUESS], [8], 1, seed=0)[0].segments[2].tokens)
    assert len(played(roll(halving), [GUESS], [8], 1, seed=0)[0].actions) > 1
    first = len(halving(prompt)) + 1
    room = opening + first + told  # the observation would fit, but not a token after it
    episode = played(roll(halving, context=room), [GUESS], [8], 1, seed=0)[0]
    assert (episode.status, episode.finished) == ("context", False)
    assert (episode.reward, episode.score) == (0, 0)
    assert (len(episode.actions), episode.segments[-1].logps is not None) == (1, True)
    assert episode.n_tokens <= room
    sampler = Scripted(halving)
    episode = played(roll(sampler, context=room + 1), [GUESS], [8], 1, seed=0)[0]
    assert len(episode.actions) == 2
    assert sampler.calls[1][0].max_tokens == 1
    assert episode.n_tokens == room + 1


def test_a_prompt_that_does_not_fit_says_what_to_do():
    opening = len(Letters().opening(next(iter(solutions("Gcd-v0", [3])))))
    with pytest.raises(ConfigError, match=rf"Gcd-v0 has {opening} tokens.*raise `context`"):
        played(roll(lambda prompt: "?", context=opening), [GCD], [3], 1, seed=0)
    episode = played(roll(lambda prompt: "?", context=opening + 1), [GCD], [3], 1, seed=0)[0]
    assert (episode.n_trained, episode.finished) == (1, False)


def test_what_a_proposal_decides_goes_before_the_defaults():
    sampler = Scripted(lambda prompt: "?")
    own = Proposal(
        task="GuessNumber-v0",
        difficulty=1,
        problem_seed=77,
        samples=3,
        horizon=2,
        response_tokens=5,
    )
    episodes = played(roll(sampler), [own, GUESS], [8, 8], 1, seed=0)
    assert [episode.problem_seed for episode in episodes] == [77, 77, 77, 8]
    assert [episode.difficulty for episode in episodes] == [1, 1, 1, 0]
    assert [len(episode.actions) for episode in episodes] == [2, 2, 2, 4]
    assert [request.max_tokens for request in sampler.calls[0]] == [5, 5, 5, 64]
    assert "limit of 2 turns" in episodes[0].texts[-1]
    assert episodes[0].info["over_turn"] == 1


def test_a_longer_horizon_leaves_the_environments_own_limit():
    long = Proposal(task="GuessNumber-v0", difficulty=0, horizon=999)
    maker = lambda task, difficulty: Horizon(make(task, difficulty), 3)  # noqa: E731
    episode = played(roll(lambda prompt: "?", make_env=maker), [long], [8], 1, seed=0)[0]
    assert len(episode.actions) == 3


def test_undecided_proposals_reach_the_maker_as_they_are():
    made = []

    def maker(task, difficulty):
        made.append((task, difficulty))
        return make(task, difficulty)

    episode = played(roll(lambda prompt: "?", make_env=maker), [Proposal()], [8], 1, seed=0)[0]
    assert made == [(None, None)]
    assert (episode.task, episode.difficulty) == ("rlvr/Gcd-v0", None)


def test_rows_and_numbers_are_posed_with_a_seed_for_wrappers():
    """A row of Gcd at one level goes through the environment of another: it says all itself."""
    source = open_source("Gcd-v0", difficulty=2)
    row = source.draw(6).to_row()
    dataset = open_source("MathDataset-v0")
    seeds = []

    class Seeds(gymnasium.Wrapper):
        def reset(self, *, seed=None, options=None):
            seeds.append(seed)
            return super().reset(seed=seed, options=options)

    maker = lambda task, difficulty: Seeds(TextEnv(task, difficulty=difficulty))  # noqa: E731
    proposals = [
        Proposal(task="Gcd-v0", difficulty=0, row=row, reset_seed=8),
        Proposal(task="MathDataset-v0", index=3, reset_seed=9),
    ]
    groups = roll(lambda prompt: "?", make_env=maker).play(proposals, 2, seed=0)
    assert [group.posed.heard[0] for group in groups] == [
        row["prompt"],
        dataset.at_index(3).prompt(),
    ]
    assert [group.arm for group in groups] == [
        ("rlvr/Gcd-v0", 2),
        ("rlvr/MathDataset-v0", None),
    ]
    assert sorted(seeds) == [8, 8, 9, 9]


def test_environments_are_made_once_for_each_task_level_and_member():
    made = []

    def maker(task, difficulty):
        made.append((task, difficulty))
        return make(task, difficulty)

    rollout = roll(lambda prompt: "?", make_env=maker)
    for step in range(3):
        played(rollout, [GCD, GUESS, GCD], [step, step, step + 9], 2, seed=step)
    assert sorted(made) == [("Gcd-v0", 0)] * 4 + [("GuessNumber-v0", 0)] * 2


class Odd(gymnasium.Wrapper):
    """Breaks as it is told."""

    made = closed = 0

    def __init__(self, env, *, reset=None, step=None, verdict=None):
        super().__init__(env)
        type(self).made += 1
        self.on_reset, self.on_step, self.verdict = reset, step, verdict

    def reset(self, *, seed=None, options=None):
        if self.on_reset and options["problem_seed"] == 3:
            raise self.on_reset
        return super().reset(seed=seed, options=options)

    def step(self, action):
        if self.on_step and self.unwrapped.instance.problem_seed == 3:
            raise self.on_step
        text, reward, terminated, truncated, info = super().step(action)
        if self.verdict:
            reward, info = 0.5, {**info, "verdict": self.verdict, "scored": self.verdict.scored}
            info["reward_parts"] = {"shape": 0.5}
        return text, reward, terminated, truncated, info

    def close(self):
        type(self).closed += 1


def odd(**faults):
    return lambda task, difficulty: Odd(make(task, difficulty), **faults)


@pytest.mark.parametrize("where", ["reset", "step"])
def test_a_broken_environment_is_left_out_and_made_anew(where):
    Odd.made = Odd.closed = 0
    rollout = roll(lambda prompt: "?", make_env=odd(**{where: RuntimeError("a cable is loose")}))
    broken, whole = played(rollout, [GCD, GCD], [3, 4], 1, seed=0)
    assert broken.reward != broken.reward
    assert broken.score != broken.score
    assert (broken.status, broken.finished) == ("verifier_error", False)
    assert "RuntimeError: a cable is loose" in broken.texts[-1]
    assert len(broken.segments) == (0 if where == "reset" else 2)
    assert (whole.reward, whole.status) == (0, "unparsable")
    assert (Odd.made, Odd.closed) == (2, 1)
    assert played(rollout, [GCD], [4], 1, seed=0)[0].status == "unparsable"
    rollout.close()
    assert (Odd.made, Odd.closed) == (3, 3)


@pytest.mark.parametrize("error", [ConfigError("a knob"), DependencyError("a compiler")])
@pytest.mark.parametrize("where", ["reset", "step"])
def test_what_the_user_has_to_mend_is_raised(where, error):
    with pytest.raises(type(error), match=str(error)):
        played(roll(lambda prompt: "?", make_env=odd(**{where: error})), [GCD], [3], 2, seed=0)


def test_an_unknown_task_is_raised():
    with pytest.raises(Exception, match="Gcdd-v0"):
        played(roll(lambda prompt: "?"), [Proposal(task="Gcdd-v0")], [3], 1, seed=0)


def test_a_verdict_that_is_not_scored_pays_nan():
    fault = Verdict.verifier_error("no sandbox")
    episode = played(roll(lambda prompt: "?", make_env=odd(verdict=fault)), [GCD], [5], 1, seed=0)[
        0
    ]
    assert episode.reward != episode.reward
    assert episode.score != episode.score
    assert episode.status == "verifier_error"
    assert episode.turn_rewards == [0.5]


def test_a_wrappers_reward_stands_beside_the_verdicts_score():
    graded = Verdict.graded(0.25, "half done", tests=3.0)
    episode = played(roll(lambda prompt: "?", make_env=odd(verdict=graded)), [GCD], [5], 1, seed=0)[
        0
    ]
    assert (episode.reward, episode.score, episode.status) == (0.5, 0.25, "partial")
    told = {"tests": 3.0, "reward/shape": 0.5, "over_turn": 0.0, "void_turn": 1.0}  # no answer
    assert episode.info == told


class Away(Scripted):
    """A server that is away in the second turn."""

    def __init__(self, answer, error):
        super().__init__(answer)
        self.error = error

    def generate(self, requests, *, temperature=1.0, seed=0):
        if self.calls:
            raise self.error
        return super().generate(requests, temperature=temperature, seed=seed)


@pytest.mark.parametrize("error", [ConnectionError("refused"), SandboxError("lost")])
def test_a_sampler_that_is_away_costs_the_episodes_that_ran(error):
    sampler = Away(lambda prompt: "?", error)
    done, lost = played(roll(sampler), [GCD, GUESS], [3, 8], 1, seed=0)
    assert (done.status, done.reward) == ("unparsable", 0)
    assert lost.status == "verifier_error"
    assert lost.reward != lost.reward
    assert len(lost.actions) == 1
    assert str(error) in lost.texts[-1]


@pytest.mark.parametrize("error", [RuntimeError("CUDA out of memory"), ConfigError("too long")])
def test_a_sampler_that_is_wrong_stops_the_training(error):
    with pytest.raises(type(error), match=str(error)):
        played(roll(Away(lambda prompt: "?", error)), [GUESS], [8], 1, seed=0)


def test_environments_run_beside_each_other():
    together = threading.Barrier(4, timeout=60)

    class Meets(gymnasium.Wrapper):
        def step(self, action):
            together.wait()
            return super().step(action)

    maker = lambda task, difficulty: Meets(make(task, difficulty))  # noqa: E731
    episodes = played(roll(lambda prompt: "?", make_env=maker, threads=4), [GCD], [3], 4, seed=0)
    assert [episode.status for episode in episodes] == ["unparsable"] * 4


def test_an_action_without_an_end_token_is_closed_even_if_it_was_finished():
    class Bare(Scripted):
        def complete(self, request):
            return Completion((ord("?"),), (-1.0,), finished=True)

    episode = played(roll(Bare(None)), [GUESS], [8], 1, seed=0)[0]
    assert episode.finished
    assert episode.segments[2].tokens[0] == END


def test_an_empty_action_is_an_action():
    class Silent(Scripted):
        def complete(self, request):
            return Completion((), (), finished=True)

    episode = played(roll(Silent(None)), [GCD], [8], 1, seed=0)[0]
    assert (episode.status, episode.n_trained, episode.texts[0]) == ("unparsable", 0, "")


@pytest.mark.parametrize("name", ["max_tokens", "context", "threads"])
def test_sizes_out_of_range_are_refused(name):
    with pytest.raises(ConfigError, match=name):
        roll(lambda prompt: "?", **{name: 0})
