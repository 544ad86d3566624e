"""Executors of one machine: the same outcomes in order, and nothing taken far ahead."""

import pytest

from rlvr_envs.core.errors import ConfigError, DependencyError, WorkerError, WorkerTimeout
from rlvr_envs.executors import Call, Processes, Serial, open_executor


@pytest.fixture(scope="module")
def processes():
    with Processes(2) as executor:
        yield executor


@pytest.fixture(params=["serial", "processes"])
def executor(request, processes):
    return processes if request.param == "processes" else Serial()


def calls(count, **more):
    return [Call(("x" * i,), **more) for i in range(count)]


def test_outcomes_come_in_order(executor):
    found = executor.map("builtins:len", iter(calls(700)), cpu_s=5, batch=16)
    assert [outcome.value for outcome in found] == list(range(700))


def test_a_call_that_raises_is_an_outcome(executor):
    arguments = ["1", "x", "3"]
    found = list(executor.map("builtins:int", [Call((a,)) for a in arguments], cpu_s=5))
    assert [outcome.value for outcome in found] == [1, None, 3]
    assert type(found[1].error) is WorkerError
    assert "ValueError: invalid literal" in str(found[1].error)


def test_calls_that_wait_for_a_sandbox_run_in_threads_of_this_process(executor):
    import os

    mixed = [Call((), in_sandbox=i % 2 == 0) for i in range(8)]
    pids = [outcome.value for outcome in executor.map("os:getpid", mixed, cpu_s=5)]
    assert pids[::2] == [os.getpid()] * 4
    if isinstance(executor, Processes):
        assert os.getpid() not in pids[1::2]


def test_a_call_that_hangs_costs_no_other(processes):
    towers = [Call((9, 2)), Call((9, 9**9)), Call((9, 3))]
    found = list(processes.map("builtins:pow", towers, cpu_s=0.5))
    assert [outcome.value for outcome in found] == [81, None, 729]
    assert isinstance(found[1].error, WorkerTimeout)


def test_calls_are_taken_as_they_are_needed(executor):
    taken = []

    def source():
        for call in calls(10_000):
            taken.append(call)
            yield call

    found = executor.map("builtins:len", source(), cpu_s=5, batch=10)
    assert next(found).value == 0
    assert len(taken) <= 40


def missing():
    raise DependencyError("a compiler is missing")


def test_what_is_missing_here_is_raised(executor):
    with pytest.raises(DependencyError, match="a compiler is missing"):
        list(executor.map(f"{__name__}:missing", [Call((), in_sandbox=True)], cpu_s=5))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"name": "proceses"}, "did you mean 'processes'"),
        ({"name": "serial", "workers": 2}, "has one worker"),
        ({"name": "processes", "workers": 0}, "workers must be at least 1"),
        ({"name": "processes", "address": "auto"}, "an address is for the executor 'ray'"),
        ({"workers": 0}, "workers must be at least 1"),
    ],
)
def test_bad_arguments_are_refused(arguments, told):
    with pytest.raises(ConfigError, match=told):
        open_executor(**arguments)


def test_a_function_is_named_by_module_and_name(executor):
    with pytest.raises(ConfigError, match=r"'package\.module:name'"):
        list(executor.map("builtins.len", calls(1), cpu_s=5))


def test_the_default_follows_from_the_workers():
    assert isinstance(open_executor(), Serial)
    assert isinstance(open_executor(workers=1), Serial)
    with open_executor(workers=2) as executor:
        assert isinstance(executor, Processes)
