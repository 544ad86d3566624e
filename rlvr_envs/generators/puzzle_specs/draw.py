"""From a specification to one puzzle: parameters, a hidden world, statements, and the answer.

A world that obeys the rules is drawn first, so that all statements about it are consistent.
Statements are then added as long as z3 finds another world with another answer (each is chosen to
be false in that world), and left out again where the answer stays determined without them.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.generators.puzzle_specs.language import Formula, SpecError
from rlvr_envs.generators.puzzle_specs.spec import Parameter, Query, Rule, Spec, Statement, Symbol
from rlvr_envs.generators.puzzle_specs.terms import Choice, negation, same, shown, truth
from rlvr_envs.solvers.packages import require

_ATTEMPTS = 12  # puzzles tried before a specification is called too hard to meet
_POOL = 16  # statements drawn from a template for each unit of its weight
_MOST_STATEMENTS = 60
_TRIED = 3  # values of an unknown, before the solver may choose
_WORK = 2_000_000  # z3's own units for one question to it, about a second
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Drawn:
    """One puzzle: its lines of text, what is asked, and the right answer as words."""

    story: str
    said: tuple[str, ...]
    question: str
    options: tuple[str, ...]
    answer: tuple[str, ...]
    form: str
    effort: int


class _NoPuzzle(Exception):
    """This attempt failed; another may succeed."""


def draw(spec: Spec, level: int, rng: Rng) -> Drawn:
    """Draw one puzzle.

    Raises:
        SpecError: a formula does not fit its values, or no puzzle was found in some attempts.
    """
    reason = ""
    for _ in range(_ATTEMPTS):
        try:
            return _Puzzle(spec, level, rng).drawn()
        except _NoPuzzle as error:
            reason = str(error)
    raise SpecError(f"{spec.name}: no puzzle in {_ATTEMPTS} attempts at level {level}: {reason}")


@dataclass(frozen=True, slots=True)
class _Stated:
    """A statement with its names bound."""

    text: str
    formula: Formula
    names: dict[str, Any]


class _Puzzle:
    """One attempt."""

    def __init__(self, spec: Spec, level: int, rng: Rng) -> None:
        self.spec, self.rng = spec, rng
        self.z3 = require("z3")
        # of its own: z3's choices depend on what a context has seen before
        self.context = self.z3.Context()
        self.known: dict[str, Any] = {"level": level}
        for parameter in spec.parameters:
            self.known[parameter.name] = self.parameter(parameter)
        self.cells: list[tuple[Any, Sequence[int]]] = []  # each unknown with its possible values
        self.unknown: dict[str, Any] = {}
        self.solver = self.new_solver()
        for symbol in spec.symbols:
            self.unknown[symbol.name] = self.symbol(symbol)
        self.terms = {**self.known, **self.unknown}
        for rule in spec.rules:
            self.assert_rule(rule)

    def new_solver(self) -> Any:
        solver = self.z3.Solver(ctx=self.context)
        solver.set("random_seed", 0)
        solver.set("rlimit", _WORK)
        return solver

    def pick(self, items: Sequence[Any]) -> Any:
        return items[integer(self.rng, 0, len(items) - 1)]

    def keys(self, formulas: tuple[Formula, ...]) -> list[Any] | None:
        """Return the elements that a name has a value for, or None if it has just one."""
        if not formulas:
            return None
        axes = [formula.value(self.known) for formula in formulas]
        for formula, axis in zip(formulas, axes, strict=True):
            if not isinstance(axis, tuple):
                raise SpecError(f"{formula.where}: {formula.text!r:.80} is not a list")
        return list(axes[0]) if len(axes) == 1 else list(itertools.product(*axes))

    def parameter(self, parameter: Parameter) -> Any:
        keys = self.keys(parameter.keys)
        if keys is None:
            return self.value_of(parameter, self.known)
        return {key: self.value_of(parameter, {**self.known, "key": key}) for key in keys}

    def value_of(self, parameter: Parameter, names: dict[str, Any]) -> Any:
        first = parameter.formulas[0]
        if parameter.kind == "integer":
            low, high = (bound.integer(names) for bound in parameter.formulas)
            if low > high:
                raise SpecError(f"{first.where}: [{low}, {high}] is empty")
            return integer(self.rng, low, high)
        if parameter.kind == "value":
            return first.value(names)
        if parameter.kind == "shuffle":
            items = self.list_of(first, names)
            size = len(items)
        else:
            items = parameter.items or self.list_of(parameter.formulas[1], names)
            size = first.integer(names)
        if not 0 <= size <= len(items):
            raise SpecError(f"{first.where}: {size} of {len(items)} items cannot be drawn")
        order = self.rng.permutation(len(items)).tolist()
        return tuple(items[i] for i in order[:size])

    def list_of(self, formula: Formula, names: dict[str, Any]) -> tuple[Any, ...]:
        items = formula.value(names)
        if not isinstance(items, tuple) or not items:
            raise SpecError(f"{formula.where}: {formula.text!r:.80} is not a list, or is empty")
        return items

    def symbol(self, symbol: Symbol) -> Any:
        keys = self.keys(symbol.keys)
        found = {key: self.cell(symbol, f"{symbol.name} {key}") for key in keys or [None]}
        if symbol.distinct and len(found) > 1:
            values = [v.index if isinstance(v, Choice) else v for v in found.values()]
            self.solver.add(self.z3.Distinct(*values))
        return found if keys is not None else found[None]

    def cell(self, symbol: Symbol, name: str) -> Any:
        if symbol.type == "boolean":
            unknown = self.z3.Bool(name, self.context)
            self.cells.append((unknown, [False, True]))
            return unknown
        unknown = self.z3.Int(name, self.context)
        labels: tuple[str, ...] = ()
        if symbol.type == "choice":
            labels = tuple(map(shown, self.list_of(symbol.domain[0], self.known)))
            low, high = 0, len(labels) - 1
        else:
            low, high = (bound.integer(self.known) for bound in symbol.domain)
            if low > high:
                raise SpecError(f"{symbol.domain[0].where}: [{low}, {high}] is empty")
        self.solver.add(unknown >= low, unknown <= high)
        self.cells.append((unknown, range(low, high + 1)))
        return Choice(unknown, labels) if symbol.type == "choice" else unknown

    def assert_rule(self, rule: Rule) -> None:
        condition = self.truth_of(rule.formula, self.terms)
        if condition is False:
            raise _NoPuzzle(f"the rule {rule.formula.text!r:.80} cannot hold")
        if condition is not True:
            self.solver.add(condition)

    def truth_of(self, formula: Formula, names: dict[str, Any]) -> Any:
        try:
            return truth(formula.value(names))
        except TypeError as error:
            raise SpecError(f"{formula.where}: {formula.text!r:.120}: {error}") from error

    def ask(self, solver: Any, *extra: Any) -> Any:
        """Return a model of what was added and of ``extra``, or None; counts z3's work."""
        if any(term is False for term in extra):
            return None
        solver.push()
        solver.add(*[term for term in extra if term is not True])
        status = solver.check()
        model = solver.model() if status == self.z3.sat else None
        solver.pop()
        if status == self.z3.unknown:
            raise _NoPuzzle("a question to the solver was too hard")
        return model

    def world(self) -> dict[str, Any]:
        """Draw a world that obeys the rules: unknown by unknown, a value that still allows one."""
        solver = self.solver
        solver.push()
        if self.ask(solver) is None:
            raise _NoPuzzle("the rules contradict each other")
        for place in self.rng.permutation(len(self.cells)).tolist():
            unknown, values = self.cells[place]
            for value in self.rng.permutation(len(values)).tolist()[:_TRIED]:
                fixed = unknown == values[value]
                if self.ask(solver, fixed) is not None:
                    solver.add(fixed)
                    break
        model = self.ask(solver)
        solver.pop()
        return self.read(model)

    def read(self, model: Any) -> dict[str, Any]:
        """Return the names with the values that a model gives the unknowns."""

        def value(unknown: Any) -> Any:
            if isinstance(unknown, dict):
                return {key: value(item) for key, item in unknown.items()}
            if isinstance(unknown, Choice):
                return Choice(value(unknown.index), unknown.labels)
            found = model.eval(unknown, model_completion=True)
            return self.z3.is_true(found) if self.z3.is_bool(found) else found.as_long()

        return {**self.known, **{name: value(item) for name, item in self.unknown.items()}}

    def bindings(self, draws: tuple[tuple[str, Formula], ...]) -> dict[str, Any]:
        """Draw the names of a statement, different ones from the same list."""
        names: dict[str, Any] = {}
        used: dict[str, list[Any]] = {}
        for name, source in draws:
            items = self.list_of(source, {**self.known, **names})
            taken = used.setdefault(str(source.text), [])
            left = [item for item in items if item not in taken]
            if not left:
                raise SpecError(f"{source.where}: more names than elements of {source.text!r:.80}")
            names[name] = self.pick(left)
            taken.append(names[name])
        return names

    def stated(self, template: Statement, tries: int, world: dict[str, Any]) -> Iterator[_Stated]:
        """Yield different conditions of a template; what it reads is read off a world."""
        seen = set()
        for _ in range(tries):
            names = self.bindings(template.draw)
            for name, formula in template.read:
                names[name] = formula.value({**world, **names})
            known = {**self.known, **names}
            if template.when is not None and self.truth_of(template.when, known) is not True:
                continue
            text = template.text.filled(known)
            if text not in seen:
                seen.add(text)
                yield _Stated(text, template.formula, names)

    def holds(self, statement: _Stated, world: dict[str, Any]) -> bool:
        return bool(self.truth_of(statement.formula, {**world, **statement.names}))

    def term(self, statement: _Stated) -> Any:
        return self.truth_of(statement.formula, {**self.terms, **statement.names})

    def drawn(self) -> Drawn:
        """Return the puzzle.

        Raises:
            _NoPuzzle: this attempt does not lead to one.
        """
        world = self.world()
        first, pool = self.true_statements(world)
        query = self.spec.query
        asked = self.bindings(query.draw)
        if query.answer is None:
            return self.choice(query, first)
        if self.spec.objective is not None:
            world, pool = self.optimum(first, self.spec.objective), []
        right = query.answer.value({**world, **asked})
        other = negation(same(query.answer.value({**self.terms, **asked}), right))
        chosen = self.determined(first, pool, other)
        question = query.text.filled({**self.known, **asked})
        answer = tuple(map(shown, right)) if isinstance(right, tuple) else (_word(right),)
        return self.put(chosen, question, (), answer, query.form)

    def true_statements(self, world: dict[str, Any]) -> tuple[list[_Stated], list[_Stated]]:
        """Return the statements that must stand there, and more that may; all are true."""
        first: list[_Stated] = []
        pool: list[_Stated] = []
        for template in self.spec.statements:
            count = template.count.integer(self.known) if template.count is not None else 0
            tries = _POOL * template.weight + 4 * count
            found = [s for s in self.stated(template, tries, world) if self.holds(s, world)]
            if len(found) < count:
                raise _NoPuzzle(f"{template.text.where}: fewer than {count} true statements")
            first += found[:count]
            pool += found[count:]
        return first, [pool[i] for i in self.rng.permutation(len(pool)).tolist()]

    def determined(self, first: list[_Stated], pool: list[_Stated], other: Any) -> list[_Stated]:
        """Return statements that leave no world with another answer, none of them idle."""
        chosen = list(first)
        solver = self.solver
        solver.push()
        for statement in chosen:
            solver.add(self.term(statement))
        while (model := self.ask(solver, other)) is not None:
            world = self.read(model)
            telling = next((s for s in pool if not self.holds(s, world)), None)
            if telling is None or len(chosen) >= _MOST_STATEMENTS:
                raise _NoPuzzle("the available statements leave more than one answer")
            pool = [statement for statement in pool if statement is not telling]
            chosen.append(telling)
            solver.add(self.term(telling))
        solver.pop()
        for statement in chosen[len(first) :]:
            fewer = [kept for kept in chosen if kept is not statement]
            if self.ask(self.solver, other, *map(self.term, fewer)) is None:
                chosen = fewer
        order = self.rng.permutation(len(chosen)).tolist()
        return [chosen[i] for i in order]

    def optimum(self, first: list[_Stated], objective: tuple[bool, Formula]) -> dict[str, Any]:
        """Return a best world under the rules and the first statements; ask for no worse one."""
        largest, formula = objective
        goal = formula.value(self.terms)
        extra = [self.term(statement) for statement in first]
        model = self.ask(self.solver, *extra)
        if model is None:
            raise _NoPuzzle("the statements contradict each other")
        world = self.read(model)
        best = formula.integer(world)
        # each world is better than the last, until there is no better
        while True:
            model = self.ask(self.solver, *extra, goal > best if largest else goal < best)
            if model is None:
                break
            world = self.read(model)
            best = formula.integer(world)
        self.solver.add(goal == best)
        return world

    def choice(self, query: Query, first: list[_Stated]) -> Drawn:
        """Return a puzzle with options, by what is true in every world or in some."""
        for statement in first:
            self.solver.add(self.term(statement))
        fitting: list[str] = []
        others: list[str] = []
        n_right = integer(self.rng, 1, query.n_options - 1) if query.several else 1
        pool = [s for template in query.options for s in self.stated(template, _POOL, {})]
        said = {statement.text for statement in first}
        for place in self.rng.permutation(len(pool)).tolist():
            option = pool[place]
            kind = fitting if self.fits(query.mode, option) else others
            limit = n_right if kind is fitting else query.n_options - n_right
            if option.text not in said and len(kind) < limit:
                kind.append(option.text)
                said.add(option.text)
            if len(fitting) + len(others) == query.n_options:
                break
        else:
            raise _NoPuzzle("too few options are right, or too few are wrong")
        order = self.rng.permutation(query.n_options).tolist()
        options = tuple((fitting + others)[i] for i in order)
        letters = tuple(_LETTERS[i] for i, text in enumerate(options) if text in fitting)
        return self.put(first, query.text.filled(self.known), options, letters, "")

    def fits(self, mode: str, option: _Stated) -> bool:
        term = self.term(option)
        if mode == "must":
            return self.ask(self.solver, negation(term)) is None
        possible = self.ask(self.solver, term) is not None
        return possible if mode == "can" else not possible

    def put(
        self,
        chosen: list[_Stated],
        question: str,
        options: tuple[str, ...],
        answer: tuple[str, ...],
        form: str,
    ) -> Drawn:
        said = [rule.text.filled(self.known) for rule in self.spec.rules if rule.text is not None]
        said += [statement.text for statement in chosen]
        story = self.spec.story.filled(self.known)
        return Drawn(story, tuple(said), question, options, answer, form, _work(self.solver))


def _word(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else shown(value)


def _work(solver: Any) -> int:
    """Return what z3 has counted in the solver's context."""
    statistics = solver.statistics()
    counted = [statistics[i] for i in range(len(statistics))]
    return next((int(value) for name, value in counted if name == "rlimit count"), 0)
