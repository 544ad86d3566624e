"""Train with TRL on problems of one turn: the lines about rlvr_envs are marked.

python examples/integrations/trl_one_turn.py --model MODEL --rows Gcd-v0 --out runs/trl
"""

import argparse

from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

from rlvr_envs.integrations import trl  # <-

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--model", required=True, help="a folder or a name of the hub")
parser.add_argument("--rows", default="Gcd-v0", help="an id, or a dataset of `rlvr generate`")
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--groups", type=int, default=16, help="problems in a step")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--out", default="runs/trl")
args = parser.parse_args()

tokenizer = AutoTokenizer.from_pretrained(args.model, padding_side="left")
plain = tokenizer.chat_template is None
data = trl.dataset(args.rows, difficulty=0, seed=args.seed, text=plain)  # <-
config = GRPOConfig(
    output_dir=args.out,
    max_steps=args.steps,
    per_device_train_batch_size=8 * args.groups,
    num_generations=8,
    max_completion_length=16,  # of the tiny models of our tests; raise it for yours
    loss_type="dapo",
    scale_rewards="none",
    learning_rate=5e-4,
    lr_scheduler_type="constant_with_warmup",
    warmup_steps=10,
    top_k=0,
    use_cpu=True,
    bf16=False,
    save_strategy="no",
    report_to=[],
    logging_steps=1,
    seed=args.seed,
)
trainer = GRPOTrainer(
    AutoModelForCausalLM.from_pretrained(args.model, dtype="float32"),
    args=config,
    train_dataset=data,
    processing_class=tokenizer,
    reward_funcs=trl.reward,  # <-
)
trainer.train()
trainer.save_model(args.out)
