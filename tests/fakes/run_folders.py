"""Folders of runs, written as `rlvr eval` and `rlvr train` write them."""

import json
from pathlib import Path
from typing import Any

Record = dict[str, Any]


def record(
    policy: str = "one",
    *,
    task: str = "rlvr/Gcd-v0",
    level: int | None = 0,
    seed: int = 1,
    sample: int = 0,
    score: float | None = 1.0,
    **more: Any,
) -> Record:
    """Return an episode; a score of None is one that is not scored."""
    status = {None: "policy_error", 1.0: "correct", 0.0: "wrong"}.get(score, "partial")
    question = f"{task}|{level}|{seed}"
    response = more.pop("response", rf"It is \boxed{{{seed}}}.")
    texts = [response] if isinstance(response, str) else response or []
    return {
        "key": f"{policy}|{question}|{sample}",
        "question": question,
        "policy": policy,
        "id": task,
        "task": task,
        "domain": "math",
        "difficulty": level,
        "problem_seed": seed,
        "index": None,
        "fingerprint": f"print of {question}",
        "sample": sample,
        "response": response,
        "answer": str(seed) if isinstance(response, str) else None,
        "verdict": {"score": score, "status": status, "detail": "", "parts": {}},
        "scored": score is not None,
        "turns": len(texts),
        "response_chars": sum(map(len, texts)),
        "elapsed_s": 0.5,
    } | more


def problem(of: Record, **more: Any) -> Record:
    """Return the problem of an episode."""
    return {
        "question": of["question"],
        "id": of["id"],
        "config": {"size": 3},
        "difficulty": of["difficulty"],
        "problem_seed": of["problem_seed"],
        "prompt": f"What is asked by {of['question']}?",
        "answer_format": "boxed",
        "problem": {},
        "reference": str(of["problem_seed"]),
        "fingerprint": of["fingerprint"],
        "version": "0.1",
    } | more


def old(of: Record) -> Record:
    """Return an episode as runs stored it before problems were stored."""
    return {name: value for name, value in of.items() if name != "question"}


def write_run(
    folder: Path, records: list[Record], problems: list[Record] | None = None, seed: int = 0
) -> Path:
    """Write the folder of an evaluation and return it; ``problems`` None is an old run."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(json.dumps({"config": {"seed": seed}, "versions": {}}))
    _lines(folder / "episodes.jsonl", records)
    if problems is not None:
        _lines(folder / "problems.jsonl", problems)
    return folder


def write_training(folder: Path, rows: list[Record]) -> Path:
    """Write the samples of a training run and return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    _lines(folder / "samples.jsonl", rows)
    return folder


def trained(step: int, *, seed: int = 1, score: float = 1.0, **more: Any) -> Record:
    """Return a sample of a training run."""
    status = "correct" if score == 1.0 else "wrong"
    return {
        "step": step,
        "task": "rlvr/Gcd-v0",
        "difficulty": 2,
        "problem_seed": seed,
        "reward": score - 0.1,
        "score": score,
        "status": status,
        "finished": True,
        "tokens": 9,
        "turn_rewards": [score],
        "info": {"reward/length": -0.1},
        "prompt": f"Prompt {seed}",
        "observations": [],
        "texts": [f"try {step}", f"[{status}: {score:g}] said the verifier"],
    } | more


def _lines(path: Path, rows: list[Record]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="ascii")
