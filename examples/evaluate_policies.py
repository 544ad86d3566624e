"""Evaluate a policy of your own beside the built-in baselines, and write a report.

    python examples/evaluate_policies.py [FOLDER]

With a folder, the run is stored there with a report.html, and the same command resumes it.
"""

import re
import sys
from pathlib import Path

from rlvr_envs.evaluation import FunctionPolicy, evaluate


def smallest_number(messages: list[dict[str, str]]) -> str:
    """Guess that the greatest common divisor is the smallest number of the question."""
    numbers = [int(word) for word in re.findall(r"\d+", messages[0]["content"])]
    return f"It may be \\boxed{{{min(numbers)}}}."


def main() -> None:
    """Run the evaluation and print one line for each policy and difficulty."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    run = evaluate(
        "rlvr/Gcd-v0",
        ["oracle", "random", "constant:1", FunctionPolicy("smallest number", smallest_number)],
        difficulty=[0, 2],
        episodes=50,
        samples=2,
        out=folder,
    )
    for group in run.summary["task_difficulty"]:
        score = group.score
        print(
            f"{group.by['policy']:16} difficulty {group.by['difficulty']}: "
            f"score {score.mean:.3f} [{score.low:.3f}, {score.high:.3f}], "
            f"pass@2 {group.pass_at[2].mean:.3f}"
        )
    if folder is not None:
        from rlvr_envs.evaluation.report import write_report

        print(f"report: {write_report(run)}")


if __name__ == "__main__":
    main()
