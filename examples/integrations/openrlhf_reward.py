"""Score answers as OpenRLHF's trainer does, without the trainer.

python examples/integrations/openrlhf_reward.py
"""

import json

import rlvr_envs
from rlvr_envs.integrations.openrlhf import reward_func
from rlvr_envs.integrations.rows import open_rows

for row in open_rows("Gcd-v0", count=3, difficulty=1):
    label = json.dumps(row)  # what `rlvr export --to openrlhf` stores
    prompt = f"<|im_start|>user\n{row['prompt']}<|im_end|>\n<|im_start|>assistant\n"
    answers = [rlvr_envs.solve(row), "I do not know."]
    queries = [f"{prompt}{answer}<|im_end|>" for answer in answers]
    found = reward_func(queries, [prompt] * 2, [label] * 2)
    for answer, score in zip(answers, found["rewards"].tolist(), strict=True):
        print(f"{answer:20} {score}")
