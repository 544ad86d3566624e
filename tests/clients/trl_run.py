"""Runs the real TRL on a model whose answers are written here; prints what happened as JSON.

    python trl_run.py one_turn|rollout|rollout_in_chat|environments|start

Half of a group answers rightly, so that there is something to learn. The trainer's own sampling is
replaced by these answers; all before and after it is TRL's own.
"""

import json
import re
import sys

import torch
from toys import guess, tiny_llama, tokenizer
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_chat_template

import rlvr_envs
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.integrations import judging, trl

GROUP = 4
torch.set_num_threads(1)


def trainer_for(data, template=None, **how):
    words = tokenizer(template)
    args = GRPOConfig(
        output_dir="out",
        max_steps=2,
        per_device_train_batch_size=3 * GROUP,
        num_generations=GROUP,
        max_completion_length=2000,
        learning_rate=1e-3,
        use_cpu=True,
        bf16=False,
        save_strategy="no",
        report_to=[],
        logging_steps=1,
        disable_tqdm=True,
        chat_template_kwargs={"enable_thinking": False},
    )
    return GRPOTrainer(
        tiny_llama(words), args=args, train_dataset=data, processing_class=words, **how
    )


def answered(trainer, answer):
    """Let `answer(text of the prompt, place in the batch)` write instead of the model."""
    words, batches = trainer.processing_class, []

    def sample(prompts, images, fields, num_generations, **_):
        texts = [words.decode(prompt) for prompt in prompts]
        written = [f"{answer(text, place)}<|im_end|>" for place, text in enumerate(texts)]
        return words(written, add_special_tokens=False).input_ids, None

    score = trainer._generate_and_score_completions

    def spy(inputs):
        batch = score(inputs)
        batches.append((inputs, batch))
        return batch

    trainer._generate_single_turn = sample
    trainer._generate_and_score_completions = spy
    return batches


def report(trainer, batches, rows, **more):
    steps = [entry for entry in trainer.state.log_history if "reward" in entry]
    groups = [rows[i : i + GROUP] for i in range(0, len(rows), GROUP)]
    told = {
        "groups_share_their_row": all(len(set(group)) == 1 for group in groups),
        "groups_differ": len({group[0] for group in groups}) > 1,
        "rewards": [entry["reward"] for entry in steps],
        "grad_norms": [entry["grad_norm"] for entry in steps],
        "advantages": [batch["advantages"].tolist() for _, batch in batches],
        **more,
    }
    print(json.dumps(told))


def one_turn():
    """The last answer of each batch cannot be scored."""
    data = trl.dataset("Gcd-v0", count=9, difficulty=0, text=True)
    solved = {json.loads(row)["prompt"]: rlvr_envs.solve(json.loads(row)) for row in data["row"]}
    calls, real = [], judging.shared_judge().judge

    def judge(instances, responses):
        found = real(instances, responses)
        return [*found[:-1], Verdict.verifier_error("the machine failed")]

    judging.shared_judge().judge = judge

    def reward(completions, row, **more):
        scores = trl.reward(completions, row, **more)
        calls.append((row, scores))
        return scores

    trainer = trainer_for(data, reward_funcs=reward)
    batches = answered(trainer, lambda text, i: solved[text[:-1]] if i % 2 else "no idea")
    trainer.train()
    rows = [row for call in calls for row in call[0]]
    report(trainer, batches, rows, scores=[call[1] for call in calls])


def rollout(template=None):
    data = trl.episodes("GuessNumber-v0", count=9, difficulty=1)
    outputs = []
    play = trl.rollout(context=2000)

    def spy(prompts, trainer):
        outputs.append((prompts, play(prompts, trainer)))
        return outputs[-1][1]

    trainer = trainer_for(data, template, reward_funcs=trl.episode_reward, rollout_func=spy)
    batches = answered(trainer, guess)
    trainer.train()
    words, rows, faults = trainer.processing_class, [], []
    for (prompts, output), (_, batch) in zip(outputs, batches, strict=True):
        for i, prompt in enumerate(prompts):
            row = json.loads(prompt[-1]["row"])
            rows.append(prompt[-1]["row"])
            ids, mask = output["completion_ids"][i], output["env_mask"][i]
            written = "".join(
                words.decode([t]) if m else "\0" for t, m in zip(ids, mask, strict=True)
            )
            actions = [part for part in re.split("\0+", written.replace("<|im_end|>", "")) if part]
            again = rlvr_envs.verify(row, actions).score
            heard = words.decode([t for t, m in zip(ids, mask, strict=True) if not m])
            seen = batch["tool_mask"][i, : len(mask)].tolist()
            if again != output["episode_score"][i]:
                faults.append(["score", again, output["episode_score"][i], actions])
            if r"\boxed{2" in heard or "give up" in heard or seen != mask:
                faults.append(["mask", heard])
            if row["prompt"] not in words.decode(output["prompt_ids"][i]):
                faults.append(["prompt", row["prompt"]])
    turns = [output["episode_turns"] for _, output in outputs]
    report(trainer, batches, rows, faults=faults, turns=turns)


def rollout_in_chat():
    rollout(qwen3_chat_template)


def environments():
    data = trl.episodes("GuessNumber-v0", count=9, difficulty=1)
    trainer = trainer_for(data, qwen3_chat_template, environment_factory=trl.environments())

    def answer(text, place):
        if "The episode is over" in text:
            return "I am done."
        call = json.dumps({"name": "act", "arguments": {"text": guess(text, place)}})
        return f"<tool_call>\n{call}\n</tool_call>"

    # TRL samples again only for those that called a tool, so that places shift: ask the text.
    batches = answered(trainer, lambda text, i: answer(text, "give up" in text or i % 2))
    trainer.train()
    rows = [each["prompt"][-1]["row"] for inputs, _ in batches for each in inputs]
    steps = [entry for entry in trainer.state.log_history if "reward" in entry]
    names = [name for name in steps[0] if name.startswith(("tools/", "rewards/"))]
    masked = [bool((batch["tool_mask"] == 0).any()) for _, batch in batches]
    report(trainer, batches, rows, metrics={n: steps[0][n] for n in names}, masked=masked)


def start():
    trainer = trainer_for(trl.dataset("Gcd-v0", count=1, text=True), reward_funcs=trl.reward)
    trainer.save_model("start")


if __name__ == "__main__":
    known = (one_turn, rollout, rollout_in_chat, environments, start)
    {each.__name__: each for each in known}[sys.argv[1]]()
