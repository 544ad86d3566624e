"""Runs: they go on as if they had never stopped, survive kills, and refuse other settings.

The tests run this file as a program, which imports everything once and forks a process for each
run and each piece of one.
"""

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from dataclasses import asdict
from pathlib import Path

import gymnasium
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from rlvr_envs.agents.grpo.config import from_groups  # noqa: E402  (as above)
from rlvr_envs.agents.grpo.config_file import check_same, read_config, write_config  # noqa: E402
from rlvr_envs.agents.grpo.presets import preset  # noqa: E402
from rlvr_envs.core.errors import ConfigError  # noqa: E402

# With everything that has a state: moments, a reference that is renewed, a curriculum.
SMALL = preset(
    tasks=("Gcd-v0", "MatrixRank-v0"),
    difficulty="0-2",
    curriculum="success_band",
    steps=4,
    groups=3,
    group_size=3,
    max_tokens=8,
    context=256,
    warm_start=2,
    warm_start_batch=8,
    learning_rate=1e-3,
    warmup=1,
    kl="k3",
    reference_every=2,
    entropy_coef=0.01,
    epochs=2,
    minibatches=2,
    save_every=1,
    keep=20,
    threads=1,
    device="cpu",
)
NOISY = SMALL.replace(wrappers=("NoisyVerifier(rho0=0.5, rho1=0.2)",))  # rewards that differ
TIMES = ("time/", "tokens/s")


# The program


def run_in_pieces(config, each, kill_after_s=None):
    """Train ``each`` steps a process; with ``kill_after_s``, every second one is killed then."""
    from rlvr_envs.agents.grpo import train
    from rlvr_envs.agents.grpo.model import checkpoint

    folder = Path(config.output.out)
    kills = 0
    total = config.optimiser.warm_start + config.optimiser.steps
    for attempt in range(60):
        newest = checkpoint.newest(folder / "checkpoints")
        if newest and newest.name == f"step-{total:08d}":
            return {"kills": kills}
        child = os.fork()
        if not child:
            resume = (folder / "config.json").exists()
            train.train(config.replace(resume=resume, stop_after=each), quiet=True)
            os._exit(0)
        if kill_after_s and attempt % 2 == 0:
            time.sleep(kill_after_s * (1 + attempt / 4))
            os.kill(child, signal.SIGKILL)
            kills += 1
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status) and status:
            sys.exit("a piece failed")
    sys.exit("it did not come to its end")


def run_in_workers(config, size):
    """Train in several processes that synchronise, as torchrun starts them."""
    from ports import free_ports

    from rlvr_envs.agents.grpo import train

    [port] = free_ports(1)
    children = []
    for rank in range(size):
        children.append(os.fork())
        if not children[-1]:
            os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
            os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(size)}
            train.train(config, quiet=True)
            os._exit(0)
    for _ in children:  # whichever ends first; one that failed leaves the others waiting
        if os.wait()[1]:
            for child in children:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            sys.exit("a worker failed")


def run_broken(config):
    """Train where some groups' environments break."""
    from rlvr_envs.agents.grpo import parts, train
    from rlvr_envs.curricula import Fixed, Proposal

    class Broken(gymnasium.Wrapper):
        def reset(self, **_):
            raise RuntimeError("this environment is broken")

    whole = parts.EnvMaker(config.data.tasks, (), {})

    def make(task, difficulty):
        env = whole(task, 0)
        return Broken(env) if difficulty == 1 else env

    proposals = [Proposal(difficulty=1), Proposal(task="rlvr/Gcd-v0", difficulty=0, samples=2)]
    train.train(
        config.replace(warm_start=0),
        make_env=make,
        curriculum=Fixed(proposals=proposals, seed=0),
        quiet=True,
    )


def run(given):
    """Run what a test asks for."""
    config = from_groups(given["config"])
    if given.get("workers"):
        return run_in_workers(config, given["workers"])
    if given.get("broken"):
        return run_broken(config)
    return run_in_pieces(config, given["each"], given.get("kill_after_s"))


def serve():
    """Run each request in a fork of this process, which has imported everything once."""
    with contextlib.suppress(ImportError):
        import peft  # noqa: F401
    from transformers import LlamaForCausalLM  # noqa: F401

    from rlvr_envs.agents.grpo import train  # noqa: F401

    torch.set_num_threads(1)
    for line in sys.stdin:
        given = json.loads(line)
        child = os.fork()
        if not child:
            log = os.open(given["log"], os.O_WRONLY | os.O_CREAT)
            os.dup2(log, 1)
            os.dup2(log, 2)
            status = 1
            try:
                Path(given["told"]).write_text(json.dumps(run(given)))
                status = 0
            except BaseException:  # noqa: BLE001 - the test shows it
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(status)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{status}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()


# The tests


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Return a function that runs a configuration in a process of its own."""
    folder = tmp_path_factory.mktemp("requests")
    with subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        numbers = itertools.count()

        def ask(config, each=None, **more):
            log, told = (folder / f"{next(numbers)}.{end}" for end in ("log", "json"))
            given = {"config": asdict(config), "each": each, "log": str(log), "told": str(told)}
            print(json.dumps(given | more), file=server.stdin, flush=True)
            status = server.stdout.readline().strip()
            assert status == "0", log.read_text()[-3000:] if log.exists() else "no log"
            return json.loads(told.read_text())

        yield ask
        server.stdin.close()


def measured(folder):
    """Return what was measured in each step, but for times."""
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in row.items() if not k.startswith(TIMES)} for row in rows]


def weights(folder, step):
    return (folder / "checkpoints" / f"step-{step:08d}" / "model.safetensors").read_bytes()


@pytest.fixture(scope="module")
def whole(tmp_path_factory, trained):
    """Return the folder of a run that did not stop."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    trained(SMALL.replace(out=str(folder)), each=6)
    return folder


def test_every_step_is_measured_and_kept(whole):
    rows = measured(whole)
    assert [row["step"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert all(row["imitation/loss"] > 0 for row in rows[:2])
    assert all("reward/mean" in row and "kl" in row and "entropy" in row for row in rows[2:])
    assert weights(whole, 6) != weights(whole, 5)
    samples = [json.loads(line) for line in (whole / "samples.jsonl").read_text().splitlines()]
    assert len(samples) == 2 * 4
    assert {sample["task"] for sample in samples} <= {"rlvr/Gcd-v0", "rlvr/MatrixRank-v0"}


def test_a_checkpoint_is_a_model_of_transformers(whole):
    folder = whole / "checkpoints" / "step-00000006"
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= {
        path.name for path in folder.iterdir()
    }


@pytest.mark.parametrize("each", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_a_run_in_pieces_is_the_same_run(each, whole, tmp_path, trained):
    trained(SMALL.replace(out=str(tmp_path / "run")), each=each)
    assert weights(tmp_path / "run", 6) == weights(whole, 6)
    assert measured(tmp_path / "run") == measured(whole)


def test_a_killed_run_goes_on_from_its_last_checkpoint(whole, tmp_path, trained):
    config = SMALL.replace(out=str(tmp_path / "run"))
    told = trained(config, each=6, kill_after_s=0.3)
    assert told["kills"] >= 1
    assert weights(tmp_path / "run", 6) == weights(whole, 6)
    assert measured(tmp_path / "run") == measured(whole)


PLUG_IN = """
from rlvr_envs.agents.grpo.plugins import estimator


@estimator
def above_median(rewards, *, scale: float = 1.0):
    return (scale * (rewards - rewards.nanmedian(1, keepdim=True).values)).nan_to_num(nan=0.0)
"""


def test_a_killed_run_with_a_plug_in_from_elsewhere_goes_on(tmp_path, trained):
    plug_in = tmp_path / "mine.py"
    plug_in.write_text(PLUG_IN)
    chosen = NOISY.replace(plugins=(str(plug_in),), estimator="above_median(scale=2.0)")
    trained(chosen.replace(out=str(tmp_path / "whole")), each=6)
    told = trained(chosen.replace(out=str(tmp_path / "run")), each=6, kill_after_s=0.3)
    assert told["kills"] >= 1
    assert weights(tmp_path / "run", 6) == weights(tmp_path / "whole", 6)
    assert measured(tmp_path / "run") == measured(tmp_path / "whole")
    kept = json.loads((tmp_path / "run" / "config.json").read_text())
    assert kept["plugins"]["estimator"] == {"name": "above_median", "settings": {"scale": 2.0}}
    plug_in.write_text(PLUG_IN.replace("1.0", "3.0"))
    begun = read_config(tmp_path / "run")
    with pytest.raises(ConfigError, match="a plug-in file is not what it was"):
        check_same(begun, tmp_path / "run")


def test_another_seed_is_another_run(whole, tmp_path, trained):
    other = SMALL.replace(out=str(tmp_path / "run"), seed=1, steps=1, threads=None)
    trained(other, each=2)  # the second process takes the threads that the first one kept
    assert measured(tmp_path / "run")[2] != measured(whole)[2]
    assert read_config(tmp_path / "run").policy.threads == 1  # chosen for so small a model


def test_a_configuration_is_read_as_it_was_written(tmp_path):
    write_config(SMALL, tmp_path)
    assert read_config(tmp_path) == SMALL
    with pytest.raises(ConfigError, match="no run in"):
        read_config(tmp_path / "nothing")
    row = {"config": {"data": {"tasks": ["Gcd-v0"], "no_longer": 1}}, "files": []}
    (tmp_path / "config.json").write_text(json.dumps(row))
    with pytest.raises(ConfigError, match="no_longer"):
        read_config(tmp_path)


def test_what_is_computed_may_not_change_on_the_way(tmp_path):
    write_config(SMALL, tmp_path)
    assert check_same(SMALL.replace(steps=9, out="elsewhere", micro_tokens=7), tmp_path) == SMALL
    told = r"loss was 'clipped' and is 'cispo'; seed was 0 and is 3"
    with pytest.raises(ConfigError, match=told):
        check_same(SMALL.replace(loss="cispo", seed=3), tmp_path)


def test_the_reference_is_what_reinforcing_begins_with(tmp_path, trained):
    config = SMALL.replace(out=str(tmp_path / "run"), steps=1, learning_rate=1e-9)
    trained(config, each=3)
    assert abs(measured(tmp_path / "run")[-1]["kl"]) < 1e-6


def test_adapters_go_on_beside_a_reference_that_is_renewed(tmp_path, trained):
    pytest.importorskip("peft")
    adapters = []
    for name, each in (("whole", 6), ("pieces", 2)):
        config = NOISY.replace(out=str(tmp_path / name), lora_rank=2, reference_every=1)
        trained(config, each=each)
        newest = tmp_path / name / "checkpoints" / "step-00000006"
        adapters.append((newest / "adapter_model.safetensors").read_bytes())
    assert adapters[0] == adapters[1]
    rows = measured(tmp_path / "whole")
    assert rows == measured(tmp_path / "pieces")
    assert any(row.get("grad_norm") and row["kl"] > 0 for row in rows[2:])


def test_two_workers_train_one_model_and_go_on(tmp_path, trained):
    config = NOISY.replace(out=str(tmp_path / "run"), groups=2, evaluate_every=6)
    config = config.replace(evaluate_problems=2)
    trained(config.replace(stop_after=4), workers=2)
    trained(config.replace(resume=True), workers=2)
    rows = measured(tmp_path / "run")
    assert [row["step"] for row in rows] == [0, 1, 2, 3, 4, 5, 6]
    assert "held_out/score" in rows[0]
    assert all(row["reward/mean"] is not None and row["tokens"] > 0 for row in rows[3:])
    # what the second measured is the same, but for what the first alone does
    others = measured(tmp_path / "run" / "workers" / "1")
    kept = [
        {k: v for k, v in row.items() if not k.startswith("held_out")}
        for row in rows
        if row["step"]
    ]
    assert [row for row in others if row["step"]] == kept
    trained(config.replace(out=str(tmp_path / "at once")), workers=2)
    assert weights(tmp_path / "run", 6) == weights(tmp_path / "at once", 6)


def test_two_workers_imitate_as_one(tmp_path, trained):
    config = SMALL.replace(steps=1, stop_after=2, save_every=2, warm_start_batch=5)
    losses = []
    for size in (1, 2):
        folder = tmp_path / str(size)
        trained(config.replace(out=str(folder)), workers=size)
        losses.append([row["imitation/loss"] for row in measured(folder)])
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_environments_that_break_are_left_out(tmp_path, trained):
    config = NOISY.replace(out=str(tmp_path / "run"), steps=2, groups=4, difficulty="0")
    trained(config, broken=True)
    rows = measured(tmp_path / "run")
    # of four groups, those of three broke and those of two did not
    assert rows[0]["unscored"] == pytest.approx(0.6)
    assert rows[0]["reward/mean"] is not None
