"""Golden files fix seeds, prompts and verdicts: a diff means a new version of the task.

``pytest tests/golden --update-golden`` writes the files of new tasks and never rewrites one.
"""

import hashlib
import json
from pathlib import Path

import pytest

from rlvr_envs.core import registry
from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.task import IndexedTask

FOLDER = Path(__file__).parent
SEEDS = range(8)
RUNGS = (0, 3, 7)
WRONG = ("", "0.5000001", "I do not know")  # fixed answers; what they earn is part of the promise


def golden_path(task_id):
    spec = registry.find(task_id)
    return FOLDER / spec.domain / f"{task_id.removeprefix('rlvr/')}.json"


def snapshot(task_id):
    """Everything about a task that users' results depend on."""
    spec = registry.find(task_id)
    indexed = issubclass(spec.task_type, IndexedTask)
    found = {"id": task_id, "answer_format": spec.answer_format, "problems": []}
    for rung in (None,) if indexed else RUNGS:
        env = TextEnv(task_id, difficulty=rung, **dict(spec.example))
        for seed in SEEDS:
            prompt, info = env.reset(seed=seed)
            found.setdefault("first_prompt", prompt)
            instance = env.instance
            form = answer_format(instance.format_label)
            found["problems"].append(
                {
                    "difficulty": rung,
                    "seed": seed,
                    "problem_seed": info["problem_seed"],
                    "prompt_sha256": hashlib.sha256(prompt.encode()).hexdigest()[:16],
                    "reference": instance.reference(),
                    "oracle": instance.judge(instance.solution()).score,
                    "wrong": [instance.judge(form.wrap(text)).status.value for text in WRONG],
                }
            )
    return found


@pytest.mark.parametrize("task_id", registry.task_ids())
def test_golden(task_id, request):
    path = golden_path(task_id)
    now = snapshot(task_id)
    if not path.exists():
        assert request.config.getoption("--update-golden"), (
            f"{path.name} is missing: run pytest tests/golden --update-golden and commit the file"
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(now, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert now == stored, f"{task_id} changed: register the change under a new version"


def test_no_golden_file_is_left_over():
    files = set(FOLDER.rglob("*.json"))
    assert files == {golden_path(task_id) for task_id in registry.task_ids()}
