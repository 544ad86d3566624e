"""What a server has to do for training: gates that raise AssertionError or an error of ours.

They are passed by a real vLLM and by the fake, and by no server with a fault.
"""

import threading
from contextlib import contextmanager

import torch

from rlvr_envs.agents.grpo.sampling.sampler import Request, version_of_each
from rlvr_envs.agents.grpo.sampling.vllm.client import VllmClient
from rlvr_envs.agents.grpo.sampling.vllm.server import VllmSampler
from rlvr_envs.agents.grpo.sampling.vllm.transport import named
from rlvr_envs.agents.grpo.sampling.weights import weights_of

END, CONTEXT = 1, 512
TOLERANCE = 1e-5

# A group, whose prompt is longer than a block of vLLM's prefix cache (128 tokens on a CPU), others
# with a part of it, and one token.
LONG = tuple(range(3, 63)) * 3
REQUESTS = [Request(LONG, 20)] * 3 + [
    Request(LONG[:150], 5),
    Request((9, 4), 30),
    Request((5,), 12),
]


@contextmanager
def sampling(url, folder, kind, **options):
    """Yield a sampler on a server, with a transport of the kind."""
    client = VllmClient(url, attempts=2, first_wait_s=0.01, timeout_s=60)
    try:
        yield VllmSampler(client, {END}, transport=named(kind, client, folder), **options)
    finally:
        client.close()


def change(model, amount=0.01):
    """Change the weights as an update does."""
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(amount * torch.randn_like(weight))


def logps_of(model, prompt, tokens, temperature=1.0):
    """The trainer's log-probabilities of tokens after a prompt."""
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([(*prompt, *tokens)])).logits
    scores = (logits[0, len(prompt) - 1 : -1] / (temperature or 1.0)).log_softmax(-1)
    return scores.gather(1, torch.tensor(tokens)[:, None])[:, 0]


def gate(model, sampler, version, temperature=1.0):
    """The samples are of this version, and as likely as the trainer says."""
    found = sampler.generate(REQUESTS, temperature=temperature, seed=version)
    for request, each in zip(REQUESTS, found, strict=True):
        assert version_of_each(each.versions, len(each.tokens)) == [version] * len(each.tokens)
        wanted = logps_of(model, request.prompt, each.tokens, temperature)
        gap = (wanted - torch.tensor(each.logps)).abs().max().item()
        assert gap < TOLERANCE, f"version {version}: log-probabilities differ by {gap}"
        assert each.finished == (each.tokens[-1] == END)
    return found


def training(model, url, folder, kind, steps=3):
    """A loop that updates and samples, and is resumed after that by another process."""
    with sampling(url, folder, kind) as sampler:
        sampler.check(CONTEXT)
        for step in range(steps):
            sampler.update(lambda: weights_of(model), step)
            for temperature in (1.0, 0.7, 0.0):
                gate(model, sampler, step, temperature)
            change(model)
    with sampling(url, folder, kind) as sampler:
        sampler.update(lambda: weights_of(model), steps)
        gate(model, sampler, steps)


def in_flight(model, url, folder, kind):
    """Requests under way while an update comes say which token is of which version."""
    requests = [Request((7, n), 450) for n in range(10, 18)]
    with sampling(url, folder, kind) as sampler:
        sampler._ends = frozenset()
        sampler.update(lambda: weights_of(model), 0)
        for version in range(1, 9):  # how fast a server is does not matter, so try some delays
            found = []
            thread = threading.Thread(
                target=lambda seed, found: found.extend(sampler.generate(requests, seed=seed)),
                args=(version, found),
            )
            before = state_of(model)
            thread.start()
            thread.join(0.05 * version)
            change(model)
            sampler.update(lambda: weights_of(model), version)
            thread.join()
            assert len(found) == len(requests)
            if any(len(each.versions) == 2 for each in found):
                break
        else:
            raise AssertionError("no request was under way when an update came")
    after = state_of(model)
    try:
        for number, weights in ((version - 1, before), (version, after)):
            model.load_state_dict(weights)
            for request, each in zip(requests, found, strict=True):
                own = torch.tensor(version_of_each(each.versions, 450)) == number
                wanted = logps_of(model, request.prompt, each.tokens)
                gaps = (wanted - torch.tensor(each.logps)).abs()[own]
                assert (gaps < TOLERANCE).all(), f"version {number}: {gaps.max()}"
    finally:
        model.load_state_dict(after)


def state_of(model):
    return {name: value.clone() for name, value in model.state_dict().items()}
