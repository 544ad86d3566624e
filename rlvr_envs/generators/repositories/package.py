"""A package with faults: its files, the hidden checks and the edits that repair it."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.repositories.functions import (
    DOMAINS,
    RECORD,
    Domain,
    Drawing,
    Function,
)
from rlvr_envs.generators.repositories.mutants import mutants
from rlvr_envs.generators.wrong_functions import defined
from rlvr_envs.verifiers.program_values import to_text

_TRIES = 40  # packages, of which nearly every one serves
_ARGUMENTS = 24  # drawn for each function
_SHOWN = _ARGUMENTS // 2  # the first ones serve visible tests, the others hidden checks
_VISIBLE = 3  # assertions of one test
_KILLS = 3  # arguments at least on which a fault shows in its own function
_PER_FAULT = 8  # hidden checks of each faulty function that fail, and that pass
_OTHERS = 12  # hidden checks of the other functions that fail, and that pass
_MOST_MODULES = 8
_FAILED = "exception"  # stands for the value of a call that raises; no function returns it


@dataclass(frozen=True, slots=True)
class File:
    """A file of a repository."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Check:
    """A hidden check: a call and its result, as typed JSON (`verifiers.program_values`)."""

    function: str  # module.function
    args: str
    expected: str


@dataclass(frozen=True, slots=True)
class Edit:
    """A text of a file, and what it has to be."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository whose tests fail.

    Attributes:
        package: the name of the package, which is a folder.
        files: all files.
        n_faults: how many functions are wrong or missing.
        depth: of the faults, each the number of calls between a function with a visible test and
            the one that is wrong; added up.
    """

    package: str
    files: tuple[File, ...]
    n_faults: int
    depth: int


@dataclass(frozen=True, slots=True)
class Repair:
    """What a repaired repository has to do, and one way to repair it.

    Attributes:
        failing: checks that fail before the repair.
        passing: checks that hold before and after it.
        edits: a repair.
    """

    failing: tuple[Check, ...]
    passing: tuple[Check, ...]
    edits: tuple[Edit, ...]


class Unfit(Exception):
    """A draw does not make a problem."""


def draw_repository(
    rng: Rng, *, n_functions: int, n_modules: int, n_faults: int, n_missing: int, depth: int
) -> tuple[Repository, Repair]:
    """Draw a repository, and its repair.

    Args:
        rng: the only source of randomness.
        n_functions: functions of the package, at least 2.
        n_modules: modules, at most 8.
        n_faults: functions with a fault.
        n_missing: functions that the README describes and that are not written yet.
        depth: how many calls should stand between a test and a fault, where the package has them.
    """
    for _ in range(_TRIES):
        try:
            return _Draft(rng, n_functions, n_modules).repository(n_faults, n_missing, depth)
        except Unfit:
            continue
    raise AssertionError(f"no repository within {_TRIES} tries")


class _Draft:
    def __init__(self, rng: Rng, n_functions: int, n_modules: int) -> None:
        self._rng = rng
        self._domain: Domain = pick(rng, DOMAINS)
        self._functions = Drawing(rng, self._domain).draw(n_functions)
        self._by_name = {function.name: function for function in self._functions}
        n_modules = min(n_modules, _MOST_MODULES, n_functions)
        self._modules = self._domain.modules[:n_modules]
        self._module = {
            function.name: self._modules[place * n_modules // n_functions]
            for place, function in enumerate(self._functions)
        }
        self._args = {f.name: self._arguments(f) for f in self._functions}
        self._right = self._results({})
        called = {name for function in self._functions for name in function.calls}
        self._tops = [f.name for f in self._functions if f.name not in called]

    def _arguments(self, function: Function) -> list[Any]:
        if function.takes == RECORD:
            return [self._record() for _ in range(_ARGUMENTS)]
        sizes = [integer(self._rng, 0, 7) for _ in range(_ARGUMENTS)]
        return [[self._record() for _ in range(size)] for size in sizes]

    def _record(self) -> tuple[str, int, int]:
        keys = self._domain.keys[:4]
        return pick(self._rng, keys), integer(self._rng, 0, 12), integer(self._rng, 0, 12)

    def _load(self, changed: Mapping[str, str]) -> dict[str, Any]:
        space: dict[str, Any] = {}
        for function in self._functions:
            source = changed.get(function.name, function.source)
            defined(ast.parse(source), function.name, space)
        return space

    def _results(self, changed: Mapping[str, str]) -> dict[str, list[str]]:
        """Return what each function gives for each of its arguments, some with other sources."""
        space = self._load(changed)
        return {
            name: [_result(space[name], argument) for argument in arguments]
            for name, arguments in self._args.items()
        }

    def _distance(self, tested: Sequence[str]) -> dict[str, int]:
        """Return for each function the fewest calls from a tested one to it."""
        found = dict.fromkeys(tested, 0)
        for function in reversed(self._functions):
            for name in function.calls if function.name in found else ():
                found[name] = min(found.get(name, 10**6), found[function.name] + 1)
        return found

    def repository(self, n_faults: int, n_missing: int, depth: int) -> tuple[Repository, Repair]:
        tested = list(self._by_name) if depth == 0 else list(self._tops)
        distance = self._distance(tested)
        deep = sorted(distance, key=lambda name: (abs(distance[name] - depth), name))
        changed: dict[str, str] = {}
        for _ in range(n_faults):
            nearest = abs(distance[deep[0]] - depth) if deep else 0
            near = [name for name in deep if abs(distance[name] - depth) <= nearest]
            if not near:
                break
            name = pick(self._rng, near)
            deep.remove(name)
            changed[name] = self._fault(name, tested)
        absent = [name for name in self._by_name if name not in changed]
        for _ in range(min(n_missing, len(absent) - 1)):
            name = pick(self._rng, absent[len(absent) // 2 :])
            absent.remove(name)
            changed[name] = self._without_body(self._by_name[name])
            if name not in tested:
                tested.append(name)
                distance[name] = 0
        if not changed:
            raise Unfit
        wrong = self._results(changed)
        if all(wrong[name][:_SHOWN] == self._right[name][:_SHOWN] for name in tested):
            raise Unfit
        failing, passing = self._checks(wrong, changed)
        repository = Repository(
            self._domain.package,
            self._files(changed, tested, wrong),
            len(changed),
            sum(distance[name] for name in changed),
        )
        edits = tuple(
            Edit(self._path(name), text, self._by_name[name].source)
            for name, text in changed.items()
        )
        return repository, Repair(failing, passing, edits)

    def _fault(self, name: str, tested: Sequence[str]) -> str:
        """Return a function's source with a fault that shows in it and in a visible test."""
        callers = [each for each in self._callers(name) if each in tested]
        choices = mutants(self._by_name[name].source)
        for place in self._rng.permutation(len(choices)).tolist():
            space = self._load({name: choices[place]})
            shows = sum(self._differs(space, name, at) for at in range(_ARGUMENTS))
            if shows >= _KILLS and any(
                self._differs(space, each, at) for each in callers for at in range(_SHOWN)
            ):
                return str(choices[place])
        raise Unfit

    def _differs(self, space: Mapping[str, Any], name: str, at: int) -> bool:
        return _result(space[name], self._args[name][at]) != self._right[name][at]

    def _callers(self, name: str) -> list[str]:
        """Return the functions that a fault of one may show in, itself among them."""
        found = [name]
        for function in self._functions:
            if any(each in found for each in function.calls):
                found.append(function.name)
        return found

    def _without_body(self, function: Function) -> str:
        head, _, _ = function.source.split("\n", 2)
        where = f"the README says what {function.name} returns"
        return f'{head}\n    """See README.md."""\n    raise NotImplementedError("{where}")'

    def _checks(
        self, wrong: Mapping[str, list[str]], changed: Mapping[str, str]
    ) -> tuple[tuple[Check, ...], tuple[Check, ...]]:
        """Return hidden checks that fail before the repair, and such that hold."""
        failing: list[Check] = []
        passing: list[Check] = []
        others: list[tuple[str, int]] = []
        for name, arguments in self._args.items():
            places = list(range(_SHOWN, len(arguments)))
            if name not in changed:
                others += [(name, place) for place in places]
                continue
            fails = [p for p in places if wrong[name][p] != self._right[name][p]]
            holds = [p for p in places if wrong[name][p] == self._right[name][p]]
            if not fails:
                raise Unfit
            failing += [self._check(name, place) for place in fails[:_PER_FAULT]]
            passing += [self._check(name, place) for place in holds[:_PER_FAULT]]
        more: tuple[list[Check], list[Check]] = ([], [])
        for at in self._rng.permutation(len(others)).tolist():
            name, place = others[at]
            holds_now = wrong[name][place] == self._right[name][place]
            if len(more[holds_now]) < _OTHERS:
                more[holds_now].append(self._check(name, place))
        if not passing and not more[True]:
            raise Unfit
        return (*failing, *more[False]), (*passing, *more[True])

    def _check(self, name: str, place: int) -> Check:
        args = to_text([self._args[name][place]])
        return Check(f"{self._module[name]}.{name}", args, self._right[name][place])

    def _path(self, name: str) -> str:
        return f"{self._domain.package}/{self._module[name]}.py"

    def _files(
        self, changed: Mapping[str, str], tested: Sequence[str], wrong: Mapping[str, list[str]]
    ) -> tuple[File, ...]:
        package = self._domain.package
        files = [File("README.md", self._readme(changed)), File(f"{package}/__init__.py", "")]
        for module in self._modules:
            own = [f for f in self._functions if self._module[f.name] == module]
            files.append(File(f"{package}/{module}.py", self._module_text(module, own, changed)))
        for module in self._modules:
            names = [name for name in self._by_name if name in tested]
            names = [name for name in names if self._module[name] == module]
            if names:
                text = self._tests(module, names, wrong)
                files.append(File(f"tests/test_{module}.py", text))
        return tuple(files)

    def _readme(self, changed: Mapping[str, str]) -> str:
        domain = self._domain
        lines = [
            f"# {domain.package}",
            "",
            (
                f"One {domain.one} is a tuple (name, {domain.first}, {domain.second}): a text and "
                "two whole numbers from 0. The docstring of each function says exactly what it "
                "returns."
            ),
            "",
            "Modules, in the order in which they may import each other:",
            "",
            *(f"- {domain.package}/{module}.py" for module in self._modules),
        ]
        missing = [name for name in changed if "NotImplementedError" in changed[name]]
        if missing:
            lines += ["", "## Functions to be written", ""]
        for name in missing:
            function = self._by_name[name]
            given = domain.one if function.takes == RECORD else domain.many
            where = f"{domain.package}/{self._module[name]}.py"
            lines.append(f"- `{name}({given})` in {where}. {function.told}")
        return "\n".join([*lines, ""])

    def _module_text(
        self, module: str, functions: Sequence[Function], changed: Mapping[str, str]
    ) -> str:
        domain = self._domain
        used = {name for function in functions for name in function.calls}
        lines = [f'"""Part of {domain.package}; see README.md."""', ""]
        for other in self._modules[: self._modules.index(module)]:
            names = sorted(name for name in used if self._module[name] == other)
            if names:
                lines.append(f"from {domain.package}.{other} import {', '.join(names)}")
        if lines[-1]:
            lines.append("")
        for function in functions:
            lines += ["", changed.get(function.name, function.source), ""]
        return "\n".join(lines)

    def _tests(self, module: str, names: Sequence[str], wrong: Mapping[str, list[str]]) -> str:
        lines = [f"from {self._domain.package}.{module} import {', '.join(sorted(names))}", ""]
        right = self._load({})
        for name in names:
            holds = [wrong[name][p] == self._right[name][p] for p in range(_SHOWN)]
            lines += ["", f"def test_{name}():"]
            # A call that fails comes first, where there is one.
            for place in sorted(range(_SHOWN), key=holds.__getitem__)[:_VISIBLE]:
                argument = self._args[name][place]
                lines.append(f"    got = {name}({argument!r})")
                lines.append(f"    assert got == {right[name](argument)!r}, got")
            lines.append("")
        return "\n".join(lines)


def _result(function: Any, argument: Any) -> str:
    try:
        return to_text(function(argument))
    except Exception:  # noqa: BLE001 - a fault may raise anything
        return _FAILED
