"""Ids, and how an id becomes a task.

A task registers itself with the `register` decorator, in its own file. The built-in files are
not imported to learn their ids, which would make ``import rlvr_envs`` slow: the ids are read
from the text of the decorators, and a file is imported when one of its ids is first used.
Packages of others name their modules under the entry-point group ``rlvr_envs.tasks``.
"""

import dataclasses
import importlib
import importlib.metadata
import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from rlvr_envs.core.answer import answer_format as check_answer_format
from rlvr_envs.core.errors import RegistrationError, did_you_mean
from rlvr_envs.core.task import RESERVED, InteractiveTask, Task

NAMESPACE = "rlvr"
ENTRY_POINTS = "rlvr_envs.tasks"

# Domain: the name of its mixture environment.
DOMAINS = {
    "math": "Math",
    "code": "Code",
    "np_hard": "NPHard",
    "puzzles": "Puzzle",
    "search": "Search",
    "verilog": "Verilog",
}
ALL = f"{NAMESPACE}/All-v0"

# Retired ids: why, what to use instead, and the last release that had them.
REMOVED: dict[str, str] = {}

TaskT = TypeVar("TaskT", bound=type[Task[Any, Any]])
_NAME = re.compile(r"[A-Z][A-Za-z0-9]*-v\d+", re.ASCII)
_DECORATOR = re.compile(r"^@register\(\s*\"([^\"]+)\"", re.MULTILINE)
_KNOB = re.compile(r"\{(\w+)\}")
_ENVS = "rlvr_envs.envs"


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """What is known of a registered task.

    Attributes:
        id: the full id, ``rlvr/<Name>-vN``.
        task_type: the task's class.
        domain: the domain whose mixture the task belongs to.
        answer_format: the label of the default answer format; ``{knob}`` in it stands for the
            value of a knob, as in ``fenced:{language}``.
        weight: the share of the task in its domain's mixture; 0 keeps it out.
        max_turns: the default turn limit of an interactive task; 1 for the others.
        example: knobs that make the task usable where it needs some (a path, say); documentation
            and conformance tests use them.
    """

    id: str
    task_type: type[Task[Any, Any]]
    domain: str
    answer_format: str
    weight: float
    max_turns: int
    example: Mapping[str, Any] = field(hash=False)

    @property
    def interactive(self) -> bool:
        """Whether an episode may take several turns."""
        return issubclass(self.task_type, InteractiveTask)

    def answer_format_of(self, config: object) -> str:
        """Return the label of the default answer format under a configuration."""
        return _KNOB.sub(lambda found: str(getattr(config, found[1])), self.answer_format)


_SPECS: dict[str, TaskSpec] = {}


def register(
    name: str,
    *,
    domain: str,
    answer_format: str = "boxed",
    weight: float = 1.0,
    max_turns: int = 1,
    example: Mapping[str, Any] | None = None,
) -> Callable[[TaskT], TaskT]:
    """Class decorator: file a task under ``rlvr/<name>``, for example ``"Sudoku-v0"``.

    Raises:
        RegistrationError: the name is malformed, or the id belongs to another class.
        ConfigError: the answer format does not exist.

    Examples:
        >>> from rlvr_envs import list_tasks, register
        >>> from rlvr_envs.core.registry import find
        >>> @register("MyGcd-v0", domain="math")
        ... class MyGcdTask(find("rlvr/Gcd-v0").task_type):
        ...     "A task of this package under a name of its own."
        >>> "rlvr/MyGcd-v0" in list_tasks("math")
        True
    """
    if not _NAME.fullmatch(name):
        raise RegistrationError(f"{name!r} is not a task name; names look like 'SubsetSum-v0'")
    check_answer_format(_KNOB.sub("x", answer_format))
    task_id = f"{NAMESPACE}/{name}"

    def add(task_type: TaskT) -> TaskT:
        spec = TaskSpec(
            task_id, task_type, domain, answer_format, weight, max_turns, dict(example or {})
        )
        held = _SPECS.get(task_id)
        if held is not None and _path(held.task_type) != _path(task_type):
            raise RegistrationError(f"{task_id!r} is taken by {_path(held.task_type)}")
        clash = _knobs(task_type) & set(RESERVED)
        if clash:
            raise RegistrationError(f"{task_id}: no knob may be called {min(clash)!r}")
        unknown_knobs = set(_KNOB.findall(answer_format)) - _knobs(task_type)
        if unknown_knobs:
            raise RegistrationError(f"{task_id}: no knob {min(unknown_knobs)!r} for its format")
        if task_id in mixture_ids():
            raise RegistrationError(f"{task_id!r} is the id of a domain's mixture")
        _SPECS[task_id] = spec
        return task_type

    return add


def _knobs(task_type: type[Task[Any, Any]]) -> set[str]:
    return {field.name for field in dataclasses.fields(task_type.Config)}


def _path(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


@cache
def _builtin() -> dict[str, str]:
    """Return id → module for every task file of this package, without importing one."""
    found: dict[str, str] = {}
    for domain in files(_ENVS).iterdir():
        if not domain.is_dir() or domain.name.startswith(("_", ".")):
            continue
        for source in domain.iterdir():
            if source.name.endswith(".py") and not source.name.startswith("_"):
                module = f"{_ENVS}.{domain.name}.{source.name.removesuffix('.py')}"
                for name in _DECORATOR.findall(source.read_text(encoding="utf-8")):
                    _add(found, f"{NAMESPACE}/{name}", module)
    return found


def _add(found: dict[str, str], task_id: str, module: str) -> None:
    other = found.setdefault(task_id, module)
    if other != module:
        raise RegistrationError(
            f"two task files register {task_id!r}: {other} and {module}; give one another name"
        )


@cache
def _load_entry_points() -> None:
    """Import the modules of other packages, once; a broken one is loud."""
    for entry in importlib.metadata.entry_points(group=ENTRY_POINTS):
        try:
            entry.load()
        except Exception as error:
            raise RegistrationError(
                f"the tasks {entry.name!r} of {entry.value!r} cannot be loaded: {error}"
            ) from error


def load_all() -> None:
    """Import every built-in task file and every entry point."""
    package = importlib.import_module(_ENVS)
    for info in pkgutil.walk_packages(package.__path__, f"{_ENVS}."):
        importlib.import_module(info.name)
    _load_entry_points()


def mixture_ids() -> dict[str, str | None]:
    """Return mixture id → domain; the mixture over all domains has None."""
    return {ALL: None} | {f"{NAMESPACE}/{word}-v0": name for name, word in DOMAINS.items()}


def task_ids(domain: str | None = None) -> list[str]:
    """Return the ids of the registered tasks, sorted; of one domain, if it is named.

    Raises:
        RegistrationError: no such domain.
    """
    _load_entry_points()
    known = sorted({*_builtin(), *_SPECS})
    if domain is None:
        return known
    if domain not in DOMAINS:
        hint = did_you_mean(domain, DOMAINS)
        raise RegistrationError(f"no domain {domain!r}{hint} (known: {', '.join(DOMAINS)})")
    return [task_id for task_id in known if _domain_of(task_id) == domain]


def _domain_of(task_id: str) -> str:
    module = _builtin().get(task_id)
    return module.split(".")[-2] if module else _SPECS[task_id].domain


def all_ids() -> list[str]:
    """Return every id that can be made, sorted: tasks, and mixtures that have a task."""
    tasks = task_ids()
    domains = {_domain_of(task_id) for task_id in tasks}
    mixtures = [i for i, d in mixture_ids().items() if (d in domains) or (d is None and tasks)]
    return sorted([*tasks, *mixtures])


def find(task_id: str) -> TaskSpec:
    """Return the spec of a task id; the namespace may be left out.

    Raises:
        RegistrationError: there is no such task; the message suggests the closest, or says why
            it was removed.
    """
    full = full_id(task_id)
    if full not in _SPECS and full in _builtin():
        importlib.import_module(_builtin()[full])
    if full not in _SPECS:
        _load_entry_points()
    if full not in _SPECS:
        raise unknown(full)
    return _SPECS[full]


def full_id(task_id: str) -> str:
    """Return the id with its namespace, which callers may leave out."""
    return task_id if "/" in task_id else f"{NAMESPACE}/{task_id}"


def _bare(task_id: str) -> str:
    """Return the word of an id: what all ids share would make any two of them look alike."""
    return re.sub(r"-v\d*$|[-_ ]", "", task_id.rpartition("/")[2]).casefold()


def unknown(task_id: str) -> RegistrationError:
    """Return the error for an id that is not registered."""
    if task_id in REMOVED:
        return RegistrationError(f"{task_id!r} was removed: {REMOVED[task_id]}")
    hint = did_you_mean(task_id, all_ids(), by=_bare)
    return RegistrationError(f"no environment {task_id!r}{hint} (`rlvr list` shows them all)")
