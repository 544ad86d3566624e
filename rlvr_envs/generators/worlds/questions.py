"""Questions about a world: drawn by kind, and given out only when they pass every gate."""

from collections.abc import Callable
from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import Rng
from rlvr_envs.generators.worlds import gates, kinds
from rlvr_envs.generators.worlds.articles import library
from rlvr_envs.generators.worlds.dice import Dice
from rlvr_envs.generators.worlds.english import question_text
from rlvr_envs.generators.worlds.paths import Source
from rlvr_envs.generators.worlds.plan import Plan, Step, evaluate, value_kind
from rlvr_envs.generators.worlds.world import World

UNANSWERABLE = "unanswerable"
_ROUNDS = 8  # at a number of hops, before one hop fewer is tried
_TRIES = 200  # draws a round

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


def _judge(source: Source, kind: str, plan: Plan) -> Question | None:
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
    text = question_text(plan, source.dice)
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
    )


def draw_question(world: World, kind: str, spec: QuestionSpec, rng: Rng) -> Question:
    """Draw a question of a kind, with fewer hops where the world has none with so many."""
    if kind not in KINDS:
        raise ConfigError(f"no question kind {kind!r}; there are {', '.join(KINDS)}")
    pages, dice = library(world), Dice(rng)
    for hops in range(spec.hops, 0, -1):
        for _ in range(_ROUNDS):
            source = Source(pages, dice, dice.unit())
            for _ in range(_TRIES):
                plan = KINDS[kind](source, hops)
                question = plan and _judge(source, kind, plan)
                if question:
                    return question
    raise ConfigError(f"this world of {len(world.entities)} articles has no {kind} question")
