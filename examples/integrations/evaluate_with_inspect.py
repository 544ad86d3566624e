"""Evaluate a model on problems of two tasks with Inspect: one turn, and a game of many.

    python evaluate_with_inspect.py openai/gpt-5-mini

Without an argument, a stand-in that always says the same takes the place of the model.
"""

import sys

import inspect_ai
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model

from rlvr_envs.integrations.inspect_ai import to_task
from rlvr_envs.integrations.rows import open_rows


def main(model: str | Model) -> None:
    """Evaluate the model and print its mean score and the reason for each verdict."""
    rows = open_rows(["Gcd-v0", "GuessNumber-v0"], count=10, difficulty="0-1")
    (log,) = inspect_ai.eval(to_task(rows), model, display="none")
    for sample in log.samples:
        score = sample.scores["verdict"]
        print(f"{sample.metadata['id']:20} {score.value:4.2f} {score.explanation}")
    for name, metric in log.results.scores[0].metrics.items():
        print(f"{name}: {metric.value:.3f}")


def stand_in() -> Model:
    """Return a model that always gives the same answer, and needs no network."""
    output = ModelOutput.from_content("mockllm/model", "\\boxed{2}")
    output.usage = ModelUsage()  # else Inspect downloads a tokenizer to count
    return get_model("mockllm/model", custom_outputs=lambda *_: output)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else stand_in())
