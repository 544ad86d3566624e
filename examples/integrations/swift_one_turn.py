"""Train with ms-swift on problems of one turn: the lines about rlvr_envs are marked.

python examples/integrations/swift_one_turn.py --model MODEL --rows Gcd-v0 --out runs/swift
"""

import argparse
import shutil

from swift import rlhf_main

from rlvr_envs.integrations import swift  # <-

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--model", required=True, help="a folder with a Llama without a template")
parser.add_argument("--rows", default="Gcd-v0", help="an id, or a dataset of `rlvr generate`")
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--groups", type=int, default=16, help="problems in a step")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--out", default="runs/swift")
args = parser.parse_args()

swift.write_dataset(args.rows, "train.jsonl", text=True, difficulty=0, seed=args.seed)  # <-
settings = {
    "rlhf_type": "grpo",
    "reward_funcs": swift.REWARD,  # <-
    "dataset": "train.jsonl",
    "model": args.model,
    "model_type": "llama",
    "template": "dummy",  # as the tiny models of our tests have none
    "use_chat_template": False,
    "tuner_type": "full",
    "torch_dtype": "float32",
    "max_steps": args.steps,
    "per_device_train_batch_size": 8 * args.groups,
    "num_generations": 8,
    "max_completion_length": 16,
    "temperature": 1.0,
    "loss_type": "dapo",
    "scale_rewards": "none",
    "beta": 0.0,
    "learning_rate": 5e-4,
    "lr_scheduler_type": "constant_with_warmup",
    "warmup_steps": 10,
    "save_steps": args.steps,
    "save_only_model": True,
    "logging_steps": 1,
    "report_to": "none",
    "seed": args.seed,
    "output_dir": f"{args.out}-checkpoints",
    "use_hf": True,  # no request to a model hub
}
words = [str(word) for name, value in settings.items() for word in (f"--{name}", value)]
trained = rlhf_main(words)
shutil.copytree(trained["last_model_checkpoint"], args.out, dirs_exist_ok=True)
