"""What an algorithm may choose, and what the suite decides."""

import pytest

from rlvr_envs.bench.algorithm import LARGEST_GROUP, Choice, check_free, free_settings, make_config
from rlvr_envs.core.errors import ConfigError


@pytest.fixture
def config_of(suite, tmp_path):
    places = {name: tmp_path / name for name in ("start", "rows", "out")}

    def made(text, seed=0):
        return make_config(Choice.read(text), suite, suite.experiments[0], seed, places)

    return made


def test_a_choice_is_a_preset_with_settings_and_a_label():
    plain = Choice.read("dapo")
    assert (plain.label, plain.spec) == ("dapo", "dapo")
    named = Choice.read("mine=default(estimator='grpo', kl_coef=0.5)")
    assert (named.label, named.settings()) == ("mine", {"estimator": "grpo", "kl_coef": 0.5})
    told = named.described(tuned_runs=3)
    assert (told.name, told.settings, told.tuned_runs) == ("mine", named.settings(), 3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("dapoo", "did you mean 'dapo'"),
        ("default(kl_coef=0.5)", "LABEL="),
        ("a=default(modell='x')", "no setting 'modell'"),
        ("a=default(max_tokens=99)", "the suite decides max_tokens"),
        ("a=default(temperature=0.5)", "the suite decides temperature"),
        ("a=default(tasks=('Gcd-v0',))", "the suite decides tasks"),
        ("a=default(steps=9)", "the suite decides steps"),
        ("a=default(warm_start=9)", "the suite decides warm_start"),
        ("a b=default", "expected NAME"),
    ],
)
def test_a_wrong_choice_is_refused_with_the_reason(text, words):
    with pytest.raises(ConfigError, match=words):
        Choice.read(text)


def test_every_free_setting_is_one():
    for name in free_settings():
        check_free(name)


def test_a_step_has_the_suites_number_of_episodes(suite, config_of):
    batch = suite.experiments[0].batch
    for text, size in (
        ("grpo", LARGEST_GROUP),  # published with groups of 64
        ("reinforce_plus_plus", 1),
        ("a=grpo(group_size=16)", 16),
    ):
        sampling = config_of(text).sampling
        assert (sampling.group_size, sampling.groups * sampling.group_size) == (size, batch)
    with pytest.raises(ConfigError, match="divides the 32 episodes"):
        config_of("a=grpo(group_size=5)")


def test_what_belongs_to_the_experiment_holds_whatever_the_preset_says(suite, config_of):
    experiment = suite.experiments[0]
    for name in ("grpo", "dapo", "cispo"):
        config = config_of(name, seed=7)
        assert config.seed == 7
        assert config.optimiser.steps * experiment.batch == experiment.samples
        assert config.sampling.max_tokens == experiment.max_tokens
        assert config.sampling.temperature == suite.temperature
        assert config.optimiser.learning_rate == experiment.settings["learning_rate"]


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("rows(most=0.9)", ", most=0.9)"),
        ("pool(size=9)", "pool(over=rows(path="),
    ],
)
def test_an_algorithm_draws_from_the_suites_problems(config_of, tmp_path, source, told):
    config = config_of(f"a=default(source='{source}')")
    assert told in config.data.source
    assert str(tmp_path / "rows") in config.data.source


@pytest.mark.parametrize("source", ["stream", "epochs", "pool(over='stream')"])
def test_an_algorithm_has_no_other_problems(config_of, source):
    with pytest.raises(ConfigError, match="the suite's own problems"):
        config_of(f'a=default(source="{source}")')
