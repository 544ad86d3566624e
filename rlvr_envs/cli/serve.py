"""Serve environments over the network: the wire of OpenEnv, and calls that make and judge rows.

    rlvr serve Gcd-v0 Sudoku-v0 --port 8000
    rlvr serve --bench SUITE/EXPERIMENT
    curl -s localhost:8000/e/Gcd-v0/reset -d '{"seed": 7}' -H 'content-type: application/json'

Without ids it serves all of them. An environment is at /e/NAME, the first one at the root too.
Other machines can reach the server only with --host and a file of tokens (--tokens): clients send
"Authorization: Bearer TOKEN", or the token in the path, /k/TOKEN/e/NAME. /docs describes every
call, /metrics is for Prometheus. SIGTERM answers what was accepted, then ends the server.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.core.extras import needs

if TYPE_CHECKING:
    from rlvr_envs.serving.quota import Quota

HELP = "serve environments over HTTP and WebSockets"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("ids", nargs="*", metavar="ID", help="a task or a mixture (default: all)")
    add(
        "--bench",
        metavar="SUITE/EXPERIMENT",
        help="pose the training problems of a benchmark's experiment, within its budget",
    )
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    add("--port", type=_port, default=8000, help="0 for any that is free (default: 8000)")
    add("--tokens", type=Path, metavar="FILE", help="file with one secret token a line")
    add("--workers", type=int, metavar="N", help="processes that judge (default: the cores)")
    add("--sessions", type=int, default=512, metavar="N", help="sessions at once (default: 512)")
    add("--queue", type=int, default=4096, metavar="N", help="requests at once (default: 4096)")
    add("--max-mib", type=int, default=8, metavar="N", help="size of a request (default: 8 MiB)")
    add(
        "--idle",
        type=float,
        default=900,
        metavar="S",
        help="end of an unused session (900)",
    )
    add("--life", type=float, default=3600, metavar="S", help="end of any session (3600)")
    add(
        "--drain",
        type=float,
        default=30,
        metavar="S",
        help="longest wait for replies (30)",
    )
    add(
        "--wire",
        choices=("openenv", "nemo-gym"),
        default="openenv",
        help="nemo-gym puts the calls of NeMo Gym's resources servers at the root",
    )
    add("--no-rows", action="store_true", help="leave out /problems and /verify")
    add("--log-level", choices=("debug", "info", "warning", "error"), default="info")


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 6 and int(text) < 1 << 16):
        raise argparse.ArgumentTypeError(f"a port is an integer from 0 to 65535, got {text!r:.40}")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Serve until a signal ends it."""
    try:
        from rlvr_envs.serving.app import Settings
        from rlvr_envs.serving.guard import Tokens
        from rlvr_envs.serving.run import serve
    except ImportError as error:
        raise DependencyError(needs("serving", error, "serve")) from error
    quota = _quota(args)
    settings = Settings(
        ids=args.ids,
        tokens=Tokens.from_file(args.tokens) if args.tokens else Tokens([]),
        rows=not args.no_rows and quota is None,
        routers=_routers(args.wire),
        quota=quota,
        workers=args.workers,
        sessions=args.sessions,
        queue=args.queue,
        max_bytes=args.max_mib << 20,
        idle_s=args.idle,
        life_s=args.life,
    )
    serve(
        settings,
        host=args.host,
        port=args.port,
        drain_s=args.drain,
        log_level=args.log_level,
    )
    return 0


def _quota(args: argparse.Namespace) -> "Quota | None":
    """Return the limit to an experiment's training problems and budget, if one is named."""
    if not args.bench:
        return None
    if args.ids:
        raise ConfigError(f"--bench says what is served: leave out {' '.join(args.ids)}")
    from rlvr_envs.bench.export import training_rows
    from rlvr_envs.bench.suite import load
    from rlvr_envs.serving.quota import Quota

    suite, slash, name = args.bench.rpartition("/")
    if not slash:
        raise ConfigError(
            f"--bench names SUITE/EXPERIMENT, such as tiny-v1/gcd, got {args.bench!r}"
        )
    experiment = load(suite).experiment(name)
    if experiment.noise is not None:
        raise ConfigError(
            f"the verifier of {name} errs, and that of a server does not: export it, and pay by "
            "rlvr_envs.bench.noise.reward"
        )
    return Quota(training_rows(experiment), experiment.samples)


def _routers(wire: str) -> tuple[Any, ...]:
    if wire == "openenv":
        return ()
    from rlvr_envs.integrations.nemo_gym import nemo_gym_router

    return (nemo_gym_router,)
