"""Statements with all, no and some: what they leave open, their words, and proofs from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_

from rlvr_envs.generators.grids.candidates import Network
from rlvr_envs.generators.grids.deductions import Words
from rlvr_envs.generators.logic.conclusions import disproven, proven
from rlvr_envs.generators.logic.formulas import Formula, FormulaRule, atom, columns, negation
from rlvr_envs.generators.words.names import joined


@dataclass(frozen=True, slots=True)
class Statement:
    """It says that all, no or some things that are of every kind in ``subject`` are ``predicate``.

    Kinds are numbered from 1; a negative number stands for the things that are not of the kind.
    """

    quantifier: str
    subject: tuple[int, ...]
    predicate: int


class World:
    """All that a list of premises leaves open, as tables of combinations of kinds."""

    def __init__(self, n_terms: int, premises: Sequence[Statement]) -> None:
        self._columns = columns(n_terms)
        self._allowed = self._columns[0]
        for premise in premises:
            if premise.quantifier != "some":
                self._allowed &= ~region(premise, self._columns)
        found = [region(p, self._columns) for p in premises if p.quantifier == "some"]
        self._demands = [kinds & self._allowed for kinds in found]

    def is_lively(self) -> bool:
        """Return whether the premises can hold together, and with things of every kind."""
        return all(self._demands) and all(self._allowed & table for table in self._columns)

    def entails(self, statement: Statement) -> bool:
        kinds = region(statement, self._columns)
        if statement.quantifier == "some":
            return any(not demand & ~kinds for demand in self._demands)
        return not self._allowed & kinds

    def against(self, statement: Statement) -> list[int] | None:
        """Return combinations of kinds of things that make a statement false; None if none do."""
        kinds = region(statement, self._columns)
        if statement.quantifier == "some":
            demands = [demand & ~kinds for demand in self._demands]
        else:
            demands = [kinds & self._allowed, *self._demands]
        rows = [(demand & -demand).bit_length() - 1 for demand in demands]
        return None if -1 in rows else list(dict.fromkeys(rows))


def region(statement: Statement, tables: Sequence[int]) -> int:
    """Return the combinations that "all" and "no" forbid, or of which "some" demands one."""
    kinds = _kinds(statement)
    return reduce(and_, (tables[k] if k > 0 else tables[0] ^ tables[-k] for k in kinds))


def _kinds(statement: Statement) -> tuple[int, ...]:
    predicate = -statement.predicate if statement.quantifier == "all" else statement.predicate
    return (*statement.subject, predicate)


def sentence(terms: Sequence[str], statement: Statement) -> str:
    """Return a statement in words."""

    def kind(number: int) -> str:
        return f"{'not ' if number < 0 else ''}{terms[abs(number) - 1]}"

    subject = " that are ".join(kind(number) for number in statement.subject)
    return f"{statement.quantifier.capitalize()} {subject} are {kind(statement.predicate)}."


def explained(
    terms: Sequence[str], premises: Sequence[Statement], conclusions: Sequence[Statement]
) -> list[str]:
    """Return for each conclusion its proof from the premises, or a case in which it is false."""
    world, steps = World(len(terms), premises), list[str]()
    for number, conclusion in enumerate(conclusions, 1):
        things = world.against(conclusion)
        if things is None:
            steps += _proof(terms, premises, number, conclusion)
            continue
        named = joined([f"a thing that {_combination(terms, row)}" for row in things])
        steps.append(
            disproven(number, f"there is {f'only {named}' if named else 'nothing at all'}")
        )
    return steps


def _proof(
    terms: Sequence[str], premises: Sequence[Statement], number: int, conclusion: Statement
) -> list[str]:
    """Return that a thing against the conclusion, or as one premise says, cannot be."""
    rules = [premise for premise in premises if premise.quantifier != "some"]
    source, opening = conclusion, "suppose there is a thing that {}"
    told = [f"{_clause(terms, rule)}" for rule in rules]
    if conclusion.quantifier == "some":
        some = (premise for premise in premises if premise.quantifier == "some")
        source = next(p for p in some if World(len(terms), [*rules, p]).entails(conclusion))
        rules.append(conclusion)
        told.append("nothing is as the conclusion says")
        opening = "take a thing that {}, and suppose nothing is as the conclusion says"
    masks = [0b11] * len(terms)
    for kind in _kinds(source):
        masks[abs(kind) - 1] = 0b10 if kind > 0 else 0b01
    bans = [FormulaRule(negation(Formula("and", tuple(map(_literal, _kinds(r)))))) for r in rules]
    network = Network(len(terms), rules=bans)
    kinds = " and ".join(f"{_belongs(k > 0)} {terms[abs(k) - 1]}" for k in _kinds(source))
    words = _KindWords(terms.__getitem__, "the statements", {}, told)
    return proven(number, opening.format(kinds), network, masks, words)


class _KindWords(Words):
    """Words for steps in which cell i is whether the thing is of kind i + 1."""

    def holds(self, cells: Sequence[int], values: Sequence[int]) -> str:
        return f"it {_belongs(values[0])} {joined([self.cell(cell) for cell in cells])}"


def _literal(kind: int) -> Formula:
    return atom(kind) if kind > 0 else negation(atom(-kind))


def _combination(terms: Sequence[str], row: int) -> str:
    kinds = [term for i, term in enumerate(terms) if row >> i & 1]
    return f"belongs to the {joined(kinds)} alone" if kinds else "belongs to none of these kinds"


def _clause(terms: Sequence[str], statement: Statement) -> str:
    text = sentence(terms, statement)
    return f"{text[0].lower()}{text[1:-1]}"


def _belongs(value: int) -> str:
    return "belongs to the" if value else "does not belong to the"
