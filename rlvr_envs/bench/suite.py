"""Suites: which experiments there are, and everything in them that an algorithm may not change.

A suite is a JSON file. Its hash covers everything in it, the digests of all problems and of all
start checkpoints included, so two results with the same hash are of the same benchmark.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict, TypeAdapter

from rlvr_envs.bench.results import STRICT
from rlvr_envs.core.errors import ConfigError, RlvrEnvsError, did_you_mean, did_you_mean_path
from rlvr_envs.core.problem import canonical

SPLITS = ("train", "validation", "test")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLevels:
    """Problems of one task.

    Attributes:
        task: its id.
        levels: difficulty levels, each with the same number of problems.
        knobs: settings of the task beside its level.
        answer_format: empty for the task's own.
        share: how many of the experiment's problems are of this task, relative to the others.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    task: str
    levels: tuple[int, ...]
    knobs: dict[str, Any] = field(default_factory=dict)
    answer_format: str = ""
    share: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """The problems of one split.

    Attributes:
        problems: how many there are.
        digest: SHA-256 over the seed, fingerprint and prompt of each; empty in a suite that is
            being made.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    problems: int
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How a checkpoint is made that runs begin with; its files are what counts.

    Attributes:
        train: the problems whose solutions it is taught, of the training split alone.
        hidden: the width of the model.
        layers: their number.
        vocab: the most tokens of its tokenizer.
        steps: supervised steps.
        seed: of its weights and problems.
        noise: the share of wrong solutions that it is taught.
        worked: whether solutions have their steps before the answer.
        sha256: of its files, see `starts.digest`; empty in a suite that is being made.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    train: tuple[TaskLevels, ...]
    hidden: int = 64
    layers: int = 2
    vocab: int = 400
    steps: int = 120
    seed: int = 0
    noise: float = 0.0
    worked: bool = False
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """How often the verifier of the training problems errs.

    Attributes:
        passes_wrong: the share of wrong responses that it passes.
        fails_right: the share of right responses that it fails.
    """

    passes_wrong: float = 0.0
    fails_right: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One question asked of an algorithm.

    Attributes:
        name: lower case, with underscores.
        question: what the experiment finds out, in one sentence.
        axis: the ability that it measures, such as "noise"; a radar has one spoke for each.
        train: what is trained on; the problems of the validation split are of the same kind.
        test: what is tested on; empty for the same kind as ``train``.
        splits: train, validation and test; no problem is in two of them.
        start: the checkpoint to begin with: one of the suite's, or what transformers can load.
        max_tokens: the most tokens of an action.
        context: the most tokens of an episode.
        samples: the budget of training episodes.
        tokens: the budget of tokens, sampled and trained, of the track of equal tokens.
        batch: episodes of a training step.
        settings: of the agent, where an algorithm does not say otherwise.
        fixed: settings of the agent that belong to the experiment, such as the updates of a step.
        noise: of the verifier in training; tests are judged without it.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    name: str
    question: str
    axis: str
    train: tuple[TaskLevels, ...]
    test: tuple[TaskLevels, ...] = ()
    splits: dict[str, Split]
    start: str
    max_tokens: int
    context: int
    samples: int
    tokens: int
    batch: int = 64
    settings: dict[str, Any] = field(default_factory=dict)
    fixed: dict[str, Any] = field(default_factory=dict)
    noise: Noise | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A set of experiments under one protocol.

    Attributes:
        name: with its version, such as tiny-v1.
        title: what it is for, in one line.
        status: a draft may be frozen again under a new hash; a frozen suite never changes.
        draft: the number of the draft.
        protocol: the version of the protocol (docs/benchmark.md).
        seeds: of the runs.
        fractions: of the budget, at which a run is evaluated; 0 is the start.
        responses: sampled responses to each test problem at each of these points.
        temperature: of these samples, and of those in training.
        starts: how its checkpoints were made, by name.
        experiments: at least one.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    name: str
    title: str
    status: Literal["draft", "frozen"]
    draft: int
    protocol: int
    seeds: tuple[int, ...]
    fractions: tuple[float, ...]
    responses: int
    temperature: float = 1.0
    starts: dict[str, Start] = field(default_factory=dict)
    experiments: tuple[Experiment, ...]

    @property
    def hash(self) -> str:
        """The SHA-256 of the canonical JSON of everything in the suite."""
        return hashlib.sha256(canonical(asdict(self)).encode()).hexdigest()

    def experiment(self, name: str) -> Experiment:
        """Return the experiment of a name.

        Raises:
            ConfigError: there is none.
        """
        known = {each.name: each for each in self.experiments}
        if name not in known:
            hint = did_you_mean(name, known)
            raise ConfigError(
                f"{self.name} has no experiment {name!r}{hint} (it has: {', '.join(known)})"
            )
        return known[name]


_SUITE = TypeAdapter(Suite)
SUITES = files("rlvr_envs.bench") / "suites"


def suite_names() -> list[str]:
    """Return the names of the suites of this package."""
    return sorted(
        each.name.removesuffix(".json") for each in SUITES.iterdir() if each.name.endswith(".json")
    )


def load(name: str) -> Suite:
    """Return the suite of a name, or of a file whose name ends in .json.

    Raises:
        ConfigError: there is none, or the file is not a suite.
    """
    if name.endswith(".json"):
        source: Traversable = Path(name)
    elif name in suite_names():
        source = SUITES / f"{name}.json"
    else:
        hint = did_you_mean(name, suite_names())
        raise ConfigError(f"no suite {name!r}{hint} (known: {', '.join(suite_names())})")
    try:
        return read(source.read_text(encoding="utf-8"))
    except (OSError, ValueError, RlvrEnvsError) as error:
        hint = did_you_mean_path(name) if isinstance(error, FileNotFoundError) else ""
        raise ConfigError(f"{name} is not a suite: {error}{hint}") from error


def read(text: str) -> Suite:
    """Return the suite of a JSON text.

    Raises:
        ConfigError: it holds another hash than its content has, or contradicts itself.
        ValueError: it is not JSON, or a field is missing, unknown or of the wrong type.
    """
    data = json.loads(text)
    told = data.pop("hash", None) if isinstance(data, dict) else None
    suite = _SUITE.validate_json(json.dumps(data))
    if told is not None and told != suite.hash:
        raise ConfigError(
            f"the suite {suite.name} was altered: its hash is {suite.hash}, not {told}"
        )
    _check(suite)
    return suite


def write(suite: Suite) -> str:
    """Return a suite as JSON text, with its hash."""
    return json.dumps({**asdict(suite), "hash": suite.hash}, indent=1, ensure_ascii=False) + "\n"


def _check(suite: Suite) -> None:
    names = [each.name for each in suite.experiments]
    if not names or len(set(names)) < len(names):
        raise ConfigError(f"{suite.name} needs experiments with different names, got {names}")
    if list(suite.fractions) != sorted({0.0, *suite.fractions, 1.0}):
        raise ConfigError(f"{suite.name}: fractions rise from 0 to 1, got {list(suite.fractions)}")
    for each in suite.experiments:
        if sorted(each.splits) != sorted(SPLITS):
            raise ConfigError(f"{each.name} needs the splits {SPLITS}, got {tuple(each.splits)}")
        if "wrappers" in each.fixed:
            raise ConfigError(f"{each.name}: wrappers are an algorithm's; the verifier has noise")
        if each.samples % each.batch:
            raise ConfigError(
                f"{each.name}: {each.samples} samples are no multiple of the batch {each.batch}"
            )
