"""Runs in the environment of Inspect: what needs its Python interface."""

import asyncio
import math
import os
import threading

from inspect_ai import Epochs
from inspect_ai import eval as run
from inspect_ai.model import ModelOutput, ModelUsage, get_model

import rlvr_envs
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.integrations import inspect_ai as ours
from rlvr_envs.integrations.rows import open_rows


def model(answer):
    """Return a model that answers by a function of the texts of the user's messages."""

    def reply(messages, tools, choice, config):
        asked = [each.text for each in messages if each.role == "user"]
        output = ModelOutput.from_content("mockllm/model", answer(asked))
        output.usage = ModelUsage()  # else Inspect downloads a tokenizer to count
        return output

    return get_model("mockllm/model", custom_outputs=reply)


def evaluate(rows, answer, **options):
    (log,) = run(ours.to_task(rows), model(answer), log_dir="logs", display="none", **options)
    assert log.status == "success", log.error
    return log


def scores(log):
    return [sample.scores["verdict"] for sample in log.samples]


def hostile():
    """Judging goes on in another process, which an answer may keep busy or end."""
    rows = [rlvr_envs.make_problem("TestBroken-v0", seed=seed) for seed in (1, 2)]
    rows += open_rows("Derivative-v0", count=1, difficulty=0)
    texts = ("say which process", "end the process", "9^{9^{9^{9^9}}}")
    answers = {row["prompt"]: f"\\boxed{{{text}}}" for row, text in zip(rows, texts, strict=True)}
    process, ended, busy = scores(evaluate(rows, lambda asked: answers[asked[0]]))
    return {
        "elsewhere": int(process.explanation) != os.getpid(),
        "ended": [str(ended.value), ended.metadata["status"]],
        "busy": [busy.value, busy.metadata["status"]],
    }


def unscored():
    """A verifier that fails gives NaN, which Inspect leaves out of the mean."""
    good = rlvr_envs.make_problem("TestBroken-v0", seed=1)
    bad = rlvr_envs.make_problem("TestBroken-v0", seed=2)
    answers = {good["prompt"]: rlvr_envs.solve(good), bad["prompt"]: "\\boxed{break}"}
    log = evaluate([good, bad], lambda asked: answers[asked[0]])
    (result,) = log.results.scores
    values = sorted(scores(log), key=lambda score: math.isnan(score.value))
    return {
        "values": [str(score.value) for score in values],
        "status": values[1].metadata["status"],
        "explanation": values[1].explanation,
        "mean": result.metrics["mean"].value,
        "counts": [result.scored_samples, result.unscored_samples],
    }


def epochs():
    """Two answers to each problem: the error of the mean counts problems, not answers."""
    rows = open_rows("Gcd-v0", count=4, difficulty=0)
    right = {row["prompt"]: rlvr_envs.solve(row) for row in rows[:2]}
    errors = []
    for reducer in ("mean", []):  # of each problem first; none
        log = evaluate(rows, lambda asked: right.get(asked[0], "no"), epochs=Epochs(2, reducer))
        (result,) = log.results.scores
        errors.append(result.metrics["stderr"].value)
    return [result.metrics["mean"].value, *errors]


def limited():
    """An episode that Inspect's message limit ends earns nothing."""
    (row,) = open_rows("GuessNumber-v0", count=1, difficulty=3)
    log = evaluate([row], lambda asked: "1", message_limit=4)
    (score,) = scores(log)
    return [score.value, score.metadata["status"], score.explanation, log.samples[0].limit.type]


def turns():
    """An episode goes on until the environment ends it, and not longer."""
    (row,) = open_rows("GuessNumber-v0", count=1, difficulty=3)
    actions = rlvr_envs.solve(row)
    log = evaluate([row], lambda asked: actions[len(asked) - 1])
    (score,) = scores(log)
    roles = [message.role for message in log.samples[0].messages]
    return {
        "value": score.value,
        "roles": roles,
        "expected": ["user", "assistant"] * len(actions),
        "parts": score.metadata["parts"],
    }


def loop_is_free():
    """While an answer is judged, the event loop goes on: here it is what ends the judging."""
    gate = threading.Event()
    ours.judge_apart = lambda instance, response: Verdict.graded(float(gate.wait(60)))

    class State:
        metadata = ours.to_sample(open_rows("Gcd-v0", count=1)[0]).metadata
        output = ModelOutput.from_content("mockllm/model", "\\boxed{1}")

    async def both():
        async def open_gate():
            gate.set()

        score, _ = await asyncio.gather(ours.verdict()(State(), None), open_gate())
        return score.value

    return asyncio.run(both())
