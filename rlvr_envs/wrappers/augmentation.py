"""The same problems in different prompts, after "Prompt Augmentation Scales up GRPO Training".

The source trains on mathematics with many templates for a prompt; the templates here are ours.
"""

import re
from collections.abc import Sequence
from typing import Any, Literal

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.seeding import draw_seed, pick, stream
from rlvr_envs.wrappers.shaping import check_wraps_text

# Prompts around a problem: `{question}` is its text, `{instruction}` how to give the answer.
#
# A template says nothing of the form of the answer beyond the instruction, and nothing about the
# problem. `WORKED` ones ask for the way to the answer too, so they are not for tasks whose reply is
# the answer alone.

ORIGINAL = "{question}\n\n{instruction}"
PLAIN = (
    ORIGINAL,
    "{instruction}\n\n{question}",
    "Problem:\n{question}\n\n{instruction}",
    "Question: {question}\n\n{instruction}",
    "Task\n----\n{question}\n\nAnswer\n------\n{instruction}",
    "# Problem\n\n{question}\n\n# How to answer\n\n{instruction}",
    "### Instruction\n{instruction}\n\n### Problem\n{question}",
    "Here is a problem.\n\n{question}\n\n{instruction}",
    "Solve this.\n\n{question}\n\n{instruction}",
    "Please solve the following problem. {instruction}\n\n{question}",
    "Read the problem below with care. {instruction}\n\nProblem: {question}",
    "Your task is below. {instruction}\n\n---\n{question}\n---",
    "{question}\n\n---\nNote: {instruction}",
    "Exercise:\n\n{question}\n\nForm of the answer: {instruction}",
    "[problem]\n{question}\n[end of problem]\n\n{instruction}",
    "A reader sent in this problem:\n\n{question}\n\n{instruction}",
    "You are good at problems like this one.\n\n{question}\n\n{instruction}",
    "The next problem has to be solved exactly. {instruction}\n\n{question}",
)
WORKED = (
    "{question}\n\nWork it out step by step. {instruction}",
    "Think before you answer.\n\n{question}\n\n{instruction}",
    "Solve the problem and show how you got there. {instruction}\n\nProblem:\n{question}",
    "{question}\n\nExplain your reasoning first. {instruction}",
    "Problem: {question}\n\nReason in small steps and check each of them. {instruction}",
    "Question:\n{question}\n\nFirst make a plan, then carry it out. {instruction}",
    "I need help with this:\n\n{question}\n\nTake me through it. {instruction}",
    "You are a careful tutor. Solve this as if for a student.\n\n{question}\n\n{instruction}",
    "# Task\n{question}\n\n# Reply\nYour reasoning, and then the answer. {instruction}",
    "{instruction}\n\nBefore that, write down what is known and what is asked.\n\n{question}",
    "Here it is:\n\n{question}\n\nWrite down your thoughts and check them. {instruction}",
    "Take your time.\n\n{question}\n\nTest your result against the problem. {instruction}",
)
TEMPLATES = (*PLAIN, *WORKED)
_FIELD = re.compile(r"\{(question|instruction)\}")


class PromptAugmentation(gymnasium.Wrapper[str, str, str, str], RecordConstructorArgs):
    r"""Poses each problem in one of many templates, by default always the same for a problem.

    The text of the problem and the sentence on how to answer are in the prompt word for word; what
    wrappers inside have added around them stays where it is. ``info["template"]`` is the template's
    number, 0 for the prompt as it was. That is what interactive tasks keep, whose prompt is a
    protocol, and tasks whose reply is the answer alone never get a template that asks for more.

    Args:
        env: an environment of this package, wrapped or not.
        templates: texts with ``{question}`` and ``{instruction}``, each once; None for `TEMPLATES`.
        seed: of the choice of templates.
        by: "problem" gives a problem the same template for ever; "reset" draws one at each reset,
            by its seed, so that a problem that comes again, as over the epochs of a data set, is
            posed otherwise. The episodes of a group are reset with one seed.

    Raises:
        ConfigError: a template lacks one of the two, there is none, or ``by`` is neither.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import PromptAugmentation
        >>> templates = ["Question: {question} {instruction}"]
        >>> env = PromptAugmentation(gymnasium.make("rlvr/Gcd-v0", difficulty=0), templates)
        >>> env.reset(seed=0)[0]
        'Question: What is the greatest common divisor of 112 and 128? Put your final answer in
        \\boxed{}.'
    """

    def __init__(
        self,
        env: gymnasium.Env[str, str],
        templates: Sequence[str] | None = None,
        *,
        seed: int = 0,
        by: Literal["problem", "reset"] = "problem",
    ) -> None:
        RecordConstructorArgs.__init__(self, templates=templates, seed=seed, by=by)
        super().__init__(env)
        check_wraps_text(self, env.unwrapped)
        own = () if templates is None else tuple(templates)
        for template in own:
            if sorted(_FIELD.findall(template)) != ["instruction", "question"]:
                raise ConfigError(
                    f"a template has {{question}} and {{instruction}}, each once; {template!r:.200}"
                )
        if templates is not None and not own:
            raise ConfigError("there is no template: give some, or None for those of the package")
        if by not in ("problem", "reset"):
            raise ConfigError(f"by is 'problem' or 'reset', got {by!r}")
        self._by = by
        self._seed = int(seed)
        self._known = TEMPLATES if templates is None else (ORIGINAL, *own)
        self._alone = range(len(PLAIN)) if templates is None else range(1, len(self._known))
        self._worked = range(len(TEMPLATES)) if templates is None else self._alone

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Pose the next problem in its template."""
        prompt, info = self.env.reset(seed=seed, options=options)
        base: Any = self.env.unwrapped
        instance: Instance = base.instance
        before, found, after = prompt.partition(instance.prompt())
        if instance.interactive or not found:
            return prompt, {**info, "template": 0}
        number = self._choose(instance, seed)
        written = filled(
            self._known[number],
            question=instance.task.prompt(instance.problem),
            instruction=answer_format(instance.format_label).instruction(),
        )
        return before + written + after, {**info, "template": number}

    def _choose(self, instance: Instance, reset_seed: int | None) -> int:
        key: list[str | int] = [instance.fingerprint()]
        if self._by == "reset":
            key.append(draw_seed(self.np_random) if reset_seed is None else int(reset_seed))
        rng = stream("prompt_augmentation", self._seed, *key)
        return pick(rng, self._alone if instance.format_label == "raw" else self._worked)


def filled(template: str, *, question: str, instruction: str) -> str:
    """Return a template with its two texts in place; braces in these mean nothing."""
    texts = {"question": question, "instruction": instruction}
    return _FIELD.sub(lambda field: texts[field[1]], template)
