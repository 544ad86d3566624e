"""Lean's backend: what is sent, against a scripted stand-in that speaks the REPL's protocol."""

import sys

import pytest

from rlvr_envs.core.errors import DependencyError
from rlvr_envs.verifiers.proofs.backend import NUMBERS, Statement
from rlvr_envs.verifiers.proofs.kernel import ProofError
from rlvr_envs.verifiers.proofs.lean import LeanBackend, in_lean, theorem

SWAP = Statement("q ∧ p", (("h", "p ∧ q"),), atoms=("p", "q"))

# Answers each request of a list of pairs, and ends where another one comes.
STAND_IN = """
import json, sys
for wanted, answer in SCRIPT:
    request = json.loads(sys.stdin.readline())
    sys.stdin.readline()
    if wanted not in (request.get("cmd"), request.get("tactic")):
        break
    print(json.dumps(answer), end="\\n\\n", flush=True)
"""


def backend(*script):
    program = STAND_IN.replace("SCRIPT", repr(list(script)))
    return LeanBackend((sys.executable, "-c", program))


STATED = (theorem(SWAP), {"sorries": [{"proofState": 7}]})


def test_a_proof_that_both_accept():
    lean = backend(
        STATED,
        ("constructor", {"proofState": 8, "goals": ["q", "p"]}),
        ("exact h.2", {"proofState": 9, "goals": ["p"]}),
        ("exact h.1", {"proofState": 10, "goals": []}),
    )
    state = lean.start(SWAP)
    for tactic in ("split", "exact h.2", "exact h.1"):
        state = lean.apply(state, tactic)
    assert state.proved
    assert state.number == 10


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"message": "unknown identifier"}, "Lean says: unknown identifier"),
        (
            {"proofState": 8, "messages": [{"severity": "error", "data": "type mismatch"}]},
            "Lean says: type mismatch",
        ),
        ({"proofState": 8, "goals": ["q"]}, "Lean has goals left"),
    ],
)
def test_what_lean_refuses_is_no_proof(answer, told):
    lean = backend(STATED, ("exact ⟨ h.2 , h.1 ⟩", answer))
    with pytest.raises(ProofError, match=told):
        lean.apply(lean.start(SWAP), "exact ⟨h.2, h.1⟩")


def test_nothing_that_the_kernel_refuses_is_sent():
    lean = backend(STATED, ("exact ⟨ h.2 , h.1 ⟩", {"proofState": 8, "goals": []}))
    state = lean.start(SWAP)
    for tactic in ("simp", "run_tac foo", "exact foo", '#eval IO.println "x"', "sorry", "decide"):
        with pytest.raises(ProofError):
            lean.apply(state, tactic)
    assert lean.apply(state, "exact ⟨h.2, h.1⟩").proved  # the next that the stand-in has heard


def test_an_end_of_lean_is_told():
    lean = backend(STATED)
    state = lean.start(SWAP)
    with pytest.raises(ProofError, match="Lean has ended"):
        lean.apply(state, "constructor")


def test_a_missing_command_says_what_to_install():
    with pytest.raises(DependencyError, match=r"no-such-repl.*install Lean 4"):
        LeanBackend(("no-such-repl",))


@pytest.mark.parametrize(
    ("tactic", "written"),
    [
        ("cases h with a b", "rcases h with ⟨ a , b ⟩"),
        ("cases h with a | b", "rcases h with a | b"),
        ("rcases h with ⟨a, b⟩", "rcases h with ⟨ a , b ⟩"),
        ("induction n with m ih", "induction n with | zero => ?_ | S m ih => ?_"),
        (
            "induction n generalizing x y with m ih",
            "induction n generalizing x y with | zero => ?_ | S m ih => ?_",
        ),
        ("have k : p -> q", "have k : p → q := ?_"),
        ("have k := h.mp", "have k := h.mp"),
        ("by_contra h", "apply Classical.byContradiction; intro h"),
        ("rw [<- h a, k] at m", "rw [ ← h a , k ] at m"),
    ],
)
def test_tactics_are_written_for_core_lean(tactic, written):
    assert in_lean(tactic) == written


def test_statements_are_written_for_lean():
    assert theorem(SWAP) == "theorem given (p : Prop) (q : Prop) (h : p ∧ q) : q ∧ p := by sorry"
    text = theorem(Statement("∀ a b, f (a + b) = a", functions=(*NUMBERS, ("f", 1)), sort="ℕ"))
    assert text.startswith("inductive N where")
    assert "(f : N → N) (add_zero : ∀ (a : N), a + 0 = a)" in text
    assert text.endswith(": ∀ (a b : N), f (a + b) = a := by sorry")
    text = theorem(Statement("e * a = a", functions=(("*", 2), ("e", 0), ("a", 0)), sort="α"))
    assert text == "theorem given {α : Type} [Mul α] (e : α) (a : α) : e * a = a := by sorry"
