"""Train with TRL on episodes of several turns: the lines about rlvr_envs are marked.

python examples/integrations/trl_several_turns.py --model MODEL --out runs/trl
"""

import argparse

from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

from rlvr_envs.integrations import trl  # <-

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--model", required=True, help="a folder or a name of the hub")
parser.add_argument(
    "--rows", default="GuessNumber-v0", help="an id, or a dataset of `rlvr generate`"
)
parser.add_argument("--steps", type=int, default=60, help="batches that are sampled")
parser.add_argument("--groups", type=int, default=16, help="problems in a step")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--out", default="runs/trl")
args = parser.parse_args()

tokenizer = AutoTokenizer.from_pretrained(args.model, padding_side="left")
data = trl.episodes(args.rows, difficulty=0, seed=args.seed)  # <-
config = GRPOConfig(
    output_dir=args.out,
    max_steps=4 * args.steps,  # updates
    per_device_train_batch_size=2 * args.groups,
    steps_per_generation=4,  # minibatches of a batch
    num_generations=8,
    max_completion_length=10,  # of a message of the tiny models of our tests; raise it for yours
    loss_type="grpo",  # "dapo" pushes harder where episodes are long, that is, where they fail
    scale_rewards="none",
    learning_rate=3e-4,
    lr_scheduler_type="constant_with_warmup",
    warmup_steps=10,
    adam_beta2=0.95,
    top_k=0,
    use_cpu=True,
    bf16=False,
    gradient_checkpointing=False,
    save_strategy="no",
    report_to=[],
    logging_steps=4,
    seed=args.seed,
)
trainer = GRPOTrainer(
    AutoModelForCausalLM.from_pretrained(args.model, dtype="float32"),
    args=config,
    train_dataset=data,
    processing_class=tokenizer,
    reward_funcs=trl.episode_reward,  # <-
    rollout_func=trl.rollout(context=320),  # <- or environment_factory=trl.environments()
)
trainer.train()
trainer.save_model(args.out)
