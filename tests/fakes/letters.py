"""A chat of letters, and a sampler that answers by a script: rollouts without a model."""

from rlvr_envs.agents.grpo.sampling.sampler import Completion

END = 0


class Letters:
    """A chat whose tokens are letters: ``>`` begins what the model writes."""

    end_tokens = frozenset({END})
    pad_token = END

    def opening(self, prompt):
        return tuple(map(ord, f"{prompt}>"))

    def observation(self, text, *, finished):
        return (*(() if finished else (END,)), *map(ord, f"<{text}>"))

    def text(self, tokens):
        return "".join(chr(token) for token in tokens if token != END)


class Scripted:
    """Answers each request by a function of its text, and keeps the requests of each call."""

    def __init__(self, answer):
        self.answer = answer
        self.calls = []
        self.seeds = []

    def generate(self, requests, *, temperature=1.0, seed=0):
        self.calls.append(list(requests))
        self.seeds.append((temperature, seed))
        return [self.complete(request) for request in requests]

    def complete(self, request):
        tokens = (*map(ord, self.answer("".join(map(chr, request.prompt)))), END)
        tokens = tokens[: request.max_tokens]
        return Completion(tokens, tuple(-token / 7 for token in tokens), tokens[-1] == END)

    def update(self, weights, version):
        """Nothing is kept."""
