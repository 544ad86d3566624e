"""Configurations in YAML."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from rlvr_envs.agents.grpo.config_file import read_yaml
from rlvr_envs.core.errors import ConfigError


def read(tmp_path, text):
    path = tmp_path / "run.yaml"
    path.write_text(text, encoding="utf-8")
    return read_yaml(path)


@pytest.mark.parametrize("text", ["5e-4", "5E-4", "+5e-4", "5.0e-4", "0.0005", "50e-5"])
def test_numbers_may_have_an_exponent_without_a_point(tmp_path, text):
    config = read(tmp_path, f"optimiser: {{learning_rate: {text}}}")
    assert config.optimiser.learning_rate == 5e-4


@pytest.mark.parametrize("text", ["'5e-4'", "5e-4x", "e-4", "5e", "five"])
def test_a_text_is_no_number(tmp_path, text):
    with pytest.raises(ConfigError, match="learning_rate is float, got"):
        read(tmp_path, f"optimiser: {{learning_rate: {text}}}")


@pytest.mark.parametrize("text", ["[", "- a", "!!python/object/apply:os.getpid []", "a: {b: 1}"])
def test_what_is_no_configuration_is_refused(tmp_path, text):
    with pytest.raises(ConfigError, match=r"run\.yaml|no group 'a'"):
        read(tmp_path, text)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"missing\.yaml cannot be read"):
        read_yaml(tmp_path / "missing.yaml")
