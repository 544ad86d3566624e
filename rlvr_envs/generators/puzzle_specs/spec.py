"""Puzzle specifications: a YAML file, read into typed parts and checked before anything is drawn.

The parts follow PuzzleClone (arXiv:2508.15180): parameters that vary, typed unknowns, conditions
that always hold, templates of statements, and a query. `docs/puzzle_specs.md` describes the format.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import DependencyError, did_you_mean
from rlvr_envs.core.extras import hint
from rlvr_envs.core.problem import check_size
from rlvr_envs.generators.puzzle_specs.language import Formula, SpecError, Text

SHIPPED = Path(__file__).with_name("shipped")
MAX_BYTES = 200_000

_TOP = ("name", "about", "parameters", "symbols", "story", "rules", "statements", "objective")
_KINDS = ("integer", "sample", "shuffle", "value")
_TYPES = ("integer", "boolean", "choice")
_MODES = ("must", "can", "cannot")


@dataclass(frozen=True)
class Parameter:
    """A value drawn before anything else; ``keys`` makes it one value for each element."""

    name: str
    kind: str  # integer, sample, shuffle or value
    formulas: tuple[Formula, ...]  # bounds; size and list; list; or the value
    keys: tuple[Formula, ...]
    items: tuple[Any, ...] = ()  # of a sample from a written list


@dataclass(frozen=True)
class Symbol:
    """An unknown of the puzzle, one for each element of ``keys``."""

    name: str
    type: str
    domain: tuple[Formula, ...]  # the bounds of an integer, or the labels of a choice
    keys: tuple[Formula, ...]
    distinct: bool


@dataclass(frozen=True)
class Rule:
    """A condition that always holds, and its text (None if the story states it)."""

    formula: Formula
    text: Text | None


@dataclass(frozen=True)
class Statement:
    """A template of conditions: names are drawn and read, then the formula is one condition."""

    draw: tuple[tuple[str, Formula], ...]
    when: Formula | None
    formula: Formula
    text: Text
    count: Formula | None  # at least so many are stated
    weight: int
    read: tuple[tuple[str, Formula], ...]  # names whose values are read off the hidden world


@dataclass(frozen=True)
class Query:
    """What is asked: an open question with one determined answer, or a choice among statements."""

    text: Text
    draw: tuple[tuple[str, Formula], ...] = ()
    answer: Formula | None = None
    form: str = ""
    mode: str = ""  # of a choice: must, can or cannot be true
    several: bool = False  # all options that fit, rather than the one that does
    n_options: int = 4
    options: tuple[Statement, ...] = ()


@dataclass(frozen=True)
class Spec:
    """A whole specification."""

    name: str
    parameters: tuple[Parameter, ...]
    symbols: tuple[Symbol, ...]
    story: Text
    rules: tuple[Rule, ...]
    statements: tuple[Statement, ...]
    objective: tuple[bool, Formula] | None  # whether to maximise, and what
    query: Query


def shipped() -> list[str]:
    """Return the names of the specifications that come with the package."""
    return sorted(path.stem for path in SHIPPED.glob("*.yaml"))


def load(path: str) -> Spec:
    """Return the specification of a shipped name or a file.

    Raises:
        SpecError: there is no such file, or its content is wrong.
        DependencyError: PyYAML is not installed.
    """
    file = SHIPPED / f"{path}.yaml" if path in shipped() else Path(path)
    try:
        return _load(str(file), file.stat().st_mtime_ns)
    except OSError as error:
        hint = did_you_mean(path, shipped())
        raise SpecError(
            f"no specification {path!r}{hint} ({error.strerror}); shipped ones: "
            f"{', '.join(shipped())}; or give the path of a YAML file"
        ) from error


@lru_cache(maxsize=32)
def _load(file: str, changed: int) -> Spec:
    with Path(file).open("rb") as source:
        content = source.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise SpecError(f"{file}: a specification has at most {MAX_BYTES} bytes")
    return read(content.decode("utf-8", "replace"), file)


def read(text: str, where: str) -> Spec:
    """Return the specification that a YAML text holds; ``where`` names it in errors.

    Raises:
        SpecError: it is wrong somewhere.
        DependencyError: PyYAML is not installed.
    """
    try:
        import yaml
    except ImportError as error:
        raise DependencyError(f"puzzle specifications need PyYAML: {hint('solvers')}") from error

    class Plain(yaml.SafeLoader):  # type: ignore[misc]
        """YAML without aliases: some nested ones would expand to more than any memory holds."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                mark = self.peek_event().start_mark
                raise yaml.MarkedYAMLError(
                    problem="no aliases (*name): write the value out", problem_mark=mark
                )
            return super().compose_node(parent, index)

    try:
        data = yaml.load(text, Plain)  # noqa: S506 - a safe loader
        check_size(data, "the file")
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise SpecError(f"{where}: not YAML: {' '.join(str(error).split())}") from error
    return _Reader(where).spec(data)


class _Reader:
    """Turns the data of a specification into its parts; every error names its place."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.known: frozenset[str] = frozenset({"level"})

    def spec(self, data: Any) -> Spec:
        top = self.mapping(data, "", required=("name", "symbols", "story", "query"), optional=_TOP)
        parameters = tuple(
            self.parameter(name, value)
            for name, value in self.named(top.get("parameters", {}), "parameters")
        )
        symbols = tuple(self.symbol(n, v) for n, v in self.named(top["symbols"], "symbols"))
        unknown = frozenset(symbol.name for symbol in symbols)
        story = self.text(top["story"], "story", without=unknown)
        rules = tuple(
            self.rule(item, f"rules[{i}]") for i, item in enumerate(self.many(top, "rules"))
        )
        statements = tuple(
            self.statement(item, f"statements[{i}]", unknown)
            for i, item in enumerate(self.many(top, "statements"))
        )
        objective = self.objective(top.get("objective"))
        query = self.query(top["query"], unknown)
        return Spec(
            str(top["name"]), parameters, symbols, story, rules, statements, objective, query
        )

    def fail(self, place: str, reason: str) -> SpecError:
        return SpecError(f"{self.where}: {place or 'the file'}: {reason}")

    def mapping(
        self, data: Any, place: str, *, required: Collection[str] = (), optional: Collection[str]
    ) -> Mapping[str, Any]:
        if not isinstance(data, Mapping):
            raise self.fail(place, f"expected keys and values, got {data!r:.80}")
        for key in data:
            if key not in (allowed := [*required, *optional]):
                hint = did_you_mean(str(key), allowed)
                raise self.fail(place, f"no key {key!r}{hint} (known: {', '.join(allowed)})")
        for key in required:
            if key not in data:
                raise self.fail(place, f"the key {key!r} is missing")
        return data

    def named(self, data: Any, place: str) -> list[tuple[str, Any]]:
        if not isinstance(data, Mapping):
            raise self.fail(place, f"expected names and what they are, got {data!r:.80}")
        return [(self.fresh(name, place), value) for name, value in data.items()]

    def fresh(self, name: Any, place: str) -> str:
        if not isinstance(name, str) or not name.isidentifier() or name in self.known:
            raise self.fail(place, f"{name!r} is no name, or is taken")
        return name

    def many(self, data: Mapping[str, Any], key: str) -> list[Any]:
        found = data.get(key, [])
        if not isinstance(found, list):
            raise self.fail(key, f"expected a list, got {found!r:.80}")
        return found

    def formula(self, data: Any, place: str, *, extra: Collection[str] = ()) -> Formula:
        formula = Formula(data, f"{self.where}: {place}")
        formula.check_names(self.known | frozenset(extra))
        return formula

    def text(
        self,
        data: Any,
        place: str,
        *,
        extra: Collection[str] = (),
        without: frozenset[str] = frozenset(),
    ) -> Text:
        text = Text(data, f"{self.where}: {place}")
        for hole in text.holes:
            hole.check_names((self.known | frozenset(extra)) - without)
        return text

    def keys(self, data: Mapping[str, Any], place: str) -> tuple[Formula, ...]:
        found = data.get("for", [])
        items = found if isinstance(found, list) else [found]
        return tuple(self.formula(item, f"{place}.for") for item in items)

    def pair(self, data: Any, place: str) -> tuple[Formula, ...]:
        if not isinstance(data, list) or len(data) != 2:
            raise self.fail(place, f"expected [lowest, highest], got {data!r:.80}")
        return tuple(self.formula(bound, place) for bound in data)

    def parameter(self, name: str, data: Any) -> Parameter:
        place = f"parameters.{name}"
        entry = self.mapping(data, place, optional=(*_KINDS, "from", "for"))
        kinds = [kind for kind in _KINDS if kind in entry]
        if len(kinds) != 1:
            raise self.fail(place, f"expected one of {', '.join(_KINDS)}, got {list(entry)}")
        kind, keys, items = kinds[0], self.keys(entry, place), ()
        if kind == "integer":
            formulas = self.pair(entry[kind], f"{place}.{kind}")
        else:
            formulas = (self.formula(entry[kind], f"{place}.{kind}"),)
        if kind == "sample":
            source = entry.get("from")
            if isinstance(source, list) and source and all(isinstance(i, str) for i in source):
                items = tuple(source)
            elif isinstance(source, str):
                formulas += (self.formula(source, f"{place}.from"),)
            else:
                raise self.fail(f"{place}.from", f"expected a list of names, got {source!r:.80}")
        self.known |= {name}
        return Parameter(name, kind, formulas, keys, items)

    def symbol(self, name: str, data: Any) -> Symbol:
        place = f"symbols.{name}"
        entry = self.mapping(
            data, place, required=("type",), optional=("domain", "of", "for", "distinct")
        )
        kind = entry["type"]
        if kind not in _TYPES:
            raise self.fail(f"{place}.type", f"{kind!r} is not one of {', '.join(_TYPES)}")
        needed = {"integer": "domain", "choice": "of"}.get(kind)
        if needed and needed not in entry:
            raise self.fail(place, f"a symbol of type {kind} needs {needed!r}")
        domain: tuple[Formula, ...] = ()
        if kind == "integer":
            domain = self.pair(entry["domain"], f"{place}.domain")
        elif kind == "choice":
            domain = (self.formula(entry["of"], f"{place}.of"),)
        keys = self.keys(entry, place)
        distinct = entry.get("distinct", False)
        if not isinstance(distinct, bool):
            raise self.fail(f"{place}.distinct", f"expected true or false, got {distinct!r:.80}")
        self.known |= {name}
        return Symbol(name, kind, domain, keys, distinct)

    def rule(self, data: Any, place: str) -> Rule:
        entry = self.mapping(data, place, required=("formula",), optional=("text",))
        text = entry.get("text")
        return Rule(
            self.formula(entry["formula"], f"{place}.formula"),
            None if text is None else self.text(text, f"{place}.text"),
        )

    def drawn(self, data: Any, place: str) -> tuple[tuple[str, Formula], ...]:
        pairs = self.named(data or {}, f"{place}.draw")
        found = []
        for i, (name, source) in enumerate(pairs):
            earlier = [other for other, _ in pairs[:i]]
            found.append((name, self.formula(source, f"{place}.draw.{name}", extra=earlier)))
        return tuple(found)

    def statement(
        self, data: Any, place: str, unknown: frozenset[str], *, option: bool = False
    ) -> Statement:
        of_statements = () if option else ("count", "weight", "read")
        entry = self.mapping(
            data,
            place,
            required=("formula", "text"),
            optional=("draw", "when", *of_statements),
        )
        draw = self.drawn(entry.get("draw"), place)
        names = [name for name, _ in draw]
        when, count = entry.get("when"), entry.get("count")
        weight = entry.get("weight", 1)
        if type(weight) is not int or weight < 1:
            raise self.fail(f"{place}.weight", f"expected an integer from 1, got {weight!r:.80}")
        read = tuple(
            (name, self.formula(formula, f"{place}.read.{name}", extra=names))
            for name, formula in self.named(entry.get("read", {}), f"{place}.read")
        )
        names += [name for name, _ in read]
        return Statement(
            draw,
            None if when is None else self.formula(when, f"{place}.when", extra=names),
            self.formula(entry["formula"], f"{place}.formula", extra=names),
            self.text(entry["text"], f"{place}.text", extra=names, without=unknown),
            None if count is None else self.formula(count, f"{place}.count"),
            weight,
            read,
        )

    def objective(self, data: Any) -> tuple[bool, Formula] | None:
        if data is None:
            return None
        entry = self.mapping(data, "objective", optional=("maximise", "minimise"))
        if len(entry) != 1:
            raise self.fail("objective", "expected either 'maximise' or 'minimise'")
        ((way, formula),) = entry.items()
        return way == "maximise", self.formula(formula, f"objective.{way}")

    def query(self, data: Any, unknown: frozenset[str]) -> Query:
        entry = self.mapping(
            data,
            "query",
            required=("text",),
            optional=("draw", "answer", "form", "mode", "several", "n_options", "options"),
        )
        if ("answer" in entry) == ("options" in entry):
            raise self.fail("query", "expected either 'answer' (an open question) or 'options'")
        draw = self.drawn(entry.get("draw"), "query")
        names = [name for name, _ in draw]
        text = self.text(entry["text"], "query.text", extra=names, without=unknown)
        if "answer" in entry:
            answer = self.formula(entry["answer"], "query.answer", extra=names)
            return Query(text, draw, answer, form=str(entry.get("form", "")))
        if draw or "form" in entry:
            raise self.fail("query", "'draw' and 'form' belong to an open question")
        mode, n_options = entry.get("mode", "must"), entry.get("n_options", 4)
        if mode not in _MODES:
            raise self.fail("query.mode", f"{mode!r} is not one of {', '.join(_MODES)}")
        if type(n_options) is not int or not 2 <= n_options <= 26:
            raise self.fail("query.n_options", f"expected 2 to 26, got {n_options!r:.80}")
        options = tuple(
            self.statement(item, f"query.options[{i}]", unknown, option=True)
            for i, item in enumerate(self.many(entry, "options"))
        )
        several = entry.get("several", False)
        if not options or not isinstance(several, bool):
            raise self.fail("query", "a choice needs options, and 'several' is true or false")
        return Query(text, mode=mode, several=several, n_options=n_options, options=options)
