"""Runs verl's own dataset, reward manager and agent loop worker; prints what happened as JSON.

    python verl_run.py rewards|episodes|broken ROWS.parquet

``ROWS.parquet`` is what ``rlvr export --to verl`` has written. A server that answers from here
stands for vLLM; all before and after it is verl's own.
"""

import asyncio
import json
import sys
from pathlib import Path

import gymnasium
import numpy as np
import torch
import verl
from hydra import compose, initialize_config_dir
from tensordict import TensorDict
from toys import CHATML, guess, tiny_llama, tokenizer
from verl import DataProto
from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
from verl.experimental.reward_loop.reward_manager import get_reward_manager_cls
from verl.trainer.ppo.reward import get_custom_reward_fn
from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn
from verl.workers.rollout.replica import TokenOutput

import rlvr_envs
from rlvr_envs.core.spaces import UnicodeText
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.integrations import judging

GROUP = 4


def config_of(*more):
    words = tokenizer(CHATML)
    model = Path("start")
    if not model.exists():
        tiny_llama(words).save_pretrained(model)
        words.save_pretrained(model)
    folder = Path(verl.__file__).parent / "trainer" / "config"
    with initialize_config_dir(str(folder), version_base=None):
        return compose(
            "ppo_trainer",
            [
                f"actor_rollout_ref.model.path={model.resolve()}",
                "actor_rollout_ref.rollout.name=vllm",
                "actor_rollout_ref.rollout.calculate_log_probs=true",
                "data.max_prompt_length=400",
                "data.max_response_length=1200",
                "reward.custom_reward_function.path=pkg://rlvr_envs.integrations.verl",
                *more,
            ],
        ), words


def rewards(path):
    """One right, one wrong and one that cannot be scored."""
    config, words = config_of()
    data = RLHFDataset(str(path), words, config.data)
    score = get_custom_reward_fn(config)
    told = []

    async def ask(manager, item, text):
        ids = words(text, add_special_tokens=False, return_tensors="pt").input_ids
        batch = TensorDict({"responses": ids, "attention_mask": torch.ones_like(ids)}, batch_size=1)
        fields = ("data_source", "reward_model", "extra_info")
        extra = {name: np.array([item[name]], dtype=object) for name in fields}
        return await manager.run_single(DataProto(batch=batch, non_tensor_batch=extra))

    async def all_of_them():
        manager = get_reward_manager_cls("naive")(config, words, score)
        first = data[0]
        row = json.loads(first["reward_model"]["ground_truth"])
        told.append(await ask(manager, first, rlvr_envs.solve(row) + "<|im_end|>"))
        told.append(await ask(manager, first, "no idea<|im_end|>"))
        judging.shared_judge().judge = lambda *_: [Verdict.verifier_error("the machine failed")]
        told.append(await ask(manager, first, "no idea<|im_end|>"))

    asyncio.run(all_of_them())
    told = [each["reward_extra_info"] | {"reward": each["reward_score"]} for each in told]
    print(json.dumps({"rows": len(data), "told": told}))


class Server:
    """Answers by `guess`; the first prompts of a group do, the others give up."""

    def __init__(self, words):
        self.words, self.places, self.asked = words, {}, []

    async def generate(self, request_id, *, prompt_ids, sampling_params, **_):
        place = self.places.setdefault(request_id, len(self.places))
        self.asked.append(sampling_params["max_tokens"])
        text = guess(self.words.decode(prompt_ids), place) + "<|im_end|>"
        ids = self.words(text, add_special_tokens=False).input_ids
        return TokenOutput(token_ids=ids, log_probs=[-0.25] * len(ids))


def play(config, words, data):
    """Two groups, by verl's own worker."""
    fields = collate_fn([data[0]] * GROUP + [data[1]] * GROUP)
    batch = DataProto(
        non_tensor_batch={k: v for k, v in fields.items() if not isinstance(v, torch.Tensor)},
        meta_info={"global_steps": 0, "validate": False},
    )
    server = Server(words)

    async def run():
        return await AgentLoopWorker(config, server).generate_sequences(batch)

    return asyncio.run(run()), server


def episodes(path):
    config, words = config_of("actor_rollout_ref.rollout.agent.default_agent_loop=rlvr_envs")
    data = RLHFDataset(str(path), words, config.data)
    out, server = play(config, words, data)
    told, faults = [], []
    for i in range(2 * GROUP):
        row = json.loads(data[i // GROUP]["reward_model"]["ground_truth"])
        mask = out.batch["response_mask"][i]
        length = int(out.batch["attention_mask"][i, -len(mask) :].sum())
        ids, mask = out.batch["responses"][i, :length].tolist(), mask[:length].tolist()
        parts, said = [""], True
        for token, mark in zip(ids, mask, strict=True):
            if mark and not said:
                parts.append("")
            parts[-1] += words.decode([token]) if mark else ""
            said = bool(mark)
        score = rlvr_envs.verify(row, [part.removesuffix("<|im_end|>") for part in parts]).score
        reward = float(out.batch["rm_scores"][i].sum())
        heard = words.decode([t for t, mark in zip(ids, mask, strict=True) if not mark])
        if score != reward or "give up" in heard or row["prompt"] in heard:
            faults.append([score, reward, heard])
        if float(out.batch["rm_scores"][i, length - 1]) != reward:
            faults.append("the reward is not at the last token")
        logps = out.batch["rollout_log_probs"][i, :length].tolist()
        if [-0.25 * mark for mark in mask] != logps:
            faults.append("log-probabilities")
        prompt = words.decode(out.batch["prompts"][i][out.batch["prompts"][i] != 0])
        if row["prompt"] not in prompt:
            faults.append(prompt)
        told.append([reward, int(out.non_tensor_batch["__num_turns__"][i])])
    scored = out.non_tensor_batch["scored"].tolist()
    print(json.dumps({"told": told, "faults": faults, "asked": server.asked, "scored": scored}))


class Broken(gymnasium.Env):
    """An environment elsewhere that fails in the middle of an episode."""

    observation_space = action_space = UnicodeText(1000)

    def __init__(self, **settings):
        self.inner = gymnasium.make("rlvr/GuessNumber-v0", **settings)

    def reset(self, *, seed=None, options=None):
        return self.inner.reset(seed=seed, options=options)

    def step(self, action):
        raise OSError("gone")


def broken(path):
    """Another environment, by verl's file of agent loops."""
    gymnasium.register("elsewhere/Broken-v0", Broken)
    agents = [
        {
            "name": "rlvr_envs",  # as the rows of interactive tasks say
            "_target_": "rlvr_envs.integrations.verl.EpisodeLoop",
            "env": "elsewhere/Broken-v0",
            "arguments": {"difficulty": 1},
        }
    ]
    Path("agents.yaml").write_text(json.dumps(agents), encoding="utf-8")
    agents_file = "actor_rollout_ref.rollout.agent.agent_loop_config_path"
    config, words = config_of(f"{agents_file}={Path('agents.yaml').resolve()}")
    out, _ = play(config, words, RLHFDataset(str(path), words, config.data))
    told = {
        "trained_on": int(out.batch["response_mask"].sum()),
        "rewards": out.batch["rm_scores"].sum(-1).tolist(),
        "scored": out.non_tensor_batch["scored"].tolist(),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    {"rewards": rewards, "episodes": episodes, "broken": broken}[sys.argv[1]](Path(sys.argv[2]))
