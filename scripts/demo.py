"""Play every registered domain with the oracle and the baselines, and write a report page.

Some machines limit the CPU time of a process (``ulimit -t``) and kill what takes more. The same
command goes on with a run that was cut short, so the demo gives it again until the run is done.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

from rlvr_envs.core import registry


def main() -> int:
    """Evaluate each domain through the public command, into one run folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo"))
    parser.add_argument("--episodes", type=int, default=4, help="problems a task and difficulty")
    args = parser.parse_args()
    begin = time.monotonic()
    domains = [d for d in registry.DOMAINS if registry.task_ids(d)]
    mixtures = [i for i, domain in registry.mixture_ids().items() if domain in domains]
    print(f"playing {', '.join(domains)}: {len(registry.task_ids())} tasks\n")
    policies = ["oracle", "random", "constant:0"]
    status = evaluate(
        [
            *mixtures,
            "--per-task",
            "--difficulty",
            "0,3,6",
            "--episodes",
            str(args.episodes),
            *(word for policy in policies for word in ("--policy", policy)),
            "--out",
            str(args.out),
        ],
        args.out / "episodes.jsonl",
    )
    print(f"the demo took {time.monotonic() - begin:.0f} s")
    return status


def evaluate(arguments: list[str], episodes: Path) -> int:
    """Run ``rlvr eval``, again while it is killed but has come further; return its status."""
    done = -1
    while True:
        status = subprocess.run(
            [sys.executable, "-m", "rlvr_envs", "eval", *arguments], check=False
        ).returncode
        before, done = done, episodes.stat().st_size if episodes.exists() else 0
        if status >= 0 or done == before:
            return abs(status)
        print("\nkilled (a limit of CPU time?), so the same command goes on from there", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
