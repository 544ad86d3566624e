"""Our training, and our whole steps, for `grpo.py`.

The loss is DAPO's with Dr. GRPO's advantages, as TRL's is told to be in `grpo_trl`: clipped at 0.8
and 1.28, averaged over the tokens of the step, without a penalty on the distance from a reference.
Weights are float32, and computing is bfloat16 on a GPU.
"""

import math
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
from grpo_clock import Clock
from grpo_models import NEVER, PAD, Workload, make_tokenizer

from rlvr_envs.agents.grpo.chat import Chat
from rlvr_envs.agents.grpo.config import Config, Data
from rlvr_envs.agents.grpo.episode import Episode, Group, Segment
from rlvr_envs.agents.grpo.learner import Learner, make_optimizer
from rlvr_envs.agents.grpo.lifecycle import make_rollout, make_sampler, refresh
from rlvr_envs.agents.grpo.model.distributed import Workers
from rlvr_envs.agents.grpo.presets import preset
from rlvr_envs.agents.grpo.problems import Problems
from rlvr_envs.agents.grpo.run import Run
from rlvr_envs.agents.grpo.tracking.metrics import Metrics
from rlvr_envs.agents.grpo.train import learn, update
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.curricula import Proposal

TASK = "Coin"


def configuration(work: Workload, *, engine: str = "slots") -> Config:
    """Return the settings that TRL is given as well."""
    return preset(
        tasks=(TASK,),
        groups=work.groups,
        group_size=work.group_size,
        max_tokens=work.tokens,
        context=work.prompt + work.tokens,
        sampler=f"slots(slots={work.slots})" if engine == "slots" else engine,
        micro_tokens=work.micro_tokens,
        correction="none",
        warmup=0,
        device=work.device,
    )


def learner(work: Workload, config: Config, *, checkpointing: bool, end: float = NEVER) -> Learner:
    """Return a model with its optimiser."""
    import torch

    model = work.model(torch.float32, end=end, checkpointing=checkpointing).train()
    return Learner(
        config=config,
        workers=Workers(work.device),
        model=model,
        reference=None,
        optimizer=make_optimizer(model, config),
        pad_token=PAD,
        bf16=work.gpu,
    )


def reward(text: str) -> float:
    """Return 0 or 1, of which either is as likely for any text."""
    return float(zlib.crc32(text.encode()) & 1)


class Update:
    """One optimiser step on a fixed batch, whose rewards alternate: no group is left out."""

    def __init__(self, work: Workload, *, checkpointing: bool) -> None:
        self.learner = learner(work, configuration(work), checkpointing=checkpointing)
        self.notes: dict[str, Any] = {}
        logp = -math.log(self.learner.model.config.vocab_size)
        self.episodes = [
            Episode(
                group=place // work.group_size,
                task=TASK,
                difficulty=None,
                problem_seed=0,
                segments=[Segment(request.prompt), Segment(answer, (logp,) * len(answer))],
                reward=float(place % 2),
                finished=True,
            )
            for place, (request, answer) in enumerate(zip(work.requests, work.answers, strict=True))
        ]

    def __call__(self, clock: Clock, seed: int) -> list[int]:
        clock.mark()
        numbers = update(self.learner, self.episodes, seed)
        clock.mark()
        self.notes = {"grad_norm": numbers["grad_norm"]}
        return [sum(episode.n_tokens for episode in self.episodes)]


class Steps:
    """Whole steps as `train` takes them: prompts, sampling, rewards, update, new weights."""

    def __init__(self, work: Workload, *, engine: str, checkpointing: bool, end: float) -> None:
        self.work = work
        self.notes: dict[str, Any] = {}
        self._folder = tempfile.TemporaryDirectory()
        config = configuration(work, engine=engine)
        tokenizer = make_tokenizer(work.size)
        parts = learner(work, config, checkpointing=checkpointing, end=end)
        chat, texts = Chat(tokenizer), work.texts()

        def make_env(task: str | None, difficulty: int | None) -> gymnasium.Env[str, str]:
            return Coin(texts)

        sampler = make_sampler(config, parts, chat)
        self.run = Run(
            config=config,
            folder=Path(self._folder.name),
            workers=parts.workers,
            tokenizer=tokenizer,
            learner=parts,
            chat=chat,
            sampler=sampler,
            rollout=make_rollout(config, make_env, sampler, chat),
            make_env=make_env,
            curriculum=Rotation(work.groups),
            problems=Problems(Data(tasks=("Gcd-v0",))),  # nobody asks for them
            source=AsProposed(),
            callbacks=[],
            metrics=Metrics(Path(self._folder.name), quiet=True),
        )

    def __call__(self, clock: Clock, seed: int) -> list[int]:
        run, work = self.run, self.work
        tokens, sampled = [], []
        prompts = sum(map(len, work.prompts)) * work.group_size
        for _ in range(1 + work.steps):
            numbers = learn(run, run.step)
            refresh(run)
            run.step += 1
            clock.mark()  # the first step is the warm-up: the clock runs from its end
            tokens.append(prompts + round(numbers["length/mean"] * work.episodes))
            sampled.append(numbers["time/sample_s"])
        del tokens[0], sampled[0]
        self.notes = {
            "sample_s": round(sum(sampled) / len(sampled), 4),
            "mean_length": round(numbers["length/mean"], 1),
            "mismatch": numbers["mismatch/mean"],
        }
        return tokens


class Coin(gymnasium.Env[str, str]):
    """Poses the benchmark's prompts and pays what `reward` says."""

    def __init__(self, prompts: Sequence[str]) -> None:
        self.prompts = prompts

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Pose the prompt of the problem's number."""
        super().reset(seed=seed)
        return self.prompts[(options or {})["problem_seed"]], {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Judge the answer."""
        paid = reward(action)
        return "", paid, True, False, {"verdict": Verdict.graded(paid), "scored": True}


class AsProposed:
    """A source whose problems are those that the curriculum names."""

    def draw(self, proposals: Sequence[Proposal], step: int, attempt: int) -> list[Proposal]:
        """Return the proposals."""
        return list(proposals)

    def record(self, group: Group) -> None:
        """Learn nothing of it."""

    def state_dict(self) -> dict[str, Any]:
        """Return nothing."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take nothing."""


class Rotation:
    """A curriculum that proposes one prompt after the other, round and round."""

    def __init__(self, prompts: int) -> None:
        self.prompts, self.next = prompts, 0

    def propose(self) -> Proposal:
        """Return the next prompt's number."""
        number, self.next = self.next, (self.next + 1) % self.prompts
        return Proposal(task=TASK, problem_seed=number)

    def record(self, *_: Any) -> None:
        """Learn nothing of it."""

    def end_step(self) -> None:
        """Do nothing."""

    def state_dict(self) -> dict[str, Any]:
        """Return where it is."""
        return {"next": self.next}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self.next = state["next"]
