"""Say what this machine has for rlvr_envs, what is missing, and how to get it."""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import rlvr_envs
from rlvr_envs.cli._text import add_json, say, say_json, table
from rlvr_envs.core import registry
from rlvr_envs.core.errors import RlvrEnvsError
from rlvr_envs.core.extras import hint, installed, missing, pip_install, requirements
from rlvr_envs.core.workers import WorkerPool
from rlvr_envs.sandboxes import languages
from rlvr_envs.sandboxes.sandbox import BACKENDS, Sandbox, make_backend, probe
from rlvr_envs.sandboxes.selfcheck import ProbeResult, checks, summary
from rlvr_envs.verifiers.hdl import icarus
from rlvr_envs.verifiers.hdl.sandbox import tools

# What each extra is for; `make test` sets up those of the project's developers.
PURPOSES = {
    "report": "report pages, Parquet files, endpoints, progress bars",
    "search": "a faster engine for large collections",
    "solvers": "problems whose best answer a solver finds, puzzles from specifications",
    "train": "models on this machine, to evaluate (local:...), train and benchmark",
    "lora": "training low-rank adapters",
    "completion": "completing the command line with Tab",
    "docker": "programs of a model in containers",
    "verilog": "judging hardware descriptions",
    "pettingzoo": "games with all seats open",
    "ray": "generating and judging on a cluster",
    "serve": "environments over HTTP and WebSockets, and the client for them",
}

HELP = "what this machine has, what is missing and how to get it"

# It isolates nothing, so there is nothing to probe, and a probe could do harm.
UNSAFE = "process"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--sandbox",
        action="store_true",
        help="run hostile programs against every sandbox that works here, and count what holds",
    )
    parser.add_argument(
        "--missing",
        action="store_true",
        help="only what is missing, a line each, with how to get it; the exit status is 0",
    )
    parser.add_argument(
        "--backend",
        choices=[name for name in BACKENDS if name != UNSAFE],
        help="with --sandbox: only this one",
    )
    add_json(
        parser,
        "{version, python, platform, core, extras, verilog, languages, sandboxes, tasks}; with "
        "--missing a list of lines; with --sandbox {name: [{name, contains, passed, detail, gap}]}",
    )


def run(args: argparse.Namespace) -> int:
    """Print the report.

    The exit status is 1 if something that every task needs is broken; with ``--sandbox``, if a
    probe failed and is not a known gap, or no sandbox works.
    """
    if args.sandbox:
        return _check_sandboxes(args.backend, as_json=args.json)
    if args.missing:
        lines = _missing()
        if args.json:
            say_json(lines)
        else:
            say("\n".join(f"missing: {line}" for line in lines) or "nothing is missing")
        return 0
    core = _core()
    broken = any(line.broken for line in core)
    if args.json:
        say_json(_report(core))
        return 1 if broken else 0
    say(f"rlvr_envs {rlvr_envs.__version__}, Python {platform.python_version()}")
    say(f"{platform.platform()}, {os.cpu_count()} cores, user {_user()}\n")
    for each in core:
        say(f"  {each.name:12} {each.state}")
    say()
    say(table(("extra", "for", "state"), _extras()))
    say(f"\nVerilog: {', '.join(_verilog_tools())}")
    say(f"languages: {', '.join(languages.installed())}")
    for line in _missing_languages():
        say(f"  missing: {line}")
    domains = ", ".join(f"{name} ({len(registry.task_ids(name))})" for name in _domains())
    say()
    say(table(("sandbox", "isolates by", "state"), _sandboxes()))
    say(f"\n{len(registry.task_ids())} tasks in the domains {domains}")
    return 1 if broken else 0


def _user() -> str:
    return "root" if os.geteuid() == 0 else f"{os.geteuid()} (not root)"


def _domains() -> list[str]:
    return [name for name in registry.DOMAINS if registry.task_ids(name)]


@dataclass(frozen=True, slots=True)
class _Core:
    """Something that every task needs."""

    name: str
    state: str
    broken: bool


def _core() -> list[_Core]:
    """Return the state of what every task needs."""
    lines = []
    for package in ("gymnasium", "numpy", "sympy", "math-verify"):
        version = installed(package)
        state = version or f"MISSING: {pip_install(package)}"
        lines.append(_Core(package, state, broken=version is None))
    try:
        with WorkerPool(workers=1) as pool:
            works = pool.call("math:factorial", 5, cpu_s=10.0) == 120
        state = "works" if works else "BROKEN: it computes wrongly"
    except RlvrEnvsError as error:
        works, state = False, f"BROKEN: {error}"
    return [*lines, _Core("worker pool", state, broken=not works)]


def _report(core: list[_Core]) -> dict[str, object]:
    """Return the report for programs."""
    here = set(languages.installed())
    return {
        "version": rlvr_envs.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "core": [asdict(line) for line in core],
        "extras": [dict(zip(("extra", "for", "state"), row, strict=True)) for row in _extras()],
        "verilog": _verilog_tools(),
        "languages": {name: name in here for name in languages.names()},
        "sandboxes": [
            dict(zip(("sandbox", "isolates_by", "state"), row, strict=True)) for row in _sandboxes()
        ],
        "tasks": {name: len(registry.task_ids(name)) for name in _domains()},
    }


def _extras() -> list[tuple[str, str, str]]:
    """Return a row for each extra: its name, what it is for, and its state."""
    rows = []
    for name, purpose in PURPOSES.items():
        if not requirements(name):
            state = f"unknown, as this package is not installed: {hint(name)}"
        else:
            state = hint(name) if missing(name) else "installed"
        rows.append((name, purpose, state))
    return rows


def _missing() -> list[str]:
    """Return a line for each extra, language, simulator and sandbox that does not work here."""
    extras = [f"the extra {name}: {hint(name)}" for name in PURPOSES if missing(name)]
    reasons = {f"the sandbox {name}": _why_not(name) for name in BACKENDS if name != UNSAFE}
    try:
        icarus.require()
    except RlvrEnvsError as error:
        reasons["Icarus Verilog"] = " ".join(str(error).split())
    return [
        *extras,
        *_missing_languages(),
        *(f"{name}: {why}" for name, why in reasons.items() if why),
    ]


def _missing_languages() -> list[str]:
    known = [languages.find(name) for name in languages.names()]
    return [
        f"{language.name} ({' and '.join(language.missing())}): as root: {language.install}"
        for language in known
        if not language.available()
    ]


def _verilog_tools() -> list[str]:
    """Return what is there to judge Verilog with, each tool with its version."""
    version = installed("pyosys")
    found = [f"pyosys {version}" if version else f"no pyosys: {hint('verilog')}"]
    if version:
        try:
            checker = Path(next(iter(tools().files))).name
            found.append(f"{checker} beside it")
        except RlvrEnvsError as error:
            found.append(str(error))
    icarus = shutil.which("iverilog")
    if icarus is None:
        return [*found, "no iverilog (only testbenches of datasets need it)"]
    said = subprocess.run(  # noqa: S603 - a fixed command
        [icarus, "-V"], capture_output=True, text=True, timeout=20, check=False
    )
    number = re.search(r"version (\S+)", said.stdout)
    return [*found, f"iverilog {number[1] if number else 'of an unknown version'}"]


def _sandboxes() -> list[tuple[str, str, str]]:
    """Return a row for each backend: its name, what isolates, and whether it works or why not."""
    rows = []
    for name, kind in BACKENDS.items():
        if name == UNSAFE:
            state = "only with allow_unsafe=True, for programs that you trust"
        elif not (state := _why_not(name)):
            with Sandbox(name) as sandbox:
                state = _counting(sandbox)
        rows.append((name, kind.isolation, state))
    return rows


def _counting(sandbox: Sandbox) -> str:
    """Return that a sandbox works, and who counts what its jobs use: the kernel, or samples."""
    counted = sandbox.accounted_by_kernel
    return f"works; {'the kernel counts' if counted else 'no cgroup, so limits are estimates'}"


def _why_not(name: str) -> str:
    """Return why a backend does not work here, in one line, or nothing if it works."""
    try:
        probe(make_backend(name))
    except RlvrEnvsError as error:
        return " ".join(str(error).split())
    return ""


def _check_sandboxes(only: str | None, *, as_json: bool) -> int:
    """Run every probe against every backend that works here, or against one."""
    tell = sys.stderr if as_json else sys.stdout
    found: dict[str, list[ProbeResult]] = {}
    for name in [only] if only else [name for name in BACKENDS if name != UNSAFE]:
        reason = _why_not(name)
        if reason:
            say(f"{name} does not work here: {reason}", file=tell)
            continue
        with Sandbox(name) as sandbox:
            say(f"{name} {_counting(sandbox)}", file=tell)
            say(f"probing {name} ({make_backend(name).isolation}) ...", file=tell, flush=True)
            found[name] = list(checks(sandbox))
    if as_json:
        say_json({name: [asdict(result) for result in results] for name, results in found.items()})
        return _status(found)
    if not found:
        say("no sandbox to check: 0 probes passed")
        return 1
    say(f"\n{table(('probe', *found, 'contained'), _probe_rows(found))}\n")
    for name, results in found.items():
        for result in results:
            if not result.passed:
                kind = f"known gap: {result.gap}" if result.gap else "NOT CONTAINED"
                say(f"{name}, {result.name}: {kind}\n    {result.detail}")
    say(summary(found))
    return _status(found)


def _status(found: dict[str, list[ProbeResult]]) -> int:
    if not found:
        return 1
    return 1 if any(result.faulty for results in found.values() for result in results) else 0


def _probe_rows(found: dict[str, list[ProbeResult]]) -> list[tuple[str, ...]]:
    """Return a row for each probe: its name, what each backend did, and what it is about."""
    rows = []
    for results in zip(*found.values(), strict=True):
        marks = ["ok" if r.passed else "gap" if r.gap else "FAILED" for r in results]
        rows.append((results[0].name, *marks, results[0].contains))
    return rows
