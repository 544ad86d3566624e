"""TrafficLight: the lights of a crossing, with times, a sensor and people who wait."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.envs.verilog._traffic_light import FEATURES, Crossing, Phase
from rlvr_envs.generators.hardware.design import Design
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

_LONGEST = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficLightConfig(DesignConfig):
    """How long the phases are, and what they depend on."""

    longest: int = 8  # time of a phase, at most
    features: int = 2  # added in the order side, tick, sensor, walk, extend, night

    def __post_init__(self) -> None:
        DesignConfig.__post_init__(self)
        if not 2 <= self.longest <= _LONGEST:
            raise ConfigError(f"longest is between 2 and {_LONGEST}, got {self.longest}")
        if not 0 <= self.features <= len(FEATURES):
            raise ConfigError(f"features is between 0 and {len(FEATURES)}, got {self.features}")

    @classmethod
    def at(cls, difficulty: int) -> "TrafficLightConfig":
        """Phases get 2 longer a step, up to 40, and, up to 9, 2 features come every 3 steps."""
        features = min((2 * difficulty) // 3, len(FEATURES))
        return cls(longest=min(3 + 2 * difficulty, _LONGEST), features=features)


@register("TrafficLight-v0", domain="verilog", answer_format=LANGUAGE)
class TrafficLightTask(DesignTask[TrafficLightConfig]):
    """Write the controller of a traffic light or of a crossing.

    Description:
        Phases that last some cycles, of one light or of a main and a side road. A time base, a
        sensor that ends the main road's green, a phase for people that has to be requested, a
        green that is extended up to a limit, and a flashing mode for the night are added.

    Observation:
        What the module does in numbered rules or prose, its ports, a table of the phases, and the
        kind of its reset.

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
        Phases get longer, and more of what they depend on interacts.

    References:
        Mead and Conway 1980, Introduction to VLSI Systems, 3.10, the traffic-light controller;
        Katz 1994, Contemporary Logic Design, 8.5.

    Version History:
        v0: first version.
    """

    def design(self, rng: Rng) -> Design:
        features = FEATURES[: self.config.features]
        phases = _crossing(rng, self.config) if "side" in features else _light(rng, self.config)
        last = len(phases) - ("walk" in features)
        return Crossing(
            phases=phases,
            start=integer(rng, 0, last - 1),
            order=pick(rng, ("RYG", "GYR", "YRG", "RGY", "YGR", "GRY")),
            button_wins=integer(rng, 0, 1) == 1,
            car=pick(rng, ("car", "sensor", "waiting")),
            features=features,
        ).design(rng)


def _light(rng: Rng, config: TrafficLightConfig) -> tuple[Phase, ...]:
    """Return the phases of a single light."""
    lights = [("GO", "G"), ("STOP_SOON", "Y"), ("STOP", "R")]
    if integer(rng, 0, 1):
        lights.append(("GO_SOON", "RY"))
    return tuple(Phase(name, on, "", _time(rng, config)) for name, on in lights)


def _time(rng: Rng, config: TrafficLightConfig) -> int:
    return integer(rng, 1, config.longest)


def _crossing(rng: Rng, config: TrafficLightConfig) -> tuple[Phase, ...]:
    """Return the phases of a crossing; what is before a green and after a yellow is drawn."""
    features = FEATURES[: config.features]
    soon, clear = integer(rng, 0, 1), integer(rng, 0, 1)
    phases = []
    for road in ("MAIN", "SIDE"):
        names = [("SOON", "RY")] * soon + [("GO", "G"), ("STOP", "Y")] + [("CLEAR", "R")] * clear
        for name, on in names:
            lights = (on, "R") if road == "MAIN" else ("R", on)
            time = _time(rng, config)
            limit = 0
            if (road, name) == ("SIDE", "GO") and "extend" in features:
                limit = time + integer(rng, 1, config.longest)
            phases.append(Phase(f"{road}_{name}", *lights, time, limit))
    if "walk" in features:
        phases.append(Phase("WALK", "R", "R", _time(rng, config)))
    return tuple(phases)
