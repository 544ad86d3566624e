"""Held-out evaluation of what is trained, by the runner that evaluates every other policy.

The problems are those of ``rlvr eval --per-task --seed 0``: the same in every run and at every
step, and of a stream of their own ("evaluation", while training draws from "train"). A seed of both
is a chance of one in 2**53 for each pair. But a low level may have few problems, so that two seeds
pose the same one. With splits no problem is of both: what is asked is of the last split, and what
is trained on of the first. Data sets and rows are evaluated in no other way.

Wrappers take no part: what is measured is the task's own score of what the model answers to the
task's own prompt.
"""

import asyncio
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from rlvr_envs.agents.grpo.chat import Chat
from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.problems import Problems
from rlvr_envs.agents.grpo.sampling import sampler as sampling
from rlvr_envs.agents.grpo.sampling.sampler import Completion, Sampler
from rlvr_envs.agents.grpo.tracking.metrics import cell
from rlvr_envs.core.errors import ConfigError, DependencyError, RegistrationError, RlvrEnvsError
from rlvr_envs.core.seeding import draw_seed, stream
from rlvr_envs.evaluation.plan import Plan
from rlvr_envs.evaluation.policy import Policy, PolicyError, Request, Response
from rlvr_envs.evaluation.runner import Evaluation, Progress, run_plan

SAMPLED, GREEDY = "sampled", "greedy"


def held_out(
    config: Config, sampler: Sampler, chat: Chat, problems: Problems | None = None
) -> dict[str, float]:
    """Return how a sampler does on held-out problems, asked for samples and once greedily.

    Torch's global random state is as before afterwards. Where an episode could not be scored, a
    warning says why.

    Returns:
        held_out/score, the mean score at the run's temperature, and held_out/low and /high, its
        95 % interval, in which a problem's samples count as one; held_out/<task>/<difficulty>, the
        same mean by task and difficulty; held_out/pass@k, the unbiased chance that one of k samples
        has full marks, for k = 2, 4, … where that many are asked for; held_out/greedy, the mean
        score of the likeliest tokens; and held_out/unscored, the share of episodes that have no
        part in these.

    Raises:
        ConfigError: a difficulty, a knob or a request does not fit the tasks or the model.
    """
    problems = problems or Problems(config.data)
    asked = problems.questions(config.evaluation.evaluate_problems)
    plan = Plan(ids=tuple(problems.knobs), episodes=config.evaluation.evaluate_problems)
    policies = {
        SAMPLED: SamplerPolicy(SAMPLED, config, sampler, chat, config.sampling.temperature),
        GREEDY: SamplerPolicy(GREEDY, config, sampler, chat, 0.0),
    }

    def ask(name: str, samples: int) -> Evaluation:
        def follow(progress: Progress) -> None:
            if progress.record is None:  # before the first episode
                policies[name].expect(progress.total)
            else:
                policies[name].ended()

        return run_plan(
            replace(plan, samples=samples), [policies[name]], progress=follow, asked=asked
        )

    with _torch_state_kept():
        sampled = ask(SAMPLED, config.evaluation.evaluate_samples)
        greedy = ask(GREEDY, 1)
    return _numbers(sampled, greedy)


def _numbers(sampled: Evaluation, greedy: Evaluation) -> dict[str, float]:
    records = [*sampled.records, *greedy.records]
    unscored = [record for record in records if not record["scored"]]
    if unscored:
        why = unscored[0]["verdict"].get("detail")
        told = f"{len(unscored)} held-out episodes could not be scored, the first one: {why}"
        warnings.warn(told, RuntimeWarning, stacklevel=3)
    (mine,), (likeliest,) = sampled.summary["overall"], greedy.summary["overall"]
    found = {
        "held_out/unscored": len(unscored) / len(records),
        "held_out/greedy": _known(likeliest.score.mean),
        "held_out/score": _known(mine.score.mean),
        "held_out/low": _known(mine.score.low),
        "held_out/high": _known(mine.score.high),
    }
    found |= {f"held_out/pass@{k}": _known(e.mean) for k, e in mine.pass_at.items() if k > 1}
    for group in sampled.summary["task_difficulty"]:
        if group.by["task"] is not None:
            where = cell(group.by["task"], group.by["difficulty"])
            found[f"held_out/{where}"] = _known(group.score.mean)
    return found


def _known(mean: float | None) -> float:
    return float("nan") if mean is None else mean


@contextmanager
def _torch_state_kept() -> Iterator[None]:
    """Leave torch's global generators as they were: plain generate draws from them."""
    import torch

    devices = [torch.cuda.current_device()] if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=devices):
        yield


@dataclass(slots=True)
class _Talk:
    """An episode under way: all of its tokens, and whether its last action has its end token."""

    tokens: tuple[int, ...] = ()
    has_end: bool = False


class SamplerPolicy(Policy):
    """Answers as the trained model does, with its own sampler and framing.

    A conversation is kept as tokens: what was sampled is never tokenised again. Every episode is
    under way at once, and a batch is what they ask when all of them wait, so that, unlike those of
    a policy that waits for some time, batches and thus draws are the same in every evaluation.

    An episode whose context is full answers nothing from there on.
    """

    def __init__(
        self, name: str, config: Config, sampler: Sampler, chat: Chat, temperature: float
    ) -> None:
        super().__init__(name)
        self._sampler = sampler
        self._chat = chat
        self._config = config
        self._temperature = temperature
        self._running = 0  # episodes that have not ended
        self._batches = 0
        self._talks: dict[tuple[Any, ...], _Talk] = {}
        self._waiting: dict[tuple[Any, ...], tuple[Request, asyncio.Future[Response]]] = {}

    def expect(self, episodes: int) -> None:
        """Take in how many episodes there will be."""
        self._running = self.concurrency = episodes

    def ended(self) -> None:
        """Take in that an episode is over."""
        self._running -= 1
        self._answer_if_all_wait()

    def settings(self) -> dict[str, Any]:
        return {"temperature": self._temperature, "max_tokens": self._config.sampling.max_tokens}

    async def act(self, request: Request) -> Response:
        answer: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self._waiting[_key(request)] = (request, answer)
        self._answer_if_all_wait()
        return await answer

    def _answer_if_all_wait(self) -> None:
        if not self._waiting or len(self._waiting) < self._running:
            return
        waiting = [self._waiting[key] for key in sorted(self._waiting, key=repr)]
        self._waiting = {}
        # In this thread: there is nothing else to do until the tokens are there.
        try:
            responses = self._respond([request for request, _ in waiting])
        except (ConfigError, DependencyError, RegistrationError):
            raise
        except (RlvrEnvsError, OSError) as error:  # a server away; a bug or full memory is raised
            for _, answer in waiting:
                answer.set_exception(PolicyError(f"the sampler failed: {error!r}"))
            return
        for (_, answer), response in zip(waiting, responses, strict=True):
            answer.set_result(response)

    def _respond(self, requests: Sequence[Request]) -> list[Response]:
        talks = [self._heard(request) for request in requests]
        rooms = [self._config.sampling.context - len(talk.tokens) for talk in talks]
        asked = [
            sampling.Request(talk.tokens, min(self._config.sampling.max_tokens, room))
            for talk, room in zip(talks, rooms, strict=True)
            if room > 0
        ]
        self._batches += 1
        seed = draw_seed(stream("held out", self.name, self._config.seed, self._batches))
        completions: Iterator[Completion] = iter(())
        if asked:
            completions = iter(
                self._sampler.generate(asked, temperature=self._temperature, seed=seed)
            )
        return [
            self._said(talk, next(completions)) if room > 0 else Response("", "length", 0)
            for talk, room in zip(talks, rooms, strict=True)
        ]

    def _heard(self, request: Request) -> _Talk:
        """Return an episode with what was said to the model last."""
        talk = self._talks.setdefault(_key(request), _Talk())
        text = request.messages[-1]["content"]
        if request.turn == 0:
            talk.tokens = self._chat.opening(text)
            if len(talk.tokens) >= self._config.sampling.context:
                raise ConfigError(
                    f"a prompt of {request.instance.spec.id} has {len(talk.tokens)} tokens, and "
                    f"the context is {self._config.sampling.context}: raise it, or lower the "
                    "difficulty"
                )
        else:
            talk.tokens += self._chat.observation(text, finished=talk.has_end)
        return talk

    def _said(self, talk: _Talk, completion: Completion) -> Response:
        talk.tokens += completion.tokens
        last = completion.tokens[-1:]
        talk.has_end = bool(last) and last[0] in self._chat.end_tokens
        text = self._chat.text(completion.tokens)
        ending = "stop" if completion.finished else "length"
        return Response(text, ending, len(completion.tokens))


def _key(request: Request) -> tuple[Any, ...]:
    """Return what names an episode."""
    instance = request.instance
    return (
        instance.spec.id,
        instance.difficulty,
        instance.problem_seed,
        request.index,
        request.sample,
    )
