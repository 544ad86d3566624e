"""Held-out evaluation, with samplers that answer from a script."""

import asyncio
import itertools
import re

import numpy as np
import pytest

from rlvr_envs.agents.grpo.evaluate import SamplerPolicy, held_out
from rlvr_envs.agents.grpo.presets import preset
from rlvr_envs.agents.grpo.sampling.sampler import Completion
from rlvr_envs.core.errors import ConfigError, SandboxError
from rlvr_envs.evaluation import evaluate
from rlvr_envs.evaluation.metrics import bounded_interval
from rlvr_envs.evaluation.plan import Plan, expand_ids
from rlvr_envs.evaluation.policy import Policy, Request, Response

torch = pytest.importorskip("torch")

END = 0


class Letters:
    """Frames texts as their letters: a chat without a tokenizer."""

    end_tokens = frozenset({END})

    def opening(self, prompt):
        return tuple(map(ord, f"{prompt}\n"))

    def observation(self, text, *, finished):
        return (() if finished else (END,)) + tuple(map(ord, f"\n{text}\n"))

    def text(self, tokens):
        return "".join(chr(token) for token in tokens if token != END)


class Script:
    """Answers each conversation by a function of its letters, the temperature and the seed."""

    def __init__(self, answer):
        self.answer = answer
        self.calls = []

    def generate(self, requests, *, temperature=1.0, seed=0):
        self.calls.append((list(requests), temperature, seed))
        return [self.complete(request, temperature, seed) for request in requests]

    def complete(self, request, temperature, seed):
        text = self.answer("".join(map(chr, request.prompt)), temperature, seed)
        tokens = (*map(ord, text), END)[: request.max_tokens]
        return Completion(tokens, (0.0,) * len(tokens), finished=tokens[-1] == END)

    def update(self, weights, version):
        pass


def config(*tasks, **changes):
    fields = {"difficulty": "0-1", "evaluate_problems": 4, "max_tokens": 60, "context": 6000}
    return preset(tasks=tasks, **(fields | changes))


@pytest.fixture
def answers():
    """Prompt → the oracle's answer, for the questions that a held-out evaluation asks."""

    def look_up(*tasks, levels=(0, 1), episodes=4):
        plan = Plan(ids=expand_ids(tasks), difficulties=levels, episodes=episodes)
        asked = [q.instance() for cell in plan.cells() for q in cell.questions(plan)]
        return {f"{i.prompt()}\n": str(i.solution()) for i in asked}

    return look_up


def test_scores_by_task_difficulty_and_temperature(answers):
    known = answers("Gcd-v0", "BaseConversion-v0")
    hard = answers("Gcd-v0", levels=(1,))

    def answer(prompt, temperature, _):
        if temperature == 0.0:
            return known[prompt]
        return "\\boxed{-1}" if prompt in hard else known[prompt]

    script = Script(answer)
    found = held_out(config("Gcd-v0", "BaseConversion-v0", temperature=0.7), script, Letters())
    assert found == {
        "held_out/score": 0.75,
        "held_out/low": pytest.approx(bounded_interval(0.75, 0.1118, 16)[0], abs=1e-3),
        "held_out/high": pytest.approx(0.75 + 2.1314 * 0.1118, abs=1e-3),
        "held_out/greedy": 1.0,
        "held_out/Gcd-v0/0": 1.0,
        "held_out/Gcd-v0/1": 0.0,
        "held_out/BaseConversion-v0/0": 1.0,
        "held_out/BaseConversion-v0/1": 1.0,
        "held_out/unscored": 0.0,
    }
    assert [(len(requests), heat) for requests, heat, _ in script.calls] == [(16, 0.7), (16, 0.0)]


def test_pass_at_k_of_several_samples_to_each_problem(answers):
    """Problem i is answered right in i of 4 samples; the likeliest answer is asked for once."""
    known = answers("Gcd-v0", levels=(0,))
    tries = dict.fromkeys(known, 0)

    def answer(prompt, temperature, _):
        if temperature == 0.0:
            return "no"
        tries[prompt] += 1
        return known[prompt] if tries[prompt] <= list(known).index(prompt) else "no"

    script = Script(answer)
    found = held_out(config("Gcd-v0", difficulty="0", evaluate_samples=4), script, Letters())
    assert list(tries.values()) == [4, 4, 4, 4]
    assert [(len(requests), heat) for requests, heat, _ in script.calls] == [(16, 1.0), (4, 0.0)]
    assert found["held_out/score"] == pytest.approx((0 + 1 + 2 + 3) / 16)
    # 1 - C(4 - c, k) / C(4, k) for c = 0, 1, 2, 3.
    assert found["held_out/pass@2"] == pytest.approx((0 + 3 / 6 + 5 / 6 + 1) / 4)
    assert found["held_out/pass@4"] == pytest.approx(3 / 4)
    # Four problems, not sixteen answers: 0.375 +- 3.182 * 0.161.
    assert found["held_out/low"] == 0.0
    assert found["held_out/high"] == pytest.approx(0.375 + 3.1824 * 0.16137, abs=1e-3)


def test_the_problems_are_those_of_an_evaluation_with_seed_0():
    asked = []

    def answer(prompt, *_):
        asked.append(prompt)
        return "no"

    class Notes(Policy):
        async def act(self, request):
            asked.append(request.messages[-1]["content"] + "\n")
            return Response("no")

    for seed in (0, 5):
        held_out(config("Gcd-v0", difficulty="3", seed=seed), Script(answer), Letters())
        ours = set(asked)
        asked.clear()
        evaluate("Gcd-v0", Notes("notes"), difficulty=3, episodes=4, seed=0)
        assert ours == set(asked)
        asked.clear()


def test_batches_and_draws_are_the_same_in_every_evaluation():
    def answer(prompt, temperature, seed):
        rng = np.random.default_rng(seed + len(prompt))
        return f"\\boxed{{{rng.integers(1, 4)}}}"

    runs = []
    for seed in (0, 0, 1):
        script = Script(answer)
        found = held_out(config("GuessNumber-v0", seed=seed), script, Letters())
        runs.append((found, script.calls))
    assert runs[0] == runs[1]
    assert runs[0][1][0][0] == runs[2][1][0][0], "another seed asks the same problems"
    assert runs[0][1][0][2] != runs[2][1][0][2], "but draws other answers"


def test_a_batch_has_one_order_whoever_comes_first():
    plan = Plan(ids=expand_ids(["Gcd-v0"]), difficulties=(0,), episodes=3)
    instances = [q.instance() for q in plan.cells()[0].questions(plan)]
    requests = [Request(i, ({"role": "user", "content": i.prompt()},), 0, 0) for i in instances]

    async def ask(order):
        script = Script(lambda *_: "no")
        policy = SamplerPolicy("p", config("Gcd-v0"), script, Letters(), 1.0)
        policy.expect(3)
        await asyncio.gather(*(policy.act(requests[i]) for i in order))
        return script.calls

    first = asyncio.run(ask([0, 1, 2]))
    assert len(first) == 1
    assert asyncio.run(ask([2, 0, 1])) == first


def test_a_conversation_is_kept_as_tokens():
    """Each turn begins with all tokens of the one before, and halving finds the number."""

    def answer(conversation, *_):
        low, high = map(int, re.search(r"from (\d+) to (\d+)", conversation).groups())
        for word, guess in re.findall(r"The number is (\w+) than (\d+)", conversation):
            low, high = (int(guess) + 1, high) if word == "larger" else (low, int(guess) - 1)
        return f"\\boxed{{{(low + high) // 2}}}"

    script = Script(answer)
    found = held_out(config("GuessNumber-v0", difficulty="0"), script, Letters())
    assert (found["held_out/score"], found["held_out/greedy"]) == (1.0, 1.0)
    turns = [requests for requests, heat, _ in script.calls if heat == 0.0]
    assert len(turns[0]) == 4
    assert 2 <= len(turns) <= 3, "three guesses at most, if six numbers are halved"
    for earlier, later in itertools.pairwise(turns):
        for request in later:
            assert any(request.prompt[: len(r.prompt)] == r.prompt for r in earlier)
    # The action's end token is there once, and before what the environment said.
    assert all(request.prompt.count(END) == 1 for request in turns[1])


def test_an_action_that_was_cut_off_is_closed_before_the_observation():
    script = Script(lambda *_: "\\boxed{1} and so on and so on")
    held_out(config("GuessNumber-v0", difficulty="0", max_tokens=9), script, Letters())
    second = script.calls[1][0]
    assert second
    for request in second:
        before, _, after = "".join(map(chr, request.prompt)).partition(chr(END))
        assert before.endswith("\\boxed{1}")
        assert after.startswith("\n")


def test_a_full_context_ends_what_the_model_can_say():
    lengths = []

    def answer(conversation, *_):
        lengths.append(len(conversation))
        return "\\boxed{1}" + " " * 40

    held_out(config("GuessNumber-v0", difficulty="0"), Script(answer), Letters())
    narrow = config("GuessNumber-v0", difficulty="0", context=max(lengths[:4]) + 20)
    script = Script(answer)
    found = held_out(narrow, script, Letters())
    assert (found["held_out/score"], found["held_out/unscored"]) == (0.0, 0.0)
    assert [len(requests) for requests, _, _ in script.calls] == [4, 4], "the first turn only"
    for requests, _, _ in script.calls:
        assert all(len(r.prompt) + r.max_tokens <= narrow.sampling.context for r in requests)
    too_narrow = config("GuessNumber-v0", difficulty="0", context=min(lengths))
    with pytest.raises(ConfigError, match="raise it, or lower the difficulty"):
        held_out(too_narrow, Script(answer), Letters())


def test_a_server_that_is_away_gives_no_score_and_says_so():
    class Away(Script):
        def generate(self, requests, *, temperature=1.0, seed=0):
            if temperature == 0.0:
                raise SandboxError("nobody answers")
            return super().generate(requests, temperature=temperature, seed=seed)

    with pytest.warns(RuntimeWarning, match="8 held-out episodes .*nobody answers"):
        found = held_out(config("Gcd-v0"), Away(lambda *_: "no"), Letters())
    assert found["held_out/score"] == 0.0
    assert np.isnan(found["held_out/greedy"])
    assert found["held_out/unscored"] == 0.5


@pytest.mark.parametrize("error", [ConfigError("too long"), MemoryError("full")])
def test_what_has_to_be_mended_is_raised(error):
    class Broken(Script):
        def generate(self, requests, *, temperature=1.0, seed=0):
            raise error

    with pytest.raises(type(error), match=str(error)):
        held_out(config("GuessNumber-v0"), Broken(None), Letters())


def test_torchs_random_state_is_left_alone():
    def answer(*_):
        torch.manual_seed(3)
        return f"\\boxed{{{torch.rand(1).item():.0f}}}"

    before = torch.get_rng_state()
    held_out(config("Gcd-v0"), Script(answer), Letters())
    assert torch.equal(torch.get_rng_state(), before)


def test_knobs_reach_the_tasks():
    asked = []

    def answer(prompt, *_):
        asked.append(prompt)
        return "no"

    few = config("Gcd-v0", difficulty="0", knobs=("n_numbers=7",))
    held_out(few, Script(answer), Letters())
    assert asked
    assert all(len(re.findall(r"\d+", prompt)) >= 7 for prompt in asked)
