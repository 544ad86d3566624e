"""Start checkpoints: small models that runs begin with, shipped as files.

The files are what counts, not how they were made: sums of floats differ between processors. Each is
a folder with a Llama in float16 and its tokenizer, which transformers can load.
"""

import hashlib
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from rlvr_envs.bench.draw import SPLIT_SHARES
from rlvr_envs.bench.suite import Experiment, Start, Suite
from rlvr_envs.core.errors import ConfigError

STARTS = Path(str(files("rlvr_envs.bench") / "starts"))
_CONTEXT = 2048
_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")


def folder_of(suite: Suite, experiment: Experiment) -> Path | str:
    """Return the folder of an experiment's start, or the name of a model that is not shipped.

    Raises:
        ConfigError: its files are missing, or not those that the suite was made with.
    """
    if experiment.start not in suite.starts:
        return experiment.start
    folder = STARTS / experiment.start
    found, wanted = digest(folder), suite.starts[experiment.start].sha256
    if found != wanted:
        raise ConfigError(
            f"the start {experiment.start} has the SHA-256 {found}, and {suite.name} was made with "
            f"{wanted}: install the version of rlvr_envs that the suite names"
        )
    return folder


def digest(folder: Path) -> str:
    """Return the SHA-256 over a checkpoint's files.

    Raises:
        ConfigError: one is missing.
    """
    found = hashlib.sha256()
    for name in _FILES:
        try:
            content = (folder / name).read_bytes()
        except OSError as error:
            raise ConfigError(f"the start in {folder} is incomplete: {error}") from error
        found.update(f"{name} {len(content)}\n".encode() + content)
    return found.hexdigest()


def build(start: Start, out: Path) -> Start:
    """Make a checkpoint by supervised learning on solved problems, and return it with its hash.

    Raises:
        ConfigError: the sizes do not fit.
        DependencyError: torch or transformers is missing.
    """
    import torch

    from rlvr_envs.agents.grpo.config import Config, Data
    from rlvr_envs.agents.grpo.demonstration import texts
    from rlvr_envs.agents.grpo.model.tiny import tiny_model
    from rlvr_envs.agents.grpo.parts import EnvMaker
    from rlvr_envs.agents.grpo.problems import Problems
    from rlvr_envs.agents.grpo.train import train
    from rlvr_envs.evaluation.local_model import load_model
    from rlvr_envs.evaluation.policy import PolicyOptions

    levels = {each.levels for each in start.train}
    if len(levels) > 1:
        raise ConfigError(f"the tasks of a start have the same levels, got {sorted(levels)}")
    tasks = tuple(
        f"{each.task}({', '.join(f'{k}={v!r}' for k, v in each.knobs.items())})"
        for each in start.train
    )
    data = Data(
        tasks=tasks, difficulty=",".join(map(str, *levels)), splits=SPLIT_SHARES, source="stream"
    )
    problems = Problems(data)
    with TemporaryDirectory() as work:
        model, tokenizer = tiny_model(
            texts(EnvMaker(tasks, (), {}), problems, worked=start.worked),
            seed=start.seed,
            hidden=start.hidden,
            layers=start.layers,
            vocab=start.vocab,
        )
        untaught = Path(work) / "untaught"
        model.save_pretrained(untaught)
        tokenizer.save_pretrained(untaught)
        config = Config(data=data).replace(
            model=str(untaught),
            out=str(Path(work) / "run"),
            seed=start.seed,
            warm_start=start.steps,
            warm_start_noise=start.noise,
            warm_start_worked=start.worked,
            steps=1,  # of which none is taken
            stop_after=start.steps,
            threads=1,
            device="cpu",
            max_tokens=1,
            context=_CONTEXT,
        )
        newest = train(config, quiet=True)
        taught, _ = load_model(str(newest), PolicyOptions(device="cpu", dtype="float32"))
    out.mkdir(parents=True, exist_ok=True)
    taught.to(torch.float16).save_pretrained(out)
    tokenizer.save_pretrained(out)
    for path in out.iterdir():
        if path.name not in _FILES:
            path.unlink()
        elif path.suffix == ".json":
            path.write_text(path.read_text(encoding="utf-8").rstrip() + "\n", encoding="utf-8")
    return replace(start, sha256=digest(out))
