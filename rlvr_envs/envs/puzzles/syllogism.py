"""Syllogisms: which conclusions about invented things follow."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, nonzero, pick
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
    negation,
    search_nodes,
)
from rlvr_envs.generators.words.names import INVENTED, draw_some, joined


@dataclass(frozen=True, slots=True)
class Statement:
    """It says that all, no or some things that are of every kind in ``subject`` are ``predicate``.

    Kinds are numbered from 1; a negative number stands for the things that are not of the kind.
    """

    quantifier: str
    subject: tuple[int, ...]
    predicate: int


MAX_TERMS = 16  # what follows is decided on all 2**16 kinds of things at once
_N_COMPOUND = 100  # candidates for compound conclusions


@dataclass(frozen=True, slots=True, kw_only=True)
class SyllogismConfig(TaskConfig):
    """How many premises and conclusions there are, and about how many kinds of things."""

    n_terms: int = knob(6, "kinds of things", low=3, high=MAX_TERMS)
    n_premises: int = knob(7, "statements given", low=2, high=200)
    n_conclusions: int = knob(5, "conclusions to choose from", low=2, high=100)
    compound_percent: int = knob(
        20, "percentage of statements about the As that are, or are not, Bs", low=0, high=100
    )

    n_needed: int = knob(
        2, "premises that a conclusion takes at least, if enough such are found", low=1, high=4
    )

    @classmethod
    def at(cls, difficulty: int) -> "SyllogismConfig":
        """Kinds of things, premises and conclusions are added, and more are compound.

        What follows takes one premise at level 0, then two together, three from level 5 on and
        four from level 9 on.
        """
        return cls(
            n_terms=min(4 + difficulty, MAX_TERMS),
            n_premises=min(4 + difficulty + difficulty // 3, 20),
            n_conclusions=min(6 + difficulty // 3, 100),
            compound_percent=min(4 * difficulty, 40),
            n_needed=min(1 + (difficulty + 3) // 4, 4),
        )


@dataclass(frozen=True, slots=True)
class SyllogismProblem:
    """Premises about named kinds of things, and conclusions, numbered from 1."""

    terms: tuple[str, ...]
    premises: tuple[Statement, ...]
    conclusions: tuple[Statement, ...]
    following: tuple[int, ...] = hidden()


@register("Syllogism-v0", domain="puzzles")
class SyllogismTask(Task[SyllogismConfig, SyllogismProblem]):
    """Say which of the listed conclusions follow from premises with all, no and some.

    Description:
        The premises link invented kinds of things; they never contradict each other. At least one
        of the listed conclusions follows and at least one does not. What follows takes a number of
        premises together, as far as enough such conclusions are found.

    Observation:
        The premises, the numbered conclusions, and what the quantifiers in them mean.

    Action:
        The numbers of exactly the conclusions that follow.

    Reward:
        1 for exactly those, otherwise 0.

    Verification:
        What matters about a world is only which of the 2**n combinations of kinds occur in it.
        "All" and "no" forbid combinations, "some" demands one out of several; so a conclusion
        follows if and only if it holds in the world of all allowed combinations ("all", "no"), or
        one premise with "some" leaves it no other choice. The whole table is checked; tests
        compare it with all worlds. No known gaps.

    Difficulty:
        What follows takes more premises together, up to four. Kinds, premises, conclusions and
        compound statements are added.

    References:
        Aristotle, Prior Analytics, book I; "all" is read without existential import, as in Boole,
        "An Investigation of the Laws of Thought", 1854.
    """

    def generate(self, rng: Rng) -> SyllogismProblem:
        config = self.config
        premises = self._premises(rng)
        # The first two premises say this together, and so can never say the opposite.
        quantifier, low, high = premises[1].quantifier, premises[0].subject, premises[1].predicate
        sure = Statement(quantifier, low, high)
        opposite = Statement("some", low, -high if quantifier == "all" else high)
        following, others = self._sorted_out(rng, premises)
        conclusions, numbers = draw_conclusions(
            rng, following or [sure], others or [opposite], config.n_conclusions
        )
        order = rng.permutation(len(premises)).tolist()
        terms = draw_some(rng, INVENTED, config.n_terms)
        return SyllogismProblem(terms, tuple(premises[i] for i in order), conclusions, numbers)

    def _premises(self, rng: Rng) -> list[Statement]:
        """Draw premises that may hold together, none of which follows from those before it."""
        config = self.config
        order = [i + 1 for i in rng.permutation(config.n_terms).tolist()]
        premises = [
            Statement("all", (order[0],), order[1]),
            Statement(pick(rng, ("all", "no")), (order[1],), order[2]),
        ]
        for i in range(2, config.n_premises):
            newest = order[min(i + 1, config.n_terms - 1)]
            known = order[: i + 1]
            for _ in range(20):
                premise = self._statement(rng, known, newest if i + 1 < config.n_terms else None)
                world = World(config.n_terms, premises)
                if (
                    not world.entails(premise)
                    and World(config.n_terms, [*premises, premise]).is_lively()
                ):
                    premises.append(premise)
                    break
        return premises

    def _statement(self, rng: Rng, known: Sequence[int], newest: int | None = None) -> Statement:
        """Draw a statement about known terms, and about the newest one if there is one."""
        order = [known[i] for i in rng.permutation(len(known))[:3].tolist()]
        if newest is not None:
            order.insert(integer(rng, 0, 1), newest)
        quantifier = pick(rng, ("all", "all", "all", "no", "no", "some", "some", "some"))
        subject: tuple[int, ...] = (order[0],)
        if len(order) > 2 and integer(rng, 1, 100) <= self.config.compound_percent:
            subject = (order[0], order[2] * nonzero(rng, 1))
        return Statement(quantifier, subject, order[1] * _sign(rng, quantifier))

    def _sorted_out(
        self, rng: Rng, premises: Sequence[Statement]
    ) -> tuple[list[Statement], list[Statement]]:
        """Return conclusions that follow and take enough premises, and some that do not follow."""
        n = self.config.n_terms
        terms = range(1, n + 1)
        simple = [
            Statement(quantifier, (a,), b * sign)
            for quantifier, sign in (("all", 1), ("no", 1), ("some", 1), ("some", -1))
            for a in terms
            for b in terms
            if a != b
        ]
        n_compound = _N_COMPOUND if self.config.compound_percent else 0
        compound = [self._statement(rng, terms) for _ in range(n_compound)]
        world = World(n, premises)
        following: list[Statement] = []
        others: dict[str, list[Statement]] = {"all": [], "no": [], "some": []}
        for statement in dict.fromkeys(simple + compound):
            if not world.entails(statement):
                others[statement.quantifier].append(statement)
            elif statement not in premises:
                following.append(statement)
        taken = demanding(
            following,
            lambda chosen: World(n, [premises[i] for i in chosen]).entails,
            len(premises),
            self.config.n_needed,
            self.config.n_conclusions - 1,
        )
        # Quantifiers are as common among the others as among what follows, so that they tell
        # nothing; half of the others are what follows with its ends exchanged.
        distractors: list[Statement] = []
        for _ in range(2 * self.config.n_conclusions if taken else 0):
            like = pick(rng, taken)
            turned = Statement(
                like.quantifier, (abs(like.predicate), *like.subject[1:]), like.subject[0]
            )
            if integer(rng, 0, 1) and not world.entails(turned):
                distractors.append(turned)
            elif others[like.quantifier]:
                distractors.append(pick(rng, others[like.quantifier]))
        return taken, list(dict.fromkeys(distractors))

    def prompt(self, problem: SyllogismProblem) -> str:
        premises = "\n".join(f"- {sentence(problem.terms, p)}" for p in problem.premises)
        conclusions = "\n".join(
            f"{i}. {sentence(problem.terms, c)}" for i, c in enumerate(problem.conclusions, 1)
        )
        return (
            f"Assume that all of these statements are true:\n\n{premises}\n\nWhich of the "
            f"following conclusions must then also be true?\n\n{conclusions}\n\n"
            f"{_meanings(problem)}At least one conclusion must be true, and at least one need not "
            "be. Answer with the numbers of all conclusions that must be true, separated by commas."
        )

    def verify(self, problem: SyllogismProblem, answer: str) -> Verdict:
        world = World(len(problem.terms), problem.premises)
        following = [i for i, c in enumerate(problem.conclusions, 1) if world.entails(c)]
        return judge_numbers(following, len(problem.conclusions), answer)

    def solve(self, problem: SyllogismProblem) -> str:
        return ", ".join(map(str, problem.following))

    def explain(self, problem: SyllogismProblem) -> list[str]:
        return explained(problem.terms, problem.premises, problem.conclusions)

    def effort(self, problem: SyllogismProblem) -> int:
        """Count the nodes of a search for all combinations of kinds that the premises allow."""
        n = len(problem.terms)
        everything = columns(n)[0]
        general = [p for p in problem.premises if p.quantifier != "some"]
        return search_nodes([everything ^ region(p, columns(n)) for p in general], n)

    def baseline(self, rng: Rng, problem: SyllogismProblem) -> str:
        """Toss a coin for each conclusion."""
        numbers = [i for i in range(1, len(problem.conclusions) + 1) if integer(rng, 0, 1)]
        return ", ".join(map(str, numbers or [1]))


def _meanings(problem: SyllogismProblem) -> str:
    """Return what the quantifiers that occur in a problem mean, as the start of a paragraph."""
    used = {statement.quantifier for statement in (*problem.premises, *problem.conclusions)}
    universal = " and ".join(f"“{q.capitalize()} X are Y”" for q in ("all", "no") if q in used)
    verb = "do" if {"all", "no"} <= used else "does"
    texts = [f"{universal} {verb} not imply that any X exist."] if universal else []
    if "some" in used:
        texts.append("“Some” means at least one.")
    return "".join(f"{text} " for text in texts)


def _sign(rng: Rng, quantifier: str) -> int:
    """Return the sign of a predicate: "all ... are not" is left to "no"."""
    return nonzero(rng, 1) if quantifier == "some" else 1


# Statements with all, no and some: what they leave open, their words, and proofs from them.


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
