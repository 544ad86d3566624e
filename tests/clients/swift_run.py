"""Runs ms-swift's own GRPO on a tiny model; prints what its reward function gave as JSON.

python swift_run.py
"""

import json
from pathlib import Path

from swift import rlhf_main
from toys import tiny_llama, tokenizer

import rlvr_envs
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.integrations import judging, swift

GROUP = 4


def main():
    words = tokenizer(None)
    tiny_llama(words).save_pretrained("start")
    words.save_pretrained("start")
    swift.write_dataset("Gcd-v0", "train.jsonl", count=6, difficulty=0, text=True)
    calls, real = [], judging.shared_judge().judge

    def judge(instances, responses):
        """Judge the oracle's words at odd places, since random weights never say them."""
        said = [each.solution() if i % 2 else responses[i] for i, each in enumerate(instances)]
        return [*real(instances, said)[:-1], Verdict.verifier_error("the machine failed")]

    judging.shared_judge().judge = judge

    class Spy(swift.RowScore):
        def __call__(self, completions, row, **more):
            scores = super().__call__(completions, row, **more)
            calls.append([[json.loads(text)["fingerprint"] for text in row], scores])
            return scores

    swift.orms["spy"] = Spy
    settings = {
        "rlhf_type": "grpo",
        "reward_funcs": "spy",
        "dataset": "train.jsonl",
        "model": "start",
        "model_type": "llama",
        "template": "dummy",
        "use_chat_template": False,
        "tuner_type": "full",
        "torch_dtype": "float32",
        "max_steps": 2,
        "per_device_train_batch_size": 3 * GROUP,
        "num_generations": GROUP,
        "max_completion_length": 8,
        "save_strategy": "no",
        "logging_steps": 1,
        "report_to": "none",
        "output_dir": "out",
        "use_hf": True,
    }
    trained = rlhf_main([str(w) for name, value in settings.items() for w in (f"--{name}", value)])
    logged = [entry for entry in trained["log_history"] if "grad_norm" in entry]
    told = {
        "registered": swift.orms[swift.REWARD] is swift.RowScore,
        "groups": [[len(set(rows[i : i + GROUP])) for i in (0, 4, 8)] for rows, _ in calls],
        "problems": [len(set(rows)) for rows, _ in calls],
        "scores": [scores for _, scores in calls],
        "grad_norms": [entry["grad_norm"] for entry in logged],
        "rewards": [entry["reward"] for entry in logged],
        "row": rlvr_envs.__version__ in Path("train.jsonl").read_text("utf-8"),
    }
    print("\n" + json.dumps(told))


if __name__ == "__main__":
    main()
