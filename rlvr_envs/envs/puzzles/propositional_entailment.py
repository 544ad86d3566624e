"""Propositional entailment: which conclusions follow from premises in words."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import and_

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.candidates import Network
from rlvr_envs.generators.grids.deductions import Words
from rlvr_envs.generators.logic.conclusions import (
    demanding,
    disproven,
    draw_conclusions,
    judge_numbers,
    proven,
)
from rlvr_envs.generators.logic.formulas import (
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
from rlvr_envs.generators.words.names import draw_some, joined

# What an atom says: "the lamp is on".
_FACTS = (
    "lamp:on door:open kettle:hot bell:silent garden:wet cat:asleep train:late radio:loud "
    "window:broken road:icy cake:ready shop:busy river:high letter:lost bus:full clock:wrong "
    "fence:painted piano:tuned well:deep coat:dry"
)
FACTS = tuple(_FACTS.split())
_OPERATORS = ("if", "if", "or", "or", "and", "xor", "iff")
_MEANINGS = {
    "or": "“X or Y” is also true if both X and Y are true.",
    "if": "“If X, then Y” is false only if X is true and Y is false.",
    "iff": "“X if and only if Y” is true if X and Y are both true or both false.",
}
_N_LONGER = 100  # candidates for conclusions about three facts


@dataclass(frozen=True, slots=True, kw_only=True)
class PropositionalEntailmentConfig(TaskConfig):
    """The number of facts and statements, and the length of the statements."""

    n_facts: int = knob(7, "facts", low=3, high=len(FACTS))
    n_premises: int = knob(5, "statements given", low=2, high=200)
    n_conclusions: int = knob(5, "conclusions to choose from", low=2, high=100)
    n_parts: int = knob(3, "most facts in a premise", low=2, high=len(FACTS))
    n_needed: int = knob(
        2, "premises that a conclusion takes at least, if enough such are found", low=1, high=4
    )

    @classmethod
    def at(cls, difficulty: int) -> "PropositionalEntailmentConfig":
        """Facts, premises and conclusions are added, and premises get longer.

        What follows takes one premise at levels 0 and 1, then two together, three from level 4 on
        and four from level 7 on.
        """
        n_facts = min(5 + difficulty, 16)
        return cls(
            n_facts=n_facts,
            n_premises=n_facts - 1,
            n_conclusions=min(6 + difficulty // 3, 100),
            n_parts=min(2 + difficulty // 4, n_facts),
            n_needed=1 if difficulty < 2 else min(2 + (difficulty - 1) // 3, 4),
        )


@dataclass(frozen=True, slots=True)
class PropositionalEntailmentProblem:
    """Atom i of a formula is fact i; conclusions are numbered from 1."""

    facts: tuple[str, ...]
    premises: tuple[str, ...]
    conclusions: tuple[str, ...]
    following: tuple[int, ...] = hidden()


@register("PropositionalEntailment-v0", domain="puzzles")
class PropositionalEntailmentTask(
    Task[PropositionalEntailmentConfig, PropositionalEntailmentProblem]
):
    """Say which of the listed conclusions follow from premises with and, or, if and not.

    Description:
        The premises are nested formulas in words, all true in a hidden world. At least one of the
        listed conclusions follows and at least one does not. What follows takes a number of
        premises together, as far as enough such conclusions are found; no conclusion is a
        tautology, a contradiction or one of the premises.

    Observation:
        The premises, the numbered conclusions, and what the connectives in them mean.

    Action:
        The numbers of exactly the conclusions that follow.

    Reward:
        1 for exactly those, otherwise 0.

    Verification:
        A conclusion follows if it is true in every row of the truth table in which all premises
        are; the whole table is checked. No known gaps.

    Difficulty:
        What follows takes more premises together, up to four. Facts, premises and conclusions are
        added, and premises get longer.

    References:
        Wittgenstein, "Tractatus Logico-Philosophicus", 1921, 4.31 and 5.11, for truth tables and
        what follows from them.
    """

    def generate(self, rng: Rng) -> PropositionalEntailmentProblem:
        config = self.config
        row = (1, *(integer(rng, 0, 1) for _ in range(config.n_facts)))
        chain = _chain(rng, row)
        # The first two premises say this together, and so can never say the opposite.
        sure = Formula("if", (chain[0], chain[2]))
        opposite = Formula("and", (chain[0], negation(chain[2])))
        premises = self._premises(rng, chain, row)
        following, others = self._sorted_out(rng, premises, sure, row)
        conclusions, numbers = draw_conclusions(
            rng, following, others or [str(opposite)], config.n_conclusions
        )
        order = rng.permutation(len(premises)).tolist()
        return PropositionalEntailmentProblem(
            facts=draw_some(rng, FACTS, config.n_facts),
            premises=tuple(str(premises[i]) for i in order),
            conclusions=conclusions,
            following=numbers,
        )

    def _premises(self, rng: Rng, chain: Sequence[Formula], row: Sequence[int]) -> list[Formula]:
        """Draw true premises, none of which follows from those before it."""
        config = self.config
        tables = columns(config.n_facts)
        premises = [Formula("if", (chain[0], chain[1])), Formula("if", (chain[1], chain[2]))]
        left = reduce(and_, (truth_table(premise, tables) for premise in premises))
        for _ in range(config.n_premises - 2):
            for _ in range(20):
                n_parts = integer(rng, 2, min(config.n_parts, config.n_facts))
                premise = draw_formula(rng, row, True, n_parts, _OPERATORS)
                table = truth_table(premise, tables)
                if left & table != left:
                    premises.append(premise)
                    left &= table
                    break
        return premises

    def _sorted_out(
        self, rng: Rng, premises: Sequence[Formula], sure: Formula, row: Sequence[int]
    ) -> tuple[list[str], list[str]]:
        """Return conclusions that follow and take enough premises, and some that do not follow."""
        n_conclusions, tables = self.config.n_conclusions, columns(self.config.n_facts)
        alone = [truth_table(premise, tables) for premise in premises]
        left = reduce(and_, alone)
        following: dict[Formula, int] = {}  # with its truth table
        others: dict[tuple[str, int], list[Formula]] = {}
        for candidate in self._candidates(rng, row):
            table = truth_table(candidate, tables)
            if table in (0, tables[0]) or candidate in premises:
                continue
            if left & ~table:
                others.setdefault(_shape(candidate), []).append(candidate)
            else:
                following[candidate] = table
        following = following or {sure: truth_table(sure, tables)}

        def entailing(chosen: Sequence[int]) -> Callable[[Formula], bool]:
            cases = reduce(and_, (alone[i] for i in chosen))
            return lambda conclusion: not cases & ~following[conclusion]

        taken = demanding(
            list(following), entailing, len(premises), self.config.n_needed, n_conclusions - 1
        )
        # Shapes are as common among the others as among what follows, so that they tell nothing.
        distractors: list[Formula] = []
        for _ in range(3 * n_conclusions):
            alike = others.get(_shape(pick(rng, taken)))
            if alike:
                distractors.append(pick(rng, alike))
        return list(dict.fromkeys(map(str, taken))), list(dict.fromkeys(map(str, distractors)))

    def _candidates(self, rng: Rng, row: Sequence[int]) -> list[Formula]:
        """Return the literals, each "or" and "if" of two facts, and some longer formulas."""
        atoms = range(1, self.config.n_facts + 1)
        literals = {i: (atom(i), negation(atom(i))) for i in atoms}
        pairs = [
            Formula(pick(rng, ("or", "if")), (one, other))
            for i, j in itertools.combinations(atoms, 2)
            for one in literals[i]
            for other in literals[j]
        ]
        n_longer = _N_LONGER if self.config.n_parts > 2 else 0
        longer = [draw_formula(rng, row, True, 3, _OPERATORS) for _ in range(n_longer)]
        return [*itertools.chain(*literals.values()), *pairs, *longer]

    def prompt(self, problem: PropositionalEntailmentProblem) -> str:
        premises = "\n".join(f"- {_sentence(problem.facts, text)}" for text in problem.premises)
        conclusions = "\n".join(
            f"{i}. {_sentence(problem.facts, text)}"
            for i, text in enumerate(problem.conclusions, 1)
        )
        return (
            f"Assume that all of these statements are true:\n\n{premises}\n\nWhich of the "
            f"following conclusions must then also be true?\n\n{conclusions}\n\n"
            f"{_meanings(problem)}At least one conclusion must be true, and at least one need not "
            "be. Answer with the numbers of all conclusions that must be true, separated by commas."
        )

    def verify(self, problem: PropositionalEntailmentProblem, answer: str) -> Verdict:
        tables = columns(len(problem.facts))
        left = reduce(and_, _tables_of(problem.premises, tables))
        found = _tables_of(problem.conclusions, tables)
        following = [i for i, table in enumerate(found, 1) if not left & ~table]
        return judge_numbers(following, len(problem.conclusions), answer)

    def solve(self, problem: PropositionalEntailmentProblem) -> str:
        return ", ".join(map(str, problem.following))

    def explain(self, problem: PropositionalEntailmentProblem) -> list[str]:
        """Return for each conclusion why its opposite cannot be, or a case in which it is false."""
        n, facts = len(problem.facts), problem.facts
        tables = columns(n)
        cases = reduce(and_, _tables_of(problem.premises, tables))
        rules = [FormulaRule(read_formula(text)) for text in problem.premises]
        steps = []
        for number, text in enumerate(problem.conclusions, 1):
            opposite = negation(read_formula(text))
            against = cases & truth_table(opposite, tables)
            if against:
                row = (against & -against).bit_length() - 1
                case = joined([_literal(facts, i + 1, bool(row >> i & 1)) for i in range(n)])
                steps.append(disproven(number, case))
                continue
            words = _FactWords(facts, (*problem.premises, str(opposite)))
            network = Network(n, rules=[*rules, FormulaRule(opposite)])
            supposed = f"suppose {_clause(facts, str(opposite))}"
            steps += proven(number, supposed, network, [0b11] * n, words)
        return steps

    def effort(self, problem: PropositionalEntailmentProblem) -> int:
        """Count the nodes of searches for all cases in which a conclusion is false, one by one."""
        n, tables = len(problem.facts), columns(len(problem.facts))
        premises = _tables_of(problem.premises, tables)
        conclusions = _tables_of(problem.conclusions, tables)
        return sum(search_nodes([*premises, tables[0] & ~table], n) for table in conclusions)

    def baseline(self, rng: Rng, problem: PropositionalEntailmentProblem) -> str:
        """Toss a coin for each conclusion."""
        numbers = [i for i in range(1, len(problem.conclusions) + 1) if integer(rng, 0, 1)]
        return ", ".join(map(str, numbers or [1]))


def _chain(rng: Rng, row: Sequence[int]) -> list[Formula]:
    """Draw three literals of which each is true in the row only if the next one is."""
    atoms = [i + 1 for i in rng.permutation(len(row) - 1)[:3].tolist()]
    n_false = integer(rng, 0, 3)
    wanted = [i >= n_false for i in range(3)]
    return [
        atom(number) if bool(row[number]) == value else negation(atom(number))
        for number, value in zip(atoms, wanted, strict=True)
    ]


def _shape(formula: Formula) -> tuple[str, int]:
    """Return the outermost operator and the number of literals."""
    return formula.operator, sum(_shape(part)[1] for part in formula.parts) or 1


def _tables_of(texts: Sequence[str], tables: Sequence[int]) -> list[int]:
    return [truth_table(read_formula(text), tables) for text in texts]


def _meanings(problem: PropositionalEntailmentProblem) -> str:
    """Return what the connectives that occur in a problem mean, as the start of a paragraph."""
    texts = (*problem.premises, *problem.conclusions)
    used = set().union(*(_operators(read_formula(text)) for text in texts))
    meanings = [text for operator, text in _MEANINGS.items() if operator in used]
    if any("(" in _sentence(problem.facts, text) for text in texts):
        meanings.append("Brackets show which parts belong together.")
    return "".join(f"{text} " for text in meanings)


def _operators(formula: Formula) -> set[str]:
    return {formula.operator}.union(*map(_operators, formula.parts))


def _sentence(facts: Sequence[str], text: str) -> str:
    return sentence(_clause(facts, text))


def _clause(facts: Sequence[str], text: str) -> str:
    return in_words(read_formula(text), partial(_literal, facts), str)


def _literal(facts: Sequence[str], number: int, claimed: bool) -> str:
    thing, state = facts[number - 1].split(":")
    return f"the {thing} is {'' if claimed else 'not '}{state}"


class _FactWords(Words):
    """Words for steps in which cell i is fact i + 1, which holds (1) or not (0)."""

    def __init__(self, facts: Sequence[str], premises: Sequence[str]) -> None:
        told = [f"“{_clause(facts, text)}”" for text in premises]
        super().__init__(lambda cell: facts[cell], "the statements", {}, told)

    def holds(self, cells: Sequence[int], values: Sequence[int]) -> str:
        return joined([_literal([self.cell(cell)], 1, bool(values[0])) for cell in cells])
