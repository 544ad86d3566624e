"""Training runs of the tiny model whose answers a test writes, and what they learned from."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from rlvr_envs.agents.grpo import train as loop  # noqa: E402  (as above)
from rlvr_envs.agents.grpo.batch import batch  # noqa: E402
from rlvr_envs.agents.grpo.episode import Episode, Segment  # noqa: E402
from rlvr_envs.agents.grpo.model import policy  # noqa: E402
from rlvr_envs.agents.grpo.plugins import callback, sampler  # noqa: E402
from rlvr_envs.agents.grpo.presets import preset  # noqa: E402
from rlvr_envs.agents.grpo.run import Callback  # noqa: E402
from rlvr_envs.agents.grpo.sampling.sampler import Completion  # noqa: E402
from rlvr_envs.agents.grpo.tracking.metrics import read  # noqa: E402
from rlvr_envs.curricula import Fixed, Proposal  # noqa: E402


class Scripted:
    """Says what `answer` returns for a conversation; the model says how likely that was."""

    answer = None

    def __init__(self, model, chat):
        self._model, self._chat = model, chat

    def update(self, weights, version):
        """Nothing is kept."""

    def generate(self, requests, *, temperature=1.0, seed=0):
        """Answer each request, which is told its place, for chance."""
        said = []
        for place, request in enumerate(requests):
            heard = self._chat._tokenizer.decode(request.prompt)
            tokens = self._chat.action(type(self).answer(heard, place))
            row = Episode(group=0, task="", difficulty=None, problem_seed=None)
            row.segments = [Segment(request.prompt), Segment(tokens, (0.0,) * len(tokens))]
            given = batch([row], self._chat.pad_token)
            with torch.no_grad():
                logps, _ = policy.token_logps(
                    self._model, given.ids, given.attention, wanted=given.mask
                )
            said.append(Completion(tokens, tuple(logps[given.mask].tolist()), True))
        return said


@sampler(name="scripted_for_tests")
def scripted(model, chat):
    return Scripted(model, chat)


class InTurn(Fixed):
    """Proposes one after another, over and over: problems that return."""

    def propose(self):
        self.turn = getattr(self, "turn", -1) + 1
        return self.proposals[self.turn % len(self.proposals)]


@dataclass
class Seen:
    """What a run learned from: episodes by step, inputs of the loss, and metrics."""

    batches: list = field(default_factory=list)
    inputs: list = field(default_factory=list)
    metrics: dict = field(default_factory=dict)


@callback(name="spy_for_tests")
class Spy(Callback):
    seen = Seen()

    def on_batch(self, run, episodes):
        self.seen.batches.append(list(episodes))
        return episodes


@pytest.fixture
def learn(tmp_path, monkeypatch):
    """Return what trains on `answer(what was heard, place)` and returns what it `Seen`."""

    def run(answer=None, proposals=(), name="default", **settings):
        seen = Spy.seen = Seen()
        micro_loss = loop.micro_loss

        def spied(config, inputs, tally):
            seen.inputs.append(inputs)
            return micro_loss(config, inputs, tally)

        monkeypatch.setattr(loop, "micro_loss", spied)
        if answer is not None:
            monkeypatch.setattr(Scripted, "answer", staticmethod(answer))
            settings["sampler"] = "scripted_for_tests"
        config = preset(
            name,
            **{
                "tasks": ("WordProblem-v0",),
                "difficulty": "1",
                "device": "cpu",
                "threads": 1,
                "steps": 1,
                "groups": 1,
                "group_size": 4,
                "context": 1024,
                "max_tokens": 64,
                "warmup": 0,
                "learning_rate": 1e-3,
                "save_every": 100,
                "out": str(tmp_path / "run"),
                **settings,
            },
        )
        spying = (*config.algorithm.callbacks, "spy_for_tests")
        config = config.replace(callbacks=spying)
        curriculum = InTurn([Proposal(**each) for each in proposals]) if proposals else None
        loop.train(config, curriculum=curriculum, quiet=True)
        seen.metrics = read(Path(config.output.out))
        monkeypatch.setattr(loop, "micro_loss", micro_loss)
        return seen

    return run
