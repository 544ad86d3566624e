"""Generate a dataset, load it with Hugging Face datasets and judge a model on its test split.

python load_with_datasets.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path

from datasets import load_dataset

import rlvr_envs
from rlvr_envs.datasets.generate import generate
from rlvr_envs.datasets.plan import Plan
from rlvr_envs.datasets.rows import unpack
from rlvr_envs.datasets.split import read_splits


def main(folder: Path) -> None:
    """Make the dataset in a folder, and print the score of a model that always says 1."""
    plan = Plan(
        sources=(("Gcd-v0", 50), ("Sudoku-v0", 50)),
        difficulty="0-2",
        splits=read_splits("train=0.8,test=0.2"),
        file_format="parquet",
    )
    generate(plan, folder)

    data = load_dataset(str(folder))
    print(data)
    verdicts = [rlvr_envs.verify(unpack(row), "\\boxed{1}") for row in data["test"]]
    mean = sum(verdict.score for verdict in verdicts) / len(verdicts)
    print(f"always answering 1 scores {mean:.2f} on {len(verdicts)} problems")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
