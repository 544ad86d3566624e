"""Make a small dataset, score answers from its rows alone, and export it for a trainer.

Run it with ``python examples/make_dataset.py [FOLDER]``; run it twice: the second time, the
dataset is there already, and nothing is generated again.
"""

import json
import sys
import tempfile
from pathlib import Path

import rlvr_envs
from rlvr_envs.datasets.export import write_export
from rlvr_envs.datasets.generate import generate
from rlvr_envs.datasets.plan import Plan
from rlvr_envs.datasets.read import read_rows
from rlvr_envs.datasets.split import read_splits


def main(folder: Path) -> None:
    """Generate, score and export."""
    plan = Plan(
        sources=(("Gcd-v0", 80), ("LinearEquation-v0", 40)),
        difficulty="1:0.5,2:0.3,3:0.2",
        splits=read_splits("train=0.8,test=0.2"),
        seed=7,
    )
    dataset = folder / "dataset"
    generate(plan, dataset)
    print((dataset / "README.md").read_text(encoding="utf-8"))

    # A row alone is enough to pose a problem and to judge a response to it.
    scores = []
    for row in read_rows(dataset, "test"):
        response = my_model(row["prompt"])
        scores.append(rlvr_envs.verify(row, response).score)
    print(f"always answering 1 scores {sum(scores) / len(scores):.2f} on {len(scores)} problems")

    # A trainer's reward function gets the row back as text.
    path = folder / "verl.jsonl"
    (count,) = write_export("verl", read_rows(dataset, "train"), path).values()
    record = json.loads(path.read_text(encoding="utf-8").split("\n", 1)[0])
    print(f"{count} rows for verl; keys: {', '.join(record)}")
    row = json.loads(record["reward_model"]["ground_truth"])
    print("the oracle scores", rlvr_envs.verify(row, rlvr_envs.solve(row)).score)


def my_model(prompt: str) -> str:
    """Stand in for a model."""
    return "I cannot count, so \\boxed{1}."


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
