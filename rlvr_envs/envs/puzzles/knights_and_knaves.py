"""Knights and knaves: who tells the truth."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.task import Task, Variant
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.candidates import Network
from rlvr_envs.generators.grids.deductions import Words, worked
from rlvr_envs.generators.logic.formulas import (
    BINARY,
    EXACTLY,
    Formula,
    FormulaRule,
    atom,
    columns,
    draw_formula,
    in_words,
    negation,
    read_formula,
    search_nodes,
    sentence,
    truth_table,
)
from rlvr_envs.generators.words.names import PEOPLE, draw_some, joined, read_names

MAX_PEOPLE = 22  # the proof of uniqueness looks at all 2**22 assignments at once
_OPERATORS = (*BINARY, EXACTLY)
_DRAWS = 30  # of a statement that settles nobody on its own

# People, people that a statement is about, and whether it may settle somebody on its own.
_LEVELS = (
    *((4, 2, True), (5, 2, True), (5, 2, False), (6, 3, False), (7, 3, False), (8, 3, False)),
    *((9, 4, False), (10, 4, False), (11, 5, False), (12, 5, False), (13, 6, False)),
)
_MEANINGS = {
    "or": "“X or Y” is also true if both are true.",
    "if": "“If X, then Y” is false only if X is true and Y is false.",
    "iff": "“X if and only if Y” is true if both are true or both are false.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnightsAndKnavesConfig(TaskConfig):
    """How many people speak, and how complex their statements are."""

    n_people: int = knob(6, "people", low=2, high=MAX_PEOPLE)
    n_parts: int = knob(3, "people that a statement is about, at most", low=2, high=MAX_PEOPLE)
    settling: bool = knob(
        True, "a statement may settle somebody on its own; otherwise, all are needed together"
    )

    @classmethod
    def at(cls, difficulty: int) -> "KnightsAndKnavesConfig":
        """Up to level 1, statements settle people one by one; then there are more of both."""
        if difficulty < len(_LEVELS):
            n_people, n_parts, settling = _LEVELS[difficulty]
        else:
            n_people, n_parts, settling = difficulty + 3, 3 + difficulty // 3, False
        return cls(
            n_people=min(n_people, MAX_PEOPLE),
            n_parts=min(n_parts, MAX_PEOPLE),
            settling=settling,
        )


@dataclass(frozen=True, slots=True)
class Statement:
    """What a person says: a formula whose atom i is "person i is a knight"."""

    speaker: int
    claim: str


@dataclass(frozen=True, slots=True)
class KnightsAndKnavesProblem:
    """People are numbered from 1 in the order of their names."""

    names: tuple[str, ...]
    statements: tuple[Statement, ...]
    knights: tuple[str, ...] = hidden()


@register("KnightsAndKnaves-v0", domain="puzzles")
class KnightsAndKnavesTask(Task[KnightsAndKnavesConfig, KnightsAndKnavesProblem]):
    """Find out from the statements of people who is a knight and who is a knave.

    Description:
        Knights tell the truth and knaves lie. Statements are nested formulas about who is a
        knight: and, or, either-or, if, if and only if, exactly k of. The kind of a formula says
        nothing about its speaker. Exactly one assignment of roles fits all statements. It has at
        least one knight, and two of four people or more. Without ``settling``, no statement says of
        itself what anybody is, and none can be left out.

    Observation:
        The rules, the names, and who says what.

    Action:
        The names of all knights, in any order.

    Reward:
        1 for exactly the knights, otherwise 0.

    Verification:
        Each statement is evaluated under the answer: it must be true exactly if its speaker is
        called a knight. The truth tables of all statements together prove that only one assignment
        fits. No known gaps.

    Difficulty:
        At first, single statements such as "I am a knave or Ada is a knight" give a start. From
        level 2 on none does, so that one has to suppose something and follow it through several
        statements. Then people and the length of their statements grow.

    References:
        Smullyan, "What Is the Name of This Book?", 1978. Xie et al., "On Memorization of Large
        Language Models in Logical Reasoning", 2024 (arXiv:2410.23123).
    """

    def generate(self, rng: Rng) -> KnightsAndKnavesProblem:
        n = self.config.n_people
        names = draw_some(rng, PEOPLE, n)
        cast = [bool(integer(rng, 0, 1)) for _ in range(n)]
        for i in rng.permutation(n).tolist()[: min(2, n // 2)]:
            cast[i] = True
        row = (1, *map(int, cast))
        tables = columns(n)
        statements = [self._statement(rng, speaker, row) for speaker in range(1, n + 1)]
        left = reduce(and_, (_consistent(statement, tables) for statement in statements))
        # Further statements halve the casts that are left; few of these draws are in vain.
        for _ in range(20 + 2 * n):
            if left.bit_count() == 1:
                break
            extra = self._statement(rng, integer(rng, 1, n), row)
            fewer = left & _consistent(extra, tables)
            if fewer != left:
                statements.append(extra)
                left = fewer
        if left.bit_count() > 1:
            statements += [_pinned(i, n, cast) for i in range(1, n + 1)]
        elif not self.config.settling:
            statements = _needed(rng, statements, tables)
        knights = tuple(name for name, is_knight in zip(names, cast, strict=True) if is_knight)
        return KnightsAndKnavesProblem(names, tuple(statements), knights)

    def _statement(self, rng: Rng, speaker: int, row: Sequence[int]) -> Statement:
        """Draw what a person could say, if it can be such that it settles nobody."""
        statement = self._draw(rng, speaker, row)
        for _ in range(_DRAWS):
            if self.config.settling or not _settles(statement, columns(self.config.n_people)):
                break
            statement = self._draw(rng, speaker, row)
        return statement

    def _draw(self, rng: Rng, speaker: int, row: Sequence[int]) -> Statement:
        """Draw a statement that is true for a knight and false for a knave."""
        n_parts = integer(rng, 2, max(2, min(self.config.n_parts, self.config.n_people)))
        claim = draw_formula(rng, row, bool(row[speaker]), n_parts, _OPERATORS)
        return Statement(speaker, str(claim))

    def prompt(self, problem: KnightsAndKnavesProblem) -> str:
        quotes = [_quote(problem.names, statement) for statement in problem.statements]
        lines = [
            f"{problem.names[statement.speaker - 1]} says: “{quote}”"
            for statement, quote in zip(problem.statements, quotes, strict=True)
        ]
        used = set().union(*(_operators(read_formula(s.claim)) for s in problem.statements))
        notes = [note for operator, note in _MEANINGS.items() if operator in used]
        if any("(" in quote for quote in quotes):
            notes.append("Parentheses show which words belong together.")
        return (
            "On an island, everyone is either a knight or a knave. Knights always tell the truth, "
            f"and knaves always lie. You meet {joined(problem.names)}.\n\n"
            + "\n".join(lines)
            + "\n\n"
            + (f"{' '.join(notes)}\n\n" if notes else "")
            + "Who are the knights? There is exactly one solution. Answer with the names of all "
            "knights, separated by commas."
        )

    def verify(self, problem: KnightsAndKnavesProblem, answer: str) -> Verdict:
        named = read_names(answer, problem.names)
        if named is None:
            return Verdict.unparsable("expected different names from the puzzle and nothing else")
        row = (1, *(int(name in named) for name in problem.names))
        for number, statement in enumerate(problem.statements, 1):
            if truth_table(read_formula(statement.claim), row) != row[statement.speaker]:
                return Verdict.wrong(f"statement {number} does not fit its speaker")
        return Verdict.correct()

    def solve(self, problem: KnightsAndKnavesProblem) -> str:
        return ", ".join(problem.knights)

    def variant(
        self, problem: KnightsAndKnavesProblem, rng: Rng
    ) -> Variant[KnightsAndKnavesProblem]:
        """Give people other names, and their statements in another order."""
        others = [name for name in PEOPLE if name not in problem.names]
        names = draw_some(rng, others, len(problem.names))
        new = dict(zip(problem.names, names, strict=True))
        statements = [problem.statements[i] for i in rng.permutation(len(problem.statements))]

        def answer(text: str) -> str:
            return ", ".join(new[name.strip()] for name in text.split(","))

        knights = tuple(new[name] for name in problem.knights)
        changed = KnightsAndKnavesProblem(tuple(names), tuple(statements), knights)
        return Variant(changed, answer, ("names", "order"))

    def explain(self, problem: KnightsAndKnavesProblem) -> list[str]:
        """Return who is found to be what, from single statements and by supposing the opposite."""
        n = len(problem.names)
        rules = [
            FormulaRule(Formula("iff", (atom(s.speaker), read_formula(s.claim))))
            for s in problem.statements
        ]
        words = Words(
            problem.names.__getitem__,
            "the statements",
            {},
            [
                f"{problem.names[s.speaker - 1]} says “{_quote(problem.names, s)[:-1]}”"
                for s in problem.statements
            ],
            ("a knave", "a knight").__getitem__,
        )
        solution = tuple(int(name in problem.knights) for name in problem.names)
        return worked(Network(n, rules=rules), [0b11] * n, solution, words)

    def effort(self, problem: KnightsAndKnavesProblem) -> int:
        """Count the nodes of a search that settles one person after the other."""
        tables = columns(len(problem.names))
        found = [_consistent(statement, tables) for statement in problem.statements]
        return search_nodes(found, len(problem.names))

    def baseline(self, rng: Rng, problem: KnightsAndKnavesProblem) -> str:
        """Toss a coin for everyone."""
        named = [name for name in problem.names if integer(rng, 0, 1)]
        return ", ".join(named or problem.names)


def _consistent(statement: Statement, tables: Sequence[int]) -> int:
    """Return the table of "the speaker is a knight if and only if the claim is true"."""
    claim = truth_table(read_formula(statement.claim), tables)
    return tables[0] ^ tables[statement.speaker] ^ claim


def _settles(statement: Statement, tables: Sequence[int]) -> bool:
    """Return whether a statement alone says what some person is."""
    cases = _consistent(statement, tables)
    return any(cases & table in (0, cases) for table in tables[1:])


def _needed(rng: Rng, statements: list[Statement], tables: Sequence[int]) -> list[Statement]:
    """Leave statements out, in random order, as long as one cast fits the others."""
    kept = dict.fromkeys(statements)
    found = {statement: _consistent(statement, tables) for statement in kept}
    for i in rng.permutation(len(statements)).tolist():
        others = [found[other] for other in kept if other != statements[i]]
        if others and reduce(and_, others).bit_count() == 1:
            kept.pop(statements[i], None)
    return list(kept)


def _pinned(person: int, n_people: int, cast: Sequence[bool]) -> Statement:
    """Return a statement that settles what a person is.

    Whoever says "I am a knight if and only if X", X is true.
    """
    speaker = person % n_people + 1
    literal = atom(person) if cast[person - 1] else negation(atom(person))
    return Statement(speaker, str(Formula("iff", (atom(speaker), literal))))


def _operators(formula: Formula) -> set[str]:
    return {formula.operator}.union(*map(_operators, formula.parts))


def _quote(names: Sequence[str], statement: Statement) -> str:
    def literal(number: int, claimed: bool) -> str:
        kind = "a knight" if claimed else "a knave"
        return f"I am {kind}" if number == statement.speaker else f"{names[number - 1]} is {kind}"

    def counted(formula: Formula) -> str:
        others = [p.number for p in formula.parts if p.number != statement.speaker]
        group = [names[number - 1] for number in others]
        group += ["me"] * (len(formula.parts) - len(others))
        amount = {0: "none", len(group): "all"}.get(formula.number, f"exactly {formula.number}")
        verb = "is a knight" if formula.number < 2 else "are knights"
        return f"{amount} of {joined(group)} {verb}"

    return sentence(in_words(read_formula(statement.claim), literal, counted))
