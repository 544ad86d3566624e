"""Runs OpenRLHF's own executors with an engine that answers from here; prints JSON.

    python openrlhf_run.py one_turn|episodes ROWS.jsonl

``ROWS.jsonl`` is what ``rlvr export --to openrlhf`` has written.
"""

import asyncio
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

from openrlhf.datasets.prompts_dataset import preprocess_data
from openrlhf.utils.agent import SingleTurnAgentExecutor
from toys import CHATML, guess, tokenizer

import rlvr_envs
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.integrations import judging
from rlvr_envs.integrations.openrlhf import AgentExecutor

WORDS = tokenizer(CHATML)
EXTENSION = "from rlvr_envs.integrations.openrlhf import AgentExecutor, reward_func\n"


def examples(path):
    """Prompts and labels, by OpenRLHF's own dataset code."""
    for line in Path(path).read_text("utf-8").splitlines():
        prompt, label, *_ = preprocess_data(
            json.loads(line),
            input_template=None,
            input_key="input",
            label_key="label",
            apply_chat_template=WORDS.apply_chat_template,
        )
        yield prompt, label


class Engine:
    """Answers with texts as vLLM does: the end token is in the tokens, and not in the text."""

    def __init__(self, answer):
        self.answer = answer

    async def generate(self, prompt_ids, sampling_params, multi_modal_data=None):
        text = self.answer(WORDS.decode(prompt_ids))
        ids = WORDS(text + "<|im_end|>", add_special_tokens=False).input_ids
        logps = [{token: SimpleNamespace(logprob=-0.25)} for token in ids]
        said = SimpleNamespace(token_ids=ids, text=text, finish_reason="stop", logprobs=logps)
        return SimpleNamespace(outputs=[said])


def play(executor, prompt, label, answer, max_tokens=None, max_length=4000):
    params = SimpleNamespace(max_tokens=max_tokens, logprobs=1)
    return asyncio.run(executor.execute(prompt, label, params, max_length, WORDS, Engine(answer)))


def one_turn(path):
    Path("extension.py").write_text(EXTENSION, encoding="utf-8")
    executor = SingleTurnAgentExecutor("extension.py")
    prompt, label = next(examples(path))
    right = rlvr_envs.solve(json.loads(label))
    told = []
    for answer, length in ((right, 4000), ("no idea", 4000), (right, 100)):
        # A short length cuts the beginning of the prompt off.
        found = play(executor, prompt, label, lambda _, a=answer: a, 20, length)
        told.append([float(found["reward"]), float(found["extra_logs"]["scored"])])
    judging.shared_judge().judge = lambda *_: [Verdict.verifier_error("the machine failed")]
    found = play(executor, prompt, label, lambda _: right, 20)
    told.append([float(found["reward"]), float(found["extra_logs"]["scored"])])
    print(json.dumps({"prompt": prompt, "told": told}))


def episodes(path):
    executor, told, faults = AgentExecutor(), [], []
    for number, (prompt, label) in enumerate(examples(path)):
        found = play(executor, prompt, label, lambda text, n=number: guess(text, n))
        tokens, ranges = found["observation_tokens"], found["action_ranges"]
        said = [WORDS.decode(tokens[start:end]) for start, end in ranges]
        row = json.loads(label)
        actions = [text.removesuffix("<|im_end|>") for text in said]
        score = rlvr_envs.verify(row, actions).score
        if score != float(found["reward"]) or score != float(found["scores"]):
            faults.append([score, float(found["reward"])])
        written = {place for start, end in ranges for place in range(start, end)}
        heard = WORDS.decode([t for place, t in enumerate(tokens) if place not in written])
        turns = re.findall(r"<\|im_start\|>user\n", heard)
        if "give up" in heard or len(turns) != len(said):
            faults.append(heard)
        if not heard.startswith(prompt):
            faults.append(prompt)
        told.append([float(found["reward"]), len(said)])

    def broken(self, text):
        raise OSError("gone")

    TextEnv.step = broken
    prompt, label = next(examples(path))
    found = play(executor, prompt, label, lambda text: guess(text, 0))
    unscored = [
        float(found["reward"]),
        found["action_ranges"],
        float(found["extra_logs"]["scored"]),
    ]
    print(json.dumps({"told": told, "faults": faults, "unscored": unscored}))


if __name__ == "__main__":
    {"one_turn": one_turn, "episodes": episodes}[sys.argv[1]](sys.argv[2])
