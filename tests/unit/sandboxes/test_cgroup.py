"""Counting by the kernel: where a group may be made, what it counts, and what is left of it."""

import os
import resource
import signal
from pathlib import Path

import pytest

from rlvr_envs.sandboxes.base import Job, Limits, RunStatus
from rlvr_envs.sandboxes.landlock import LandlockBackend
from rlvr_envs.sandboxes.namespaces import NamespacesBackend
from rlvr_envs.sandboxes.sandbox import Sandbox
from rlvr_envs.sandboxes.slot import cgroup

BACKENDS = {"namespaces": NamespacesBackend, "landlock": LandlockBackend}

V1 = """\
30 20 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu
31 20 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpuacct
32 20 0:28 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
33 20 0:29 / /sys/fs/cgroup/pids rw shared:9 - cgroup cgroup rw,pids
34 20 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
"""
V2 = "40 20 0:30 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"


def python(code, **more):
    return Job(script="main.py", files={"main.py": code.encode()}, **more)


def places(tmp_path, mounts, own):
    (tmp_path / "mounts").write_text(mounts)
    (tmp_path / "own").write_text(own)
    return cgroup.places_for_groups(str(tmp_path / "mounts"), str(tmp_path / "own"))


def test_in_the_first_version_a_group_is_made_below_our_own(tmp_path):
    own = "4:memory:/docker/abc/job\n3:cpuacct:/\n2:pids:/a b\n1:cpu:/\n0::/x\n"
    assert places(tmp_path, V1, own) == [
        {
            "cpuacct": "/sys/fs/cgroup/cpu,cpuacct",
            "memory": "/sys/fs/cgroup/memory/job",
            "pids": "/sys/fs/cgroup/pids/a b",
        },
        {"": "/sys/fs/cgroup/unified/x"},
        {"": "/sys/fs/cgroup/unified"},
    ]


def test_in_the_second_version_the_groups_above_our_own_follow(tmp_path):
    own = "0::/user.slice/app.slice/train.service\n"
    assert places(tmp_path, V2, own) == [
        {"": "/sys/fs/cgroup/user.slice/app.slice/train.service"},
        {"": "/sys/fs/cgroup/user.slice/app.slice"},
        {"": "/sys/fs/cgroup/user.slice"},
        {"": "/sys/fs/cgroup"},
    ]


@pytest.mark.parametrize("mounts", ["", V1.replace("pids", "rdma")])
def test_without_all_three_hierarchies_there_is_no_group(tmp_path, mounts):
    own = "4:memory:/\n3:cpuacct:/\n2:pids:/\n"
    assert places(tmp_path, mounts, own) == []
    assert cgroup.new_group(str(tmp_path / "mounts"), str(tmp_path / "absent")) is None


def test_what_a_group_of_the_second_version_counts(tmp_path):
    texts = {
        "cgroup.procs": "1\n0\n77\n",
        "cpu.stat": "usage_usec 900000000\nuser_usec 1\n",
        "memory.current": "50000",
        "memory.stat": "anon 5000\nfile 900\nkernel 70\nshmem 300\nslab_reclaimable 20\nsock 4\n",
        "memory.events": "low 0\noom_kill 2\n",
        "pids.current": "3",
        "memory.max": "",
        "pids.max": "max",
        "memory.swap.max": "max",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    group = cgroup.Group({"": str(tmp_path)}, made=True)
    counted = group.count()
    mine = resource.getrusage(resource.RUSAGE_SELF)
    assert counted.cpu_s == pytest.approx(900 - mine.ru_utime - mine.ru_stime, abs=1)
    assert counted[1:] == (5054, 300, 3, 2)
    assert group.members() == [1, 77]
    group.limit(memory=1000, tasks=10)
    assert (tmp_path / "memory.max").read_text() == str(50000 + 1000 + cgroup.SLACK)
    assert (tmp_path / "pids.max").read_text() == "13x"  # the kernel's file has no length
    group.close()
    (tmp_path / "pids.current").unlink()
    with pytest.raises(OSError, match=r"pids\.current"):
        cgroup.Group({"": str(tmp_path)}, made=True)


@pytest.fixture
def counted(sandbox):
    """A sandbox whose jobs the kernel counts."""
    if not sandbox.accounted_by_kernel:
        pytest.skip("no cgroup may be made here")
    return sandbox


def test_a_result_says_whether_the_kernel_counted(sandbox):
    result = sandbox.run(python("print(1)"))
    assert result.ok
    assert result.accounted_by_kernel == sandbox.accounted_by_kernel


@pytest.mark.parametrize("kind", [NamespacesBackend, LandlockBackend])
def test_without_a_group_jobs_are_sampled_and_results_say_so(kind):
    with Sandbox(kind(cgroups=False), slots=1) as sandbox:
        assert not sandbox.accounted_by_kernel
        result = sandbox.run(python("print(1)"))
        assert (result.stdout, result.accounted_by_kernel) == (b"1\n", False)


def test_cpu_time_of_processes_that_nobody_saw_is_counted(counted):
    code = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
told, tell = os.pipe()
for _ in range(60):
    if os.fork() == 0:
        end = time.process_time() + 0.004
        while time.process_time() < end:
            pass
        os.write(tell, b"x")
        os._exit(0)
    os.read(told, 1)
"""
    result = counted.run(python(code, limits=Limits(cpu_s=5, wall_s=30)))
    assert result.ok, result
    assert 0.24 <= result.cpu_s < 1.5


def test_a_job_is_not_charged_for_the_servers_work(counted):
    """The server, in the same group, reads and writes much; the program does nothing."""
    quiet = counted.run(python("import time; time.sleep(0.3)"))
    loud = counted.run(python("print(1)", stdin=b"x" * 30_000_000))
    assert quiet.cpu_s < 0.1
    assert loud.cpu_s < 0.1
    assert quiet.status is loud.status is RunStatus.OK


def test_files_have_a_limit_of_their_own_and_are_no_memory(counted):
    code = """
import os, time
for place in (".", os.environ["TMPDIR"]):
    for number in range(6):
        open(f"{place}/{number}", "wb").write(bytes(5 << 20))
time.sleep(0.1)
print("written")
"""
    limits = Limits(memory_mib=48, disk_mib=40, cpu_s=5, wall_s=30)
    result = counted.run(python(code, limits=limits))
    assert result.stdout == b"written\n", result


def test_memory_that_is_shared_is_counted_once(counted):
    code = """
import mmap, os, time
area = mmap.mmap(-1, {size} << 20)
for place in range(0, len(area), 4096):
    area[place] = 1
for _ in range(5):
    if os.fork() == 0:
        sum(area[::4096])
        time.sleep(0.2)
        os._exit(0)
for _ in range(5):
    os.wait()
print(area[0])
"""
    limits = Limits(memory_mib=80, cpu_s=10, wall_s=30)
    within = counted.run(python(code.format(size=40), limits=limits))
    assert within.stdout == b"1\n", within
    beyond = counted.run(python(code.format(size=160), limits=limits))
    assert beyond.status is RunStatus.MEMORY


def test_what_the_kernel_ends_for_want_of_memory_ran_out_of_memory(counted):
    """The largest of its processes ends at the wall, between two looks."""
    code = """
import os
if os.fork() == 0:
    held = bytearray(700 << 20)
    os._exit(0)
os.wait()
"""
    job = python(code, limits=Limits(memory_mib=64, cpu_s=10, wall_s=30, disk_mib=1))
    result = counted.run(Job(**{**_fields(job), "limit_address_space": False}))
    assert result.status is RunStatus.MEMORY


def _fields(job):
    return {name: getattr(job, name) for name in job.__dataclass_fields__}


def groups():
    return set(Path("/sys/fs/cgroup").glob("**/rlvr-slot-*"))


@pytest.mark.parametrize("kind", [NamespacesBackend, LandlockBackend])
def test_no_group_is_left(kind):
    with Sandbox(kind(), slots=1) as sandbox:
        if not sandbox.accounted_by_kernel:
            pytest.skip("no cgroup may be made here")
        [(channel, _)] = sandbox._pool._free
        mine = f"rlvr-slot-{channel.pid}-"
        assert any(mine in str(path) for path in groups())
    assert not any(mine in str(path) for path in groups())


def test_the_group_of_a_guard_that_was_killed_goes_with_the_next_slot():
    with Sandbox(NamespacesBackend(), slots=1) as sandbox:
        if not sandbox.accounted_by_kernel:
            pytest.skip("no cgroup may be made here")
        [(channel, _)] = sandbox._pool._free
        mine = f"rlvr-slot-{channel.pid}-"
        os.kill(channel.pid, signal.SIGKILL)
        channel._process.wait()
        assert channel._socket.recv(1) == b""
        assert sandbox.run(python("print(1)")).ok  # in a new slot
    NamespacesBackend().start().close()
    assert not any(mine in str(path) for path in groups())
