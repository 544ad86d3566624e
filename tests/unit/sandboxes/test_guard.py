"""Limits on time: what a program uses decides, and what the machine does to it does not."""

import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest

from rlvr_envs.core.errors import SandboxError, UsageError
from rlvr_envs.sandboxes.backend import Backend
from rlvr_envs.sandboxes.base import Job, Limits, RunStatus
from rlvr_envs.sandboxes.pool import SlotPool
from rlvr_envs.sandboxes.sandbox import Sandbox
from rlvr_envs.sandboxes.slot import watch as watching
from rlvr_envs.sandboxes.slot.folders import MountedBox

WORKS = "import time\nwhile time.process_time() < {}: pass\nprint('done')"
SLEEPS = "import time\ntime.sleep(600)"
READS_A_PIPE = "import os\nos.read(os.pipe()[0], 1)"
# A parent of a vfork is in the state of a process that waits for a disk.
CHILDREN_SLEEP = """
import os, subprocess, sys
for _ in range(3): subprocess.Popen([sys.executable, "-ISc", "import time; time.sleep(600)"])
os.wait()
"""
THREADS_SLEEP = """
import threading, time
for _ in range(3): threading.Thread(target=time.sleep, args=(600,)).start()
"""
CHANGES = """
import time
while True:
    time.sleep({sleep})
    end = time.process_time() + {work}
    while time.process_time() < end: pass
"""


@contextmanager
def load(per_core):
    """Keep every core busy with processes of our own, each for a few seconds of CPU time."""
    hog = "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (8, 8))\nwhile True: pass"
    hogs = [
        subprocess.Popen([sys.executable, "-S", "-c", hog])
        for _ in range(per_core * len(os.sched_getaffinity(0)))
    ]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def python(code, **limits):
    return Job(script="main.py", files={"main.py": code.encode()}, limits=Limits(**limits))


@pytest.mark.parametrize("per_core", [0, 3])
def test_a_verdict_on_time_is_the_same_at_any_load(sandbox, per_core):
    """An honest program needs more seconds on the clock than the guard allows, and is right."""
    often = CHANGES.format(sleep=0.001, work=0.001)
    seldom = CHANGES.format(sleep=0.03, work=0.001)
    programs = [
        (WORKS.format(0.75), {"cpu_s": 1, "wall_s": 0.5}, RunStatus.OK),
        (WORKS.format(60), {"cpu_s": 0.4, "wall_s": 0.3}, RunStatus.CPU_TIMEOUT),
        (SLEEPS, {"cpu_s": 0.4, "wall_s": 0.3}, RunStatus.WALL_TIMEOUT),
        (READS_A_PIPE, {"cpu_s": 0.4, "wall_s": 0.3}, RunStatus.WALL_TIMEOUT),
        (CHILDREN_SLEEP, {"cpu_s": 0.4, "wall_s": 0.3}, RunStatus.WALL_TIMEOUT),
        (THREADS_SLEEP, {"cpu_s": 0.4, "wall_s": 0.3}, RunStatus.WALL_TIMEOUT),
        (often, {"cpu_s": 0.3, "wall_s": 3}, RunStatus.CPU_TIMEOUT),
        (seldom, {"cpu_s": 2, "wall_s": 0.5}, RunStatus.WALL_TIMEOUT),
    ]
    with load(per_core):
        found = [sandbox.run(python(code, **limits)).status for code, limits, _ in programs]
    assert found == [status for *_, status in programs]


def test_a_slot_for_each_of_many_programs_is_fair_to_all():
    """As the issue has it: more jobs than cores, each of which needs most of its CPU time."""
    found = []
    with Sandbox(slots=8) as sandbox:
        job = python(WORKS.format(0.75), cpu_s=1, wall_s=1)
        threads = [
            threading.Thread(target=lambda: found.append(sandbox.run(job).status)) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [RunStatus.OK] * 8


def test_a_program_cannot_give_way_to_others_to_be_starved(sandbox):
    """Asking for it is no error, since honest programs do."""
    code = """
import os
before = os.nice(0)
print(os.nice(5) - before, os.getpriority(os.PRIO_PROCESS, 0) - before)
try:
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
except PermissionError:
    print("refused")
"""
    assert sandbox.run(python(code)).stdout == b"0 0\nrefused\n"


# --- the watch alone, whose clock and processes are made up ---------------------------------


class Clock:
    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


def watch(monkeypatch, states, step=0.02):
    """Return what a watch says at last, and when, of a job in these states, look after look."""
    clock = Clock()
    monkeypatch.setattr(watching, "time", clock)
    limits = {"cpu_s": 2.0, "wall_s": 10.0, "longest_s": 240.0, "memory_mib": 64, "processes": 9}
    limits |= {"disk_mib": 1, "inodes": 1}
    box = MountedBox()
    seen = watching.Watch("namespaces", box, limits, watching.children_cpu())
    for state in states:
        clock.now += step
        monkeypatch.setattr(watching, "family", lambda tier, state=state: [7] if state else [])
        used = (1, 0.0, 0.0, 0, 1, state == "R")
        monkeypatch.setattr(watching, "use_of", lambda pid, floor, used=used: used)
        if status := seen.look():
            return status, clock.now - 100
    return "", clock.now - 100


def test_waiting_for_a_processor_is_no_waiting(monkeypatch):
    assert watch(monkeypatch, ["R"] * 11_000) == ("", pytest.approx(220))


def test_sleeping_is_charged_as_long_as_it_lasts(monkeypatch):
    assert watch(monkeypatch, ["S"] * 600) == ("wall_timeout", pytest.approx(10, abs=0.1))
    half = ["S", "R"] * 600
    assert watch(monkeypatch, half) == ("wall_timeout", pytest.approx(20, abs=0.1))


def test_a_look_that_comes_late_charges_little(monkeypatch):
    """This process, too, may have waited: for a processor, or for a machine that stood still."""
    assert watch(monkeypatch, ["S"], step=60.0)[0] == ""
    assert watch(monkeypatch, ["S"] * 300, step=0.5) == ("wall_timeout", pytest.approx(50, abs=1))


def test_a_job_that_never_gets_a_processor_is_the_machines_failure(monkeypatch):
    assert watch(monkeypatch, ["R"] * 13_000) == ("starved", pytest.approx(240, abs=0.1))


def test_where_no_process_is_seen_nobody_is_blamed(monkeypatch):
    assert watch(monkeypatch, [""] * 700) == ("starved", pytest.approx(12, abs=0.1))


# --- once more, alone -----------------------------------------------------------------------


def test_a_starved_job_is_tried_once_more_and_then_not_scored(monkeypatch):
    """The slot is told to call a job starved after no time at all."""
    monkeypatch.setattr("rlvr_envs.sandboxes.base.STARVED", 1e-9)
    asked = []
    with Sandbox("namespaces", slots=2) as sandbox:
        ask = sandbox._asked
        monkeypatch.setattr(
            sandbox, "_asked", lambda *args, **how: (asked.append(how), ask(*args, **how))[1]
        )
        result = sandbox.run(python(WORKS.format(5), cpu_s=5, wall_s=5))
        assert result.status is RunStatus.SANDBOX_ERROR
        assert "the machine did not give it the CPU time" in result.detail
        assert asked == [{}, {"alone": True}]
        with sandbox.session() as session, pytest.raises(SandboxError, match="CPU time"):
            session.run(python(WORKS.format(5), cpu_s=5, wall_s=5))


class Silent(Backend):
    name, isolation = "silent", "none"

    def start(self):
        class Nothing:
            def close(self):
                pass

        return Nothing()


def test_a_job_that_runs_alone_waits_for_the_others_and_keeps_new_ones_out():
    pool = SlotPool(Silent(), slots=3)
    order = []
    first_runs, first_ends = threading.Event(), threading.Event()

    def first():
        with pool.slot():
            first_runs.set()
            first_ends.wait(30)
            order.append("first")

    def alone():
        with pool.slot(alone=True):
            order.append("alone")

    def late():
        with pool.slot():
            order.append("late")

    threads = [threading.Thread(target=first)]
    threads[0].start()
    assert first_runs.wait(30)
    threads.append(threading.Thread(target=alone))
    threads[1].start()
    while len(pool._waiting) < 1:
        time.sleep(0.001)
    threads.append(threading.Thread(target=late))
    threads[2].start()
    time.sleep(0.05)
    assert order == []
    first_ends.set()
    for thread in threads:
        thread.join(30)
    assert order == ["first", "alone", "late"]
    assert (pool._running, pool._exclusive, len(pool._waiting)) == (0, False, 0)


def test_callers_are_served_in_the_order_in_which_they_came():
    pool = SlotPool(Silent(), slots=1)
    served, threads = [], []

    def call(number):
        with pool.slot():
            served.append(number)

    with pool.slot():
        for number in range(40):
            threads.append(threading.Thread(target=call, args=(number,)))
            threads[-1].start()
            while len(pool._waiting) <= number:
                time.sleep(0.001)
    for thread in threads:
        thread.join(30)
    assert served == list(range(40))


def test_a_closed_pool_turns_those_away_who_wait():
    pool, told = SlotPool(Silent(), slots=1), []

    def call():
        try:
            with pool.slot():
                told.append("served")
        except UsageError as error:
            told.append(str(error))

    with pool.slot():
        waiting = threading.Thread(target=call)
        waiting.start()
        while not pool._waiting:
            time.sleep(0.001)
        pool.close()
        waiting.join(30)
    assert told == ["this sandbox is closed"]
