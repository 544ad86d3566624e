"""Play every registered domain with the oracle and the baselines, and write a report page."""

import argparse
import time
from pathlib import Path

from rlvr_envs.cli.main import main as rlvr
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
    options = "--per-task --difficulty 0,3,6 --policy oracle --policy random --policy constant:0"
    options += f" --episodes {args.episodes}"
    status = rlvr(["eval", *mixtures, *options.split(), "--out", str(args.out)])
    print(f"the demo took {time.monotonic() - begin:.0f} s")
    return status


if __name__ == "__main__":
    raise SystemExit(main())
