"""Questions of which some lack a premise, so that the right answer is that there is none."""

import re
from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.math._premise_steps import STEPS
from rlvr_envs.generators.mathematics.latex import number
from rlvr_envs.generators.mathematics.premises import KINDS, QUESTIONS, Premise, distract, tell
from rlvr_envs.verifiers.symbolic import judge_math

UNDETERMINED = "cannot be determined"
_SYNONYMS = frozenset(
    {
        UNDETERMINED,
        "can not be determined",
        "can t be determined",
        "could not be determined",
        "cannot be found",
        "cannot determine",
        "undetermined",
        "not determined",
        "not determinable",
        "indeterminate",
        "indeterminable",
        "not enough information",
        "not enough information to determine",
        "not enough information is given",
        "insufficient information",
        "information is insufficient",
        "impossible to determine",
        "impossible to tell",
    }
)
_WRAPPER = re.compile(r"\\(?:text|textbf|textit|textrm|mathrm|mbox)\b")
_LEAD = re.compile(r"(?:the answer (?:is )?|it (?:is )?|there is )")
_MAX_PHRASE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingPremiseConfig:
    """The kinds of stories, their length, and how many of them are ill-posed."""

    kinds: tuple[str, ...] = KINDS  # one is drawn for each problem
    n_steps: int = 3  # people, days, plots, jars or unknowns to work through
    n_distractors: int = 2  # up to this many premises that settle nothing
    max_number: int = 30  # the size of the numbers
    ill_posed_share: float = 0.5  # how often a premise is missing

    def __post_init__(self) -> None:
        if not self.kinds or not set(self.kinds) <= set(KINDS):
            raise ConfigError(f"kinds are some of {', '.join(KINDS)}, got {self.kinds!r}")
        if self.n_steps < 1 or not 0 <= self.n_distractors <= 100:
            raise ConfigError(f"need n_steps >= 1 and n_distractors in 0..100, got {self}")
        if self.n_steps > 100 or self.max_number < 4:
            raise ConfigError(f"need n_steps <= 100 and max_number >= 4, got {self}")
        if not 0 <= self.ill_posed_share <= 1:
            raise ConfigError(f"ill_posed_share is in [0, 1], got {self.ill_posed_share}")

    @classmethod
    def at(cls, difficulty: int) -> "MissingPremiseConfig":
        """A step and a distractor more each rung, up to 100 of them, and larger numbers."""
        return cls(
            n_steps=min(100, 1 + difficulty),
            n_distractors=min(100, difficulty),
            max_number=10 * (1 + difficulty),
        )


@dataclass(frozen=True, slots=True)
class MissingPremiseProblem:
    """The premises in the order told, and the question; the answer is None where there is none."""

    kind: str
    premises: tuple[Premise, ...]
    asked: tuple[str, ...]
    answer: Fraction | None = hidden()


@register("MissingPremise-v0", domain="math")
class MissingPremiseTask(Task[MissingPremiseConfig, MissingPremiseProblem]):
    """Answer a question, or say that it cannot be answered.

    Description:
        A short story (collections, ages, a journey, areas, a mixture, equations) determines a
        number. With the probability ``ill_posed_share`` one premise that the answer needs is left
        out. Distractors, some of them consequences of the other premises, keep the number of
        premises from giving this away.

    Observation:
        The premises in random order, the question, and the words for the case that the answer is
        not determined.

    Action:
        One exact number, or "cannot be determined".

    Reward:
        1 for the number where it is determined, and for saying so where it is not; otherwise 0.
        By design the constant answer "cannot be determined" earns ``ill_posed_share``, 0.5 as it
        stands, and no other constant answer earns more than a little.

    Episode End:
        After one step.

    Verification:
        Numbers are judged exactly. For the other half a fixed list of phrases counts, whatever
        their case and punctuation; a phrase that is not on it does not pass.

    Difficulty:
        The premises, the distractors and the numbers grow.

    References:
        Fan et al., Missing Premise exacerbates Overthinking: Are Reasoning Models losing Critical
        Thinking Skill?, 2025.

    Version History:
        v0: first version.
    """

    # "Cannot be determined" earns the share of ill-posed questions, half of them by default.
    guess_bound = 0.65

    def generate(self, rng: Rng) -> MissingPremiseProblem:
        config = self.config
        kind = pick(rng, config.kinds)
        story = tell(rng, kind, config.n_steps, config.max_number)
        premises, answer = story.premises, story.answer
        names = sorted({name for premise in premises for name in premise.names})
        ill_posed = rng.random() < config.ill_posed_share
        if ill_posed:
            del premises[pick(rng, story.droppable)]
        for _ in range(integer(rng, 0, config.n_distractors)):
            extra = distract(rng, kind, premises, names, config.max_number)
            names.extend(extra.names)
            if extra not in premises:
                premises.append(extra)
        told = tuple(premises[i] for i in rng.permutation(len(premises)).tolist())
        return MissingPremiseProblem(kind, told, story.asked, None if ill_posed else answer)

    def prompt(self, problem: MissingPremiseProblem) -> str:
        premises = " ".join(premise.text() for premise in problem.premises)
        question = QUESTIONS[problem.kind].format(*problem.asked)
        return (
            f"{premises} {question} Give the exact number, or, if the information given does not "
            f'determine it, answer "{UNDETERMINED}".'
        )

    def verify(self, problem: MissingPremiseProblem, answer: str) -> Verdict:
        # The detail must not tell which of the two kinds of answer is right.
        if _says_undetermined(answer):
            right = problem.answer is None
            return Verdict.correct() if right else Verdict.wrong("the answer is not right")
        if problem.answer is None:
            return Verdict.wrong("the answer is not right")
        judged = judge_math(number(problem.answer), answer, answer_type="rational", exact=True)
        if judged.score or not judged.scored:
            return judged
        return Verdict.wrong("the answer is not right")

    def solve(self, problem: MissingPremiseProblem) -> str:
        return UNDETERMINED if problem.answer is None else number(problem.answer)

    def explain(self, problem: MissingPremiseProblem) -> list[str]:
        """Return the steps to the number, or to the premise that is missing."""
        return STEPS[problem.kind](problem.premises, problem.asked)


def _says_undetermined(answer: str) -> bool:
    if len(answer) > _MAX_PHRASE:
        return False
    plain = _WRAPPER.sub(" ", answer)
    words = " ".join(re.findall(r"[a-z]+|[0-9]+", plain.lower()))
    lead = _LEAD.match(words)
    return words in _SYNONYMS or (lead is not None and words[lead.end() :] in _SYNONYMS)
