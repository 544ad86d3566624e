"""UartTransmitter: words on one line, bit after bit, in frames."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.envs.verilog._uart_transmitter import PARITIES, UartSources
from rlvr_envs.generators.hardware.design import Design, draw_clocking
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

# In the order in which they are added along the ladder.
FEATURES = ("parity", "done", "stops", "buffer", "rate", "mode")
_MOST_BITS, _SLOWEST = 12, 16


@dataclass(frozen=True, slots=True, kw_only=True)
class UartTransmitterConfig(DesignConfig):
    """How long a frame is, and what may be chosen about it."""

    bits: int = 4  # of a word
    divider: int = 3  # cycles of the clock for a bit of the line, at most
    features: int = 2  # added in the order parity, done, stops, buffer, rate, mode

    def __post_init__(self) -> None:
        DesignConfig.__post_init__(self)
        if not 2 <= self.bits <= _MOST_BITS:
            raise ConfigError(f"bits is between 2 and {_MOST_BITS}, got {self.bits}")
        if not 1 <= self.divider <= _SLOWEST:
            raise ConfigError(f"divider is between 1 and {_SLOWEST}, got {self.divider}")
        if not 0 <= self.features <= len(FEATURES):
            raise ConfigError(f"features is between 0 and {len(FEATURES)}, got {self.features}")

    @classmethod
    def at(cls, difficulty: int) -> "UartTransmitterConfig":
        """2 bits more every 3 steps, a cycle every 2 and, up to difficulty 9, 2 features every 3.

        The numbers stop at 12 bits and 16 cycles.
        """
        return cls(
            bits=min(2 + (2 * difficulty) // 3, _MOST_BITS),
            divider=min(1 + difficulty // 2, _SLOWEST),
            features=min((2 * difficulty + 1) // 3, len(FEATURES)),
        )


@register("UartTransmitter-v0", domain="verilog", answer_format=LANGUAGE)
class UartTransmitterTask(DesignTask[UartTransmitterConfig]):
    """Write a serial transmitter: start bit, data, parity and stop bits, each for some cycles.

    Description:
        A word goes out in a frame of bits that each last some cycles. The line may be inverted
        and the order of bits reversed. Parity, a second stop bit, the rate and the kind of parity
        may be inputs that are taken with the word; words may wait in a buffer.

    Observation:
        What the module does in numbered rules or prose, tables of codes, its ports, and the kind
        of its reset.

    Action:
        The module as one block of Verilog or SystemVerilog.

    Reward:
        1 if the module behaves as the reference for all inputs at all times, otherwise 0; with
        ``reward="graded"`` up to half for compiling, for the right ports and for outputs that
        never differed in simulation.

    Episode End:
        After one step.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). For long
        frames the proof may stay open, and a long simulation decides. A reset that is not written
        and a value that is not determined count as wrong.

    Difficulty:
        Frames get longer and slower, and what may be chosen about them more.

    References:
        The frame of asynchronous serial lines, as in the data sheet of the 16550 UART; Liu et al.
        2023, VerilogEval, arXiv:2309.07544, for the form of such problems.

    Version History:
        v0: first version.
    """

    def design(self, rng: Rng) -> Design:
        config, features = self.config, FEATURES[: self.config.features]
        slowest = config.divider
        rates = [integer(rng, max(1, slowest // 2), slowest) for _ in range(4)]
        modes = list(PARITIES)
        rng.shuffle(modes)
        return UartSources(
            clocking=draw_clocking(rng),
            bits=config.bits,
            dividers=tuple(rates) if "rate" in features else (rates[0],),
            inverted=bool(integer(rng, 0, 1)),
            downwards=bool(integer(rng, 0, 1)),
            modes=tuple(modes) if "mode" in features else (pick(rng, ("even", "odd")),),
            stops=integer(rng, 1, 2),
            long_stop=integer(rng, 0, 1),
            chained=bool(integer(rng, 0, 1)),
            features=features,
            names=pick(
                rng, (("send", "data", "tx"), ("start", "din", "txd"), ("valid", "word", "line"))
            ),
        ).design()
