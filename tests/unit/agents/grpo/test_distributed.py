"""Two processes on the CPU make the same updates as one with all of the data.

The tests run this file as a program, which imports everything once and forks the workers.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from rlvr_envs.agents.grpo.model.distributed import Workers  # noqa: E402  (it needs torch)
from rlvr_envs.core.errors import ConfigError  # noqa: E402

KINDS = ("ddp", "fsdp")
# Of six sequences, the micro-batches of each worker: unequally many, of unequal sizes.
ALONE = (((0, 1), (2, 3, 4), (5,)),)
SHARED = (((0, 1), (5,)), ((2, 3, 4),))
STEPS = 4
ROUNDS = 20
LENGTHS = (9, 3, 7, 5, 8, 2)


# The program


def environment(kind, rank, port):
    found = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    found |= {"RANK": str(rank), "LOCAL_RANK": str(rank)}
    if kind == "fsdp":
        found |= {"ACCELERATE_USE_FSDP": "true", "FSDP_VERSION": "2"}
    return found


def make(seed):
    import transformers

    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=40,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        initializer_range=0.3,
        tie_word_embeddings=True,
    )
    model = transformers.LlamaForCausalLM(config).double()
    model.model.layers[0].self_attn.q_proj.weight.requires_grad_(False)  # as adapters leave it
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    return model, torch.optim.AdamW(trained, lr=0.02, weight_decay=0.1)


def step(workers, model, optimizer, data, seed):
    """As the training loop does: a mean over all tokens of weighted log-probabilities."""
    from rlvr_envs.agents.grpo.model import policy

    ids, attention = data
    weights = torch.randn(len(ids), generator=torch.Generator().manual_seed(seed)).double()
    chunks = (ALONE if workers.size == 1 else SHARED)[workers.rank]
    most = max(workers.gather_objects(len(chunks)))
    tokens = workers.sum(sum(int(attention[list(chunk)].sum()) for chunk in chunks))
    optimizer.zero_grad()
    total = 0.0
    for place in range(most):
        spare = place >= len(chunks)
        rows = [0] if spare else list(chunks[place])
        with workers.accumulating(model, last=place == most - 1):
            logps, _ = policy.token_logps(model, ids[rows], attention[rows])
            loss = (logps * weights[rows, None]).sum() / tokens * (0.0 if spare else 1.0)
            workers.backward(loss)
        total += float(loss.detach())
    norm = workers.clip_grad_norm(model, 0.05)
    optimizer.step()
    return norm, workers.sum(total)


def work(kind, rank, port, folder, begun=None):
    from rlvr_envs.agents.grpo.model import policy

    policy.CHUNK = 4
    if kind != "one":
        os.environ.update(environment(kind, rank, port))
    workers = Workers("cpu")
    assert (workers.rank, workers.is_main, workers.sharded) == (rank, rank == 0, kind == "fsdp")
    model, optimizer = make(seed=rank)  # different weights, which `wrap` is to make the same
    if begun:
        model.load_state_dict(begun["weights"])
    torch.manual_seed(7)
    ids = torch.randint(0, 40, (len(LENGTHS), max(LENGTHS)))
    data = ids, torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]
    model, optimizer = workers.wrap(model, optimizer)
    if begun:
        workers.load_optimizer_state(optimizer, begun["optimizer"])
    sampling = workers.sampling_model(model)
    told = {"steps": [], "half": None}
    for number in range(STEPS // 2 if begun else 0, STEPS):
        told["steps"].append(step(workers, model, optimizer, data, number))
        if number == STEPS // 2 - 1:
            told["half"] = {
                "weights": {k: v.clone() for k, v in workers.full_state_dict(model).items()},
                "optimizer": workers.optimizer_state(optimizer),
            }
            torch.save(told["half"], folder / f"half-{kind}-{rank}.pt")
    told["weights"] = workers.full_state_dict(model)
    told["copy"] = workers.sampling_model(model) is sampling
    with torch.no_grad():  # the sampling model needs no others, even where only one uses it
        told["sampled"] = float(policy.token_logps(sampling, *data)[0].sum()) if rank == 0 else None
    with torch.no_grad():
        told["trained"] = float(policy.token_logps(model, *data)[0].sum())
    workers.sampling_model(model)  # after which each has but its share again
    shares = [w.to_local() if kind == "fsdp" else w for w in model.parameters()]
    told["mine"] = sum(share.numel() for share in shares)
    told["objects"] = workers.gather_objects({"rank": rank})
    told["broadcast"] = workers.broadcast_object(f"of {rank}")
    told["sum"] = workers.sum(torch.tensor(0.1 + rank))
    workers.barrier()
    torch.save(told, folder / f"{kind}{'-resumed' if begun else ''}-{rank}.pt")
    workers.close()


def fork(jobs):
    """Run jobs in processes of their own, and return whether all came to their end."""
    children = []
    for job in jobs:
        child = os.fork()
        if not child:
            code = 1
            try:
                job()
                code = 0
            finally:
                sys.stderr.flush()
                if code:
                    import traceback

                    traceback.print_exc()
                os._exit(code)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def part(rank, ports, folder):
    """Meet, train and part, again and again: in torch, parting may wait for ever."""
    for port in ports:
        os.environ.update(environment("ddp", rank, port))
        workers = Workers("cpu")
        model = torch.nn.Linear(2, 1)
        model, _ = workers.wrap(model, torch.optim.SGD(model.parameters()))
        workers.backward(model(torch.ones(1, 2)).sum())
        workers.gather_objects(rank)
        workers.close()
        del model  # it may have been the last to hold what they met in
    torch.save(len(ports), folder / f"parted-{rank}.pt")


def fail(rank, port):
    """Break one of two, while the other waits for it."""
    os.environ.update(environment("ddp", rank, port))
    workers = Workers("cpu")
    try:
        if rank == 1:
            raise RuntimeError("as planned")
        workers.gather_objects(rank)
    finally:
        workers.close()


def main(folder):
    import torch.distributed.fsdp
    import torch.distributed.tensor
    from ports import free_ports
    from transformers import LlamaForCausalLM  # noqa: F401 - before the forks, once for all

    torch.set_num_threads(1)
    codes = fork([lambda: work("one", 0, 0, folder)])
    for kind in KINDS:
        [port] = free_ports(1)
        codes += fork([lambda k=kind, r=rank, p=port: work(k, r, p, folder) for rank in (0, 1)])
    # Half the way in one kind, the other half in another.
    for kind, other in (("fsdp", "one"), ("one", "fsdp"), ("fsdp", "ddp")):
        begun = torch.load(folder / f"half-{other}-0.pt", weights_only=True)
        [port] = free_ports(1)
        codes += fork(
            [
                lambda k=kind, r=rank, p=port, b=begun: work(k, r, p, folder, b)
                for rank in range(1 if kind == "one" else 2)
            ]
        )
        for path in folder.glob(f"{kind}-resumed-*.pt"):
            path.rename(path.with_name(f"{other}-then-{path.name}"))
    ports = free_ports(ROUNDS)
    codes += fork([lambda r=rank: part(r, ports, folder) for rank in (0, 1)])
    [port] = free_ports(1)
    failed = fork([lambda r=rank: fail(r, port) for rank in (0, 1)])
    torch.save(failed, folder / "failed.pt")
    print(json.dumps(codes))  # noqa: T201 - to the test


# The tests


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    process = subprocess.run(
        [sys.executable, __file__, str(folder)],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert process.returncode == 0, process.stderr
    assert set(json.loads(process.stdout)) == {0}, process.stderr
    return {path.stem: torch.load(path, weights_only=True) for path in folder.glob("*.pt")}


def assert_same_weights(found, wanted):
    assert found.keys() == wanted.keys()
    for name in wanted:
        torch.testing.assert_close(found[name], wanted[name], rtol=0, atol=1e-9)


def assert_same_steps(found, wanted):
    """Each is the length of the gradient and the loss."""
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-9)


def test_steps_move_the_weights(runs):
    """Else the rest would compare what never changed."""
    half, whole = runs["half-one-0"]["weights"], runs["one-0"]["weights"]
    moved = {name for name in whole if (half[name] - whole[name]).abs().max() > 1e-3}
    assert set(whole) - moved == {"model.layers.0.self_attn.q_proj.weight"}
    assert runs["one-0"]["steps"][0][0] > 0.05  # longer than the limit


@pytest.mark.parametrize("kind", KINDS)
def test_two_processes_make_the_updates_of_one(runs, kind):
    one = runs["one-0"]
    for rank in (0, 1):
        told = runs[f"{kind}-{rank}"]
        assert_same_weights(told["weights"], one["weights"])
        assert_same_steps(told["steps"], one["steps"])


@pytest.mark.parametrize("kind", KINDS)
def test_the_sampling_model_has_the_weights_as_they_are(runs, kind):
    for rank in (0, 1):
        told = runs[f"{kind}-{rank}"]
        assert told["copy"]
        assert told["trained"] == pytest.approx(runs["one-0"]["trained"], rel=1e-9)
    assert runs[f"{kind}-0"]["sampled"] == pytest.approx(runs["one-0"]["trained"], rel=1e-9)


def test_each_has_its_share_of_the_weights_under_fsdp2(runs):
    n = runs["one-0"]["mine"]
    assert runs["ddp-1"]["mine"] == n
    assert [runs[f"fsdp-{rank}"]["mine"] for rank in (0, 1)] == [n / 2, n / 2]


@pytest.mark.parametrize("kind", KINDS)
def test_the_state_of_the_optimiser_is_that_of_one_process(runs, kind):
    wanted = runs["half-one-0"]["optimizer"]
    for rank in (0, 1):
        found = runs[f"half-{kind}-{rank}"]["optimizer"]
        assert found["param_groups"] == wanted["param_groups"]
        assert found["state"].keys() == wanted["state"].keys()
        for index, of_weight in wanted["state"].items():
            for name, value in of_weight.items():
                torch.testing.assert_close(found["state"][index][name], value, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("path", "ranks"), [("one-then-fsdp", 2), ("fsdp-then-one", 1), ("ddp-then-fsdp", 2)]
)
def test_a_run_goes_on_with_another_number_of_processes(runs, path, ranks):
    for rank in range(ranks):
        told = runs[f"{path}-resumed-{rank}"]
        assert_same_weights(told["weights"], runs["one-0"]["weights"])
        assert_same_steps(told["steps"], runs["one-0"]["steps"][STEPS // 2 :])


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_and_objects_go_around(runs, kind):
    for rank in (0, 1):
        told = runs[f"{kind}-{rank}"]
        assert told["objects"] == [{"rank": 0}, {"rank": 1}]
        assert told["broadcast"] == "of 0"
        assert told["sum"] == pytest.approx(1.2)


@pytest.mark.parametrize("rank", [0, 1])
def test_parting_does_not_wait(runs, rank):
    assert runs[f"parted-{rank}"] == ROUNDS


def test_one_that_fails_does_not_leave_the_other_waiting(runs):
    assert runs["failed"] == [1, 1]


def test_one_process_needs_nothing(runs, monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    told = runs["one-0"]
    assert (told["objects"], told["broadcast"]) == ([{"rank": 0}], "of 0")
    workers = Workers("cpu")
    assert (workers.rank, workers.size, workers.is_main) == (0, 1, True)
    assert not torch.distributed.is_initialized()


def test_a_broken_environment_is_said(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    for name in ("RANK", "LOCAL_RANK", "MASTER_ADDR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError, match="RANK, LOCAL_RANK, MASTER_ADDR is not set"):
        Workers("cpu")
    for name, value in environment("fsdp", 0, 1).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("FSDP_VERSION", "1")
    with pytest.raises(ConfigError, match="--fsdp_version 2"):
        Workers("cpu")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
