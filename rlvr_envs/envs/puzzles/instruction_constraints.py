"""Write a text that meets several conditions at once."""

import re
from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.text_conditions.conditions import KINDS, Condition, offer
from rlvr_envs.generators.text_conditions.text_view import TextView, definitions
from rlvr_envs.generators.text_conditions.texts import draw_text
from rlvr_envs.generators.words.english import all_words

MAX_CHARACTERS = 20_000
_SENTENCE = re.compile(r"[^.?!\n]*\w[^.?!\n]*(?:[.?!]+\S*|\n|\Z)")
ALWAYS = ("words", "topic", "repetition")  # what keeps one text from fitting many problems
_MOST_OF_A_KIND = 3
_MOST_SENTENCES = 200  # which stay within the characters that are read


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionConstraintsConfig(TaskConfig):
    """How many conditions there are, and how long the text is that they describe."""

    n_conditions: int = knob(6, "conditions", low=len(ALWAYS))
    n_sentences: int = knob(
        3,
        "sentences of the text that the conditions are taken from, roughly",
        low=1,
        high=_MOST_SENTENCES,
    )

    @classmethod
    def at(cls, difficulty: int) -> "InstructionConstraintsConfig":
        """Every level adds two conditions and, from the second on, a sentence."""
        return cls(
            n_conditions=3 + 2 * difficulty, n_sentences=min(_MOST_SENTENCES, max(1, difficulty))
        )


@dataclass(frozen=True, slots=True)
class InstructionConstraintsProblem:
    """The conditions, and a text that meets them all."""

    conditions: tuple[Condition, ...]
    text: str = hidden()


@register("InstructionConstraints-v0", domain="puzzles", answer_format="tag")
class InstructionConstraintsTask(Task[InstructionConstraintsConfig, InstructionConstraintsProblem]):
    """Write a text that meets every one of several conditions that a program checks.

    Description:
        Conditions are about the numbers of words, sentences and paragraphs, about words and letters
        that occur, do not occur or occur at a certain place, about upper and lower case,
        punctuation marks, numbers in digits, titles and lists. They are true of a text that was
        made for the problem, so they never contradict each other. Three conditions are always
        there: the number of words, some words that must occur, and how often a word may occur.
        Nothing else is asked of the text: it need not make sense.

    Observation:
        The conditions, and definitions of the terms in them.

    Action:
        The text.

    Reward:
        1 if every condition is met, otherwise 0. The verdict's parts say what share of the
        conditions is met.

    Verification:
        Programs that follow the stated definitions check the conditions. White space around the
        text is ignored. Texts of more than 20,000 characters are not read. No known gaps.

    Difficulty:
        The number of conditions and the length of the text grow.

    References:
        Zhou et al., "Instruction-Following Evaluation for Large Language Models", 2023
        (arXiv:2311.07911), for checking instructions by programs.
    """

    literal_answer = True

    def generate(self, rng: Rng) -> InstructionConstraintsProblem:
        config = self.config
        n_more = config.n_conditions - len(ALWAYS)
        text = draw_text(rng, config.n_sentences, min(4, (n_more + 1) // 3))
        conditions = _read_off(rng, TextView(text), n_more)
        order = rng.permutation(len(conditions)).tolist()
        return InstructionConstraintsProblem(tuple(conditions[i] for i in order), text)

    def prompt(self, problem: InstructionConstraintsProblem) -> str:
        conditions = [condition.say() for condition in problem.conditions]
        listed = "\n".join(f"{i}. {condition}" for i, condition in enumerate(conditions, start=1))
        return (
            f"Write a text that meets all of these conditions:\n\n{listed}\n\n"
            f"Definitions:\n{definitions(conditions)}\n\n"
            "Only these conditions count: the text need not make sense."
        )

    def verify(self, problem: InstructionConstraintsProblem, answer: str) -> Verdict:
        if len(answer) > MAX_CHARACTERS:
            return Verdict.wrong(f"the text has more than {MAX_CHARACTERS} characters")
        view = TextView(answer)
        if not view.words:
            return Verdict.unparsable("the text has no words")
        unmet = [i for i, c in enumerate(problem.conditions, start=1) if not c.holds(view)]
        share = 1 - len(unmet) / len(problem.conditions)
        if unmet:
            return Verdict.wrong(f"not met: {', '.join(map(str, unmet))}", share=share)
        return Verdict.correct(share=share)

    def solve(self, problem: InstructionConstraintsProblem) -> str:
        return problem.text

    def explain(self, problem: InstructionConstraintsProblem) -> list[str]:
        """Return the text sentence by sentence, with the conditions that it meets so far."""
        steps, start = [], 0
        for match in _SENTENCE.finditer(problem.text):
            view = TextView(problem.text[: match.end()])
            met = [str(i) for i, c in enumerate(problem.conditions, start=1) if c.holds(view)]
            added = problem.text[start : match.end()]
            start = match.end()
            where = " in a new paragraph" if "\n\n" in added.rstrip() else ""
            steps.append(f"Write{where}: {added.strip()}\nMet so far: {', '.join(met) or 'none'}.")
        return steps

    def effort(self, problem: InstructionConstraintsProblem) -> int:
        """Return how often a writer looks who checks every condition at every word."""
        return _fewest_words(problem) * len(problem.conditions)

    def baseline(self, rng: Rng, problem: InstructionConstraintsProblem) -> str:
        """Write the words that are asked for, and then others until there are enough."""
        asked = [word for c in problem.conditions if c.kind == "topic" for word in c.details.words]
        known = all_words()
        places = rng.permutation(len(known))[: _fewest_words(problem)].tolist()
        others = [word for word in (known[i] for i in places) if word not in asked]
        text = " ".join([*asked, *others][: max(len(asked), _fewest_words(problem))])
        return f"{text.capitalize()}."


def _fewest_words(problem: InstructionConstraintsProblem) -> int:
    return max(c.details.number for c in problem.conditions if c.kind == "words")


def _read_off(rng: Rng, view: TextView, n_more: int) -> list[Condition]:
    """Return conditions that a text meets: those there always are, and ``n_more`` others.

    Kinds come in a random order, once each at first, then again with other details; there are
    fewer conditions where a text has no more to say.
    """
    found = {kind: condition for kind in ALWAYS if (condition := offer(kind, view, rng))}
    conditions = list(found.values())
    others = [kind for kind in KINDS if kind not in ALWAYS]
    for _ in range(_MOST_OF_A_KIND):
        for place in rng.permutation(len(others)).tolist():
            if len(conditions) == len(ALWAYS) + n_more:
                return conditions
            condition = offer(others[place], view, rng)
            if condition is not None and condition not in conditions:
                conditions.append(condition)
    return conditions
