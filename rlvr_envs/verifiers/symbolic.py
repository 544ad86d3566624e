r"""Judging mathematical answers: the public entry of the math verifier.

`judge_math` takes an answer that was already found, `verify_math` a full response whose final
``\boxed{}`` counts. Golds are compiled once and cached. A gold that cannot be judged gives a
verdict of ``verifier_error``, never a silent zero; an answer that neither this reader nor the
isolated second reader can decide is not rewarded, and its verdict says so.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.verifiers.mathtext import fallback
from rlvr_envs.verifiers.mathtext.alternatives import alternatives
from rlvr_envs.verifiers.mathtext.calculus import derivative
from rlvr_envs.verifiers.mathtext.compare import Decision, same
from rlvr_envs.verifiers.mathtext.congruences import family, residues
from rlvr_envs.verifiers.mathtext.forms import assignment, is_worked_out, settle, without_rounding
from rlvr_envs.verifiers.mathtext.gold import CompiledGold, compile_gold
from rlvr_envs.verifiers.mathtext.identity import same as same_expression
from rlvr_envs.verifiers.mathtext.nodes import symbols
from rlvr_envs.verifiers.mathtext.normalise import drop_modulus, loose_spelling, plain_words
from rlvr_envs.verifiers.mathtext.reader import (
    read,
    read_as_decimal,
    read_as_list,
    read_choice,
    read_declared_choice,
    without_label,
)
from rlvr_envs.verifiers.mathtext.regions import INEQUALITIES
from rlvr_envs.verifiers.mathtext.values import Chain, Choice, Listing, Opaque, Scalar, Text, Value

__all__ = [
    "CompiledGold",
    "compile_gold",
    "judge_antiderivative",
    "judge_math",
    "verify_math",
    "verify_math_batch",
]

MAX_ANSWER = 2_000  # characters; a longer answer counts only where the gold is as long

# Whatever an answer provokes in the reader ends as a verdict.
_READING_ERRORS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
_REMARK = re.compile(
    r"(?:\\q?quad|\\[ ,;:!]|[\s,;(])*\\text\s*+\{[\s,;(]*+(?:where|for|with|if)(?![A-Za-z]).*"
    r"|(?:\\q?quad|\\[ ,;:!]|[\s,;])*\(\s*+C\s*+\\in(?![A-Za-z]).*",
    re.DOTALL,
)
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_STAGES = {"spelling": 1.0, "number": 2.0, "typed": 3.0, "second reader": 4.0}


_HOW = {
    "spelling": "compared letter by letter",
    "number": "compared as numbers",
    "typed": "compared by value",
    "second reader": "compared by the second reader",
}
_BY_STAGE = {
    (decision, stage): (
        Verdict.correct(f"the answer is right ({_HOW[stage]})", stage=code)
        if decision
        else Verdict.wrong(f"the answer was read and is not right ({_HOW[stage]})", stage=code)
    )
    for decision in (True, False)
    for stage, code in _STAGES.items()
}


def verify_math(
    gold: str,
    response: str,
    *,
    answer_type: str | None = None,
    rel_tol: float | None = None,
    rounded: bool = False,
) -> Verdict:
    r"""Judge a full response by its final ``\boxed{}`` answer.

    Args:
        gold: the right answer.
        response: everything the model wrote.
        answer_type: what kind of answer the gold is; read from the gold when None.
        rel_tol: a relative tolerance for numbers, on top of the exact policy.
        rounded: whether a decimal gold stands for all numbers that round to it.

    Raises:
        ConfigError: the answer type is unknown or the tolerance out of range.
    """
    compiled = compile_gold(gold, answer_type=answer_type, rounded=rounded)
    found = answer_format("boxed").extract(response)
    if found.answer is None:
        check_tolerance(rel_tol)
        if not compiled.verifiable:
            return _unverifiable(compiled)
        return Verdict.unparsable(found.reason)
    return judge_math(compiled, found.answer, rel_tol=rel_tol)


def verify_math_batch(
    golds: Sequence[str],
    responses: Sequence[str],
    *,
    answer_type: str | None = None,
    rel_tol: float | None = None,
    rounded: bool = False,
) -> list[Verdict]:
    """Judge many responses; the verdicts are those of `verify_math`, in order.

    Raises:
        ConfigError: the two lists differ in length, or an argument is out of range.
    """
    if len(golds) != len(responses):
        raise ConfigError(f"{len(golds)} golds do not fit {len(responses)} responses")
    return [
        verify_math(gold, response, answer_type=answer_type, rel_tol=rel_tol, rounded=rounded)
        for gold, response in zip(golds, responses, strict=True)
    ]


def judge_math(
    gold: str | CompiledGold,
    answer: str,
    *,
    answer_type: str | None = None,
    rel_tol: float | None = None,
    rounded: bool = False,
    exact: bool = False,
) -> Verdict:
    """Judge an answer that was already taken out of its response.

    Args:
        gold: the right answer.
        answer: what the model answered.
        answer_type: what kind of answer the gold is; read from the gold when None.
        rel_tol: a relative tolerance for numbers, on top of the exact policy.
        rounded: whether a decimal gold stands for all numbers that round to it.
        exact: whether a decimal answer stands for itself alone, and never for an exact number such
            as the square root of 2 that rounds to it.

    Raises:
        ConfigError: the answer type is unknown or the tolerance out of range.
    """
    compiled = (
        gold
        if isinstance(gold, CompiledGold)
        else compile_gold(gold, answer_type=answer_type, rounded=rounded)
    )
    check_tolerance(rel_tol)
    if not compiled.verifiable:
        return _unverifiable(compiled)
    answer = answer.strip()
    if answer == compiled.text:
        return _BY_STAGE[True, "spelling"]
    if compiled.integer is not None and rel_tol is None and _INTEGER.fullmatch(answer):
        return _BY_STAGE[int(answer) == compiled.integer, "number"]
    if not answer or len(answer) > max(MAX_ANSWER, 2 * len(compiled.text)):
        return Verdict.unparsable(f"the answer is empty or longer than {MAX_ANSWER} characters")
    policy = _Policy(rel_tol, exact)
    ruling = _rule(compiled, answer, policy)
    if ruling is not None and ruling.score:
        return ruling
    right = _right_in_other_words(compiled, answer, policy)
    return right or ruling or _ask_again(compiled, answer, policy)


@dataclass(frozen=True, slots=True)
class _Policy:
    """How numbers are compared."""

    rel_tol: float | None
    exact: bool

    def settle(self, value: Value) -> Value:
        """Return an answer in the form in which it is compared."""
        return without_rounding(settle(value)) if self.exact else settle(value)


def check_tolerance(rel_tol: float | None) -> None:
    """Refuse a tolerance that is not a number from 0 up to 1.

    Raises:
        ConfigError: it is out of range.
    """
    if rel_tol is not None and not 0.0 <= rel_tol < 1.0:
        raise ConfigError(f"rel_tol must be None or in [0, 1), got {rel_tol!r}")


def _unverifiable(gold: CompiledGold) -> Verdict:
    return Verdict.verifier_error(f"the gold answer cannot be judged: {gold.reason}")


def _undecided(reason: str) -> Verdict:
    return Verdict.undecided(f"not rewarded, since it was not decided: {reason}")


def _right_in_other_words(gold: CompiledGold, answer: str, policy: _Policy) -> Verdict | None:
    """Return the verdict on the first other spelling of an answer that is right, or None."""
    for other in alternatives(gold.text, answer):
        ruling = _rule(gold, other, policy)
        if ruling is not None and ruling.score:
            return ruling
    return None


def _rule(gold: CompiledGold, answer: str, policy: _Policy) -> Verdict | None:
    """Decide in this process; None if the second reader is worth asking."""
    try:
        decided = _rule_words(gold, answer)
        if decided is None and ("mod" in gold.text or "equiv" in gold.text):
            decided = _rule_residues(gold, answer)
        if decided is None:
            if "mod" not in gold.text:
                answer = drop_modulus(answer)
            return _rule_labelled(gold, answer, policy)
    except _READING_ERRORS:
        return _undecided("it is too large or too deep to compare")
    return _BY_STAGE[decided, "typed"]


def _rule_labelled(gold: CompiledGold, answer: str, policy: _Policy) -> Verdict | None:
    """Judge an answer to a declared gold once more without what it is called, if need be."""
    ruling = _rule_typed(gold, answer, policy.settle(read(answer)), policy)
    if not gold.declared or gold.answer_type == "equation" or (ruling and ruling.score):
        return ruling
    known = symbols(gold.value.expr) if isinstance(gold.value, Scalar) else frozenset[str]()
    bare = without_label(answer, known)
    if bare is None:
        return ruling
    return _rule_typed(gold, bare, policy.settle(read(bare)), policy)


def _rule_words(gold: CompiledGold, answer: str) -> bool | None:
    """Decide a choice or a text; None when the answer must be read as mathematics."""
    if isinstance(gold.value, Choice):
        if gold.declared:
            return read_declared_choice(answer) == gold.value.letter
        letter = read_choice(answer, with_text=True)
        if letter is not None:
            return letter == gold.value.letter
    if isinstance(gold.value, Text):
        if same(gold.value, Text(plain_words(answer))):
            return True
        return False if gold.declared else None
    return None


def _rule_residues(gold: CompiledGold, answer: str) -> bool | None:
    """Compare residues; None where the gold or the answer names none."""
    mine, theirs = residues(gold.text), residues(answer) or family(answer)
    return None if mine is None or theirs is None else mine == theirs


def _rule_typed(gold: CompiledGold, answer: str, value: Value, policy: _Policy) -> Verdict | None:
    if gold.declared and not is_worked_out(value, gold.answer_type, gold.value):
        return Verdict.wrong("the answer is not in the form that its type asks for", stage=3.0)
    decision = _best(gold, answer, value, policy)
    if decision is not None:
        return _BY_STAGE[decision, "typed"]
    spelled = isinstance(gold.value, Opaque | Text)
    if spelled and loose_spelling(answer) == loose_spelling(gold.text):
        return _BY_STAGE[True, "spelling"]
    if isinstance(gold.value, Text | Choice):
        return _BY_STAGE[False, "typed"]
    return _leave_open(gold, value)


def _leave_open(gold: CompiledGold, value: Value) -> Verdict | None:
    """Return None if a second reader may know more, else the verdict that nothing was decided."""
    if isinstance(value, Opaque) and value.final:
        return _undecided("it is too large or too deep to compare")
    if not isinstance(value, Opaque) and not isinstance(gold.value, Opaque):
        return _undecided("both sides were read, but not enough could be computed")
    return _undecided("it could not be read") if _is_settled_here(gold) else None


def _best(gold: CompiledGold, answer: str, value: Value, policy: _Policy) -> Decision:
    """Compare under each reading of commas that the texts allow."""
    rel_tol = policy.rel_tol
    decision = same(gold.value, value, rel_tol)
    if decision:
        return True
    other = None
    if isinstance(gold.value, Listing) and isinstance(value, Scalar):
        other = read_as_list(answer)
    elif isinstance(gold.value, Scalar) and isinstance(value, Listing):
        other = read_as_decimal(answer) if gold.answer_type == "real" else None
    if other is None:
        return decision
    return same(gold.value, policy.settle(other), rel_tol) or decision


def _is_settled_here(gold: CompiledGold) -> bool:
    """Whether a second reader could only do harm: it would compute what was left to compute."""
    return gold.hopeless or (gold.declared and gold.answer_type not in ("expression", "equation"))


def _ask_again(gold: CompiledGold, answer: str, policy: _Policy) -> Verdict:
    if policy.exact:  # the second reader compares numbers up to a tolerance
        return _undecided("it could not be read")
    opinion = fallback.second_opinion(gold.text, answer)
    if opinion.fault:
        return Verdict.verifier_error(opinion.fault)
    if opinion.timed_out:
        return Verdict.timeout("judging the answer took longer than any honest answer needs")
    if opinion.equal is None:
        return _undecided("it could not be read as mathematics")
    return _BY_STAGE[opinion.equal, "second reader"]


def judge_antiderivative(integrand: str, answer: str, variable: str = "x") -> Verdict:
    """Judge an antiderivative by differentiating it; any constant of integration is accepted.

    Raises:
        ConfigError: the integrand is no expression that this verifier reads.
    """
    target = _integrand(integrand)
    answer = answer.strip()
    if not answer or len(answer) > MAX_ANSWER:
        return Verdict.unparsable("the answer is empty or too long")
    try:
        value = _antiderivative(answer, variable)
        if not isinstance(value, Scalar) or value.unit:
            return Verdict.unparsable("the answer is not an expression")
        slope = derivative(value.expr, variable)
        decision = None if slope is None else same_expression(target.expr, slope)
    except _READING_ERRORS:
        decision = None
    if decision is None:
        return _undecided("its derivative could not be compared with the integrand")
    return _BY_STAGE[decision, "typed"]


def _antiderivative(answer: str, variable: str) -> Value:
    """Read an answer without its name and without remarks on the variable and the constant."""
    answer = _REMARK.sub("", answer)
    bare = without_label(answer, frozenset((variable,)))
    value = settle(read(answer if bare is None else bare))
    if isinstance(value, Listing) and all(_is_remark(item) for item in value.items[1:]):
        value = value.items[0]
    named = assignment(value)
    return value if named is None else named.value


def _is_remark(value: Value) -> bool:
    """Whether a clause such as ``x > 0`` says only where an expression holds."""
    return isinstance(value, Chain) and value.relations[0] in (*INEQUALITIES, "in")


@lru_cache(maxsize=1024)
def _integrand(text: str) -> Scalar:
    value = read(text)
    if not isinstance(value, Scalar):
        raise ConfigError(f"the integrand {text!r} is not an expression that can be read")
    return value
