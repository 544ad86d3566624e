"""A share of the reward for the form of a message."""

import re
from dataclasses import dataclass
from typing import ClassVar

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import MAX_RESPONSE_CHARS
from rlvr_envs.core.verdict import Status
from rlvr_envs.wrappers.played import EpisodeReward, Played


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """The reward (1 - share) * r + share * kept, where kept is 1 if the form was kept, else 0.

    Without ``tags`` and ``pattern`` the form is kept where an answer could be read; in an episode
    that was cut off it is not. With either, the last message must also have it.

    Attributes:
        share: of the form in the reward, above 0 and below 1.
        tags: names such as ``("think", "answer")``: each opens once, closes once, in this order,
            and nothing but white space is outside of them.
        pattern: a regular expression for the whole message, in which a dot is any character.

    Examples:
        >>> from rlvr_envs import Verdict
        >>> from rlvr_envs.wrappers import Format, Played
        >>> played = Played(verdict=Verdict.correct(), actions=("16, I think",), earned=1.0, seed=0)
        >>> Format(share=0.25, tags=("think", "answer")).parts(played)
        {'format': -0.25}
    """

    share: float = 0.1
    tags: tuple[str, ...] = ()
    pattern: str = ""

    name: ClassVar[str] = "format"
    adds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.share, float) or not 0.0 < self.share < 1.0:
            raise ConfigError(f"share is a number above 0 and below 1, got {self.share!r}")
        named = isinstance(self.tags, tuple) and all(
            isinstance(tag, str) and re.fullmatch(r"[A-Za-z][\w-]*", tag) for tag in self.tags
        )
        if not named or len(set(self.tags)) < len(self.tags):
            raise ConfigError(f"tags is a tuple of different names, got {self.tags!r:.80}")
        try:
            re.compile(self.pattern, re.DOTALL)
        except (re.error, TypeError) as error:
            raise ConfigError(f"{self.pattern!r:.80} is no regular expression: {error}") from error

    def parts(self, played: Played) -> dict[str, float]:
        """Return what the form adds to the reward, or takes from it."""
        text = played.actions[-1]
        kept = (
            not played.truncated
            and played.verdict.status is not Status.UNPARSABLE
            and len(text) <= MAX_RESPONSE_CHARS
            and in_tags(text, self.tags)
            and (not self.pattern or re.fullmatch(self.pattern, text, re.DOTALL) is not None)
        )
        return {self.name: self.share * (float(kept) - played.earned)}


class FormatReward(EpisodeReward, RecordConstructorArgs):
    r"""Makes a share of the reward depend on the form of the last message; see `Format`.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import FormatReward
        >>> env = FormatReward(gymnasium.make("rlvr/Gcd-v0", difficulty=0), share=0.25)
        >>> prompt, info = env.reset(seed=0)
        >>> env.step(r"\boxed{7}")[1]
        0.25
    """

    def __init__(
        self,
        env: gymnasium.Env[str, str],
        share: float = 0.1,
        *,
        tags: tuple[str, ...] = (),
        pattern: str = "",
    ) -> None:
        RecordConstructorArgs.__init__(self, share=share, tags=tags, pattern=pattern)
        super().__init__(env, Format(share=share, tags=tags, pattern=pattern))


def in_tags(text: str, tags: tuple[str, ...]) -> bool:
    """Tell whether a text is nothing but these tags with what they hold, once each and in order."""
    if any(text.count(f"<{tag}>") != 1 or text.count(f"</{tag}>") != 1 for tag in tags):
        return False
    rest = text.strip()
    for tag in tags:
        if not rest.startswith(f"<{tag}>"):
            return False
        _, closed, rest = rest.partition(f"</{tag}>")
        if not closed:
            return False
        rest = rest.lstrip()
    return not (tags and rest)
