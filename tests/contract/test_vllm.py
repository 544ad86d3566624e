"""What training asks of a vLLM server, checked on the fake, and on a real one where there is one.

For a real one, write the model that it has to serve, start it, and name both:

    PYTHONPATH=tests python tests/contract/vllm_models.py MODEL
    VLLM_SERVER_DEV_MODE=1 vllm serve MODEL --enable-scale-out --skip-tokenizer-init \
        --logprobs-mode processed_logprobs --dtype float32 --max-model-len 512 \
        --weight-transfer-config '{"backend": "rlvr_file"}'
    RLVR_VLLM_URL=http://localhost:8000 pytest tests/contract/test_vllm.py

With RLVR_VLLM_TIED=1 all of this is about a model whose head is tied to its embeddings.
This package has to be installed beside vLLM, and tests and server have to share a disk.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("httpx")

from contract.vllm_gates import (  # noqa: E402
    CONTEXT,
    REQUESTS,
    change,
    gate,
    in_flight,
    sampling,
    training,
)
from contract.vllm_models import TIED, make  # noqa: E402
from fakes.vllm import serving  # noqa: E402

from rlvr_envs.agents.grpo.sampling.sampler import Request  # noqa: E402
from rlvr_envs.agents.grpo.sampling.vllm.client import ServerError  # noqa: E402
from rlvr_envs.agents.grpo.sampling.weights import weights_of  # noqa: E402
from rlvr_envs.core.errors import ConfigError  # noqa: E402

URL = os.environ.get("RLVR_VLLM_URL", "")
# vLLM on a CPU does not reload a tied head, and the transport says so.
KINDS = pytest.mark.parametrize("kind", ["file"] if TIED else ["file", "reload"])


@pytest.fixture
def model():
    torch.set_num_threads(1)
    model = make()
    torch.manual_seed(os.getpid())  # a server that goes on has not seen these weights yet
    change(model, 0.02)
    return model


@pytest.fixture
def url(model):
    if URL:
        yield URL
    else:
        with serving(model, max_model_len=CONTEXT) as fake:
            yield fake.url


@KINDS
def test_step_k_samples_from_version_k_also_after_a_resume(model, url, tmp_path, kind):
    training(model, url, tmp_path, kind)


@KINDS
def test_tokens_of_requests_under_way_bear_the_version_that_sampled_them(
    model, url, tmp_path, kind
):
    in_flight(model, url, tmp_path, kind)


def test_seeds_repeat_and_differ(model, url, tmp_path):
    with sampling(url, tmp_path, "file") as sampler:
        sampler.update(lambda: weights_of(model), 0)
        requests = [Request((7, 8), 12)] * 4
        first, again, other = (sampler.generate(requests, seed=seed) for seed in (3, 3, 4))
    assert [each.tokens for each in first] == [each.tokens for each in again]
    assert [each.tokens for each in first] != [each.tokens for each in other]
    assert len({each.tokens for each in first}) > 1


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated:FutureWarning")
def test_merged_adapters_are_what_is_sampled_from(model, url, tmp_path):
    peft = pytest.importorskip("peft")
    lora = peft.LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM")
    adapted = peft.get_peft_model(model, lora).eval()
    change(adapted)
    with sampling(url, tmp_path, "file") as sampler:
        sampler.update(lambda: weights_of(adapted), 0)
        gate(adapted, sampler, 0)


def without(pairs, name):
    return [(each, value) for each, value in pairs if each != name]


@pytest.mark.parametrize(
    "spoiled",
    [
        lambda pairs: without(pairs, "model.norm.weight"),
        lambda pairs: [*pairs, ("model.layers.7.mlp.up_proj.weight", torch.zeros(64, 64))],
        pytest.param(
            lambda pairs: [
                *without(pairs, "model.norm.weight"),
                ("model.norm.weight", torch.zeros(32)),
            ],
            marks=pytest.mark.skipif(
                bool(URL), reason="vLLM 0.32 refuses it too, but has to be started again then"
            ),
        ),
    ],
    ids=["missing", "unknown", "another shape"],
)
def test_weights_that_do_not_fit_are_refused_and_others_are_taken_after_that(
    model, url, tmp_path, spoiled
):
    with sampling(url, tmp_path, "file") as sampler:
        sampler.update(lambda: weights_of(model), 0)
        with pytest.raises(ServerError, match="stays paused"):
            sampler.update(lambda: spoiled(list(weights_of(model))), 1)
    change(model)
    with sampling(url, tmp_path, "file") as sampler:
        sampler.update(lambda: weights_of(model), 2)
        gate(model, sampler, 2)


def test_requests_under_way_end_when_an_update_fails(model, url, tmp_path):
    with sampling(url, tmp_path, "file") as sampler:
        sampler._ends = frozenset()
        sampler.update(lambda: weights_of(model), 0)
        for _ in range(8):  # until the server was not done before the update came
            with ThreadPoolExecutor(1) as pool:
                future = pool.submit(sampler.generate, [Request((7, n), 450) for n in range(8)])
                time.sleep(0.05)
                with pytest.raises(ServerError, match="stays paused"):
                    sampler.update(lambda: without(list(weights_of(model)), "model.norm.weight"), 1)
                error = future.exception(timeout=120)
            with pytest.raises(ConfigError, match="has not been given"):
                sampler.generate(REQUESTS)
            sampler.update(lambda: weights_of(model), 2)
            if error is not None:
                break
        assert isinstance(error, ServerError)
        assert "450 at most" in str(error)


def test_steps_out_of_order_are_refused(url, tmp_path):
    with sampling(url, tmp_path, "file") as sampler:
        client = sampler._client
        client.post("/init_weight_transfer_engine", {"init_info": {}})
        with pytest.raises(ServerError):
            client.post("/update_weights", {"update_info": {"path": str(tmp_path)}})
        with pytest.raises(ServerError):
            client.post("/finish_weight_update", {"weight_version": "x"})


def test_a_sampler_notices_that_another_run_has_changed_the_weights(model, url, tmp_path):
    with sampling(url, tmp_path / "a", "file") as mine:
        mine.update(lambda: weights_of(model), 5)
        with sampling(url, tmp_path / "b", "file") as other:
            other.update(lambda: weights_of(model), 5)
        with pytest.raises(ServerError, match="another run"):
            mine.generate(REQUESTS)
