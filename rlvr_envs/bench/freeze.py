"""How a suite is made: its problems are drawn, its starts are built, and all of it is digested."""

from collections.abc import Callable
from dataclasses import replace

from rlvr_envs.bench import starts
from rlvr_envs.bench.draw import digest, draw
from rlvr_envs.bench.suite import SPLITS, Experiment, Split, Start, Suite
from rlvr_envs.core.errors import ConfigError


def freeze(
    suite: Suite, *, rebuild: bool = False, tell: Callable[[str], None] = lambda _: None
) -> Suite:
    """Return the next draft of a suite, with the digests of this version's problems and starts.

    Args:
        suite: a draft.
        rebuild: make all starts anew; otherwise only those that are missing or were changed.
        tell: is told what is done.

    Raises:
        ConfigError: the suite is frozen for good, or a task has too few problems.
    """
    if suite.status == "frozen":
        raise ConfigError(
            f"{suite.name} is frozen and never changes: copy its file to a new name, such as "
            f"{_next(suite.name)}, with the status draft"
        )
    made = {}
    for name, start in suite.starts.items():
        made[name] = start if not rebuild and _is_there(name, start) else _built(name, start, tell)
    experiments = []
    for experiment in suite.experiments:
        tell(f"problems of {experiment.name}")
        experiments.append(_drawn(experiment))
    changed = replace(suite, starts=made, experiments=tuple(experiments))
    return changed if changed == suite else replace(changed, draft=suite.draft + 1)


def _is_there(name: str, start: Start) -> bool:
    try:
        return starts.digest(starts.STARTS / name) == start.sha256
    except ConfigError:
        return False


def _built(name: str, start: Start, tell: Callable[[str], None]) -> Start:
    tell(f"start {name}: {start.steps} supervised steps")
    return starts.build(start, starts.STARTS / name)


def _drawn(experiment: Experiment) -> Experiment:
    found, seen = {}, dict[str, str]()
    for split in SPLITS:
        rows = draw(experiment, split)
        for row in rows:
            other = seen.setdefault(row["fingerprint"], split)
            if other != split:
                raise ConfigError(f"{experiment.name}: a problem of {split} is in {other} too")
        found[split] = Split(problems=len(rows), digest=digest(rows))
    return replace(experiment, splits=found)


def _next(name: str) -> str:
    stem, _, number = name.rpartition("-v")
    return f"{stem}-v{int(number) + 1}" if number.isdigit() else f"{name}-v2"
