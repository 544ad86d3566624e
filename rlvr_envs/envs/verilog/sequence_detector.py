"""SequenceDetector: find patterns in a stream of bits."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.envs.verilog._sequence_detector import FEATURES, Detector, automaton
from rlvr_envs.generators.hardware.design import Design
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

_LONGEST, _MOST = 12, 4
_MOST_STATES = 120  # of the automaton; patterns with too many wildcards lose some


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceDetectorConfig(DesignConfig):
    """What is looked for, and what controls the search."""

    length: int = 4  # bits of the longest pattern
    patterns: int = 1  # how many are looked for
    wildcards: int = 0  # bits of each pattern, at most, that may be anything
    features: int = 1  # added in the order valid, count, restart, last

    def __post_init__(self) -> None:
        DesignConfig.__post_init__(self)
        if not 2 <= self.length <= _LONGEST:
            raise ConfigError(f"length is between 2 and {_LONGEST}, got {self.length}")
        if not 1 <= self.patterns <= min(_MOST, self.length - 1):
            most = min(_MOST, self.length - 1)
            raise ConfigError(
                f"patterns is between 1 and {most} with length={self.length}, got {self.patterns}"
            )
        if not 0 <= self.wildcards <= self.length - 2:
            raise ConfigError(
                f"wildcards is between 0 and {self.length - 2} with length={self.length}, "
                f"got {self.wildcards}"
            )
        most = len(FEATURES) - (self.patterns == 1)  # one pattern is always the last
        if not 0 <= self.features <= most:
            raise ConfigError(
                f"features is between 0 and {most} with patterns={self.patterns}, "
                f"got {self.features}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "SequenceDetectorConfig":
        """Patterns get 4 bits every 5 steps, up to 12; a control comes every 2, a pattern every 4.

        Up to 3 wildcards come one every 3 steps; there are at most 4 patterns.
        """
        return cls(
            length=min(2 + (4 * difficulty) // 5, _LONGEST),
            patterns=min(1 + difficulty // 4, _MOST),
            wildcards=min(difficulty // 3, 3),
            features=min(difficulty // 2, len(FEATURES)),
        )


@register("SequenceDetector-v0", domain="verilog", answer_format=LANGUAGE)
class SequenceDetectorTask(DesignTask[SequenceDetectorConfig]):
    """Write a detector of patterns in a stream of bits.

    Description:
        One to four patterns, overlapping or not, with bits that may be anything; the output
        answers at once (Mealy) or a cycle later (Moore). Bits may be invalid, matches are counted,
        the search can be restarted, and the last match is kept.

    Observation:
        What the module does in numbered rules or prose, its ports, and the kind of its reset; in
        one problem of three also a run of it, as a table or a waveform.

    Action:
        The module as one block of Verilog or SystemVerilog.

    Reward:
        1 if the module behaves as the reference for all inputs at all times, otherwise 0; with
        ``reward="graded"`` up to half for compiling, for the right ports and for outputs that
        never differed in simulation.

    Episode End:
        After one step.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md).

    Difficulty:
        Patterns get longer and more, and the controls and their interactions too.

    References:
        Knuth, Morris and Pratt 1977, Fast pattern matching in strings; Aho and Corasick 1975,
        Efficient string matching; Mealy 1955 and Moore 1956 for the two kinds of machines.

    Version History:
        v0: first version.
    """

    def design(self, rng: Rng) -> Design:
        config = self.config
        patterns = _patterns(rng, config)
        while len(automaton(patterns, overlap=True)) > _MOST_STATES:
            patterns = tuple(p.replace("-", pick(rng, "01"), 1) for p in patterns)
        return Detector(
            patterns=patterns,
            mealy=integer(rng, 0, 1) == 1,
            overlap=integer(rng, 0, 1) == 1,
            reverse=integer(rng, 0, 1) == 1,
            wraps=integer(rng, 0, 1) == 1,
            stream=pick(rng, ("x", "d", "serial", "rx")),
            found=pick(rng, ("found", "y", "hit", "detected")),
            features=FEATURES[: config.features],
        ).design(rng)


def _patterns(rng: Rng, config: SequenceDetectorConfig) -> tuple[str, ...]:
    """Return different patterns; the first bit and the last are never wildcards."""
    found: list[str] = []
    while len(found) < config.patterns:
        size = config.length if not found else integer(rng, 2, config.length)
        bits = [str(integer(rng, 0, 1)) for _ in range(size)]
        for _ in range(min(config.wildcards, size - 2)):
            bits[integer(rng, 1, size - 2)] = "-"
        if "".join(bits) not in found:
            found.append("".join(bits))
    return tuple(found)
