"""One thread for a small model, the cores of the process for a large one."""

from types import SimpleNamespace

import pytest

from rlvr_envs.evaluation import torch_threads

torch = pytest.importorskip("torch")


def model(*sizes):
    return SimpleNamespace(parameters=lambda: [torch.empty(size, device="meta") for size in sizes])


SMALL, LARGE = model(10_000, 300_000), model(15_000_000, 5_000_000)


@pytest.fixture
def cores(monkeypatch, tmp_path):
    """A machine on which torch would take 8 threads; returns where a container's share stands."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 8)
    monkeypatch.setattr(torch_threads, "_QUOTA", tmp_path / "cpu.max")
    torch_threads._usual.cache_clear()
    yield tmp_path / "cpu.max"
    torch_threads._usual.cache_clear()


def test_only_large_models_take_all_cores(cores):
    assert torch_threads.thread_count(SMALL) == 1
    assert torch_threads.thread_count(LARGE) == 8


@pytest.mark.parametrize(
    ("share", "threads"),
    [("200000 100000\n", 2), ("50000 100000\n", 1), ("1600000 100000\n", 8), ("max 100000\n", 8)],
)
def test_a_container_has_its_share_of_the_cores(cores, share, threads):
    cores.write_text(share)
    assert torch_threads.thread_count(LARGE) == threads


def test_the_environment_has_the_last_word(cores, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    assert torch_threads.thread_count(SMALL) == 8


def test_a_later_setting_changes_no_choice(cores, monkeypatch):
    assert torch_threads.thread_count(LARGE) == 8
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    assert torch_threads.thread_count(LARGE) == 8
