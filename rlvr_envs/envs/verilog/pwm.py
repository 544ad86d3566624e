"""Pwm: pulses whose width is a number."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.envs.verilog._pwm import FEATURES, Modulator
from rlvr_envs.generators.hardware.design import Design
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

_WIDEST, _MOST_CHANNELS = 10, 6


@dataclass(frozen=True, slots=True, kw_only=True)
class PwmConfig(DesignConfig):
    """How fine the pulses are, and what they are made of."""

    width: int = 4  # bits of the duty
    features: int = 2  # added in the order period, enable, latched, center, channels, dead
    channels: int = 2  # outputs with a phase each, with the feature channels
    dead: int = 2  # cycles between both outputs, with the feature dead

    def __post_init__(self) -> None:
        DesignConfig.__post_init__(self)
        if not 2 <= self.width <= _WIDEST:
            raise ConfigError(f"width is between 2 and {_WIDEST}, got {self.width}")
        if not 0 <= self.features <= len(FEATURES):
            raise ConfigError(f"features is between 0 and {len(FEATURES)}, got {self.features}")
        if not 2 <= self.channels <= _MOST_CHANNELS:
            raise ConfigError(f"channels is between 2 and {_MOST_CHANNELS}, got {self.channels}")
        if not 1 <= self.dead <= 8:
            raise ConfigError(f"dead is between 1 and 8, got {self.dead}")

    @classmethod
    def at(cls, difficulty: int) -> "PwmConfig":
        """A feature comes every 3 steps of 2, a bit every 2, up to 10, then channels, up to 6."""
        return cls(
            width=min(2 + difficulty // 2, _WIDEST),
            features=min((2 * difficulty) // 3, len(FEATURES)),
            channels=min(2 + difficulty // 8, _MOST_CHANNELS),
            dead=min(1 + difficulty // 4, 8),
        )


@register("Pwm-v0", domain="verilog", answer_format=LANGUAGE)
class PwmTask(DesignTask[PwmConfig]):
    """Write a pulse width modulator, from one comparison to channels with dead time.

    Description:
        A counter is compared with a duty. The period may be any number, the duty be taken at the
        start of a period only, the counter go up and down, channels be shifted in phase, and each
        have a second output with dead time between both.

    Observation:
        What the module does in numbered rules or prose, its ports, and the kind of its reset.

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
        The counter gets wider, and the features and their interactions more.

    References:
        Holmes and Lipo 2003, Pulse Width Modulation for Power Converters, for carriers, phases
        and dead time.

    Version History:
        v0: first version.
    """

    def design(self, rng: Rng) -> Design:
        config = self.config
        features = FEATURES[: config.features]
        limit = 2**config.width
        period = integer(rng, limit // 2 + 1, limit - 1) if "period" in features else limit
        count = config.channels if "channels" in features else 1
        phases = [0, *(integer(rng, 1, period - 1) for _ in range(count - 1))]
        return Modulator(
            width=config.width,
            period=period,
            phases=tuple(phases),
            dead=config.dead,
            level=integer(rng, 0, 1),
            registered=integer(rng, 0, 1) == 1,
            start=integer(rng, 0, period - 1),
            duty=integer(rng, 0, limit - 1),
            out=pick(rng, ("pwm", "out", "pulse")),
            features=features,
        ).design(rng)
