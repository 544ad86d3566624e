"""Propositional formulas over numbered atoms: text, words, truth tables, and random ones.

A problem keeps a formula as text in prefix notation, such as ``(if (and 1 2) (not 3))``. A truth
table is one integer whose bit r is the formula's value in row r; in row r, atom i is true where
bit i - 1 of r is set. So one operation on integers works on all rows at once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import and_, or_

from rlvr_envs.core.errors import RowError
from rlvr_envs.core.seeding import Rng, integer, pick

BINARY = ("and", "or", "xor", "if", "iff")
EXACTLY = "exactly"
_MOST_OPEN = 16  # cells of a rule whose cases are looked at
_ARITY = {"not": 1, "xor": 2, "if": 2, "iff": 2}


@dataclass(frozen=True, slots=True)
class Formula:
    """An atom, or an operator over parts.

    Attributes:
        operator: ``atom``, ``not``, ``and``, ``or``, ``xor``, ``if``, ``iff`` or ``exactly``.
        parts: what the operator joins; an ``if`` comes before its ``then``.
        number: the number of an atom, from 1, or how many parts are true for ``exactly``.
    """

    operator: str
    parts: tuple["Formula", ...] = ()
    number: int = 0

    def __str__(self) -> str:
        if self.operator == "atom":
            return str(self.number)
        name = f"exactly-{self.number}" if self.operator == EXACTLY else self.operator
        return f"({name} {' '.join(map(str, self.parts))})"


def atom(number: int) -> Formula:
    """Return the atom of a number."""
    return Formula("atom", number=number)


def negation(formula: Formula) -> Formula:
    """Return the opposite, without doubling a ``not``."""
    return formula.parts[0] if formula.operator == "not" else Formula("not", (formula,))


@lru_cache(maxsize=4096)
def read_formula(text: str) -> Formula:
    """Return the formula that ``str(formula)`` wrote.

    Raises:
        RowError: the text is no formula.
    """
    open_lists: list[list[str | Formula]] = [[]]
    for piece in text.replace("(", " ( ").replace(")", " ) ").split():
        if piece == "(":
            open_lists.append([])
        elif piece == ")" and len(open_lists) > 1:
            built = _built(open_lists.pop(), text)
            open_lists[-1].append(built)
        elif piece.isdecimal():
            open_lists[-1].append(atom(int(piece)))
        else:
            open_lists[-1].append(piece)
    if len(open_lists) != 1 or len(open_lists[0]) != 1 or isinstance(open_lists[0][0], str):
        raise RowError(f"not a formula: {text!r:.200}")
    return open_lists[0][0]


def _built(items: list[str | Formula], text: str) -> Formula:
    name, parts = (items[0], items[1:]) if items else ("", [])
    formulas = tuple(part for part in parts if isinstance(part, Formula))
    if not isinstance(name, str) or not formulas or len(formulas) != len(parts):
        raise RowError(f"not a formula: {text!r:.200}")
    operator, _, number = name.partition("-")
    known = operator in ("and", "or", *_ARITY) and not number
    if operator == EXACTLY and number.isdecimal():
        return Formula(EXACTLY, formulas, int(number))
    if not known or len(formulas) != _ARITY.get(operator, len(formulas)):
        raise RowError(f"not a formula: {text!r:.200}")
    return Formula(operator, formulas)


_TABLES: dict[str, Callable[[int, list[int]], int]] = {
    "not": lambda everything, parts: everything ^ parts[0],
    "and": lambda everything, parts: reduce(and_, parts),
    "or": lambda everything, parts: reduce(or_, parts),
    "xor": lambda everything, parts: parts[0] ^ parts[1],
    "iff": lambda everything, parts: everything ^ parts[0] ^ parts[1],
    "if": lambda everything, parts: (everything ^ parts[0]) | parts[1],
}


_SIDES = ((0, 0), (0, 1), (1, 0), (1, 1))


@lru_cache(maxsize=8)
def columns(n_atoms: int) -> tuple[int, ...]:
    """Return the table of "true" and then the table of each atom from 1 to ``n_atoms``."""
    n_rows = 1 << n_atoms
    found = [(1 << n_rows) - 1]
    for i in range(n_atoms):
        width = 1 << i
        column = ((1 << width) - 1) << width
        width *= 2
        while width < n_rows:
            column |= column << width
            width *= 2
        found.append(column)
    return tuple(found)


def truth_table(formula: Formula, tables: Sequence[int]) -> int:
    """Return the formula's table, given that of "true" and those of the atoms.

    With the tables of one row, such as ``(1, 0, 1)``, it is the value under an assignment.
    """
    everything = tables[0]
    if formula.operator == "atom":
        return tables[formula.number]
    parts = [truth_table(part, tables) for part in formula.parts]
    if formula.operator == EXACTLY:
        return _exactly(formula.number, parts, everything)
    return _TABLES[formula.operator](everything, parts)


def _exactly(number: int, parts: list[int], everything: int) -> int:
    counts = [everything] + [0] * number  # counts[k]: the rows with k true parts so far
    for part in parts:
        for k in range(number, 0, -1):
            counts[k] = (counts[k] & ~part) | (counts[k - 1] & part)
        counts[0] &= ~part
    return counts[number]


class FormulaRule:
    """A formula as a rule for cells that hold 0 or 1; atom i is cell i - 1."""

    def __init__(self, formula: Formula) -> None:
        self._formula = formula
        self.cells = tuple(number - 1 for number in sorted(_atoms(formula)))

    def narrow(self, masks: list[int]) -> list[int] | None:
        """Take values away that no case has; nothing where too many cells are open."""
        free = [cell for cell in self.cells if masks[cell] == 0b11]
        if len(free) > _MOST_OPEN:
            return []
        everything, *columns_of_free = columns(len(free))
        tables = [everything, *(everything * (mask >> 1) for mask in masks)]
        for cell, column in zip(free, columns_of_free, strict=True):
            tables[cell + 1] = column
        cases = truth_table(self._formula, tables)
        changed = []
        for cell, column in zip(free, columns_of_free, strict=True):
            mask = bool(cases & ~column) | bool(cases & column) << 1
            if mask in (0b01, 0b10):
                masks[cell] = mask
                changed.append(cell)
        return changed if cases else None


def _atoms(formula: Formula) -> set[int]:
    if formula.operator == "atom":
        return {formula.number}
    return set().union(*map(_atoms, formula.parts))


def search_nodes(constraints: Sequence[int], n_atoms: int) -> int:
    """Return the nodes of a search for all rows that are in every one of the tables.

    It sets the last atom first, and turns back where a single table has no row left.
    """
    nodes = 0
    stack = [(tuple(constraints), n_atoms)]
    while stack:
        tables, n_free = stack.pop()
        nodes += 1
        if not tables:  # every row below is found
            nodes += (2 << n_free) - 2
            continue
        half = 1 << (n_free - 1)
        mask = (1 << half) - 1
        for side in (tuple(t & mask for t in tables), tuple(t >> half for t in tables)):
            if all(side):
                stack.append((tuple(t for t in side if t != mask), n_free - 1))
    return nodes


def draw_formula(
    rng: Rng, row: Sequence[int], wanted: bool, n_leaves: int, operators: Sequence[str] = BINARY
) -> Formula:
    """Draw a formula of ``n_leaves`` literals whose value in a row is the wanted one.

    The shape and the operators are drawn first, so they do not tell the value. Atoms repeat only
    where there are too few.

    Args:
        rng: the random stream.
        row: the tables of one row, such as ``(1, 0, 1)``: "true" and then each atom.
        wanted: the value.
        n_leaves: how many literals there are.
        operators: those to draw from; ``exactly`` needs three atoms.
    """
    order = rng.permutation(len(row) - 1).tolist()
    leaves = [order[i % len(order)] + 1 for i in range(n_leaves)]
    return _grow(rng, leaves, operators, (row, wanted))


def _grow(
    rng: Rng, leaves: list[int], operators: Sequence[str], goal: tuple[Sequence[int], bool]
) -> Formula:
    row, wanted = goal
    if len(leaves) == 1:
        literal = atom(leaves[0])
        return literal if bool(row[leaves[0]]) == wanted else negation(literal)
    denied = integer(rng, 0, 5) == 0
    value = wanted != denied
    operator = pick(rng, operators)
    if operator == EXACTLY and len(set(leaves)) == len(leaves) > 2:
        count = sum(row[leaf] for leaf in leaves)
        others = [number for number in range(len(leaves) + 1) if number != count]
        number = count if value else pick(rng, others)
        grown = Formula(EXACTLY, tuple(map(atom, leaves)), number)
    else:
        operator = "or" if operator == EXACTLY else operator
        sides = [s for s in _SIDES if bool(_TABLES[operator](1, list(s))) == value]
        left, right = pick(rng, sides)
        cut = integer(rng, 1, len(leaves) - 1)
        first = _grow(rng, leaves[:cut], operators, (row, bool(left)))
        second = _grow(rng, leaves[cut:], operators, (row, bool(right)))
        grown = Formula(operator, (first, second))
    return Formula("not", (grown,)) if denied else grown


def in_words(
    formula: Formula, literal: Callable[[int, bool], str], counted: Callable[[Formula], str]
) -> str:
    """Return the formula as an English clause; brackets show what belongs together.

    Args:
        formula: what to word.
        literal: words an atom, given its number and whether it is claimed or denied.
        counted: words an ``exactly``.
    """

    def word(part: Formula, *, inside: bool = True) -> str:
        if part.operator == "atom":
            return literal(part.number, True)
        if part.operator == "not" and part.parts[0].operator == "atom":
            return literal(part.parts[0].number, False)
        text = clause(part)
        return f"({text})" if inside else text

    def clause(part: Formula) -> str:
        if part.operator == EXACTLY:
            return counted(part)
        pieces = [word(piece) for piece in part.parts]
        match part.operator:
            case "not":
                return f"it is not true that {pieces[0]}"
            case "xor":
                return f"either {pieces[0]} or {pieces[1]}, but not both"
            case "if":
                return f"if {pieces[0]}, then {pieces[1]}"
            case "iff":
                return f"{pieces[0]} if and only if {pieces[1]}"
        return f" {part.operator} ".join(pieces)

    return word(formula, inside=False)


def sentence(clause: str) -> str:
    """Return a clause as a sentence of its own."""
    start = next(i for i, letter in enumerate(clause) if letter.isalpha())
    return f"{clause[:start]}{clause[start].upper()}{clause[start + 1 :]}."
