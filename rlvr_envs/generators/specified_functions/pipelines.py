"""Chains of specified steps: drawn, run on sample inputs, worded, and written as Python.

Every step is kept only if it changes enough of the samples and leaves them apart, so that no step
can be left out and no constant passes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.specified_functions.definitions import definition
from rlvr_envs.generators.specified_functions.hidden_rules import RULES
from rlvr_envs.generators.specified_functions.specifications import (
    BY_KIND,
    KINDS,
    SAME_KIND,
    Operation,
)

PLAIN, BRANCH, REFERENCE, RULE = "plain", "branch", "reference", "rule"
_TRIES = 40
_LARGEST = 10**12  # of any number on the way
_LONGEST = 240  # characters of any value, written out
_SHOWN = (-13, -4, -1, 0, 1, 2, 3, 6, 10, 17, 25, 48, 86, 131)  # arguments of a rule

# What a branch may depend on: the words, the Python condition of a value v, and its test.
_CONDITIONS: dict[str, tuple[tuple[str, str, Callable[[Any], bool]], ...]] = {
    "ints": (
        ("the list has an even length", "len(v) % 2 == 0", lambda v: len(v) % 2 == 0),
        ("the sum of the numbers is even", "sum(v) % 2 == 0", lambda v: sum(v) % 2 == 0),
        (
            "the list is empty or its first number is greater than its last",
            "not v or v[0] > v[-1]",
            lambda v: not v or v[0] > v[-1],
        ),
    ),
    "words": (
        ("the list has an even length", "len(v) % 2 == 0", lambda v: len(v) % 2 == 0),
        (
            "the words have an even number of characters in total",
            "sum(map(len, v)) % 2 == 0",
            lambda v: sum(map(len, v)) % 2 == 0,
        ),
    ),
    "text": (
        ("the string has an even length", "len(v) % 2 == 0", lambda v: len(v) % 2 == 0),
        (
            "the string is empty or its first character comes before its last by code point",
            "not v or v[0] < v[-1]",
            lambda v: not v or v[0] < v[-1],
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class Step:
    """One step: the words, the Python of its right-hand side, the results, what it calls."""

    kind: str
    words: str
    source: str
    values: tuple[Any, ...]
    calls: tuple[Callable[..., Any], ...] = ()


@dataclass(slots=True)
class Pipeline:
    """The steps drawn so far, from the input on; ``kinds[i]`` and ``values[i]`` follow step i."""

    kinds: list[str]
    values: list[tuple[Any, ...]]
    steps: list[Step] = field(default_factory=list)

    def extend(self, rng: Rng, form: str, *, last: bool) -> None:
        """Add a step of a form, or of the plain form where that one does not fit."""
        for attempt in range(_TRIES):
            chosen = form if attempt < _TRIES // 2 else PLAIN
            step = _FORMS[chosen](rng, self, last)
            if step is not None and _is_telling(self.values[-1], step.values):
                self._add(step)
                return
        self._add(self._harmless(rng))

    def _add(self, step: Step) -> None:
        self.steps.append(step)
        self.kinds.append(step.kind)
        self.values.append(step.values)

    def _harmless(self, rng: Rng) -> Step:
        """Return a plain step that keeps the sizes, whatever it changes."""
        operations = BY_KIND[self.kinds[-1]]
        steps = [_applied(o, o.draw(rng), self) for o in operations if o.gives != "int"]
        fitting = [step for step in steps if _fits(step.values)]
        return pick(rng, fitting) if fitting else steps[0]

    def source(self, name: str) -> str:
        """Return Python source that defines the chain as the function ``name``."""
        called = {function.__name__: function for step in self.steps for function in step.calls}
        parts = [definition(called[key], key) for key in sorted(called)]
        takes, gives = KINDS[self.kinds[0]][0], KINDS[self.kinds[-1]][0]
        lines = [f"def {name}(v0: {takes}) -> {gives}:"]
        lines += [f"    v{i} = {step.source}" for i, step in enumerate(self.steps, start=1)]
        lines.append(f"    return v{len(self.steps)}")
        return "\n\n\n".join([*parts, "\n".join(lines)])


def _fits(values: tuple[Any, ...]) -> bool:
    return all(len(repr(v)) <= _LONGEST and _magnitude(v) <= _LARGEST for v in values)


def _magnitude(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    numbers = value if isinstance(value, list) else [value]
    return max((abs(x) for x in numbers if isinstance(x, int)), default=0)


def _is_telling(before: tuple[Any, ...], after: tuple[Any, ...]) -> bool:
    changed = sum(a != b for a, b in zip(before, after, strict=True))
    distinct = len({repr(value) for value in after})
    return changed * 3 >= len(after) and distinct * 2 > len(after) and _fits(after)


def _applied(operation: Operation, parameters: tuple[int, ...], chain: Pipeline) -> Step:
    values = tuple(operation.apply(value, *parameters) for value in chain.values[-1])
    words = operation.words.format(*parameters)
    source = _call(operation, parameters, f"v{len(chain.steps)}")
    return Step(operation.gives, words, source, values, (operation.apply,))


def _call(operation: Operation, parameters: tuple[int, ...], value: str) -> str:
    return f"{operation.apply.__name__}({', '.join([value, *map(str, parameters)])})"


def _plain(rng: Rng, chain: Pipeline, last: bool) -> Step | None:
    operation = pick(rng, BY_KIND[chain.kinds[-1]])
    if operation.gives == "int" and not last:
        return None  # nothing follows an integer
    return _applied(operation, operation.draw(rng), chain)


def _branch(rng: Rng, chain: Pipeline, last: bool) -> Step | None:
    kind = chain.kinds[-1]
    if kind not in _CONDITIONS:
        return None
    words, condition, holds = pick(rng, _CONDITIONS[kind])
    one, other = (pick(rng, SAME_KIND[kind]) for _ in range(2))
    ours, theirs = one.draw(rng), other.draw(rng)
    truth = [holds(value) for value in chain.values[-1]]
    values = tuple(
        one.apply(value, *ours) if yes else other.apply(value, *theirs)
        for value, yes in zip(chain.values[-1], truth, strict=True)
    )
    changed = [a != b for a, b in zip(chain.values[-1], values, strict=True)]
    seen = list(zip(truth, changed, strict=True))
    if one is other or min(seen.count((True, True)), seen.count((False, True))) < 2:
        return None  # both ways are taken, and both do something
    name = f"v{len(chain.steps)}"
    condition = condition.replace("(v)", f"({name})").replace(", v)", f", {name})")
    condition = condition.replace("v[", f"{name}[").replace("not v ", f"not {name} ")
    return Step(
        kind,
        f"if {words}, {one.words.format(*ours)}; otherwise {other.words.format(*theirs)}",
        f"{_call(one, ours, name)} if {condition} else {_call(other, theirs, name)}",
        values,
        (one.apply, other.apply),
    )


def _reference(rng: Rng, chain: Pipeline, last: bool) -> Step | None:
    kind, here = chain.kinds[-1], len(chain.steps)
    earlier = [i for i, other in enumerate(chain.kinds[:-1]) if other == kind]
    if not earlier or kind == "counts":
        return None
    place = pick(rng, earlier)
    named = "the input" if place == 0 else f"the result of step {place}"
    thing = "the string" if kind == "text" else "the list"
    pairs = list(zip(chain.values[-1], chain.values[place], strict=True))
    if rng.random() < 0.4:
        values = tuple(one + other for one, other in pairs)
        words = f"concatenate {thing} and {named}, {thing} first"
        return Step(kind, words, f"v{here} + v{place}", values)
    if rng.random() < 0.4:
        values = tuple(v if len(v) > len(w) else w for v, w in pairs)
        words = f"if {thing} is not longer than {named}, replace it by {named}"
        return Step(kind, words, f"v{here} if len(v{here}) > len(v{place}) else v{place}", values)
    values = tuple(_without(v, w) for v, w in pairs)
    if kind == "text":
        words = f"remove all characters that occur in {named}"
        return Step(kind, words, f'"".join(x for x in v{here} if x not in v{place})', values)
    words = f"remove all items that occur in {named}"
    return Step(kind, words, f"[x for x in v{here} if x not in v{place}]", values)


def _without(value: Any, other: Any) -> Any:
    kept = [x for x in value if x not in other]
    return "".join(kept) if isinstance(value, str) else kept


def _rule(rng: Rng, chain: Pipeline, last: bool) -> Step | None:
    if chain.kinds[-1] != "ints":
        return None
    rule, a, b = pick(rng, RULES), integer(rng, 2, 5), integer(rng, 1, 9)
    values = tuple([rule(x, a, b) for x in value] for value in chain.values[-1])
    shown = ", ".join(f"r({x}) = {rule(x, a, b)}" for x in _SHOWN)
    words = (
        "replace every number x by r(x), where r is a rule that you must find from these values: "
        f"{shown}"
    )
    source = f"[{rule.__name__}(x, {a}, {b}) for x in v{len(chain.steps)}]"
    return Step("ints", words, source, values, (rule,))


_FORMS: dict[str, Callable[[Rng, Pipeline, bool], Step | None]] = {
    PLAIN: _plain,
    BRANCH: _branch,
    REFERENCE: _reference,
    RULE: _rule,
}
