"""The engine in this process, on a real vLLM where one is installed beside this package.

pytest -W ignore tests/contract/test_vllm_colocate.py
"""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("vllm")

from contract.vllm_gates import CONTEXT, END, change, gate  # noqa: E402
from contract.vllm_models import make  # noqa: E402

from rlvr_envs.agents.grpo.sampling.vllm.colocate import VllmColocateSampler  # noqa: E402
from rlvr_envs.agents.grpo.sampling.weights import weights_of  # noqa: E402


def test_step_k_samples_from_version_k(tmp_path):
    torch.set_num_threads(1)
    model = make()
    model.save_pretrained(tmp_path)
    before = torch.get_rng_state()
    sampler = VllmColocateSampler(
        tmp_path,
        {END},
        context=CONTEXT,
        dtype="float32",
        sleeps=torch.cuda.is_available(),
        options={"enforce_eager": True},
    )
    assert torch.equal(before, torch.get_rng_state())
    for step in range(3):
        change(model)
        sampler.update(lambda: weights_of(model), step)
        for temperature in (1.0, 0.7, 0.0):
            gate(model, sampler, step, temperature)
            sampler.release()
