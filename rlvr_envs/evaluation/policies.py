"""The policies that come with the package, and how a policy is made from a text."""

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.core.seeding import Rng, integer, integers, pick, stream
from rlvr_envs.evaluation.policy import (
    Message,
    Policy,
    PolicyError,
    PolicyOptions,
    Request,
    Response,
    nth_action,
)


class OraclePolicy(Policy):
    """The task's own solver: the ceiling, and a check that the verifier agrees with it."""

    async def act(self, request: Request) -> Response:
        try:
            solution = await asyncio.to_thread(request.instance.solution)
        except Exception as error:  # the solver is the task's; its failure is no score
            raise PolicyError(f"the oracle failed: {type(error).__name__}: {error}") from error
        return Response(nth_action(solution, request.turn, "oracle"))


class RandomPolicy(Policy):
    """A random reply in the right format: the floor that guessing reaches.

    Draws a number, a list of numbers, or a word or number of the prompt.
    """

    async def act(self, request: Request) -> Response:
        instance = request.instance
        rng = stream(
            "random policy",
            instance.spec.id,
            instance.fingerprint(),
            request.seed,
            request.sample,
            request.turn,
        )
        label = instance.format_label
        guess = _guess(rng, request.messages[-1]["content"], as_json=label == "json")
        return Response(guess if instance.interactive else answer_format(label).wrap(guess))


def _guess(rng: Rng, prompt: str, *, as_json: bool) -> str:
    kind = int(rng.integers(4))
    if kind == 0:
        return str(integer(rng, 0, 20))
    if kind == 1:
        values = [str(v) for v in integers(rng, 0, 9, integer(rng, 2, 6))]
        return f"[{', '.join(values)}]" if as_json else ", ".join(values)
    words = [word.strip(".,:;?!()[]") for word in prompt.split()[:400]]
    if kind == 2:
        words = [word for word in words if word.isdecimal()]
    words = [word for word in words if word]
    word = pick(rng, words) if words else str(integer(rng, 0, 20))
    return json.dumps(word) if as_json and not word.isdecimal() else word


class ConstantPolicy(Policy):
    """The same answer to everything: shows what an answer that ignores the problem earns."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(name)
        self.text = text

    async def act(self, request: Request) -> Response:
        instance = request.instance
        if instance.interactive:
            return Response(self.text)
        return Response(answer_format(instance.format_label).wrap(self.text))


class FunctionPolicy(Policy):
    r"""Your own function from the chat messages to the next response, run in the event loop.

    Examples:
        >>> from rlvr_envs.evaluation import FunctionPolicy, evaluate
        >>> ones = FunctionPolicy("ones", lambda messages: r"\boxed{1}")
        >>> evaluate("rlvr/Gcd-v0", ones, difficulty=0, episodes=2).summary["overall"][0].statuses
        {'wrong': 2}
    """

    def __init__(self, name: str, function: Callable[[list[Message]], str]) -> None:
        super().__init__(name)
        self._function = function

    async def act(self, request: Request) -> Response:
        return Response(self._function([dict(message) for message in request.messages]))


class PolicyKinds:
    """The words that begin a policy's text."""

    plain: ClassVar[dict[str, type[Policy]]] = {"oracle": OraclePolicy, "random": RandomPolicy}
    valued: ClassVar[dict[str, str]] = {
        "constant": "constant:<text>",
        "recorded": "recorded:<file.jsonl>",
        "openai": "openai:<model>",
        "local": "local:<folder, file.gguf, hub name or smollm2>",
    }


def make_policy(spec: str, options: PolicyOptions | None = None) -> Policy:
    """Return the policy of a text such as ``oracle``, ``constant:7`` or ``openai:gpt-4o``.

    Raises:
        ConfigError: the text names no policy, or an option does not fit it.
        DependencyError: the policy needs a package that is missing.

    Examples:
        >>> from rlvr_envs.evaluation import PolicyOptions, make_policy
        >>> make_policy("constant:7").name
        'constant:7'
        >>> options = PolicyOptions(base_url="http://localhost:8000/v1", temperature=0.0)
        >>> make_policy("openai:my-model", options).name
        'openai:my-model'
    """
    return make_policies([spec], options)[0]


def make_policies(specs: Sequence[str], options: PolicyOptions | None = None) -> list[Policy]:
    """Return the policies of several texts, which share their options.

    Raises:
        ConfigError: a text names no policy, or an option fits none of them.
        DependencyError: a policy needs a package that is missing.
    """
    options = options or PolicyOptions()
    made = [_made(spec, options) for spec in specs]
    options.check_taken([spec.partition(":")[0] for spec in specs])
    return made


def _made(spec: str, options: PolicyOptions) -> Policy:
    kind, colon, value = spec.partition(":")
    if spec in PolicyKinds.plain:
        return PolicyKinds.plain[spec](spec)
    if kind in PolicyKinds.valued and not value and not (colon and kind == "constant"):
        raise ConfigError(f"the policy {spec!r} lacks its value: {PolicyKinds.valued[kind]}")
    if kind not in PolicyKinds.valued:
        known = [*PolicyKinds.plain, *PolicyKinds.valued.values()]
        hint = did_you_mean(kind, [*PolicyKinds.plain, *PolicyKinds.valued])
        raise ConfigError(f"no policy {spec!r}{hint} (known: {', '.join(known)})")
    if kind == "constant":
        return ConstantPolicy(spec, value)
    if kind == "recorded":
        from rlvr_envs.evaluation.recorded import RecordedPolicy

        return RecordedPolicy(spec, Path(value))
    if kind == "openai":
        from rlvr_envs.evaluation.endpoint import EndpointPolicy

        return EndpointPolicy(spec, value, options)
    from rlvr_envs.evaluation.local_model import LocalPolicy

    return LocalPolicy(spec, value, options)
