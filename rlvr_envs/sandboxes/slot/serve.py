"""Serving requests: jobs of one program and many cases, and sessions whose files persist."""

from __future__ import annotations

import json
import os
import re
import select
import signal
from typing import TYPE_CHECKING, Any, NoReturn

from rlvr_envs.sandboxes.slot.basics import check, keeping_gil, libc
from rlvr_envs.sandboxes.slot.folders import WORK, Box
from rlvr_envs.sandboxes.slot.frames import Control, private_memory
from rlvr_envs.sandboxes.slot.runner import Runner
from rlvr_envs.sandboxes.slot.walls import (
    CLONE_NEWNS,
    CLONE_NEWPID,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    PR_SET_DUMPABLE,
    PR_SET_PDEATHSIG,
    call_number,
    mount,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Answer = tuple[dict[str, Any], Sequence[memoryview]]
    Files = dict[str, tuple[int, memoryview]]
    Serve = Callable[[Runner, dict[str, Any], list[memoryview]], Answer]


def run_job(runner: Runner, request: dict[str, Any], blobs: list[memoryview]) -> Answer:
    """Compile if there is something to compile, then run every case in a fresh box."""
    job = request["job"]
    box = runner.box
    files = {path: (0o644, blobs[number]) for path, number in job["files"].items()}
    compiled = None
    made: Files = {}
    if "made" in request:  # an equal job has compiled it
        files = {path: (mode, blobs[number]) for path, (mode, number) in request["made"].items()}
    elif job["compile"]:
        compiled = compile_afresh(runner, job, files, request.get("compile_env", {}))
        if compiled["status"] != "ok":
            return answer_of(compiled, [])
        files = box.snapshot()
        made = files if fit_for_all(files, request["most_made"], box) else {}
    results: list[tuple[memoryview, dict[str, Any]]] = []
    for case in request["cases"]:
        fill(box, files, job["limits"])
        well = put_away(runner.step(run_step(job, case, blobs)), results)
        if request["stop_on_fault"] and not well:
            break
    told = [{**json.loads(bytes(told)), **kept} for told, kept in results]
    return answer_of(compiled, told, made)


def compile_afresh(
    runner: Runner, job: dict[str, Any], files: Files, more_env: dict[str, str]
) -> dict[str, Any]:
    """Return the result of compiling in a fresh box, which then holds what that made.

    Where it fails with further variables, which are for speed, it is done again without them: so
    the messages are the same with them and without.
    """
    if more_env:
        fill(runner.box, files, job["compile_limits"])
        faster = {**job, "env": {**job["env"], **more_env}}
        compiled = runner.step(compile_step(faster))
        if compiled["status"] in {"ok", "cpu_timeout"}:
            return compiled
    fill(runner.box, files, job["compile_limits"])
    return runner.step(compile_step(job))


def fit_for_all(files: Files, most: int, box: Box) -> bool:
    """Whether files are not too large to be handed over, and work in the box of any slot."""
    if sum(len(content) for _, content in files.values()) > most:
        return False
    if box.work == WORK:
        return True
    own = re.compile(re.escape(os.path.dirname(box.work).encode()))
    return not any(own.search(content) for _, content in files.values())


def put_away(result: dict[str, Any], results: list[tuple[memoryview, dict[str, Any]]]) -> bool:
    """Keep a result where the jobs that are forked later do not see it; return whether it is ok."""
    kept = {name: result.pop(name) for name in ("stdout", "stderr", "files")}
    text = bytearray(json.dumps(result).encode())
    told = private_memory(len(text))
    told[:] = text
    text[:] = bytes(len(text))
    results.append((told, kept))
    return bool(result["status"] == "ok")


def answer_of(
    compiled: dict[str, Any] | None, results: list[dict[str, Any]], made: Files | None = None
) -> Answer:
    """Return the message about some results, and what compiling made, with the bytes apart."""
    blobs: list[memoryview] = []

    def apart(result: dict[str, Any]) -> dict[str, Any]:
        message = dict(result)
        for name in ("stdout", "stderr"):
            message[name] = len(blobs)
            blobs.append(result[name])
        message["files"] = {}
        for path, content in result["files"].items():
            message["files"][path] = len(blobs)
            blobs.append(content)
        return message

    message: dict[str, Any] = {
        "compile": None if compiled is None else apart(compiled),
        "results": [apart(result) for result in results],
        "made": {},
    }
    for path, (mode, content) in (made or {}).items():
        message["made"][path] = [mode, len(blobs)]
        blobs.append(content)
    return message, blobs


def fill(box: Box, files: Files, limits: dict[str, Any]) -> None:
    """Make the box anew with some files in it."""
    box.fresh(limits)
    for path, (mode, content) in files.items():
        box.write(path, content, mode)


NOTHING = memoryview(b"")


def compile_step(job: dict[str, Any]) -> dict[str, Any]:
    """Return the step that compiles a job."""
    plain = {"argv": job["compile"], "script": "", "args": [], "stdin": NOTHING, "collect": []}
    # The compiler may read all: what a source makes it read is no program that runs.
    programs = {"programs": job["compile_programs"], "reads_all": True, "own_args": NOTHING}
    return {
        **job,
        **plain,
        **programs,
        "limits": job["compile_limits"],
        "limit_address_space": False,
    }


def run_step(job: dict[str, Any], case: dict[str, Any], blobs: list[memoryview]) -> dict[str, Any]:
    """Return the step that runs a case of a job."""
    own = {"stdin": blobs[case["stdin"]], "own_args": blobs[case["args"]]}
    return {**job, **own, "reads_all": False}


def run_in_session(runner: Runner, request: dict[str, Any], blobs: list[memoryview]) -> Answer:
    """Serve one request of a session, whose files persist."""
    box = runner.box
    if request["op"] == "write":
        box.write(request["path"], blobs[0])
        return {"ok": True}, []
    if request["op"] == "read":
        content = box.read(request["path"], request["most"])
        return {"found": content is not None}, [] if content is None else [content]
    job = request["job"]
    for path, number in job["files"].items():
        box.write(path, blobs[number])
    compiled = runner.step(compile_step(job)) if job["compile"] else None
    if compiled is not None and compiled["status"] != "ok":
        return answer_of(compiled, [])
    steps = [run_step(job, case, blobs) for case in request["cases"]]
    return answer_of(compiled, [runner.step(step) for step in steps])


def reply(control: Control, runner: Runner, request: Any, serve: Serve) -> None:
    """Serve a request; a failure of ours is reported as one."""
    try:
        answer = serve(runner, *request)
    except Exception as error:
        answer = {"fault": f"{type(error).__name__}: {error}"}, []
    control.write(*answer)


def serve_session(control: Control, runner: Runner, limits: dict[str, Any]) -> bool:
    """Serve a session to its end; return whether the client is still there."""
    runner.box.fresh(limits)
    control.write({"ok": True})
    while (request := control.read()) is not None:
        if request[0]["op"] == "end":
            return True
        reply(control, runner, request, run_in_session)
    return False


def serve_directly(control: Control, runner: Runner) -> None:
    """Serve jobs where this process is the parent of all of a job's processes."""
    while (request := control.read()) is not None:
        operation = request[0]["op"]
        if operation == "session":
            if not serve_session(control, runner, request[0]["limits"]):
                return
        elif operation == "run":
            reply(control, runner, request, run_job)
        runner.box.fresh({})
        if operation != "run":
            control.write({"ok": True})


def serve_in_namespaces(control: Control, runner: Runner) -> None:
    """Serve jobs, each by an init in pid and mount namespaces of its own.

    This process never reads a request, so that it has nothing to pass on to the next job.
    """
    while True:
        select.select([control.reading], [], [])
        init = clone_init()
        if init == 0:
            be_init(control, runner)
        if os.waitpid(init, 0)[1]:  # the client is gone, or the init failed and said nothing
            return


def clone_init() -> int:
    """Fork the init of a job into pid and mount namespaces of its own; return as `os.fork` does.

    `os.fork` would need a process between the two, which costs a millisecond. The server has a
    single thread, and the init forks the ordinary way before it runs anything of a job.
    """
    flags = CLONE_NEWPID | CLONE_NEWNS | signal.SIGCHLD
    return check(keeping_gil.syscall(call_number("clone"), flags, 0, 0, 0, 0), "clone for the job")


def be_init(control: Control, runner: Runner) -> NoReturn:
    """The first process of the job's pid namespace: runs its steps and reaps its orphans."""
    alive = False
    try:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
        try:
            mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=2")
        except OSError:
            pass
        request = control.read()
        if request is not None:
            alive = True
            if request[0]["op"] == "session":
                alive = serve_session(control, runner, request[0]["limits"])
            elif request[0]["op"] == "run":
                reply(control, runner, request, run_job)
            if request[0]["op"] != "run":
                control.write({"ok": True})
    except BaseException as error:
        alive = False
        control.write({"fault": f"init: {type(error).__name__}: {error}"})
    os._exit(0 if alive else 1)
