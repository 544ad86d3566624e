"""Starting a slot server in one of its tiers."""

from __future__ import annotations

import builtins
import codecs
import gc
import os
import resource
import select
import signal
import sys
from typing import Any, NoReturn

from rlvr_envs.sandboxes.slot.basics import PRELOAD, Fault, UserTaken, check, libc
from rlvr_envs.sandboxes.slot.cgroup import Group, container_group, new_group
from rlvr_envs.sandboxes.slot.folders import WORK, Box, LimitedBox, MountedBox, wipe
from rlvr_envs.sandboxes.slot.frames import Control
from rlvr_envs.sandboxes.slot.runner import CONSTANT_LIMITS, Runner, kill_family, set_limit
from rlvr_envs.sandboxes.slot.serve import serve_directly, serve_in_namespaces
from rlvr_envs.sandboxes.slot.walls import (
    CLONE_NEWCGROUP,
    CLONE_NEWIPC,
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWPID,
    CLONE_NEWUTS,
    PR_SET_CHILD_SUBREAPER,
    PR_SET_DUMPABLE,
    PR_SET_PDEATHSIG,
    become_inner_user,
    build_root,
    drop_bounding_set,
    enter_user_namespace,
    landlock_abi,
    open_paths,
)


def warm_up(start: dict[str, Any]) -> None:
    """Import what Python jobs often need, and what ``site`` would have put into builtins."""
    import _sitebuiltins

    for name in PRELOAD:
        __import__(name)
    usual = list(sys.path)
    sys.path.extend(start.get("folders", ()))
    for name in start.get("modules", ()):
        __import__(name)
    sys.path[:] = usual
    for name in ("ascii", "latin-1", "utf-8"):
        codecs.lookup(name)
    for name in ("exit", "quit"):
        setattr(builtins, name, _sitebuiltins.Quitter(name, "Ctrl-D (i.e. EOF)"))
    sys.dont_write_bytecode = True
    for kind, value in CONSTANT_LIMITS:
        set_limit(kind, value)


def start_in_namespaces(control: Control, start: dict[str, Any]) -> Runner:
    """Fork the server into namespaces of its own; this process stays outside as its guard."""
    client = open_client(start["client"])
    root = os.geteuid() == 0
    outside = os.getpid()
    group = enter_group(control, client) if start["cgroups"] else None
    enter_user_namespace(start["outer_id"])
    flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
    check(libc.unshare(flags | CLONE_NEWCGROUP), "unshare")
    places = {path: path for path in start["shown"]} | start.get("placed", {})
    sources = open_paths(places)  # while we are still who may look anywhere
    if root:
        become_inner_user()
    if os.getpid() != outside:
        end_with_parent(outside)  # not earlier: a change of user undoes it
    server = os.fork()
    if server:
        control.close()
        stand_guard(server, client, None)
    os.close(client)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    check(libc.sethostname(b"sandbox", 7), "sethostname")
    build_root(sources)
    drop_bounding_set()
    return Runner("namespaces", MountedBox(), start["shown"], None, group)


def enter_group(control: Control, client: int) -> Group | None:
    """Go on in a child in a cgroup of its own; this process stays outside, to remove the group.

    Where no group may be had, nothing happens.
    """
    group = new_group()
    if group is None:
        return None
    child = os.fork()
    if child:
        control.close()
        stand_guard(child, client, None, group)
    return joined(group)


def end_with_parent(parent: int) -> None:
    """Let the kernel end this process when its parent ends, which may have happened already."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def joined(group: Group) -> Group | None:
    """Move this process into a group and return it, or None where that is refused."""
    try:
        group.join()
        group.count()
    except (OSError, KeyError, ValueError):
        group.close()
        return None
    return group


def start_in_directory(control: Control, start: dict[str, Any]) -> Runner:
    """Fork the server; this process stays as its guard, and deletes its directory at the end."""
    tier = start["tier"]
    if tier == "landlock" and landlock_abi() < 1:
        raise Fault("this kernel has no Landlock (it came with Linux 5.13)")
    client = open_client(start["client"])
    uid = start["outer_id"] if os.geteuid() == 0 else None
    folder = f"{start['scratch']}/rlvr-slot-{os.getpid()}-{os.urandom(6).hex()}"
    os.mkdir(folder, 0o711)  # which fails where the name is taken
    for name in ("work", "tmp"):
        os.mkdir(f"{folder}/{name}", 0o700)
        if uid is not None:
            os.chown(f"{folder}/{name}", uid, uid)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    group = new_group() if tier == "landlock" and start["cgroups"] else None
    server = os.fork()
    if server:
        control.close()
        stand_guard(server, client, folder, group)
    os.close(client)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    shown = [*start["shown"], *start.get("placed", ())]
    box = Box(f"{folder}/work", f"{folder}/tmp", uid)  # noqa: S108
    runner = Runner(tier, box, shown, uid, None if group is None else joined(group))
    runner.other_tasks = tasks_of(os.geteuid() if uid is None else uid)
    return runner


def tasks_of(uid: int) -> int:
    """Return how many processes and threads a user has, which RLIMIT_NPROC counts as well."""
    count = 0
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == uid:
                count += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue
    return count


def counted_alone(tasks: int) -> bool:
    """Whether the kernel counts no more than these processes and threads for our user.

    It counts those of other containers and of the machine too, which cannot be seen from here.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (tasks + 1, hard))
    try:
        child = os.fork()
    except BlockingIOError:
        return False
    finally:
        resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    return True


def open_client(pid: int) -> int:
    """Return a descriptor that becomes readable when the client ends, however it ends."""
    client = os.pidfd_open(pid)
    if os.getppid() != pid:
        raise Fault("the client is gone")
    return client


def stand_guard(
    server: int, client: int, folder: str | None, group: Group | None = None
) -> NoReturn:
    """Wait for the end of the server or of the client, and leave nothing behind."""
    poll = select.poll()
    poll.register(os.pidfd_open(server), select.POLLIN)
    poll.register(client, select.POLLIN)
    poll.poll()
    os.kill(server, signal.SIGKILL)
    os.waitpid(server, 0)
    if folder is not None:
        while True:  # what a job left has become our child
            kill_family("landlock", 0)
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                break
        fd = os.open(folder, os.O_DIRECTORY | os.O_NOFOLLOW)
        wipe(fd)
        os.close(fd)
        os.rmdir(folder)
    if group is not None:
        group.remove()
    os._exit(0)


def main() -> None:
    """Read the first frame, put up the walls, and serve until the client is gone."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != folder]
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # init processes must have no handlers at all
    control = Control.take()
    first = control.read()
    if first is None:
        return
    start = first[0]
    try:
        warm_up(start)  # while the interpreter finds its library: perhaps where only root can look
        if start["tier"] == "namespaces":
            runner = start_in_namespaces(control, start)
        elif start["tier"] == "docker":
            libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
            box = LimitedBox(WORK, "/tmp", None)  # noqa: S108
            runner = Runner("docker", box, [], None, container_group())
            runner.client = control.reading
            runner.other_tasks = tasks_of(os.geteuid())
            if not counted_alone(runner.other_tasks):
                raise UserTaken(f"other processes of the machine run as user {os.geteuid()}")
        else:
            runner = start_in_directory(control, start)
        runner.prepare(start)
        gc.collect()
        gc.freeze()
    except (OSError, ImportError, Fault) as error:
        control.write({"error": str(error), "again": isinstance(error, UserTaken)})
        return
    about = {"python": sys.version.split()[0], "landlock": landlock_abi()}
    control.write({"ok": True, "accounted": runner.group is not None, **about})
    serve = serve_in_namespaces if start["tier"] == "namespaces" else serve_directly
    serve(control, runner)


if __name__ == "__main__":
    main()
