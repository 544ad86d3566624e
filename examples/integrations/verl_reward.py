"""Score answers as verl's trainer does, without the trainer.

python examples/integrations/verl_reward.py
"""

import asyncio
import json

import rlvr_envs
from rlvr_envs.integrations.rows import open_rows
from rlvr_envs.integrations.verl import compute_score

for row in open_rows("Gcd-v0", count=3, difficulty=1):
    ground_truth = json.dumps(row)  # what `rlvr export --to verl` stores
    for answer in (rlvr_envs.solve(row), "I do not know."):
        found = asyncio.run(compute_score(row["id"], answer, ground_truth))
        print(f"{answer:20} {found}")
