"""The worker pool in an event loop: the same outcomes, whatever befalls the workers."""

import asyncio
import importlib
import os
import signal

import pytest
from patience import PATIENCE_S

from rlvr_envs.core import _job
from rlvr_envs.core.async_workers import AsyncWorkers
from rlvr_envs.core.errors import WorkerDied, WorkerError, WorkerKilled, WorkerMemory, WorkerTimeout
from rlvr_envs.core.workers import WorkerPool


def call(function, *arguments):
    """Runs in a worker: call a function of a module by its name."""
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)(*arguments)


def in_loop(scenario, *, workers=2, cpu_s=5.0, **more):
    """Run a coroutine with the workers in an event loop."""

    async def run():
        pool = AsyncWorkers(WorkerPool(workers=workers, **more), f"{__name__}:call", cpu_s)
        try:
            return await asyncio.wait_for(scenario(pool), PATIENCE_S)
        finally:
            pool.close()

    return asyncio.run(run())


async def outcome(pool, *arguments, near=None):
    return (await pool.submit(*arguments, near=near))[0]


def test_every_item_gets_its_own_outcome():
    async def scenario(pool):
        futures = [pool.submit("builtins:pow", i, 2) for i in range(500)]
        return [(await future)[0].value for future in futures]

    assert in_loop(scenario) == [i**2 for i in range(500)]


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (("builtins:pow", 9, 9**9), WorkerTimeout),
        (("builtins:bytearray", 8 << 30), WorkerMemory),
        (("os:_exit", 3), WorkerDied),
        (("os:abort",), WorkerDied),
        (("builtins:int", "x"), WorkerError),
    ],
    ids=["hangs", "memory", "exit", "abort", "raises"],
)
def test_an_item_that_fails_harms_no_other(arguments, kind):
    async def scenario(pool):
        futures = [pool.submit("builtins:pow", i, 2) for i in range(20)]
        bad = pool.submit(*arguments)
        futures += [pool.submit("builtins:pow", i, 2) for i in range(20, 40)]
        assert type((await bad)[0].error) is kind
        return [(await future)[0].value for future in futures]

    assert in_loop(scenario, cpu_s=0.5) == [i**2 for i in range(40)]


def test_an_item_whose_worker_is_killed_is_tried_again(tmp_path):
    flag = tmp_path / "tried"

    async def scenario(pool):
        first = asyncio.ensure_future(outcome(pool, "os:getpid"))
        pid = (await first).value
        busy = pool.submit("time:sleep", 1.0, near=pid)
        await asyncio.sleep(0.1)
        flag.touch()
        os.kill(pid, signal.SIGKILL)
        result, other = await busy
        assert result.error is None
        assert other != pid

    in_loop(scenario, workers=1)
    assert flag.exists()


def test_an_item_that_is_killed_twice_is_an_error_and_the_pool_goes_on():
    async def scenario(pool):
        killed = await outcome(pool, f"{__name__}:die")
        assert isinstance(killed.error, WorkerKilled)
        return (await outcome(pool, "builtins:pow", 3, 2)).value

    assert in_loop(scenario, workers=1) == 9


def die():
    """Runs in a worker: be killed as by the kernel's out-of-memory killer."""
    os.kill(os.getpid(), signal.SIGKILL)


def test_the_worker_that_has_something_cached_is_preferred():
    async def scenario(pool):
        naps = await asyncio.gather(*(pool.submit("time:sleep", 0.5) for _ in range(3)))
        pids = {pid for _, pid in naps}
        assert len(pids) == 3
        for pid in pids:
            for _ in range(5):
                value, near = await pool.submit("os:getpid", near=pid)
                assert value.value == near == pid

    in_loop(scenario, workers=3)


def test_the_loop_goes_on_while_workers_start_and_work():
    async def scenario(pool):
        slow = pool.submit("time:sleep", 0.5)
        ticks = 0
        while not slow.done():
            await asyncio.sleep(0.01)
            ticks += 1
        assert ticks > 5

    in_loop(scenario, workers=1)


def test_the_wall_clock_guard_ends_what_waits(monkeypatch):
    monkeypatch.setattr(_job, "guard_s", lambda cpu_s: 0.5)

    async def scenario(pool):
        stuck = await outcome(pool, "time:sleep", 600)
        assert isinstance(stuck.error, WorkerKilled)

    in_loop(scenario, workers=1)


def test_workers_retire_and_lose_nothing():
    async def scenario(pool):
        futures = [pool.submit("os:getpid") for _ in range(60)]
        return {(await future)[0].value for future in futures}

    assert len(in_loop(scenario, workers=1, recycle_after=7)) >= 60 // 7


def test_closing_ends_what_is_under_way():
    async def scenario():
        pool = AsyncWorkers(WorkerPool(workers=1), f"{__name__}:call", 5.0)
        busy, waiting = pool.submit("time:sleep", 600), pool.submit("builtins:pow", 2, 2)
        await asyncio.sleep(0.5)
        pool.close()
        for future in (busy, waiting):
            result, _ = await asyncio.wait_for(future, PATIENCE_S)
            assert isinstance(result.error, WorkerError)

    asyncio.run(scenario())
