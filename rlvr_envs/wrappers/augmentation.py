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
from rlvr_envs.wrappers._prompt_templates import ORIGINAL, PLAIN, WORKED
from rlvr_envs.wrappers.shaping import check_wraps_text

TEMPLATES = (*PLAIN, *WORKED)
_FIELD = re.compile(r"\{(question|instruction)\}")


class PromptAugmentation(gymnasium.Wrapper[str, str, str, str], RecordConstructorArgs):
    """Poses each problem in one of many templates, by default always the same for a problem.

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
