"""A second opinion from math-verify's LaTeX grammar and sympy, in an isolated worker process.

Asked only about short LaTeX that this package's own reader does not know, such as sums and
integrals. The worker has a limit of CPU time and one of memory. In the worker the text meets only
the ANTLR grammar, which must consume all of it: no text is ever handed to sympy's own parser,
which evaluates Python.
"""

import re
from dataclasses import dataclass
from typing import Any

from rlvr_envs.core.errors import RlvrEnvsError, WorkerKilled, WorkerMemory, WorkerTimeout

WORKER_PRELOAD = ("math_verify", "latex2sympy2_extended")

MAX_CHARACTERS = 400
# Right answers to sums and integrals take up to 1.8 s: see docs/math_verifier.md.
CPU_S = 5.0
_GOLD_SHARE = 0.5

_CHILD = "rlvr_envs.verifiers.mathtext.fallback:equal_by_sympy"
# What the other grammar reads only in part, or reads as something else.
_REFUSED = re.compile(
    r"\\neq?(?![A-Za-z])|!=|\\not|=[^=]*=|\\text|\\mbox|\\boxed|\\forall|\\exists|\\le?ft?arrow"
    r"|(?<![\\A-Za-z])[A-Za-z]{4,}|[0-9]\.[0-9]|[@;\"'\x00-\x08]"
)
_INDEXED = re.compile(r"[_^]\s*+\{[^{}]*+\}")  # k=0 under a sum is no relation
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*+\{[a-z]+\*?\}")
# Restating the question is no answer: these must stand in the gold too.
_UNEVALUATED = re.compile(r"\\(?:int|sum|prod|lim|oint|iint|det|frac\{d|bigcup|mod)")
# What grows faster than any limit is worth.
_EXPLOSIVE = re.compile(r"\^[\s{(]*+[^{}^]{0,20}\^|!|binom|choose|[0-9]{30}|\^[\s{(]*+[0-9]{4}")
_FAILED = "the isolated reader failed before it judged the answer"
_TOLERANCE = 1e-9  # relative, for numbers: the other grader calls any two tiny numbers equal


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the worker said; ``equal`` is None when it could not tell.

    ``fault`` says why the answer must not be scored: the machine or the gold is to blame.
    """

    equal: bool | None = None
    timed_out: bool = False
    fault: str = ""


def second_opinion(gold: str, answer: str) -> Opinion:
    """Return what an isolated sympy thinks of two LaTeX texts."""
    if not _is_suitable(gold, answer):
        return Opinion()
    try:
        equal = _ask(gold, answer)
    except (WorkerTimeout, WorkerMemory) as limit:
        if not _is_light(gold):
            return Opinion(fault="the gold answer alone takes too long to read")
        return Opinion(timed_out=isinstance(limit, WorkerTimeout))
    except WorkerKilled:
        return Opinion(fault=_FAILED)
    except RlvrEnvsError:
        return Opinion(fault="" if _is_healthy() else _FAILED)
    return Opinion(equal if isinstance(equal, bool) else None)


def _is_suitable(gold: str, answer: str) -> bool:
    for text in (gold, answer):
        if len(text) > MAX_CHARACTERS or _EXPLOSIVE.search(text):
            return False
        if _REFUSED.search(_ENVIRONMENT.sub(" ", _INDEXED.sub("_1 ", text))):
            return False
    return set(_UNEVALUATED.findall(answer)) <= set(_UNEVALUATED.findall(gold))


def _ask(gold: str, answer: str, share: float = 1.0) -> object:
    from rlvr_envs.core.workers import shared_pool  # no pool is started before it is needed

    return shared_pool().call(_CHILD, gold, answer, cpu_s=share * CPU_S)


def _is_light(gold: str) -> bool:
    """Tell an answer that takes too much from a gold that does so beside any answer.

    The gold has half of the limit, so that the other half is the answer's.
    """
    try:
        _ask(gold, gold, _GOLD_SHARE)
    except (WorkerTimeout, WorkerMemory, WorkerKilled):
        return False
    except RlvrEnvsError:
        return True
    return True


def _is_healthy() -> bool:
    """Tell an answer that breaks its worker from a machine where no worker can run."""
    try:
        return _ask("x+1", "1+x") is True
    except RlvrEnvsError:
        return False


def equal_by_sympy(gold: str, answer: str) -> bool | None:
    """Return whether two LaTeX texts are equal mathematics; runs in the worker only."""
    left, right = _parse(gold), _parse(answer)
    if left is None or right is None:
        return None
    from math_verify import verify

    equal = bool(verify(left, right, timeout_seconds=None, allow_set_relation_comp=True))
    return equal and _close_numbers(left, right)


def _parse(text: str) -> Any | None:
    from latex2sympy2_extended import NormalizationConfig, latex2sympy

    try:
        return latex2sympy(
            text.replace("$", " "),
            is_real="i" not in text,
            normalization_config=NormalizationConfig(boxed="none"),
        )
    except Exception:  # noqa: BLE001 - the grammar raises bare Exception for any syntax error
        return None


def _close_numbers(left: Any, right: Any) -> bool:
    """Whether two numbers are close relatively; true of anything that is no number."""
    if getattr(left, "is_number", False) and getattr(right, "is_number", False):
        one, two = complex(left), complex(right)
        return abs(one - two) <= _TOLERANCE * max(abs(one), abs(two))
    return True
