"""What a trainer of somebody else's counts, and the file that says so."""

import json

import pytest

from rlvr_envs.bench.usage import USAGE, BudgetSpentError, Usage, Used, read_usage
from rlvr_envs.core.errors import ConfigError

FRACTIONS = (0.0, 0.25, 0.5, 1.0)


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def usage(clock):
    return Usage(samples=40, fractions=FRACTIONS, epochs=2, clock=clock)


def test_a_token_counts_when_it_is_sampled_and_with_each_pass_over_it(usage):
    usage.count([3, 4])
    usage.count(length for length in [5])
    assert (usage.samples, usage.tokens, usage.left) == (3, 3 * 12, 37)


def test_checkpoints_are_due_at_the_fractions_and_once(usage, tmp_path):
    saved = []
    for _ in range(10):
        usage.count([1] * 4)
        if usage.due:
            with usage.checkpoint(tmp_path) as folder:
                saved.append(folder.name)
    # 10 and 20 of 40 samples are reached with steps of 4 after 12 and 20
    assert saved == ["00000012", "00000020", "00000040"]
    assert not usage.due


def test_a_step_over_two_fractions_makes_one_checkpoint_due(usage, tmp_path):
    usage.count([1] * 25)
    with usage.checkpoint(tmp_path):
        assert usage.due
    assert not usage.due


def test_what_goes_beyond_the_budget_is_refused_and_not_counted(usage):
    usage.count([1] * 36)
    with pytest.raises(BudgetSpentError, match=r"5 more .* budget of 40, of which 4 are left"):
        usage.count([1] * 5)
    assert (usage.samples, usage.tokens) == (36, 108)
    usage.count([1] * 4)
    with pytest.raises(BudgetSpentError):
        usage.count([1])


def test_the_clock_stands_still_while_a_checkpoint_is_saved(usage, clock, tmp_path):
    clock.now += 3
    with usage.checkpoint(tmp_path):
        clock.now += 50
    clock.now += 2
    assert usage.device_s == 5


def test_the_file_is_written_last_and_read_back(usage, clock, tmp_path):
    usage.count([2, 3])
    clock.now += 1.5
    with usage.checkpoint(tmp_path) as folder:
        assert not (folder / USAGE).exists()
    assert json.loads((folder / USAGE).read_text()) == {
        "samples": 2,
        "tokens": 15,
        "device_s": 1.5,
    }
    assert read_usage(folder) == Used(2, 15, 1.5)


def test_a_checkpoint_that_failed_has_no_usage_and_stays_due(usage, tmp_path):
    usage.count([1] * 10)
    with pytest.raises(OSError, match="disk"), usage.checkpoint(tmp_path) as folder:
        raise OSError("the disk is full")
    assert not (folder / USAGE).exists()
    assert usage.due


def test_the_folder_of_another_run_is_refused(usage, tmp_path):
    (tmp_path / "00000000").mkdir()
    with pytest.raises(ConfigError, match="a folder of its own"), usage.checkpoint(tmp_path):
        pass


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "[]",
        '{"samples": 1, "tokens": 2}',
        '{"samples": "1", "tokens": 2, "device_s": 0}',
        '{"samples": -1, "tokens": 2, "device_s": 0}',
        '{"samples": 1, "tokens": 2, "device_s": NaN}',
        '{"samples": 1, "tokens": 2, "device_s": 0, "score": 1}',
    ],
)
def test_what_is_no_usage_is_refused_with_an_example(tmp_path, text):
    if text is not None:
        (tmp_path / USAGE).write_text(text)
    with pytest.raises(ConfigError, match=r'usage.json is to say .* \{"samples": 640'):
        read_usage(tmp_path)


@pytest.mark.parametrize("wrong", [{"samples": 0}, {"epochs": 0}])
def test_settings_are_checked(wrong):
    with pytest.raises(ConfigError, match="from 1"):
        Usage(**{"samples": 8, "fractions": FRACTIONS, **wrong})


def test_counting_loads_no_torch():
    import subprocess
    import sys

    code = "import sys, rlvr_envs.bench.usage; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
