"""Sequents of propositional logic, drawn at random, with proofs that a search finds.

The search is Gentzen's LJ read from the conclusion upwards: what loses nothing is done at once, the
rest is tried by iterative deepening, and a sequent that comes again on its own branch is given up
(Troelstra and Schwichtenberg, "Basic Proof Theory", 2000, chapter 4). What holds only classically
is proved after cases over atoms.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.proofs.statements import Proved, checked
from rlvr_envs.verifiers.proofs.backend import Statement
from rlvr_envs.verifiers.proofs.kernel import FALSE, TRUE, Expr, implies, negation
from rlvr_envs.verifiers.proofs.notation import fresh, show

_MOST_NODES = 150
_MOST_DEPTH = 6
_LETTERS = "pqrstuvwxyz"


class _TooHard(Exception):
    """The search has looked at as many sequents as it may."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How large sequents are.

    Attributes:
        n_atoms: propositions.
        n_hypotheses: formulas at hand.
        n_connectives: of each formula at most.
        n_draws: sequents of which the one with the longest proof is taken.
        classical: whether only sequents that need the excluded middle are drawn.
    """

    n_atoms: int
    n_hypotheses: int
    n_connectives: int
    n_draws: int
    classical: bool


def draw_sequent(rng: Rng, shape: Shape) -> Proved:
    """Return a sequent that holds, none of whose hypotheses can be left out."""
    best: Proved | None = None
    found = 0
    while found < shape.n_draws or best is None:
        made = _draw(rng, shape)
        if made is None:
            continue
        found += 1
        if best is None or len(made.proof) > len(best.proof):
            best = made
    return best


def _draw(rng: Rng, shape: Shape) -> Proved | None:
    letters = [
        _LETTERS[i] for i in sorted(rng.permutation(len(_LETTERS))[: shape.n_atoms].tolist())
    ]
    tables = _tables(letters)
    every = (1 << (1 << len(letters))) - 1
    hypotheses = list[Expr]()
    for _ in range(shape.n_hypotheses):
        hypotheses.append(_formula(rng, letters, integer(rng, 1, shape.n_connectives)))
    known = [_table(each, tables, every) for each in hypotheses]
    both = every
    for table in known:
        both &= table
    if not both or (hypotheses and both == every):
        return None
    for _ in range(30):
        least = shape.n_connectives if not hypotheses else (1 if shape.n_connectives > 2 else 0)
        goal = _formula(rng, letters, integer(rng, least, max(least, shape.n_connectives)))
        table = _table(goal, tables, every)
        if both & ~table & every or (hypotheses and table == every) or goal in hypotheses:
            continue
        if all(_rest(known, i, every) & ~table & every for i in range(len(known))):
            return _proved(letters, hypotheses, goal, classical=shape.classical)
    return None


def _refuted(hypotheses: Sequence[Expr], goal: Expr, letters: Sequence[str]) -> bool:
    """Return whether Gödel's logic of three values refutes a sequent.

    What it refutes has no intuitionistic proof, so that a proof needs the excluded middle.
    """
    for values in itertools.product((0, 1, 2), repeat=len(letters)):
        row = dict(zip(letters, values, strict=True))
        if min((_of_three(each, row) for each in hypotheses), default=2) > _of_three(goal, row):
            return True
    return False


def _of_three(formula: Expr, row: Mapping[str, int]) -> int:
    if formula.op == "atom":
        return row[formula.name]
    if not formula.args:
        return 2 * (formula.op == "⊤")
    left, right = (_of_three(arg, row) for arg in formula.args)
    match formula.op:
        case "∧":
            return min(left, right)
        case "∨":
            return max(left, right)
        case "→":
            return 2 if left <= right else right
    return 2 if left == right else min(left, right)


def _rest(known: Sequence[int], without: int, every: int) -> int:
    both = every
    for i, table in enumerate(known):
        if i != without:
            both &= table
    return both


def _proved(
    letters: Sequence[str], hypotheses: Sequence[Expr], goal: Expr, *, classical: bool
) -> Proved | None:
    names = [f"h{i + 1}" for i in range(len(hypotheses))] if len(hypotheses) > 1 else ["h"]
    named = dict(zip(names, hypotheses, strict=False))
    if classical and not _refuted(hypotheses, goal, letters):
        return None
    proof = find_proof(named, goal, letters, classical=classical)
    if proof is None:
        return None
    statement = Statement(
        show(goal),
        tuple((name, show(each)) for name, each in named.items()),
        atoms=tuple(letters),
    )
    return checked(statement, proof)


def find_proof(
    hypotheses: Mapping[str, Expr], goal: Expr, atoms: Sequence[str], *, classical: bool
) -> list[str] | None:
    """Return the tactics of a proof, None where the search does not find one.

    Args:
        hypotheses: what is at hand, by name.
        goal: what is to be proved.
        atoms: the propositions.
        classical: whether the proof begins with cases over atoms; without them it has none.
    """
    if not classical:
        return _Search(atoms).run(hypotheses, goal)
    for count in (1, 2, 3):
        for chosen in itertools.combinations(atoms, count):
            found = _after_cases(dict(hypotheses), goal, atoms, chosen)
            if found is not None:
                return found
    return None


def _after_cases(
    hypotheses: dict[str, Expr], goal: Expr, atoms: Sequence[str], chosen: Sequence[str]
) -> list[str] | None:
    if not chosen:
        return _Search(atoms).run(hypotheses, goal)
    p = Expr("atom", chosen[0])
    name = fresh("e", {*hypotheses, *atoms})
    lines = [f"by_cases {name} : {chosen[0]}"]
    for side in (p, negation(p)):
        found = _after_cases({**hypotheses, name: side}, goal, atoms, chosen[1:])
        if found is None:
            return None
        lines += found
    return lines


class _Search:
    """A search for an intuitionistic proof."""

    def __init__(self, atoms: Sequence[str]) -> None:
        self._atoms = frozenset(atoms)
        self._nodes = 0

    def run(self, hypotheses: Mapping[str, Expr], goal: Expr) -> list[str] | None:
        try:
            for depth in range(_MOST_DEPTH):
                self._past = frozenset[Expr]()
                found = self._prove(dict(hypotheses), goal, depth, frozenset())
                if found is not None:
                    return found
        except _TooHard:
            pass
        return None

    def _new(self, known: Mapping[str, Expr]) -> str:
        return fresh("a", self._atoms.union(known))

    def _prove(
        self, known: dict[str, Expr], goal: Expr, depth: int, seen: frozenset[object]
    ) -> list[str] | None:
        self._nodes += 1
        if self._nodes > _MOST_NODES:
            raise _TooHard
        at_once = self._closed(known, goal)
        if at_once is not None:
            return at_once
        past = self._past
        try:
            self._past = past.union(known.values())  # also what is taken apart has been known
            step = self._safe(known, goal)
            if step is not None:
                return self._all(*step, depth, seen)
            here = (frozenset(known.values()), goal)
            if depth == 0 or here in seen:
                return None
            return self._choose(known, goal, depth - 1, seen | {here})
        finally:
            self._past = past

    def _all(
        self,
        tactic: str,
        branches: list[tuple[dict[str, Expr], Expr]],
        depth: int,
        seen: frozenset[object],
    ) -> list[str] | None:
        lines = [tactic]
        for inner, target in branches:
            found = self._prove(inner, target, depth, seen)
            if found is None:
                return None
            lines += found
        return lines

    def _closed(self, known: Mapping[str, Expr], goal: Expr) -> list[str] | None:
        formulas = set(known.values())
        if goal == TRUE:
            return ["constructor"]
        for name, formula in known.items():
            if formula == goal:
                return [f"exact {name}"]
        for formula in formulas:
            if formula == FALSE or (negation(formula) in formulas):
                return ["contradiction"]
        return None

    def _safe(  # noqa: C901 - one branch a kind of formula
        self, known: dict[str, Expr], goal: Expr
    ) -> tuple[str, list[tuple[dict[str, Expr], Expr]]] | None:
        """Return a tactic that loses nothing, with what is left to prove."""
        new = self._new(known)
        if goal.op == "→":
            return f"intro {new}", [({**known, new: goal.args[0]}, goal.args[1])]
        for name, formula in known.items():
            if formula.op not in ("∧", "↔", "→"):
                continue
            rest = {k: v for k, v in known.items() if k != name}
            if formula.op in ("∧", "↔"):
                p, q = formula.args
                if formula.op == "↔":
                    p, q = implies(p, q), implies(q, p)
                other = self._new({**rest, new: p})
                return f"rcases {name} with ⟨{new}, {other}⟩", [({**rest, new: p, other: q}, goal)]
            if formula.op == "→" and formula.args[1] not in self._past:
                for given, premise in known.items():
                    if premise == formula.args[0]:
                        gained = {**known, new: formula.args[1]}
                        return f"have {new} := {name} {given}", [(gained, goal)]
        if goal.op in ("∧", "↔"):
            p, q = goal.args
            parts = (p, q) if goal.op == "∧" else (implies(p, q), implies(q, p))
            return "constructor", [(known, part) for part in parts]
        for name, formula in known.items():
            if formula.op == "∨":
                rest = {k: v for k, v in known.items() if k != name}
                cases = [({**rest, new: part}, goal) for part in formula.args]
                return f"rcases {name} with {new} | {new}", cases
        return None

    def _choose(
        self, known: dict[str, Expr], goal: Expr, depth: int, seen: frozenset[object]
    ) -> list[str] | None:
        if goal.op == "∨":
            for side, part in zip(("left", "right"), goal.args, strict=True):
                found = self._prove(known, part, depth, seen)
                if found is not None:
                    return [side, *found]
        for name, formula in known.items():
            if formula.op != "→" or formula.args[1] in self._past:
                continue
            premise, gained = formula.args
            first = self._prove(known, premise, depth, seen)
            if first is None:
                continue
            if gained in (goal, FALSE):
                return ["exfalso"] * (gained != goal) + [f"apply {name}", *first]
            new = self._new(known)
            rest = self._prove({**known, new: gained}, goal, depth, seen)
            if rest is not None:
                return [f"have {new} : {show(gained)}", f"apply {name}", *first, *rest]
        return None


def _formula(rng: Rng, letters: Sequence[str], connectives: int) -> Expr:
    if connectives == 0:
        return Expr("atom", pick(rng, letters))
    op = pick(rng, ("∧", "∨", "→", "∧", "∨", "→", "¬", "↔" if connectives > 2 else "→"))
    if op == "¬":
        inner = _formula(rng, letters, connectives - 1)
        return inner.args[0] if inner.op == "→" and inner.args[1] == FALSE else negation(inner)
    left = integer(rng, 0, connectives - 1)
    parts = (_formula(rng, letters, left), _formula(rng, letters, connectives - 1 - left))
    return _formula(rng, letters, connectives) if parts[0] == parts[1] else Expr(op, args=parts)


def _tables(letters: Sequence[str]) -> dict[str, int]:
    rows = range(1 << len(letters))
    return {
        letter: sum(1 << row for row in rows if row >> i & 1) for i, letter in enumerate(letters)
    }


def _table(formula: Expr, tables: Mapping[str, int], every: int) -> int:
    values = [_table(arg, tables, every) for arg in formula.args]
    match formula.op:
        case "atom":
            return tables[formula.name]
        case "∧":
            return values[0] & values[1]
        case "∨":
            return values[0] | values[1]
        case "→":
            return (every ^ values[0]) | values[1]
        case "↔":
            return every ^ values[0] ^ values[1]
    return every if formula.op == "⊤" else 0
