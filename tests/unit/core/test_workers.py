"""The worker pool: limits and deaths cost one item, and the wall clock decides nothing."""

import asyncio
import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from patience import PATIENCE_S, eventually

from rlvr_envs.core import _job, _worker
from rlvr_envs.core.errors import (
    ConfigError,
    UsageError,
    WorkerDied,
    WorkerError,
    WorkerKilled,
    WorkerMemory,
    WorkerTimeout,
)
from rlvr_envs.core.workers import WorkerPool, shared_pool

TOWER = ("builtins:pow", 9, 9**9)  # holds the interpreter lock for minutes


@pytest.fixture
def pool():
    with WorkerPool(workers=2) as pool:
        yield pool


def call_in_thread(results, pool, *args, **kwargs):
    def run():
        try:
            results.append(pool.call(*args, **kwargs))
        except WorkerError as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def gone(pid):
    """Whether a process has ended; one that nobody has reaped yet counts as ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return stat.rpartition(")")[2].split()[0] in "ZX"


def run_script(text, *args):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(text), *args],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_call_returns_the_value(pool):
    assert pool.call("builtins:pow", 2, 100) == 2**100


def test_functions_may_be_methods_of_classes(pool):
    assert pool.call("builtins:str.upper", "abc") == "ABC"


def test_a_worker_is_another_process(pool):
    assert pool.call("os:getpid") != os.getpid()


def test_a_computation_that_holds_the_interpreter_lock_is_killed(pool):
    with pytest.raises(WorkerTimeout, match=r"0\.2 s"):
        pool.call(*TOWER, cpu_s=0.2)
    assert pool.call("builtins:pow", 3, 2) == 9


def test_too_much_memory_is_told_apart(pool):
    with pytest.raises(WorkerMemory):
        pool.call("builtins:bytes", 4 << 30, cpu_s=10)
    assert pool.call("builtins:len", b"abc") == 3


def test_memory_within_the_limit_is_granted():
    with WorkerPool(workers=1, memory_mib=300) as pool:
        assert len(pool.call("builtins:bytes", 50 << 20, cpu_s=10)) == 50 << 20


def test_memory_need_not_be_limited():
    with WorkerPool(workers=1, memory_mib=None) as pool:
        most, _ = pool.call("resource:getrlimit", resource.RLIMIT_AS)
    assert most == resource.getrlimit(resource.RLIMIT_AS)[0]


@pytest.mark.parametrize(
    ("function", "argument", "told"),
    [("os:_exit", 3, "exit code 3"), ("os:abort", None, "SIGABRT")],
)
def test_a_death_is_told_apart(pool, function, argument, told):
    with pytest.raises(WorkerDied, match=told):
        pool.call(function, *([] if argument is None else [argument]))
    assert pool.call("builtins:abs", -1) == 1


@pytest.mark.parametrize(
    ("function", "args", "told"),
    [
        ("builtins:int", ("x",), "ValueError: invalid literal"),
        ("sys:exit", (0,), "SystemExit: 0"),
        ("threading:Lock", (), "cannot pickle"),
        ("no_such_module:f", (), "ModuleNotFoundError"),
        ("builtins:no_such_function", (), "AttributeError"),
        ("builtins:abs", (), "TypeError"),
    ],
)
def test_an_exception_becomes_a_worker_error(pool, function, args, told):
    with pytest.raises(WorkerError, match=told) as caught:
        pool.call(function, *args)
    assert type(caught.value) is WorkerError


def test_a_worker_outlives_an_exception():
    with WorkerPool(workers=1) as pool:
        pid = pool.call("os:getpid")
        with pytest.raises(WorkerError):
            pool.call("builtins:int", "x")
        assert pool.call("os:getpid") == pid


def test_map_keeps_the_order(pool):
    items = [(n, 2) for n in range(700)]
    outcomes = pool.map("builtins:pow", items)
    assert [outcome.value for outcome in outcomes] == [n * n for n in range(700)]
    assert all(outcome.error is None for outcome in outcomes)


def test_map_of_nothing_is_nothing(pool):
    assert pool.map("builtins:pow", []) == []


def test_a_poisoned_item_costs_itself_only(pool):
    items = [(n, 2) for n in range(50)]
    items[17] = (9, 9**9)
    outcomes = pool.map("builtins:pow", items, cpu_s=1.0)
    assert isinstance(outcomes[17].error, WorkerTimeout)
    assert outcomes[17].value is None
    kept = [n for n in range(50) if n != 17]
    assert [outcomes[n].value for n in kept] == [n * n for n in kept]


def test_a_death_in_a_batch_costs_itself_only(pool, tmp_path, monkeypatch):
    (tmp_path / "deadly.py").write_text(
        "import os\ndef f(n):\n    return os._exit(1) if n % 10 == 3 else n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    outcomes = pool.map("deadly:f", [(n,) for n in range(40)])
    assert [o.value for o in outcomes] == [None if n % 10 == 3 else n for n in range(40)]
    assert {type(outcomes[n].error) for n in (3, 13, 23, 33)} == {WorkerDied}


WORK = """
import os, signal, time
from pathlib import Path

def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return "done"

def tries(folder):
    "Count how often it is called, and by which process."
    (Path(folder) / str(time.monotonic_ns())).write_text(str(os.getpid()))
    return len(list(Path(folder).iterdir()))

def killed(folder, times, number):
    if tries(folder) <= times:
        os.kill(os.getpid(), number)
    return "done"

def stuck(folder, times):
    if tries(folder) <= times:
        time.sleep(60)
    return "done"
"""


@pytest.fixture
def work(tmp_path, monkeypatch):
    """Make the module ``work`` importable, and return a folder where it may count its tries."""
    (tmp_path / "work.py").write_text(WORK)
    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / "tries"
    folder.mkdir()
    return folder


def test_every_item_of_a_batch_has_its_own_limit(work):
    with WorkerPool(workers=1) as pool:
        outcomes = pool.map("work:burn", [(0.15,)] * 6, cpu_s=0.5)
    assert [outcome.error for outcome in outcomes] == [None] * 6


def test_time_without_work_does_not_count(work):
    with WorkerPool(workers=1) as pool:
        outcomes = pool.map("time:sleep", [(0.4,)] * 3, cpu_s=0.1)
    assert [outcome.error for outcome in outcomes] == [None] * 3


def test_a_worker_that_gets_no_processor_loses_nothing(work):
    results = []
    with WorkerPool(workers=1) as pool:
        pid = pool.call("os:getpid")
        thread = call_in_thread(results, pool, "work:burn", 0.3, cpu_s=0.6)
        time.sleep(0.05)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(1.5)
        os.kill(pid, signal.SIGCONT)
        thread.join(PATIENCE_S)
    assert results == ["done"]


def test_a_result_that_took_too_much_work_does_not_count(work):
    with WorkerPool(workers=1) as pool:  # it ends before the timer would end its process
        items = [(0.0,), (0.47,), (0.0,)]
        outcomes = pool.map("work:burn", items, cpu_s=0.4)
    assert [outcome.value for outcome in outcomes] == ["done", None, "done"]
    assert isinstance(outcomes[1].error, WorkerTimeout)


def test_a_program_that_blocks_the_signal_does_not_disarm_the_limit():
    done = run_script(
        """
        import signal
        from rlvr_envs.core.errors import WorkerTimeout
        from rlvr_envs.core.workers import WorkerPool

        signal.signal(signal.SIGPROF, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPROF})
        with WorkerPool(workers=1) as pool:
            try:
                pool.call("builtins:pow", 9, 9**9, cpu_s=0.2)
            except WorkerTimeout as error:
                print(error)
        """
    )
    assert (done.stdout, done.stderr) == ("it needs more than 0.2 s of CPU time\n", "")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV], ids=str)
def test_what_is_lost_once_is_tried_again_in_another_process(pool, work, number):
    assert pool.call("work:killed", str(work), 1, int(number)) == "done"
    first, second = (file.read_text() for file in work.iterdir())
    assert first != second


def test_what_is_lost_twice_is_no_third_time_tried(pool, work):
    with pytest.raises(WorkerKilled, match="SIGKILL"):
        pool.call("work:killed", str(work), 9, int(signal.SIGKILL))
    assert len(list(work.iterdir())) == 2


def test_a_death_of_its_own_is_no_kill_from_outside(pool, work):
    with pytest.raises(WorkerDied, match="SIGSEGV") as caught:
        pool.call("work:killed", str(work), 9, int(signal.SIGSEGV))
    assert type(caught.value) is WorkerDied


def test_the_second_try_has_the_pool_for_itself_and_a_fresh_worker(work):
    with WorkerPool(workers=1) as pool:
        items = [(str(work), 1, int(signal.SIGKILL))] + [(str(work), 0, 0)] * 5
        outcomes = pool.map("work:killed", items)
    assert [outcome.value for outcome in outcomes] == ["done"] * 6
    pids = [file.read_text() for file in sorted(work.iterdir(), key=lambda file: int(file.name))]
    assert len(pids) == 7
    assert pids[-1] not in pids[:-1]  # it came after all others, in a process of its own


@pytest.mark.parametrize("times", [1, 2])
def test_what_the_guard_stops_is_tried_again_and_decides_nothing(work, monkeypatch, times):
    monkeypatch.setattr(_job, "guard_s", lambda cpu_s: 1.0)
    with WorkerPool(workers=1) as pool:
        (outcome,) = pool.map("work:stuck", [(str(work), times)])
    if times == 1:
        assert outcome.value == "done"
    else:
        assert type(outcome.error) is WorkerKilled
        assert "wall-clock guard" in str(outcome.error)
    assert len(list(work.iterdir())) == 2


def test_the_guard_leaves_room_for_a_load_of_eight_a_core():
    for cpu_s in (0.2, 1.0, 5.0, 60.0, 1800.0):
        assert _job.guard_s(cpu_s) > 9 * _worker.TIMER_SLACK * cpu_s + 30


def test_imports_do_not_count(tmp_path, monkeypatch):
    (tmp_path / "slow_import.py").write_text("import time\ntime.sleep(1.5)\n")
    (tmp_path / "eager.py").write_text(
        "WORKER_PRELOAD = ('slow_import',)\ndef f():\n    import slow_import\n    return 'here'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with WorkerPool(workers=1) as pool:
        assert pool.call("eager:f", cpu_s=1.0) == "here"
    with WorkerPool(workers=1, preload=("slow_import",)) as pool:
        assert pool.call("builtins:abs", -1, cpu_s=1.0) == 1
        assert "slow_import" not in sys.modules


def test_workers_retire():
    with WorkerPool(workers=1, recycle_after=3) as pool:
        pids = [outcome.value for outcome in pool.map("os:getpid", [()] * 10)]
        assert sorted(map(pids.count, set(pids))) == [1, 3, 3, 3]
        assert pool.call("os:getpid") == pids[-1]


def test_what_a_function_prints_does_not_reach_the_protocol(pool, capfd):
    for fd in (1, 2):
        assert pool.call("os:write", fd, b"\x00" * 64) == 64
    assert pool.call("builtins:abs", -5) == 5
    assert capfd.readouterr() == ("", "")


def test_large_arguments_and_results_pass(pool):
    blob = os.urandom(5 << 20)
    assert pool.map("builtins:bytes", [(blob,)] * 4, cpu_s=10)[3].value == blob


def test_a_function_in_a_worker_may_use_a_pool_itself(pool, tmp_path, monkeypatch):
    (tmp_path / "nesting.py").write_text(
        textwrap.dedent(
            """
            from rlvr_envs.core.errors import WorkerTimeout
            from rlvr_envs.core.workers import shared_pool

            def f(n):
                try:
                    shared_pool().call("builtins:pow", 9, 9**9, cpu_s=0.2)
                except WorkerTimeout:
                    return shared_pool().call("builtins:pow", n, 2)
            """
        )
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert pool.call("nesting:f", 7, cpu_s=PATIENCE_S) == 49


def test_an_interrupted_call_gives_its_worker_up(monkeypatch):
    with WorkerPool(workers=1) as pool:
        pid = pool.call("os:getpid")
        with monkeypatch.context() as patch:
            patch.setattr(time, "monotonic", interrupt)
            with pytest.raises(KeyboardInterrupt):
                pool.call(*TOWER, cpu_s=PATIENCE_S)
        assert eventually(lambda: gone(pid))
        assert pool.call("builtins:abs", -2) == 2


def interrupt():
    raise KeyboardInterrupt


def test_many_threads_at_once(pool):
    def work(n):
        if n % 8 == 0:
            with pytest.raises(WorkerTimeout):
                pool.call(*TOWER, cpu_s=0.2)
            return n * n
        if n % 8 == 1:
            return pool.map("builtins:pow", [(n, 2)] * 30)[-1].value
        return pool.call("builtins:pow", n, 2)

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(work, range(32))) == [n * n for n in range(32)]


def test_asyncio_stays_responsive(pool):
    async def main():
        hang = asyncio.create_task(asyncio.to_thread(pool.call, *TOWER, cpu_s=0.8))
        quick = await asyncio.to_thread(pool.call, "builtins:abs", -7)
        still_hanging = not hang.done()
        with pytest.raises(WorkerTimeout):
            await hang
        return quick, still_hanging

    pool.call("builtins:abs", 0)
    assert asyncio.run(main()) == (7, True)


def test_a_killed_idle_worker_is_replaced():
    with WorkerPool(workers=1) as pool:
        pid = pool.call("os:getpid")
        os.kill(pid, signal.SIGKILL)
        assert eventually(lambda: gone(pid))
        assert pool.call("os:getpid") != pid


def test_a_killed_fork_server_is_replaced():
    with WorkerPool(workers=1) as pool:
        pid, server = pool.call("os:getpid"), pool.call("os:getppid")
        os.kill(server, signal.SIGKILL)
        assert eventually(lambda: gone(pid) and gone(server))
        assert pool.call("os:getppid") not in (server, os.getpid())


def test_a_call_outlives_its_killed_fork_server(work):
    results = []
    with WorkerPool(workers=1) as pool:
        server = pool.call("os:getppid")
        thread = call_in_thread(results, pool, "work:burn", 0.5, cpu_s=5.0)
        time.sleep(0.1)
        os.kill(server, signal.SIGKILL)
        thread.join(PATIENCE_S)
    assert results == ["done"]


def test_closing_ends_every_process_and_call():
    pool = WorkerPool(workers=2)
    pids = [pool.call("os:getpid"), pool.call("os:getppid")]
    results = []
    thread = call_in_thread(results, pool, *TOWER, cpu_s=PATIENCE_S)
    time.sleep(0.2)
    pool.close()
    pool.close()
    thread.join(PATIENCE_S)
    assert [type(result) for result in results] == [WorkerKilled]
    assert eventually(lambda: all(map(gone, pids)))
    with pytest.raises(UsageError, match="closed"):
        pool.call("builtins:abs", 1)


@pytest.mark.parametrize(
    "arguments", [{"workers": 0}, {"memory_mib": 0}, {"recycle_after": 0}], ids=str
)
def test_bad_arguments_are_refused(arguments):
    with pytest.raises(ConfigError, match="at least 1, got 0"):
        WorkerPool(**arguments)


def test_bad_calls_are_refused(pool):
    with pytest.raises(ConfigError, match="a function is named"):
        pool.call("builtins.abs", 1)
    with pytest.raises(ConfigError, match="cpu_s"):
        pool.call("builtins:abs", 1, cpu_s=0)


def test_the_shared_pool_is_one_pool():
    assert shared_pool() is shared_pool()


def test_a_program_without_a_main_guard_and_its_forked_child():
    done = run_script(
        """
        import os
        from rlvr_envs.core.workers import shared_pool

        mine = shared_pool().call("os:getppid"), shared_pool().call("os:getpid")
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                its = shared_pool().call("os:getppid"), shared_pool().call("os:getpid")
                status = 0 if not set(its) & set(mine) else 2
                shared_pool().close()
            finally:
                os._exit(status)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        again = shared_pool().call("os:getppid"), shared_pool().call("os:getpid")
        print(code, again == mine, *mine)
        """
    )
    assert (done.returncode, done.stderr) == (0, "")
    code, same, *pids = done.stdout.split()
    assert (code, same) == ("0", "True")
    assert eventually(lambda: all(map(gone, pids)))  # closed at exit


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a busy worker with its parent")
def test_workers_die_with_a_killed_parent():
    script = """
        import sys, threading
        from rlvr_envs.core.workers import WorkerPool

        pool = WorkerPool(workers=1)
        pids = pool.call("os:getpid"), pool.call("os:getppid")
        threading.Thread(target=pool.call, args=("builtins:pow", 9, 9**9), kwargs={"cpu_s": 60}).start()
        print(*pids, flush=True)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True
    ) as parent:
        pids = parent.stdout.readline().split()
        time.sleep(0.3)  # the worker is busy by now
        assert not any(map(gone, pids))
        parent.kill()
    assert len(pids) == 2
    assert eventually(lambda: all(map(gone, pids)))


@pytest.mark.parametrize("workers", [-1, True, 1.5, "2"])
def test_a_number_of_workers_that_is_no_positive_integer_is_refused(workers):
    with pytest.raises(ConfigError, match="workers must be an integer, at least 1"):
        WorkerPool(workers=workers)


def test_an_exception_without_a_readable_text_is_told_by_its_name():
    class Odd(Exception):
        def __str__(self):
            raise RuntimeError

    assert _worker._text(Odd()) == "Odd: (its text cannot be read)"
    assert _worker._text(ValueError("five")) == "ValueError: five"
