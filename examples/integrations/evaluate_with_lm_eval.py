"""Evaluate a model on new problems of two domains with lm-eval.

    python evaluate_with_lm_eval.py hf pretrained=HuggingFaceTB/SmolLM2-135M-Instruct

Without arguments, lm-eval's stand-in for a model answers.
"""

import sys

from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager

from rlvr_envs.integrations.lm_eval import TASKS


def main(model: str, model_args: str) -> None:
    """Evaluate the model and print its scores."""
    options = {"difficulty": "0-1", "count": 10, "seed": 7}
    tasks = TaskManager(include_path=TASKS, metadata={"rlvr": options})
    found = simple_evaluate(
        model, model_args, tasks=["rlvr_math", "rlvr_puzzles"], task_manager=tasks
    )
    for name, result in found["results"].items():
        print(f"{name}: {result['score,none']:.3f} ± {result['score_stderr,none']:.3f}")


if __name__ == "__main__":
    main(*(sys.argv[1:] or ("dummy", "")))
