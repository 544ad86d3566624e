"""Questions about a world: drawn by kind, and given out only when they pass every gate."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import Rng
from rlvr_envs.generators.worlds import gates, kinds
from rlvr_envs.generators.worlds.articles import PLAIN, library
from rlvr_envs.generators.worlds.dice import Dice
from rlvr_envs.generators.worlds.english import question_text
from rlvr_envs.generators.worlds.paths import Source
from rlvr_envs.generators.worlds.plan import Plan, Step, evaluate, value_kind
from rlvr_envs.generators.worlds.rewordings import reworded
from rlvr_envs.generators.worlds.world import Entity, World

UNANSWERABLE = "unanswerable"
_ROUNDS = 8  # at a number of hops, before one hop fewer is tried
_TRIES = 200  # draws a round
_FULL_NAMED = 12  # questions that pass before one with full names is given out
_MOST_CALLED = 4  # things that a short name may mean

KINDS: dict[str, Callable[[Source, int], Plan | None]] = {
    "chain": kinds.chain,
    "inverse": kinds.inverse,
    "comparison": kinds.comparison,
    "intersection": kinds.intersection,
    "count": kinds.count,
    "superlative": kinds.superlative,
    "unanswerable": kinds.unanswerable,
    "temporal": kinds.temporal,
    "set": kinds.all_of,
    "arithmetic": kinds.arithmetic,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSpec:
    """What a question is like."""

    hops: int = 2  # relations between a name in the question and what it leads to
    paraphrased: bool = False  # whether it also uses the wordings of `rewordings`
    underspecified: bool = False  # whether it may leave out which of several things a name means

    def __post_init__(self) -> None:
        if self.hops < 1:
            raise ConfigError(f"a question has at least one hop, got {self.hops}")

    @classmethod
    def at(cls, difficulty: int) -> "QuestionSpec":
        """One hop at level 0, then one more at every second level; at most six."""
        return cls(hops=min(6, 1 + (difficulty + 1) // 2))


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its answer and the way to it."""

    text: str
    kind: str
    form: str  # of the answer: "name", "number", "set" or "unanswerable"
    answers: tuple[tuple[str, ...], ...]  # one tuple an answer: its canonical form, then aliases
    hops: int  # relations to look up, those of all branches together
    evidence: tuple[str, ...]  # the pages that tell the facts behind the answer
    plan: Plan
    others: int = 0  # things that a short name in the question could mean as well


def _answers(world: World, steps: list[Step], form: str) -> tuple[tuple[str, ...], ...]:
    values = steps[-1].values
    if form == "number":
        return ((str(values[0]),),)
    return tuple(world.entities[value].forms for value in sorted(values))


def _has_gap(plan: Plan, steps: list[Step]) -> bool:
    """Tell whether a path is definite up to a fact that nobody recorded."""
    lengths = [len(step.values) for step in steps]
    known = lengths.index(0) if 0 in lengths else len(lengths)
    return known < len(plan) and all(n == 1 for n in lengths[:known])


def _judge(source: Source, kind: str, plan: Plan, spec: QuestionSpec) -> Question | None:
    """Make the question of a plan, None if it fails a gate."""
    world, pages = source.world, source.library.pages
    steps = evaluate(world, plan)
    missing = kind == "unanswerable" and _has_gap(plan, steps)
    if not missing and not (
        gates.is_definite(plan, steps)
        and gates.is_tight(world, plan, steps)
        and gates.is_told_apart(world, plan, steps)
    ):
        return None
    evidence = gates.shown(world, plan, steps)
    if not gates.is_spread(source.library, plan, evidence):
        return None
    form = "set" if plan[-1].op == "all" else value_kind(plan)
    answers = ((UNANSWERABLE,),) if missing else _answers(world, steps, form)
    asked, others = plan, 0
    if spec.underspecified:
        asked, others = _shortened(world, plan)
    if spec.paraphrased:
        text = question_text(asked, source.dice, reworded(source.dice))
    else:
        text = question_text(asked, source.dice)
    if gates.gives_away(text, answers):
        return None
    told = sorted({source.library.told[fact] for facts in evidence for fact in facts})
    return Question(
        text=text,
        kind=kind,
        form=UNANSWERABLE if missing else form,
        answers=answers,
        hops=sum(1 for hop in plan if hop.relation),
        evidence=tuple(pages[page].id for page in told),
        plan=plan,
        others=others,
    )


def _shortened(world: World, plan: Plan) -> tuple[Plan, int]:
    """Return a plan that calls one thing by a part of its name, and how many others have it.

    The question still has one answer: for each of the others some hop of the plan has no value. A
    plan in which no name can be shortened so comes back as it is, with no others.
    """
    for at, hop in enumerate(plan):
        if hop.op != "name":
            continue
        own = world.numbers[hop.entity]
        for short in _short_names(world.entities[own], hop.entity):
            others = [
                number
                for number, entity in enumerate(world.entities)
                if number != own
                and any(short in _short_names(entity, form) for form in entity.forms)
            ]
            if not 1 <= len(others) < _MOST_CALLED:
                continue
            if not any(_answered(world, plan, at, other) for other in others):
                return (*plan[:at], replace(hop, entity=short), *plan[at + 1 :]), len(others)
    return plan, 0


def _short_names(entity: Entity, name: str) -> tuple[str, ...]:
    """Return what else could be said for a name: without brackets, or a person's names alone."""
    bare = name.partition(" (")[0]
    if bare != name:
        return (bare,)
    return tuple(reversed(name.split())) if entity.kind == "person" else ()


def _answered(world: World, plan: Plan, at: int, entity: int) -> bool:
    """Tell whether a plan has an answer with another thing in place of one that it names."""
    named = replace(plan[at], entity=world.entities[entity].label)
    steps = evaluate(world, (*plan[:at], named, *plan[at + 1 :]))
    return all(step.values for step in steps)


def draw_question(
    world: World, kind: str, spec: QuestionSpec, rng: Rng, prose: str = PLAIN
) -> Question:
    """Draw a question of a kind, with fewer hops where the world has none with so many.

    Which questions pass the gates depends on what stands on which page, so also on the prose.
    """
    if kind not in KINDS:
        raise ConfigError(f"no question kind {kind!r}; there are {', '.join(KINDS)}")
    if kind == UNANSWERABLE:  # a short name would tell that there is an answer
        spec = replace(spec, underspecified=False)
    pages, dice = library(world, prose), Dice(rng)
    for hops in range(spec.hops, 0, -1):
        full_named: list[Question] = []
        for _ in range(_ROUNDS):
            source = Source(pages, dice, dice.unit())
            for _ in range(_TRIES):
                plan = KINDS[kind](source, hops)
                question = plan and _judge(source, kind, plan, spec)
                if not question:
                    continue
                if question.others or not spec.underspecified:
                    return question
                full_named.append(question)
                if len(full_named) == _FULL_NAMED:
                    return full_named[0]
        if full_named:
            return full_named[0]
    raise ConfigError(f"this world of {len(world.entities)} articles has no {kind} question")
