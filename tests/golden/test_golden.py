"""Golden lines fix seeds, prompts, references and verdicts: a diff means a new version of a task.

``pytest tests/golden --update-golden`` writes the lines of tasks that have none and never rewrites
one. Tasks that run programs or proofs judge a few problems here, and all of them in the slow set.
"""

from pathlib import Path

import pytest
from golden_files import KEYS, place, read, written
from golden_lines import UNSTEADY, runs_programs, settle

from rlvr_envs.core import registry

FOLDER = Path(__file__).parent
TASKS = registry.task_ids()


@pytest.mark.parametrize("task_id", TASKS)
def test_golden(task_id, request):
    if wrong := settle(task_id, FOLDER, update=request.config.getoption("--update-golden")):
        pytest.fail(wrong, pytrace=False)


@pytest.mark.slow
@pytest.mark.parametrize("task_id", [task_id for task_id in TASKS if runs_programs(task_id)])
def test_every_verdict(task_id):
    if wrong := settle(task_id, FOLDER, thorough=True):
        pytest.fail(wrong, pytrace=False)


@pytest.mark.parametrize("domain", registry.DOMAINS)
def test_lines_are_canonical(domain):
    path = FOLDER / f"{domain}.jsonl"
    lines = read(path)
    text = "".join(written(line) + "\n" for line in lines)
    assert path.read_text(encoding="utf-8") == text, "keys or spaces differ from what is written"
    places = [place(line) for line in lines]
    assert places == sorted(set(places)), "not sorted by id, difficulty and seed, or twice there"
    left_over = {line["id"] for line in lines} - set(registry.task_ids(domain))
    assert not left_over, f"delete the lines of {sorted(left_over)}: there are no such tasks"


@pytest.mark.parametrize("domain", registry.DOMAINS)
def test_stored_verdicts_are_steady_and_whole(domain):
    for line in read(FOLDER / f"{domain}.jsonl"):
        assert set(KEYS) - {"first_prompt"} <= set(line) <= set(KEYS), place(line)
        assert line["oracle"] == "correct 1", place(line)
        statuses = {verdict.split()[0] for verdict in line["near"].values()}
        assert statuses, f"{place(line)} has no near miss"
        assert not statuses & UNSTEADY, place(line)


def test_no_file_is_left_over():
    files = {path.name for path in FOLDER.iterdir() if path.suffix != ".py"} - {"__pycache__"}
    assert files == {f"{domain}.jsonl" for domain in registry.DOMAINS}
