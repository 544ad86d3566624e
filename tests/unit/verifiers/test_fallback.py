"""The second reader: when it is asked, and what its failures become."""

import pytest

from rlvr_envs.core.errors import WorkerDied, WorkerKilled, WorkerMemory, WorkerTimeout
from rlvr_envs.core.verdict import Status
from rlvr_envs.verifiers.mathtext import fallback
from rlvr_envs.verifiers.symbolic import judge_math

SUM, CLOSED = r"\sum_{k=1}^{n} k", r"\frac{n(n+1)}{2}"


def answering(monkeypatch: pytest.MonkeyPatch, *replies: object) -> list[tuple[str, str]]:
    """Replace the worker by canned replies; the last one repeats. Returns the questions asked."""
    asked: list[tuple[str, str]] = []

    def ask(gold: str, answer: str, share: float = 1.0) -> object:
        asked.append((gold, answer))
        reply = replies[min(len(asked), len(replies)) - 1]
        if isinstance(reply, Exception):
            raise reply
        return reply

    monkeypatch.setattr(fallback, "_ask", ask)
    return asked


@pytest.mark.parametrize(
    ("replies", "status"),
    [
        ((True,), Status.CORRECT),
        ((False,), Status.WRONG),
        ((None,), Status.UNDECIDED),
        ((WorkerTimeout("long"), False), Status.TIMEOUT),
        ((WorkerTimeout("long"), WorkerDied("gone")), Status.TIMEOUT),
        ((WorkerMemory("full"), False), Status.UNDECIDED),
        ((WorkerTimeout("long"), WorkerTimeout("long")), Status.VERIFIER_ERROR),
        ((WorkerTimeout("long"), WorkerMemory("full")), Status.VERIFIER_ERROR),
        ((WorkerTimeout("long"), WorkerKilled("gone")), Status.VERIFIER_ERROR),
        ((WorkerMemory("full"), WorkerMemory("full")), Status.VERIFIER_ERROR),
        ((WorkerKilled("gone"), True), Status.VERIFIER_ERROR),
        ((WorkerDied("gone"),), Status.VERIFIER_ERROR),
        ((WorkerDied("gone"), True), Status.UNDECIDED),
    ],
)
def test_what_the_worker_says_becomes_a_verdict(
    monkeypatch: pytest.MonkeyPatch, replies: tuple[object, ...], status: Status
) -> None:
    asked = answering(monkeypatch, *replies)
    assert judge_math(SUM, CLOSED).status is status
    assert asked[0] == (SUM, CLOSED)


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        (SUM, r"\neq 5"),
        (SUM, "n = m = 5 \\sum"),
        (SUM, r"\text{about } \sum"),
        (SUM, "9^{9^{9}} \\sum"),
        (SUM, "x" * 500 + "\\sum"),
        (SUM, "__import__('os')"),
        ("5", SUM),
        ("5", r"\int_0^5 1 dx"),
        (r"\frac{1}{2}", r"\lim_{x \to 0} x"),
    ],
)
def test_an_unsuitable_answer_is_never_sent(
    monkeypatch: pytest.MonkeyPatch, gold: str, answer: str
) -> None:
    asked = answering(monkeypatch, True)
    verdict = judge_math(gold, answer)
    assert asked == []
    assert verdict.score == 0.0


def test_a_declared_number_is_never_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answering(monkeypatch, True)
    assert judge_math("5", r"\Gamma(4)", answer_type="integer").score == 0.0
    assert asked == []


def test_a_worker_judges_sums() -> None:
    assert judge_math(SUM, CLOSED).score == 1.0
    assert judge_math(SUM, r"\frac{n(n-1)}{2}").score == 0.0


HEAVY = r"\sum_{k=1}^{\infty} \frac{\sin(k)}{k^3+k+1}"  # sympy takes more than 10 s
LIGHT = r"\sum_{k=1}^{n} k + \int_0^1 x dx"


def test_an_answer_that_takes_too_long_is_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallback, "CPU_S", 1.0)
    verdict = judge_math(LIGHT, HEAVY)
    assert (verdict.status, verdict.scored) == (Status.TIMEOUT, True)


def test_a_gold_that_takes_too_long_is_not_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallback, "CPU_S", 1.0)
    verdict = judge_math(HEAVY, "1")
    assert (verdict.status, verdict.scored) == (Status.VERIFIER_ERROR, False)
    assert "gold" in verdict.detail


def test_nothing_that_took_too_long_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallback, "CPU_S", 0.001)
    assert judge_math(SUM, CLOSED).status in (Status.TIMEOUT, Status.VERIFIER_ERROR)
    monkeypatch.undo()
    assert judge_math(SUM, CLOSED).score == 1.0


def test_a_right_answer_that_takes_some_work_is_right() -> None:
    gold = r"\int_0^{\pi} \frac{x \sin(x)}{1+\cos^2(x)} dx"
    assert judge_math(gold, r"\frac{\pi^2}{4}").score == 1.0


@pytest.mark.parametrize(
    ("gold", "answer", "equal"),
    [
        (r"\sum_{k=1}^{4} k", "10", True),
        (r"\sum_{k=1}^{4} (-k)", "-10", True),
        (r"\sum_{k=1}^{4} k", "-10", False),
        (r"\sum_{k=1}^{4} k", "11", False),
        (r"\sum_{k=1}^{4} (k-k)", "0", True),
        (r"3+\sqrt{-4}", r"3+2\sqrt{-1}", True),
        (r"3+\sqrt{-4}", r"3-2\sqrt{-1}", False),
        ("2", r"\{2\}", True),  # a set is no number that could be close
    ],
)
def test_the_worker_compares_numbers_by_their_difference(
    gold: str, answer: str, equal: bool
) -> None:
    assert fallback.equal_by_sympy(gold, answer) is equal


def test_the_worker_calls_no_two_tiny_numbers_equal() -> None:
    assert fallback.equal_by_sympy(r"\frac{1}{2^{99}}", r"\frac{1}{2^{98}}") is False
    assert fallback.equal_by_sympy("x+y", "y+x") is True
    assert fallback.equal_by_sympy("x", "x +") is None
