"""`rlvr train`: what it says and leaves behind, from the first command to the curves.

The tests run this file as a program, which imports everything once and forks a process a command.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

for package in ("torch", "transformers", "tyro", "plotly"):
    pytest.importorskip(package)

from rlvr_envs.cli.train import _together  # noqa: E402  (it needs torch)

SMALL = [
    "--tasks",
    "Gcd-v0",
    "--groups",
    "2",
    "--group-size",
    "3",
    "--max-tokens",
    "6",
    "--overlong-buffer",
    "4",
    "--context",
    "200",
    "--warm-start",
    "1",
    "--warm-start-batch",
    "4",
    "--device",
    "cpu",
    "--threads",
    "1",
    "--save-every",
    "1",
    "--minibatches",
    "2",
]
WAIT_S = 60.0


# The program


def command(words, interrupted):
    """Run a command of `rlvr` in a process, and return its status and what it said."""
    from rlvr_envs.cli.main import main

    child = os.fork()
    if not child:
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        # What a script starts in its background ignores Ctrl-C.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            status = main(words)
        except SystemExit as stopped:  # the command line was wrong, or asked for help
            status = stopped.code
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(status or 0))
    if interrupted:
        until = time.monotonic() + WAIT_S
        while not list(Path(interrupted).glob("step-*")) and time.monotonic() < until:
            time.sleep(0.01)
        os.kill(child, signal.SIGINT)
    _, status = os.waitpid(child, 0)
    told = {name: Path(name).read_text() for name in ("stdout", "stderr")}
    return {"status": os.waitstatus_to_exitcode(status), **told}


if __name__ == "__main__":
    import torch
    from transformers import LlamaForCausalLM  # noqa: F401 - imported before the forks

    torch.set_num_threads(1)
    found = [command(words, interrupted) for words, interrupted in json.loads(sys.argv[1])]
    sys.stdout.write(json.dumps(found))
    sys.exit(0)


# The tests


def rlvr(folder, *commands):
    """Run commands, each a list of words or such a list with where to wait for a checkpoint."""
    plain = [each if isinstance(each, tuple) else (each, None) for each in commands]
    done = subprocess.run(
        [sys.executable, __file__, json.dumps(plain)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_a_run_is_begun_gone_on_with_and_drawn(tmp_path):
    begin, go_on, again, other, over, draw = rlvr(
        tmp_path,
        ["train", "dapo", *SMALL, "--steps", "2", "--out", "a run", "--stop-after", "1"],
        ["train", "--resume", "--out", "a run"],
        ["train", "--resume", "--out", "a run"],
        ["train", "gspo", "--resume", "--out", "a run"],
        ["train", *SMALL, "--out", "a run"],
        ["plot", "a run", "--out", "curves.html"],
    )
    assert begin["status"] == 0, begin["stderr"]
    assert "the newest checkpoint: a run/checkpoints/step-00000001" in begin["stderr"]
    assert "rlvr plot 'a run'" in begin["stderr"]
    # the folder is enough, and the limit of the last process is none of this one
    assert go_on["status"] == 0, go_on["stderr"]
    assert "the newest checkpoint: a run/checkpoints/step-00000003" in go_on["stderr"]
    assert "finished" not in go_on["stderr"]
    # a run that is over says so, and how to extend it
    assert again["status"] == 0
    assert (
        "a run: the run is finished at step 3; to extend it, ask for more steps, such as "
        "--resume --steps 4\n" in again["stderr"]
    )
    assert "the newest checkpoint: a run/checkpoints/step-00000003" in again["stderr"]
    assert other["status"] == 2
    assert "cannot go on with other settings" in other["stderr"]
    assert over["status"] == 2
    assert "holds a run already" in over["stderr"]
    assert draw["status"] == 0
    assert (tmp_path / "curves.html").stat().st_size > 10_000
    rows = (tmp_path / "a run" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(row)["step"] for row in rows] == [1, 2, 3]


def test_what_cannot_be_run_is_one_line(tmp_path):
    unknown, nothing, none, option, listed, told = rlvr(
        tmp_path,
        ["train", "dappo", *SMALL],
        ["train"],
        ["train", "--resume", "--out", "nowhere"],
        ["train", "--no-such", "3"],
        ["train", "--list"],
        ["train", "--help"],
    )
    for found, what in (
        (unknown, "no preset 'dappo'; did you mean 'dapo'?"),
        (nothing, "there is nothing to train on"),
        (none, "there is no run in nowhere"),
    ):
        assert found["status"] == 2
        assert found["stderr"].startswith(f"rlvr train: {what}")
        assert found["stderr"].count("\n") == 1
    assert option["status"] == 2
    assert "--no-such" in option["stderr"]
    assert "dapo: arXiv 2503.14476" in listed["stdout"]
    assert "estimator=grpo" in listed["stdout"]
    assert told["status"] == 0
    assert "--group-size" in told["stdout"]
    assert "clipped(low: float = 0.2, high: float = 0.28, dual: float | None = None)" in "".join(
        told["stdout"].split("\n")
    )
    assert not list(tmp_path.glob("*/config.json"))


def test_an_interrupted_run_says_how_to_go_on(tmp_path):
    kept = str(tmp_path / "run" / "checkpoints")
    stopped, gone_on = rlvr(
        tmp_path,
        (["train", *SMALL, "--steps", "100000", "--out", "run"], kept),
        ["train", "--resume", "--out", "run", "--stop-after", "1"],
    )
    assert stopped["status"] == 130
    last = stopped["stderr"].splitlines()[-2:]
    assert last[0].startswith("to go on from run/checkpoints/step-")
    assert last[0].endswith(": rlvr train --resume --out run")
    assert last[1].startswith("rlvr train: interrupted")
    assert "Traceback" not in stopped["stderr"]
    assert gone_on["status"] == 0, gone_on["stderr"]
    before = int(last[0].partition("step-")[2].partition(":")[0])
    assert f"the newest checkpoint: run/checkpoints/step-{before + 1:08d}" in gone_on["stderr"]


YAML = """
preset: grpo
data: {tasks: [Gcd-v0]}
sampling: {groups: 2, group_size: 3, max_tokens: 6, context: 200}
algorithm: {loss: "clipped(high=0.3)"}
optimiser: {steps: 1, warm_start: 1, warm_start_batch: 4}
policy: {device: cpu, threads: 1}
"""


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("--tasks A --steps 3 --tasks=B C", "--tasks A B C --steps 3"),
        ("dapo --plugin a.py --seed 1 --plugins b.py", "dapo --plugins a.py b.py --seed 1"),
        ("--leave-out over --leave_out turn", "--leave-out over turn"),
        ("--betas 0.9 0.95 --bf16 --seed 1 --seed 2", "--betas 0.9 0.95 --bf16 --seed 1 --seed 2"),
    ],
)
def test_a_list_may_come_in_pieces(given, wanted):
    assert _together(given.split()) == wanted.split()


def test_a_file_may_say_what_to_do(tmp_path):
    (tmp_path / "run.yaml").write_text(YAML)
    (tmp_path / "typo.yaml").write_text(YAML.replace("group_size", "grop_size"))
    (tmp_path / "lost.yaml").write_text(YAML.replace("groups: 2", "steps: 2"))
    (tmp_path / "words.yaml").write_text(YAML.replace("groups: 2", "groups: two"))
    (tmp_path / "loss.yaml").write_text(YAML.replace("clipped(high", "clippd(high"))
    done, typo, lost, words, loss = rlvr(
        tmp_path,
        ["train", "--config", "run.yaml", "--kl-coef", "0.5", "--out", "run"],
        *(["train", "--config", f"{name}.yaml"] for name in ("typo", "lost", "words", "loss")),
    )
    assert done["status"] == 0, done["stderr"]
    kept = json.loads((tmp_path / "run" / "config.json").read_text())["config"]
    assert kept["algorithm"]["kl"] == "k3"
    assert kept["algorithm"]["kl_coef"] == 0.5
    assert kept["algorithm"]["loss"] == "clipped(high=0.3)"
    for found, what in (
        (typo, "there is no setting 'grop_size'; did you mean 'group_size'?"),
        (lost, "steps is a setting of optimiser, not of sampling"),
        (words, "groups is int, got 'two'"),
        (loss, "no loss 'clippd'; did you mean 'clipped'?"),
    ):
        assert found["status"] == 2
        assert what in found["stderr"]
