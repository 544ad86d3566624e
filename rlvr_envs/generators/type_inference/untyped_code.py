"""Random functions without annotations whose types follow from what is done with the values.

Every statement adds facts about the types in it. A module is finished when the facts force the
type of every parameter and result; until then, statements that pin a parameter down are added.
"""

from dataclasses import dataclass, field
from typing import Protocol

from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.type_inference.solver import (
    BOOL,
    INT,
    STR,
    Fact,
    Solution,
    Type,
    depth,
    is_known,
)

_WORDS = ("ab", "key", "no", "left", "x", "total", "up")
_TRIES = 30
_BRACKETS = {"list": "[{}]", "set": "{{{}}}", "dict": "{{{}}}", "tuple": "({})"}


def draw_type(rng: Rng, levels: int) -> Type:
    """Draw a type of at most so many levels of constructors."""
    if levels == 0 or rng.random() < 0.25:
        return pick(rng, (INT, INT, STR, STR, BOOL))
    name = pick(rng, ("list", "list", "set", "dict", "tuple"))
    if name == "tuple":
        return ("tuple", draw_type(rng, levels - 1), draw_type(rng, levels - 1))
    if name == "list":
        return ("list", draw_type(rng, levels - 1))
    key = pick(rng, (INT, STR, ("tuple", STR, INT)) if levels > 1 else (INT, STR))
    return ("set", key) if name == "set" else ("dict", key, draw_type(rng, levels - 1))


class Size(Protocol):
    """What a function is drawn by."""

    @property
    def n_statements(self) -> int:
        """How many statements are drawn."""

    @property
    def max_depth(self) -> int:
        """How deep types are nested."""


@dataclass(slots=True)
class Draft:
    """A function in the making.

    Attributes:
        name: of the function.
        params: the names of its parameters.
        types: the true type of each variable in sight.
        lines: of the body, indented from 0.
        facts: what the body says about types; variables are called ``function.variable``.
        returns: the true type of the result, once there is one.
        result: the expression after `return`.
        count: how many variables were made.
    """

    name: str
    params: tuple[str, ...]
    types: dict[str, Type]
    max_depth: int
    lines: list[str] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    returns: Type = INT
    result: str = ""
    count: int = 0

    def text(self) -> str:
        """Return the function as Python source."""
        body = [*self.lines, f"return {self.result}"]
        return "\n    ".join([f"def {self.name}({', '.join(self.params)}):", *body])

    def of(self, variable: str) -> Type:
        """Return the type variable of a variable."""
        return f"{self.name}.{variable}"

    def fresh(self, kind: Type) -> str:
        """Declare a variable."""
        self.count += 1
        name = f"x{self.count}"
        self.types[name] = kind
        return name

    def same(self, one: Type, other: Type) -> None:
        """Note that two types are one."""
        self.facts.append(("same", one, other))

    def let(self, kind: Type, expression: str, known: Type | None = None) -> str:
        """Declare a variable with a value, whose type ``known`` gives as far as it is plain."""
        name = self.fresh(kind)
        self.lines.append(f"{name} = {expression}")
        if known is not None:
            self.same(self.of(name), known)
        return name

    def others(self, kind: Type, but: str = "") -> list[str]:
        """Return the other variables of a type."""
        return [name for name, other in self.types.items() if other == kind and name != but]

    def block(self, head: str) -> "Block":
        """Open a block under a line."""
        return Block(self, head)


class Block:
    """An indented block; its variables go out of sight at its end."""

    def __init__(self, draft: Draft, head: str) -> None:
        self._draft, self._head = draft, head

    def __enter__(self) -> None:
        self._seen = dict(self._draft.types)
        self._start = len(self._draft.lines)
        self._draft.lines.append(self._head)

    def __exit__(self, *_: object) -> None:
        draft = self._draft
        body = draft.lines[self._start + 1 :] or ["pass"]
        draft.lines[self._start + 1 :] = [f"    {line}" for line in body]
        draft.types = {name: kind for name, kind in draft.types.items() if name in self._seen}


def build(rng: Rng, draft: Draft, kind: Type, but: str = "") -> tuple[str, Type]:
    """Return an expression of a type, and what is plain of its type; ``but`` stays out of it."""
    there = draft.others(kind, but)
    if there and rng.random() < 0.8:
        name = pick(rng, there)
        return name, draft.of(name)
    head = str(kind[0])
    parts = [build(rng, draft, inner, but) for inner in kind[1:]]
    if not parts:
        return _literal(rng, head), kind
    text = (": " if head == "dict" else ", ").join(part for part, _ in parts)
    return _BRACKETS[head].format(text), (head, *(plain for _, plain in parts))


def _literal(rng: Rng, head: str) -> str:
    if head == "int":
        return str(integer(rng, 2, 40))
    return f'"{pick(rng, _WORDS)}"' if head == "str" else pick(rng, ("True", "False"))


def relate(rng: Rng, draft: Draft, name: str) -> None:
    """Use a variable together with a value of the same type, which says no more than that."""
    kind = draft.types[name]
    text, plain = build(rng, draft, kind, name)
    draft.same(draft.of(name), plain)
    form = integer(rng, 0, 3)
    if form == 0 and kind in (INT, STR):
        draft.let(BOOL, f"{name} < {text}", BOOL)
    elif form == 1 and (kind in (INT, STR) or kind[0] == "list"):
        draft.let(kind, f"{name} + {text}", draft.of(name))
    elif form == 2 and depth(kind) < draft.max_depth:
        draft.let(("list", kind), f"[{text}, {name}]", ("list", plain))
    else:
        draft.let(BOOL, f"{name} == {text}", BOOL)


def take_apart(rng: Rng, draft: Draft, name: str) -> None:
    """Use a variable in a way that only its own constructor allows, and its parts likewise."""
    kind, own = draft.types[name], draft.of(name)
    head = str(kind[0])
    if head in _PINS:
        expression, result = pick(rng, _PINS[head])
        draft.same(own, kind)
        draft.let(result, expression.format(name, integer(rng, 2, 9)), result)
    elif head == "tuple":
        first, second = draft.fresh(kind[1]), draft.fresh(kind[2])
        draft.lines.append(f"{first}, {second} = {name}")
        draft.same(own, ("tuple", draft.of(first), draft.of(second)))
        _go_on(rng, draft, (first, second))
    elif head == "dict":
        key, value = draft.fresh(kind[1]), draft.fresh(kind[2])
        draft.same(own, ("dict", draft.of(key), draft.of(value)))
        with draft.block(f"for {key}, {value} in {name}.items():"):
            _go_on(rng, draft, (key, value))
        del draft.types[key], draft.types[value]
    else:
        item = draft.fresh(kind[1])
        draft.facts.append(("each", own, draft.of(item)))
        with draft.block(f"for {item} in {name}:"):
            _go_on(rng, draft, (item,))
        del draft.types[item]
        text, plain = build(rng, draft, kind[1], name)
        draft.same(own, (head, plain))
        draft.lines.append(f"{name}.{'append' if head == 'list' else 'add'}({text})")


# By type: expressions that fit no other type, with the type of their value.
_PINS: dict[str, tuple[tuple[str, Type], ...]] = {
    "int": (("{0} - {1}", INT), ("{0} // {1}", INT), ("{0} * {1}", INT), ("{0} % {1}", INT)),
    "str": (
        ("{0}.upper()", STR),
        ("{0}.strip()", STR),
        ('{0}.split(",")', ("list", STR)),
        ('{0}.startswith("a")', BOOL),
    ),
    "bool": (("not {0}", BOOL),),
}


def _go_on(rng: Rng, draft: Draft, names: tuple[str, ...]) -> None:
    for name in names:
        use = take_apart if rng.random() < 0.6 else relate
        use(rng, draft, name)


def derive(rng: Rng, draft: Draft, name: str) -> None:
    """Make a new value from a variable in a way that several types would allow."""
    kind, own = draft.types[name], draft.of(name)
    head, form = str(kind[0]), integer(rng, 0, 2)
    if head in ("list", "dict") and form == 0:
        text, plain = build(rng, draft, INT if head == "list" else kind[1], name)
        made = draft.let(kind[-1], f"{name}[{text}]")
        draft.facts.append(("item", own, plain, draft.of(made)))
    elif head in ("list", "set", "dict") and form == 1 and kind[1] in (INT, STR):
        made = draft.let(("list", kind[1]), f"sorted({name})")
        item = draft.of(f"{made}[]")
        draft.same(draft.of(made), ("list", item))
        draft.facts.append(("each", own, item))
    elif head in ("list", "set", "dict"):
        text, plain = build(rng, draft, kind[1], name)
        draft.let(BOOL, f"{text} in {name}", BOOL)
        draft.facts.append(("each", own, plain))
    elif depth(kind) < draft.max_depth and form == 0:
        second = pick(rng, (INT, STR))
        text, plain = build(rng, draft, second, name)
        draft.let(("tuple", kind, second), f"({name}, {text})", ("tuple", own, plain))
    elif form == 2:
        draft.let(STR, f"str({name})", STR)
    else:
        relate(rng, draft, name)


def call(rng: Rng, draft: Draft, callee: Draft) -> None:
    """Call another function."""
    texts = []
    for param in callee.params:
        text, plain = build(rng, draft, callee.types[param])
        draft.same(plain, callee.of(param))
        texts.append(text)
    draft.let(callee.returns, f"{callee.name}({', '.join(texts)})", callee.of("return"))


def draw_function(
    rng: Rng, name: str, params: tuple[str, ...], size: Size, callees: list[Draft]
) -> Draft:
    """Draw a function without its result; its types may still be open."""
    types = {param: draw_type(rng, size.max_depth) for param in params}
    draft = Draft(name, params, types, size.max_depth)
    for callee in callees:
        call(rng, draft, callee)
    for place in range(size.n_statements):
        chosen = params[place % len(params)] if place % 2 else pick(rng, tuple(draft.types))
        pick(rng, (derive, derive, relate))(rng, draft, chosen)
    return draft


def finish(rng: Rng, draft: Draft) -> None:
    """Choose the result of a function: a value made in it, or a pair of one and any other."""
    made = [name for name in draft.types if name not in draft.params] or list(draft.params)
    one = pick(rng, made)
    other = pick(rng, [name for name in draft.types if name != one] or made)
    plain: Type
    if max(depth(draft.types[one]), depth(draft.types[other])) < draft.max_depth:
        draft.returns = ("tuple", draft.types[one], draft.types[other])
        draft.result, plain = f"({one}, {other})", ("tuple", draft.of(one), draft.of(other))
    else:
        draft.returns, draft.result, plain = draft.types[one], one, draft.of(one)
    draft.same(draft.of("return"), plain)


def settle(rng: Rng, drafts: list[Draft], indirect: float) -> Solution:
    """Add statements until the types of all parameters follow, and return what follows."""
    apart: set[tuple[str, str]] = set()
    related = 0
    while True:
        solution = Solution(fact for draft in drafts for fact in draft.facts)
        unknown = [
            (draft, param)
            for draft in drafts
            for param in draft.params
            if not is_known(solution.of(draft.of(param)))
        ]
        if not unknown:
            return solution
        draft, param = pick(rng, unknown)
        if related < _TRIES and rng.random() < indirect:
            related += 1
            relate(rng, draft, param)
        elif (draft.name, param) not in apart:
            apart.add((draft.name, param))
            take_apart(rng, draft, param)
        else:
            _compare_with_literal(rng, draft, param)


def _compare_with_literal(rng: Rng, draft: Draft, name: str) -> None:
    """Pin a variable down for certain."""
    known, draft.types = draft.types, {}
    text, plain = build(rng, draft, known[name])
    draft.types = known
    draft.same(draft.of(name), plain)
    draft.let(BOOL, f"{name} == {text}", BOOL)
