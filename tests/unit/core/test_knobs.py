"""Knobs: bounds are checked in one place, and said in words."""

from dataclasses import dataclass

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import Knob, TaskConfig, knob, knobs_of


@dataclass(frozen=True, slots=True, kw_only=True)
class LayersConfig(TaskConfig):
    """A base that other configurations extend."""

    layers: int = knob(2, "how many layers there are", low=1, high=9)


@dataclass(frozen=True, slots=True, kw_only=True)
class CakeConfig(LayersConfig):
    """Every kind of knob."""

    weight: float = knob(1.5, "kilograms", low=0.5)
    candles: int = knob(0, "candles on top", high=1_000)
    shape: str = knob("round", "seen from above", choices=("round", "square"))
    fillings: tuple[str, ...] = knob(("jam",), "between layers", choices=("jam", "cream"))
    glaze: str | None = knob(None, "over all of it; drawn if None", choices=("sugar", "chocolate"))
    note: str = ""

    def check(self) -> None:
        if len(self.fillings) >= self.layers:
            raise ConfigError("a filling is between two layers")


def test_what_is_allowed_is_accepted():
    config = CakeConfig(layers=9, weight=0.5, candles=1_000, fillings=("jam", "cream"))
    assert config.layers == 9
    assert CakeConfig(glaze="sugar", note="anything").glaze == "sugar"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"layers": 0}, r"layers is from 1 to 9, got 0"),
        ({"layers": 10}, r"layers is from 1 to 9, got 10"),
        ({"weight": 0.4}, r"weight is 0\.5 or more, got 0\.4"),
        ({"candles": 1_001}, r"candles is 1,000 or less, got 1001"),
        ({"shape": "flat"}, r"shape is one of round, square, got 'flat'"),
        ({"fillings": ("jam", "sand")}, r"fillings are some of jam, cream, got \('jam', 'sand'\)"),
        ({"glaze": "tar"}, r"glaze is one of sugar, chocolate, got 'tar'"),
        ({"layers": 1}, "a filling is between two layers"),
        ({"layers": 0, "fillings": ()}, "layers is from"),  # bounds come before `check`
    ],
)
def test_what_is_not_allowed_is_an_error_that_says_what_is(values, message):
    with pytest.raises(ConfigError, match=message):
        CakeConfig(**values)


def test_knobs_are_known_by_name_those_of_the_base_first():
    known = knobs_of(CakeConfig)
    assert list(known)[:2] == ["layers", "weight"]
    assert known["layers"] == Knob("how many layers there are", 1, 9)
    assert [known[name].allowed for name in ("weight", "candles", "shape", "note")] == [
        "0.5 or more",
        "1,000 or less",
        "one of round, square",
        "",
    ]
