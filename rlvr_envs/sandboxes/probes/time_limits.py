"""Probes of the limits on time."""

from rlvr_envs.sandboxes.base import Limits, Result, RunStatus
from rlvr_envs.sandboxes.probes.bench import (
    Bench,
    Probes,
    account,
    ended_as,
    first,
    token,
)
from rlvr_envs.sandboxes.probes.host import survivors

_probes = Probes()
probe = _probes.probe
PROBES = _probes.all

# What a killed program may have used: what it did before anyone looked again.
_SLACK = 3.0


@probe
def spin(bench: Bench) -> str:
    """A program that computes for ever is ended by its CPU time."""
    result = bench.python("spin(60)", limits=Limits(cpu_s=0.5, wall_s=30))
    return first(_cpu(result, 0.5), ended_as(result, RunStatus.CPU_TIMEOUT))


@probe
def ignore_signals(bench: Bench) -> str:
    """Handlers for SIGXCPU, SIGTERM and the others do not keep a program alive."""
    result = bench.python(
        """
        for number in set(range(1, 65)) - {9, 19, 32, 33}:
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
        spin(60)
        """,
        limits=Limits(cpu_s=0.5, wall_s=30),
    )
    return first(_cpu(result, 0.5), ended_as(result, RunStatus.CPU_TIMEOUT))


@probe
def spin_in_children(bench: Bench) -> str:
    """CPU time is summed over processes that run at once."""
    name = token()
    result = bench.python(
        """
        mark(VALUES["name"])
        for _ in range(4):
            if os.fork() == 0:
                spin(60)
        time.sleep(60)
        """,
        {"name": name},
        limits=Limits(cpu_s=0.8, wall_s=30),
    )
    return first(survivors(name), _cpu(result, 0.8), ended_as(result, RunStatus.CPU_TIMEOUT))


@probe
def spin_in_turns(bench: Bench) -> str:
    """CPU time is summed over processes that run one after another."""
    result = bench.python(
        """
        for turn in range(30):
            child = os.fork()
            if child == 0:
                spin(0.2)
                os._exit(0)
            os.waitpid(child, 0)
        say("all turns")
        """,
        limits=Limits(cpu_s=0.8, wall_s=30),
    )
    return first(_cpu(result, 0.8), ended_as(result, RunStatus.CPU_TIMEOUT))


@probe
def spin_unseen(bench: Bench) -> str:
    """CPU time counts of children that nobody waits for."""
    source = """
        if VALUES["ignored"]:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        for turn in range(10):
            told, tell = os.pipe()
            if os.fork() == 0:
                spin(0.2)
                os._exit(0)
            os.close(tell)
            os.read(told, 1)
            os.close(told)
        say("all turns")
    """
    limits = Limits(cpu_s=0.5, wall_s=30)
    for ignored in (True, False):
        result = bench.python(source, {"ignored": ignored}, limits=limits)
        if b"all turns" in result.stdout or result.status is not RunStatus.CPU_TIMEOUT:
            return f"ten children used 2 s of CPU time, the limit is 0.5 s: {account(result)}"
    return ""


@probe
def spin_in_heirs(bench: Bench) -> str:
    """CPU time counts of short-lived heirs, each forked by the one before it and seen by nobody."""
    result = bench.python(
        """
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        LIBC.prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        told, tell = os.pipe()
        if os.fork() == 0:
            for turn in range(700):
                spin(0.003)
                if os.fork():
                    os._exit(0)
            os.write(tell, b"x")
            os._exit(0)
        os.read(told, 1)
        say("all heirs")
        """,
        limits=Limits(cpu_s=0.5, wall_s=30),
    )
    if result.stdout:
        return f"heirs used 2.1 s of CPU time, the limit is 0.5 s: {account(result)}"
    return first(_cpu(result, 0.5), ended_as(result, RunStatus.CPU_TIMEOUT))


@probe
def sleep(bench: Bench) -> str:
    """A program that sleeps is ended by the wall-clock guard."""
    result = bench.python("time.sleep(60)", limits=Limits(cpu_s=1, wall_s=0.3))
    return ended_as(result, RunStatus.WALL_TIMEOUT)


@probe
def stop_itself(bench: Bench) -> str:
    """A program that stops itself, or closes its streams and waits, is ended by the guard."""
    limits = Limits(cpu_s=1, wall_s=0.4)
    stopped = bench.python("os.kill(os.getpid(), signal.SIGSTOP)", limits=limits)
    closed = bench.python("os.closerange(0, 64)\ntime.sleep(60)", limits=limits)
    ends = [ended_as(result, RunStatus.WALL_TIMEOUT) for result in (stopped, closed)]
    return first(*ends)


def _cpu(result: Result, limit: float) -> str:
    """Return a complaint if a job used much more CPU time than it was given."""
    if result.cpu_s > _SLACK * limit + 1:
        return f"it used {result.cpu_s:.1f} s of CPU time, the limit is {limit} s"
    return ""
