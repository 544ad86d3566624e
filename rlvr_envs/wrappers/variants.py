"""Variants of problems: said in another way, with irrelevant sentences, and judged as exactly.

A variant is checked by construction: the task itself declares what may be rewritten and how the
answer follows (`rlvr_envs.core.task.Task.variant`), and judges the rewritten problem as any other.
Sentences that are added name nothing that a problem is about, and leave the answer as it is. Shi et
al., "Large Language Models Can Be Easily Distracted by Irrelevant Context", 2023, and Mirzadeh et
al., "GSM-Symbolic", 2024, measure models in these two ways.
"""

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.seeding import Rng, integer, pick, stream
from rlvr_envs.core.task import Variant
from rlvr_envs.wrappers.shaping import check_wraps_text

KINDS = ("symmetry", "facts", "story")
_DRAWS = 20  # of a symmetry, where one gives no variant

# Sentences about nothing that a problem is about: without numbers, names, quantities or orders.
_WHO = (
    *("A heron", "An old lamp", "The baker's cat", "A paper kite", "The harbour master"),
    *("A wooden bench", "The night train", "A choir", "The gardener", "A stray dog"),
    *("The church bell", "A ferry", "The postman", "A lighthouse", "The violin teacher"),
)
_DID = (
    *("stood by the river", "was seen from the window", "made hardly a sound"),
    *("had been there since spring", "was mentioned in the local paper", "stayed out of the rain"),
    *("belonged to the old town", "was painted blue", "came into view", "was part of the scene"),
)
_WHEN = (
    *("that morning", "while the fog lifted", "as every year", "before the rain set in"),
    *("on the day of the fair", "late in the evening", "when the wind turned", "as usual"),
)
_STORIES = (
    "A friend sends you this from a long train journey.",
    "The following was found in the estate of a retired teacher.",
    "This hung on the notice board of a library.",
    "A radio host reads this out to the listeners.",
    "Two colleagues argue about this over lunch.",
    "This is printed on the back of an old calendar.",
    "A visitor left this in the guest book of a museum.",
    "An aunt writes this in a letter.",
)
_PROSE = re.compile(r"[A-Z][^\n]*\.")


class CheckedVariants(gymnasium.Wrapper[str, str, str, str], RecordConstructorArgs):
    """Poses a variant of each problem, always the same one for a problem.

    ``symmetry`` rewrites what the task declares (names, order, a negation), and the task judges the
    rewritten problem; ``info["reference"]``, rows and the verdict are of that one. ``facts`` adds
    irrelevant sentences before or after the text, or between two paragraphs of it; ``story`` puts a
    sentence about where the problem comes from before it. ``info["variant"]`` lists what was done;
    it is empty for interactive tasks, and where a reply is nothing but the answer no text is added.

    The variant depends on the problem and on ``seed`` alone, so that a ``problem_seed`` brings it
    back, and a group sees one problem. Rows of `env.unwrapped.instance` hold the rewritten problem;
    the added sentences are only in the observation. A row that `reset` is given is not rewritten,
    since it may hold a variant already (a retry poses the same problem again in this way).

    Args:
        env: an environment of this package, with no other wrapper of this package inside.
        kinds: which of `KINDS` are done, each wherever it can be.
        n_facts: sentences added by ``facts``.
        seed: of the choice of variants.

    Raises:
        ConfigError: a kind is unknown or there is none, ``n_facts`` is below 1, or another wrapper
            of this package is inside.

    Examples:
        >>> import gymnasium
        >>> import rlvr_envs
        >>> from rlvr_envs.wrappers import CheckedVariants
        >>> env = CheckedVariants(gymnasium.make("rlvr/SubsetSum-v0"), ["symmetry", "facts"])
        >>> prompt, info = env.reset(seed=3)
        >>> info["variant"]
        ('order', 'facts')
    """

    def __init__(
        self,
        env: gymnasium.Env[str, str],
        kinds: Sequence[str] = KINDS,
        *,
        n_facts: int = 1,
        seed: int = 0,
    ) -> None:
        RecordConstructorArgs.__init__(self, kinds=kinds, n_facts=n_facts, seed=seed)
        super().__init__(env)
        check_wraps_text(self, env.unwrapped)
        self._kinds = tuple(kinds)
        unknown = [kind for kind in self._kinds if kind not in KINDS]
        if unknown or not self._kinds or isinstance(kinds, str):
            raise ConfigError(f"kinds are some of {', '.join(KINDS)}, got {kinds!r:.80}")
        if isinstance(n_facts, bool) or not isinstance(n_facts, int) or n_facts < 1:
            raise ConfigError(f"n_facts is an integer from 1, got {n_facts!r:.80}")
        self._n_facts, self._seed = n_facts, int(seed)
        inner: Any = env
        while isinstance(inner, gymnasium.Wrapper):
            if type(inner).__module__.startswith("rlvr_envs."):
                raise ConfigError(
                    f"CheckedVariants goes around the environment itself, and other wrappers "
                    f"around it: {type(inner).__name__} is inside"
                )
            inner = inner.env

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Pose a variant of the next problem."""
        prompt, info = self.env.reset(seed=seed, options=options)
        base: Any = self.env.unwrapped
        instance: Instance = base.instance
        if instance.interactive:
            return prompt, {**info, "variant": ()}
        done = list[str]()
        made = None if "problem" in (options or {}) else self._rewritten(instance)
        if made is not None:
            varied = dataclasses.replace(instance, problem=made.problem)
            row = varied.to_row(reference=False)
            prompt, info = self.env.reset(options={"problem": row})
            instance, done = base.instance, [*made.changes]
        if instance.format_label != "raw":
            rng = stream("checked_variants", "text", self._seed, instance.fingerprint())
            text = instance.task.prompt(instance.problem)
            before, found, after = prompt.partition(text)
            if found:
                if "facts" in self._kinds:
                    text = with_facts(text, rng, self._n_facts)
                    done.append("facts")
                if "story" in self._kinds:
                    text = f"{pick(rng, _STORIES)}\n\n{text}"
                    done.append("story")
                prompt = before + text + after
        return prompt, {**info, "variant": tuple(done)}

    def _rewritten(self, instance: Instance) -> Variant[Any] | None:
        if "symmetry" not in self._kinds:
            return None
        rng = stream("checked_variants", "symmetry", self._seed, instance.fingerprint())
        return rewritten(instance, rng)


def rewritten(instance: Instance, rng: Rng) -> Variant[Any] | None:
    """Return a variant by a symmetry that the task declares, None where there is none."""
    for _ in range(_DRAWS):
        made = instance.task.variant(instance.problem, rng)
        if made is not None:
            return made
    return None


def with_facts(text: str, rng: Rng, count: int) -> str:
    """Return a text with irrelevant sentences before it, after it or between paragraphs of it."""
    for _ in range(count):
        fact = f"{pick(rng, _WHO)} {pick(rng, _DID)} {pick(rng, _WHEN)}."
        parts = text.split("\n\n")
        # Nothing is put next to a table, a grid or a formula, which it could be read as a part of.
        inside = [
            i
            for i in range(1, len(parts))
            if _PROSE.fullmatch(parts[i - 1]) and _PROSE.fullmatch(parts[i])
        ]
        places = [0, *inside, len(parts)]
        parts.insert(places[integer(rng, 0, len(places) - 1)], fact)
        text = "\n\n".join(parts)
    return text
