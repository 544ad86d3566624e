"""GRPO in one file: a tiny model learns to differentiate polynomials, on one CPU core.

First it imitates solved problems for a few seconds; then it is only told how good its own answers
are. To each problem it writes a group of answers. An answer becomes likelier if its reward is above
the mean of its group, and less likely if it is below: that is all there is to GRPO. The rest of
this file is a tokenizer, an environment, a model, and a loss that keeps the steps small.

It takes about a minute on one core. With seeds 0 and 1, sampled answers to held-out problems score
0.59 and 0.38 after the imitation, and 0.90 and 0.86 after 100 steps of GRPO.

What rises is the score of sampled answers, on problems that are never trained on. The likeliest
answer is right more often from the start: reinforcement makes the model sure of what it half knows,
and teaches nothing that it never samples.
"""

import argparse
import re

import gymnasium as gym
import torch
from torch.nn.functional import cross_entropy
from transformers import LlamaConfig, LlamaForCausalLM

import rlvr_envs  # noqa: F401 - registers the ids

BATCH, GROUP_SIZE, EPOCHS, MAX_TOKENS, HELD_OUT = 64, 8, 2, 14, 100
LEARNING_RATE = 3e-4
PAD, END, UNKNOWN = 0, 1, 2


class Tokenizer:
    """Cuts text into phrases, single digits and signs, as they occur in some texts."""

    def __init__(self, texts):
        pieces = sorted({piece for text in texts for piece in self.cut(text)})
        self.pieces = ["", "", "?", *pieces]
        self.ids = {piece: i for i, piece in enumerate(pieces, 3)}

    def cut(self, text):
        return re.findall(r"\d|[^\W\d]+(?: [^\W\d]+)*|\s*[^\w\s]\s*|\s+", text)

    def encode(self, text):
        return [self.ids.get(piece, UNKNOWN) for piece in self.cut(text)]

    def decode(self, ids):
        return "".join(self.pieces[i] for i in (ids[: ids.index(END)] if END in ids else ids))


class Problems:
    """Poses the problems of an environment, tells their solutions and pays rewards."""

    def __init__(self, task, difficulty):
        self.env = gym.make(task, difficulty=difficulty)
        self.seed = 0
        self.held_out = {}
        while len(self.held_out) < HELD_OUT:
            seed, prompt = self.pose()
            self.held_out[prompt] = seed

    def pose(self):
        """Return seed and prompt of the next problem that is not held out."""
        while True:
            self.seed += 1
            prompt, _ = self.env.reset(options={"problem_seed": self.seed})
            if prompt not in self.held_out:
                return self.seed, prompt

    def solved(self):
        """Return prompt and solution of the next problem."""
        _, prompt = self.pose()
        return prompt, self.env.unwrapped.instance.solution()

    def reward(self, seed, answer):
        self.env.reset(options={"problem_seed": seed})
        return self.env.step(answer)[1]


def make_model(tokenizer):
    """Return a Llama of about 100,000 random weights."""
    config = LlamaConfig(
        vocab_size=len(tokenizer.pieces),
        hidden_size=64,
        intermediate_size=192,
        num_hidden_layers=2,
        num_attention_heads=4,
        pad_token_id=PAD,
        bos_token_id=None,
        eos_token_id=END,
    )
    return LlamaForCausalLM(config)


def padded(rows, *, left):
    """Return rows of ids as (B, T), with padding on one side."""
    width = max(map(len, rows))
    fill = [[PAD] * (width - len(row)) for row in rows]
    return torch.tensor([f + r if left else r + f for f, r in zip(fill, rows, strict=True)])


def logits(model, prompts, answers):
    """Return the logits (B, T, V) of the tokens of answers (B, T) to prompts (B, P)."""
    tokens = torch.cat([prompts, answers], dim=1)
    # Padding before a prompt moves its places, but a Llama only knows the distances between them.
    out = model(input_ids=tokens, attention_mask=(tokens != PAD).long()).logits
    return out[:, prompts.shape[1] - 1 : -1]  # a token's logits stand at the token before it


@torch.no_grad()
def sample(model, prompts, *, greedy=False):
    """Return answers (B, T) to prompts (B, P), padded behind their ends."""
    how = {"do_sample": False} if greedy else {"do_sample": True, "top_k": 0}
    how |= {"max_new_tokens": MAX_TOKENS, "suppress_tokens": [PAD]}
    out = model.generate(prompts, attention_mask=(prompts != PAD).long(), **how)
    return out[:, prompts.shape[1] :]


def update(model, optimizer, loss):
    """Take a step down the gradient."""
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


def imitate(model, optimizer, tokenizer, problems):
    """Take a supervised step on solved problems, and return the loss."""
    batch = [problems.solved() for _ in range(BATCH)]
    prompts = padded([tokenizer.encode(prompt) for prompt, _ in batch], left=True)
    answers = padded([[*tokenizer.encode(answer), END] for _, answer in batch], left=False)
    found = logits(model, prompts, answers)
    loss = cross_entropy(found.flatten(0, 1), answers.flatten(), ignore_index=PAD)
    update(model, optimizer, loss)
    return loss.item()


def reinforce(model, optimizer, tokenizer, problems, groups):
    """Take a step of GRPO on new problems, and return the mean reward."""
    group = [
        problem for problem in (problems.pose() for _ in range(groups)) for _ in range(GROUP_SIZE)
    ]
    prompts = padded([tokenizer.encode(prompt) for _, prompt in group], left=True)
    answers = sample(model, prompts)
    texts = [tokenizer.decode(row) for row in answers.tolist()]
    paid = [problems.reward(seed, text) for (seed, _), text in zip(group, texts, strict=True)]
    rewards = torch.tensor(paid).view(groups, GROUP_SIZE)
    advantages = (rewards - rewards.mean(1, keepdim=True)).view(-1, 1)
    old = None
    for _ in range(EPOCHS):
        every = logits(model, prompts, answers).log_softmax(-1)
        new = every.gather(2, answers[:, :, None])[:, :, 0]
        old = new.detach() if old is None else old
        ratio = (new - old).exp()  # how much likelier a token is than when it was sampled
        gain = torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.28) * advantages)
        update(model, optimizer, -gain[answers != PAD].mean())
    return rewards.mean().item()


def report(model, tokenizer, problems):
    """Print the scores on the held-out problems."""
    prompts = padded([tokenizer.encode(prompt) for prompt in problems.held_out], left=True)
    found = []
    for greedy in (False, True):
        texts = map(tokenizer.decode, sample(model, prompts, greedy=greedy).tolist())
        seeds = problems.held_out.values()
        paid = [problems.reward(seed, text) for seed, text in zip(seeds, texts, strict=True)]
        found.append(sum(paid) / HELD_OUT)
    print("held-out score: sampled {:.2f}, likeliest answer {:.2f}".format(*found), flush=True)


def main(args):
    """Train, and print the curve."""
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    problems = Problems(args.task, args.difficulty)
    tokenizer = Tokenizer(text for _ in range(500) for text in problems.solved())
    model = make_model(tokenizer)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.0)
    for step in range(1, args.imitate + 1):
        loss = imitate(model, optimizer, tokenizer, problems)
        if step % 10 == 0:
            print(f"imitation {step:3}  loss {loss:.2f}", flush=True)
    report(model, tokenizer, problems)

    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=0.0)
    rewards = []
    for step in range(1, args.steps + 1):
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * min(
            1.0, step / 10
        )  # Adam's first steps are long
        rewards.append(reinforce(model, optimizer, tokenizer, problems, args.groups))
        if step % 5 == 0:
            mean = sum(rewards[-5:]) / 5
            print(f"GRPO {step:8}  reward {mean:.2f} {'#' * round(50 * mean)}", flush=True)
    report(model, tokenizer, problems)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--task", default="rlvr/Derivative-v0", help="a task of one turn")
    parser.add_argument("--difficulty", type=int, default=0)
    parser.add_argument("--imitate", type=int, default=80, help="supervised steps")
    parser.add_argument("--steps", type=int, default=100, help="steps of GRPO")
    parser.add_argument("--groups", type=int, default=16, help="problems in a step")
    parser.add_argument("--seed", type=int, default=0)
    main(parser.parse_args())
