"""Plug-ins: names and settings from Python, YAML and the command line; what they return; files."""

import inspect
import pickle
import re
import subprocess
import sys
import textwrap
from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo import plugins, presets  # noqa: E402  (it needs torch)
from rlvr_envs.agents.grpo.config_file import read_yaml  # noqa: E402
from rlvr_envs.agents.grpo.presets import preset  # noqa: E402
from rlvr_envs.agents.grpo.trial import gradient, made_up, try_out  # noqa: E402
from rlvr_envs.cli.main import main  # noqa: E402

KINDS = {
    "estimator": ("grpp", "grpo"),
    "loss": ("clippd", "clipped"),
    "aggregation": ("token_men", "token_mean"),
    "correction": ("truncat", "truncate"),
    "curriculum": ("fixd", "fixed"),
    "source": ("strem", "stream"),
    "sampler": ("slot", "slots"),
}


def from_python(**settings):
    return preset(**settings)


def from_yaml(tmp_path, **settings):
    groups = {
        "algorithm": ("estimator", "loss", "aggregation", "correction", "callbacks"),
        "data": ("curriculum", "source", "tasks"),
        "sampling": ("sampler",),
    }
    lines = [f"plugins: [{path}]" for path in settings.pop("plugins", ())]
    for group, names in groups.items():
        chosen = {name: settings[name] for name in names if name in settings}
        lines += [f"{group}:"] * bool(chosen)
        for name, value in chosen.items():
            lines.append(f"  {name}: {list(value) if isinstance(value, tuple) else repr(value)}")
    path = tmp_path / "run.yaml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return read_yaml(path)


def told_by_the_command_line(capsys, *arguments):
    try:
        status = main(["train", *arguments])
    except SystemExit as done:  # of tyro, which makes the configuration
        status = done.code
    told = capsys.readouterr()
    assert status == 2
    return " ".join((told.err + told.out).split())


@pytest.fixture
def registry(monkeypatch):
    """The registry of estimators, which forgets what a test adds, as presets are forgotten."""
    plugins.load()
    monkeypatch.setattr(plugins.estimator, "_plugins", dict(plugins.estimator._plugins))
    monkeypatch.setattr(presets, "_RECIPES", dict(presets._RECIPES))
    return plugins.estimator


def a_file(tmp_path, text, name="mine.py"):
    path = tmp_path / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_name_is_an_error_with_a_suggestion(kind, tmp_path, capsys):
    wrong, right = KINDS[kind]
    wanted = f"no {kind} '{wrong}'; did you mean '{right}'?"
    for make in (from_python, lambda **settings: from_yaml(tmp_path, **settings)):
        with pytest.raises(ConfigError, match=re.escape(wanted)):
            make(**{kind: wrong})
    assert wanted in told_by_the_command_line(capsys, "--tasks", "Gcd-v0", f"--{kind}", wrong)


def test_an_unknown_callback_is_an_error_with_a_suggestion(tmp_path, capsys):
    wanted = "no callback 'initial_solution'; did you mean 'initial_solutions'?"
    for make in (from_python, lambda **settings: from_yaml(tmp_path, **settings)):
        with pytest.raises(ConfigError, match=re.escape(wanted)):
            make(callbacks=("initial_solution",))
    told = told_by_the_command_line(capsys, "--tasks", "Gcd-v0", "--callbacks", "initial_solution")
    assert wanted in told


@pytest.mark.parametrize(
    ("loss", "wanted"),
    [
        ("clipped(hig=0.2)", "the loss clipped has no setting 'hig'; did you mean 'high'?"),
        ("clipped(high='a lot')", "the loss clipped takes high: float = 0.28, got 'a lot'"),
        ("clipped(high=True)", "the loss clipped takes high: float = 0.28, got True"),
        ("clipped(0.2)", "expected NAME or NAME(argument=value, …)"),
        ("clipped(high=1+1)", "expected NAME or NAME(argument=value, …)"),
        ("clipped(high=", "expected NAME or NAME(argument=value, …)"),
        ("ace(form='cube')", "the loss ace takes form"),
    ],
)
def test_a_wrong_setting_is_an_error_however_it_is_given(loss, wanted, tmp_path, capsys):
    for make in (from_python, lambda **settings: from_yaml(tmp_path, **settings)):
        with pytest.raises(ConfigError, match=re.escape(wanted)):
            make(loss=loss)
    assert wanted in told_by_the_command_line(capsys, "--tasks", "Gcd-v0", "--loss", loss)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("clipped", {"low": 0.2, "high": 0.28, "dual": None}),
        ("clipped(low=0, dual=-3)", {"low": 0, "high": 0.28, "dual": -3}),
        ("dispo(positive=(0.5, 2.0))", {"positive": (0.5, 2.0), "negative": (0.0, 101.0)}),
        ("ace(form='relu', alpha=2)", {"alpha": 2, "form": "relu", "low": 0.2, "high": 0.2}),
    ],
)
def test_settings_have_types_and_defaults(text, wanted):
    assert plugins.loss.choose(text).settings == wanted


def test_every_plug_in_is_told_by_help_with_its_settings(capsys):
    with pytest.raises(SystemExit) as done:
        main(["train", "--help"])
    assert done.value.code == 0
    # tyro breaks lines and draws boxes around them.
    told = re.sub(r"[\s│]", "", capsys.readouterr().out)
    for registry in plugins.REGISTRIES:
        for plugin in registry:
            assert re.sub(r"\s", "", plugin.help) in told, plugin.name


def test_every_plug_in_of_ours_is_documented():
    for registry in plugins.REGISTRIES:
        ours = [each for each in registry if each.make.__module__.startswith("rlvr_envs.")]
        assert ours  # other tests may have added theirs
        for plugin in ours:
            assert inspect.getdoc(plugin.make), plugin.name


def test_a_decorator_refuses_what_cannot_be_handed_or_set(registry):
    with pytest.raises(ConfigError, match=r"there is no 'reward' to take; did you mean 'rewards'"):

        @registry
        def first(reward):
            return reward

    with pytest.raises(ConfigError, match="setting scale needs type and default"):

        @registry
        def second(rewards, *, scale):
            return rewards * scale

    with pytest.raises(ConfigError, match="setting scale needs type and default"):

        @registry
        def third(rewards, *, scale=1.0):
            return rewards * scale

    with pytest.raises(ConfigError, match="no trait 'compare'; did you mean 'compares'"):

        @registry(compare=True)
        def fourth(rewards):
            return rewards


def test_a_name_belongs_to_whom_it_was_given_first(registry):
    with pytest.raises(ConfigError, match=r"'grpo' of .* is there already, by .*advantages.grpo"):

        @registry(name="grpo")
        def mine(rewards):
            return rewards


BAD = [
    ("return rewards[:1]", r"estimator mine is to return finite advantages of shape \(3, 4\)"),
    ("return rewards.mean()", "estimator mine is to return finite advantages"),
    ("return rewards[..., None, None]", "estimator mine is to return finite advantages"),
    ("return rewards / 0", "is to return finite advantages"),
    ("return rewards / rewards.std(1, keepdim=True)", "where all rewards of a group are equal"),
    ("return 'much'", "estimator mine is to return finite advantages"),
    ("return rewards.no_such_thing", "the estimator mine failed: AttributeError"),
]


@pytest.mark.parametrize(("body", "wanted"), BAD)
def test_an_estimator_that_goes_wrong_is_named_before_the_run(registry, body, wanted):
    scope = {}
    exec(f"def mine(rewards):\n    {body}", scope)  # a plug-in's text
    registry(scope["mine"])
    with pytest.raises(ConfigError, match=wanted):
        try_out(preset(estimator="mine"))


def test_what_was_not_scored_has_no_advantage(registry):
    @registry
    def plain(rewards):
        return 2 * rewards

    config = preset(estimator="plain", loss="reinforce", aggregation="sequence_sum")
    unscored = replace(made_up(0, 1.0), reward=float("nan"), score=float("nan"))
    slope, _ = gradient(config, [made_up(0, 1.0), unscored])
    assert slope[0].min() == -2
    assert not slope[1].any()


BAD_LOSSES = [
    (
        "return -advantages",
        r"loss mine .* of logp's shape \(12, \d+\), got torch.Size\(\[12, 1\]\)",
    ),
    ("return (logp * advantages).sum()", r"loss mine .*got torch.Size\(\[\]\)"),
    ("return logp.detach() * advantages", "loss mine .*these have no gradient"),
    ("return logp * float('nan')", "loss mine .*some are NaN or infinite"),
    ("return logp * undefined", "the loss mine failed: NameError"),
    ("return 0.0 * leaf + logp.detach()", "the loss mine does not depend on logp"),
]


@pytest.mark.parametrize(("body", "wanted"), BAD_LOSSES)
def test_a_loss_that_goes_wrong_is_named_before_the_run(monkeypatch, body, wanted):
    monkeypatch.setattr(plugins.loss, "_plugins", dict(plugins.loss._plugins))
    scope = {"leaf": torch.zeros(1, requires_grad=True)}
    exec(f"def mine(logp, advantages):\n    {body}", scope)  # a plug-in's text
    plugins.loss(scope["mine"])
    with pytest.raises(ConfigError, match=wanted):
        try_out(preset(loss="mine"))


MINE = """
    from torch import Tensor
    from rlvr_envs.agents.grpo.plugins import estimator, loss
    from rlvr_envs.agents.grpo.presets import recipe

    @estimator
    def NAME(rewards: Tensor, *, scale: float = 2.0) -> Tensor:
        '''Return a multiple of the reward.'''
        return scale * rewards.nan_to_num(nan=0.0)

    recipe("NAME", "unpublished", estimator="NAME(scale=3.0)", loss="reinforce")
"""


def test_a_file_outside_the_package_adds_plug_ins_and_presets(tmp_path, registry, capsys):
    path = a_file(tmp_path, MINE.replace("NAME", "outside_file"))
    config = from_python(plugins=(path,), estimator="outside_file(scale=0.5)")
    assert config.estimator.settings == {"scale": 0.5}
    slope, _ = gradient(
        config.replace(loss="reinforce", aggregation="sequence_sum"), [made_up(0, 1.0)]
    )
    assert slope.min() == pytest.approx(-0.5)  # one episode with reward 1
    again = from_yaml(tmp_path, plugins=(path,), estimator="outside_file")
    assert again.estimator.settings == {"scale": 2.0}
    assert preset("outside_file", plugins=(path,)).algorithm.estimator == "outside_file(scale=3.0)"
    assert main(["train", "--list", "--plugins", path]) == 0
    assert "outside_file: unpublished: estimator=outside_file(scale=3.0)" in capsys.readouterr().out
    wanted = "no estimator 'outside_fil'; did you mean 'outside_file'?"
    told = told_by_the_command_line(
        capsys, "--tasks", "Gcd-v0", "--plugin", path, "--estimator", "outside_fil"
    )
    assert wanted in told


def test_a_configuration_with_a_file_of_plug_ins_goes_to_another_process(tmp_path, registry):
    path = a_file(tmp_path, MINE.replace("NAME", "sent"))
    config = from_python(plugins=(path,), estimator="sent(scale=0.5)")
    (tmp_path / "config").write_bytes(pickle.dumps(config))
    read = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')).estimator.settings)"
    command = [sys.executable, "-c", read, str(tmp_path / "config")]
    assert subprocess.check_output(command, text=True) == "{'scale': 0.5}\n"
    assert pickle.loads(pickle.dumps(config)) == config


def test_a_file_may_be_named_twice_and_another_may_not_take_its_names(tmp_path, registry):
    path = a_file(tmp_path, MINE.replace("NAME", "twice"))
    assert plugins.load_file(path) == plugins.load_file(path)
    other = a_file(tmp_path, MINE.replace("NAME", "twice"), "other.py")
    with pytest.raises(ConfigError, match=r"'twice' of .* is there already"):
        plugins.load_file(other)


@pytest.mark.parametrize(
    ("text", "name", "wanted"),
    [
        ("import no_such_module", "mine.py", "mine.py failed: ModuleNotFoundError"),
        ("def broken(:", "mine.py", "mine.py failed: SyntaxError"),
        ("x = 1", "mine.txt", "is not a Python file: its name ends in .py"),
        (None, "none.py", "none.py cannot be read"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_an_error_that_names_it(tmp_path, text, name, wanted):
    path = tmp_path / name
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=re.escape(wanted)):
        preset(plugins=(str(path),))


def test_our_own_zoo_comes_by_the_entry_point_of_everybody():
    from importlib.metadata import entry_points

    ours = {entry.name: entry.value for entry in entry_points(group=plugins.ENTRY_POINTS)}
    assert ours["zoo"] == "rlvr_envs.agents.grpo.zoo"
    assert not [module for module in plugins.CORE if "zoo" in module]
    assert "pacs" in {plugin.name for plugin in plugins.estimator}
