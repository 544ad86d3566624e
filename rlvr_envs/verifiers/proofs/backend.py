"""What plays a proof: a statement, the states between tactics, and who checks them.

`KernelBackend` is the package's own, by the tactics and the kernel beside this. Another prover fits
behind the same protocol, `ProofBackend`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rlvr_envs.verifiers.proofs import kernel
from rlvr_envs.verifiers.proofs.kernel import CLASSICAL, INDUCTION, Expr, ProofError
from rlvr_envs.verifiers.proofs.notation import Signature, is_name, read_formula, show
from rlvr_envs.verifiers.proofs.tactics import MOST_GOALS, Goal, Justify, Tactics

MOST_STEPS = 2_000  # of a proof
_SHOWN_GOALS = 8

# What defines the natural numbers, beside induction.
PEANO = {
    "add_zero": "∀ a, a + 0 = a",
    "add_succ": "∀ a b, a + S b = S (a + b)",
    "mul_zero": "∀ a, a * 0 = 0",
    "mul_succ": "∀ a b, a * S b = a * b + a",
    "succ_inj": "∀ a b, S a = S b → a = b",
    "zero_ne_succ": "∀ a, 0 ≠ S a",
}
NUMBERS = (("0", 0), ("S", 1), ("+", 2), ("*", 2))

Named = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """What is to be proved, as text.

    Attributes:
        goal: the formula to prove.
        hypotheses: what is assumed, by name.
        facts: lemmas that may be used, by name; of ``ℕ`` the definitions too.
        atoms: the propositions.
        variables: individuals at hand.
        functions: the function symbols and how many arguments each takes.
        sort: ``ℕ``, ``α``, or nothing where there are no individuals.
    """

    goal: str
    hypotheses: Named = ()
    facts: Named = ()
    atoms: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    functions: tuple[tuple[str, int], ...] = ()
    sort: str = ""

    def signature(self) -> Signature:
        """Return the names that it uses."""
        return Signature(dict(self.functions), frozenset(self.atoms), self.sort)


@dataclass(frozen=True, slots=True)
class State:
    """Where a proof stands.

    Attributes:
        goals: what is left to prove; the first is worked on.
        text: the goals, as they are shown.
        steps: how the kernel is to follow, from the first tactic on.
        proved: whether the kernel has made the theorem.
    """

    goals: tuple[Goal, ...]
    text: str
    steps: tuple[tuple[int, int, Justify], ...] = field(default=(), repr=False)
    proved: bool = False


class ProofBackend(Protocol):
    """Who starts proofs and applies tactics to them."""

    def start(self, statement: Statement) -> State:
        """Return the state before the first tactic."""

    def apply(self, state: State, tactic: str, case: str = "") -> State:
        """Return the state after a tactic.

        Args:
            state: the state before it.
            tactic: one tactic.
            case: the goal to work on, by the name of its case; the first one without it.

        Raises:
            ProofError: the tactic does not apply; the message says why.
        """


class KernelBackend:
    """Proofs of one statement, checked by the package's own kernel."""

    @property
    def facts(self) -> Mapping[str, Expr]:
        """The lemmas and axioms of the statement."""
        return self._tactics.facts

    def start(self, statement: Statement) -> State:
        """Return the state before the first tactic.

        Raises:
            ProofError: the statement cannot be read.
        """
        signature, variables = statement.signature(), statement.variables
        axioms = PEANO if statement.sort == "ℕ" else {}
        known = (*axioms.items(), *statement.facts)
        names = [name for name, _ in (*known, *statement.hypotheses)]
        names += [*variables, *signature.names.difference("0S+*")]
        if len(set(names)) < len(names) or not all(map(is_name, names)):
            raise ProofError("a name of the statement is taken twice, or is none")
        facts = {name: read_formula(text, signature) for name, text in known}
        hypotheses = {n: read_formula(t, signature, variables) for n, t in statement.hypotheses}
        goal = Goal(variables, hypotheses, read_formula(statement.goal, signature, variables))
        self._goal = goal
        self._tactics = Tactics(signature, facts)
        self._given = frozenset({*facts.values(), *hypotheses.values()})
        self._principles = frozenset(
            (CLASSICAL, INDUCTION) if statement.sort == "ℕ" else (CLASSICAL,)
        )
        return State((goal,), shown((goal,), signature))

    def apply(self, state: State, tactic: str, case: str = "") -> State:
        """Return the state after a tactic; the last one is followed by the kernel's own check."""
        if not state.goals:
            raise ProofError("there are no goals left")
        if len(state.steps) >= MOST_STEPS:
            raise ProofError(f"a proof has at most {MOST_STEPS:,} steps")
        at = 0
        if case:
            cases = [goal.case for goal in state.goals]
            if case not in cases:
                raise ProofError(f"no goal is the case {case:.60}")
            at = cases.index(case)
        move = self._tactics.run(state.goals[at], tactic)
        goals = (*move.goals, *state.goals[:at], *state.goals[at + 1 :])
        if len(goals) > MOST_GOALS:
            raise ProofError(f"there are at most {MOST_GOALS} goals at a time")
        steps = (*state.steps, (at, len(move.goals), move.justify))
        if not goals:
            self._check(steps)
        return State(goals, shown(goals, self._tactics.signature), steps, not goals)

    def _check(self, steps: Sequence[tuple[int, int, Justify]]) -> None:
        theorems = list[kernel.Theorem]()
        for at, count, justify in reversed(steps):
            made = justify(theorems[:count])
            rest = theorems[count:]
            theorems = [*rest[:at], made, *rest[at:]]
        (theorem,) = theorems
        if not kernel.settles(theorem, self._goal.target, self._given, self._principles):
            raise ProofError("the kernel does not accept the proof")


def shown(goals: Sequence[Goal], signature: Signature) -> str:
    """Return goals as Lean shows them."""
    if not goals:
        return "No goals."
    texts = [f"{len(goals)} goals"] if len(goals) > 1 else []
    texts += [_shown(goal, signature) for goal in goals[:_SHOWN_GOALS]]
    if len(goals) > _SHOWN_GOALS:
        texts.append(f"and {len(goals) - _SHOWN_GOALS} more")
    return "\n\n".join(texts)


def _shown(goal: Goal, signature: Signature) -> str:
    taken = signature.names.union(goal.variables)
    lines = [f"case {goal.case}"] if goal.case else []
    if goal.variables:
        lines.append(f"{' '.join(goal.variables)} : {signature.sort}")
    lines += listed(goal.hypotheses, taken)
    return "\n".join([*lines, f"⊢ {show(goal.target, taken)}"])


def listed(formulas: Mapping[str, Expr], taken: Iterable[str]) -> list[str]:
    """Return formulas with their names, one on a line."""
    return [f"{name} : {show(formula, taken)}" for name, formula in formulas.items()]
