"""Proof steps: prove a theorem by tactics, and see the goals after each message."""

from collections.abc import Sequence
from dataclasses import dataclass

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import InteractiveTask, Reply
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.proofs.equations import (
    draw_given,
    draw_group,
    draw_numbers,
    draw_recursion,
)
from rlvr_envs.generators.proofs.propositional import Shape, draw_sequent
from rlvr_envs.generators.proofs.statements import Proved
from rlvr_envs.verifiers.proofs.backend import KernelBackend, ProofBackend, Statement, listed
from rlvr_envs.verifiers.proofs.kernel import ProofError
from rlvr_envs.verifiers.proofs.lean import LeanBackend
from rlvr_envs.verifiers.proofs.script import apply_line, read_script

MAX_TURNS = 64
_UNDO = "undo"
_FENCED = answer_format("fenced:lean")
_PROPOSITIONAL, _EQUATIONAL, _NUMBERS = "propositional", "equational", "numbers"

_TACTICS = """\
The tactics are those of Lean 4, no others:
- intro x h; exact e; apply e; assumption; have h : P; have h := e; show P; revert x;
- constructor; left; right; rcases h with ⟨a, b⟩; rcases h with a | b; exfalso; contradiction;
- by_cases h : P; by_contra h;
- rfl; symm; rw [e, ← e]; rw [e] at h.
Here e is a hypothesis or lemma, perhaps applied (h a b), projected (h.1, h.2, h.mp, h.mpr, \
h.symm, h.trans k), ⟨e, e⟩, Or.inl e, Or.inr e or fun x => e. Names that are in use cannot be \
taken again."""
_INDUCTION = """
On a natural number n: cases n with m; induction n with m ih; induction n generalizing x with \
m ih. The numbers have 0, S, + and * alone, and S n is not rewritten to n + 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofStepsConfig(TaskConfig):
    """What the theorems are about, how long their proofs are, and what these need."""

    topics: tuple[str, ...] = knob(
        (_PROPOSITIONAL, _EQUATIONAL, _NUMBERS),
        "what theorems are about, each equally often",
        choices=(_PROPOSITIONAL, _EQUATIONAL, _NUMBERS),
    )
    n_atoms: int = knob(3, "propositions in a propositional theorem", low=2, high=6)
    n_hypotheses: int = knob(1, "hypotheses of a propositional theorem", low=0, high=5)
    n_connectives: int = knob(2, "connectives in each formula at most", low=1, high=6)
    n_draws: int = knob(
        1, "propositional theorems of which the one with the longest proof is taken", low=1, high=50
    )
    classical: bool = knob(False, "propositional theorems need the excluded middle")
    n_steps: int = knob(2, "rewritings between the sides of an equation", low=1, high=40)
    n_laws: int = knob(0, "given equations that hold for all individuals", low=0, high=8)
    n_missing: int = knob(
        0, "lemmas that are used, not given, and have to be proved", low=0, high=9
    )
    idea: int = knob(
        0,
        "what theorems of numbers need: 0 definitions, 1 induction, 2 induction for all values of "
        "another variable, 3 a lemma of that kind, 4 and 5 such a lemma in a harder place",
        low=0,
        high=5,
    )
    n_turns: int = knob(32, "messages allowed", low=2, high=MAX_TURNS)
    backend: str = knob(
        "kernel",
        "what checks tactics: the package's kernel, or that and Lean 4 by its REPL on the PATH",
        choices=("kernel", "lean"),
    )

    @classmethod
    def at(cls, difficulty: int) -> "ProofStepsConfig":
        """Proofs need nested cases, then induction, classical cases, lemmas and generalisation.

        From level 2 on theorems are about numbers too. From level 5 on lemmas are missing, first
        one and then more, and inductions have to be generalised. Beyond level 10 rewritings are
        added, and the longest of more propositional theorems is taken.
        """
        level = min(difficulty, 10)
        topics = (_PROPOSITIONAL, _EQUATIONAL, _NUMBERS)
        return cls(
            topics=topics[: 2 + (level >= 2)],
            n_atoms=(2, 3, 3, 3, 4, 4, 3, 4, 4, 4, 4)[level],
            n_hypotheses=(1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2)[level],
            n_connectives=(2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3)[level],
            n_draws=min(50, (1, 1, 1, 1, 1, 2, 1, 2, 3, 4, 5)[level] + (difficulty - level) // 2),
            classical=level >= 6,
            n_steps=(1, 2, 3, 3, 4, 4, 4, 5, 5, 6, 6)[level] + min(30, difficulty - level),
            n_laws=(0, 0, 1, 2, 3, 4, 4, 4, 4, 4, 4)[level],
            n_missing=(0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6)[level],
            idea=(0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5)[level],
            n_turns=min(MAX_TURNS, 16 + 4 * difficulty),
        )


@dataclass(frozen=True, slots=True)
class ProofStepsProblem:
    """The theorem, the number of messages, and a proof."""

    statement: Statement
    n_turns: int
    proof: tuple[str, ...] = hidden(())


class ProofStepsSession:
    """One episode: every message with tactics costs a turn, and those before an error count."""

    def __init__(self, problem: ProofStepsProblem, backend: ProofBackend) -> None:
        self._backend = backend
        self._states = [self._backend.start(problem.statement)]
        self._n_turns = problem.n_turns
        self._turn = 0

    def reply(self, action: str) -> Reply:
        """Apply the tactics of a message and show what is left to prove."""
        self._turn += 1
        found = _FENCED.extract(action)
        told = (
            "Your message has no code block." if found.answer is None else self._run(found.answer)
        )
        state = self._states[-1]
        turns = float(self._turn)
        if state.proved:
            return Reply("No goals.", Verdict.correct("the kernel accepts the proof", turns=turns))
        void = found.answer is None
        left = self._n_turns - self._turn
        if left <= 0:
            reason = f"not proved within {self._n_turns} messages"
            return Reply("", Verdict.wrong(reason, turns=turns), void=void, out_of_turns=True)
        lines = (told, state.text, f"({left} message{'s' * (left != 1)} left.)")
        return Reply("\n\n".join(filter(None, lines)), void=void)

    def _run(self, text: str) -> str:
        if text.strip().lower() == _UNDO:
            if len(self._states) == 1:
                return "There is nothing to take back."
            self._states.pop()
            return ""
        state, case, line = self._states[-1], "", None
        try:
            for line in read_script(text):
                state, case = apply_line(self._backend, state, line, case)
                if state.proved:
                    break
        except ProofError as error:
            where = f"`{line.text or line.case:.200}`: " if line is not None else ""
            told = f"Error: {where}{error}."
        else:
            told = "" if line is not None else "There is no tactic in your message."
        if state is not self._states[-1]:
            self._states.append(state)
        return told


@register("ProofSteps-v0", domain="math", weight=0.0, max_turns=MAX_TURNS)
class ProofStepsTask(InteractiveTask[ProofStepsConfig, ProofStepsProblem]):
    """Prove a theorem by tactics in the manner of Lean, in several messages or in one.

    Description:
        Theorems of propositional logic, of equations that follow from others, of groups, and of
        natural numbers and recursive functions with induction. Each was made together with a proof
        that the kernel has checked, so all can be proved.

    Observation:
        The theorem, its hypotheses and lemmas, and the tactics that there are; then after each
        message the goals, and what was wrong with the tactic that failed.

    Action:
        A message with tactics in a fenced code block: one, several, or a whole proof. Those before
        one that fails count. "undo" in the block takes back the last message that changed anything.

    Reward:
        1 once no goal is left, otherwise 0.

    Episode End:
        With the proof, or when no messages are left.

    Verification:
        A kernel of some twenty rules (`rlvr_envs.verifiers.proofs.kernel`) makes the theorem anew
        from what the tactics did; only what it makes counts. Propositions are judged classically.
        The tactics do what Lean's do, or less: a name is never shadowed, equal means the same text,
        and nothing is computed. No known gaps.

    Difficulty:
        Proofs get longer, and need more: nested cases, induction, the excluded middle, lemmas that
        are not given, and statements that have to be made stronger before induction works. Effort
        is the number of tactics in the proof that the theorem was made with; an `rw` of several
        equations counts each. The baseline does what the goal's shape suggests and never looks
        ahead.

    References:
        Gordon, Milner and Wadsworth, "Edinburgh LCF", 1979, for the kernel and tactics; de Moura
        and Ullrich, "The Lean 4 Theorem Prover and Programming Language", 2021, for the notation.
    """

    def generate(self, rng: Rng) -> ProofStepsProblem:
        made = self._draw(rng, pick(rng, self.config.topics))
        return ProofStepsProblem(made.statement, self.config.n_turns, made.proof)

    def _draw(self, rng: Rng, topic: str) -> Proved:
        config = self.config
        if topic == _PROPOSITIONAL:
            shape = Shape(
                n_atoms=config.n_atoms,
                n_hypotheses=config.n_hypotheses,
                n_connectives=config.n_connectives,
                n_draws=config.n_draws,
                classical=config.classical,
            )
            return draw_sequent(rng, shape)
        if topic == _EQUATIONAL:
            if config.n_missing:
                return draw_group(rng, config.n_steps, min(config.n_missing, 5))
            return draw_given(rng, config.n_steps, config.n_laws)
        if config.idea and pick(rng, (True, False)):
            return draw_recursion(rng, config.idea)
        return draw_numbers(rng, config.n_steps, config.n_missing)

    def prompt(self, problem: ProofStepsProblem) -> str:
        statement = problem.statement
        parts = ["Prove this theorem."]
        if statement.atoms:
            parts.append(f"Propositions: {', '.join(statement.atoms)}.")
        if statement.sort == "ℕ":
            parts.append("All individuals are natural numbers (ℕ), counted from 0 by S.")
        if told := _functions(statement):
            parts.append(told)
        text = " ".join(parts)
        backend = KernelBackend()
        state = backend.start(statement)
        if backend.facts:
            lemmas = listed(backend.facts, statement.signature().names)
            text += "\n\nWhat may be used:\n" + "\n".join(lemmas)
        induction = _INDUCTION if statement.sort == "ℕ" else ""
        return (
            f"{text}\n\nThe goal:\n{state.text}\n\n{_TACTICS}{induction}\n\n"
            f"You have {problem.n_turns} messages. In each, write one or several tactics, each on "
            f"a line of its own, in a fenced code block, for example\n{_FENCED.wrap('intro h')}\n"
            "They are applied in order, each to the first goal, until one fails; then you see what "
            f'is left to prove. A block with the word "{_UNDO}" takes back your last message that '
            "changed anything. You have succeeded when no goal is left."
        )

    def begin(self, problem: ProofStepsProblem) -> ProofStepsSession:
        lean = self.config.backend == "lean"
        return ProofStepsSession(problem, LeanBackend() if lean else KernelBackend())

    def play(self, problem: ProofStepsProblem) -> list[str]:
        """The hidden proof, spread over the messages."""
        size = -(-len(problem.proof) // problem.n_turns)
        chunks = [problem.proof[i : i + size] for i in range(0, len(problem.proof), size)]
        return [_message(chunk) for chunk in chunks]

    def effort(self, problem: ProofStepsProblem) -> float:
        """Return the number of tactics in the hidden proof, each equation of an ``rw`` counted."""
        return sum(1 + line.count(",") * line.startswith("rw") for line in problem.proof)

    def baseline(self, rng: Rng, problem: ProofStepsProblem) -> list[str]:
        """Take the first tactic that the goal allows, and never one back."""
        backend = KernelBackend()
        state, messages = backend.start(problem.statement), list[str]()
        for _ in range(problem.n_turns):
            hypotheses = [f"rw [{name}]" for name, _ in problem.statement.hypotheses]
            tries = ("assumption", "rfl", "intro", "constructor", *hypotheses, "left")
            for tactic in tries:
                try:
                    state = backend.apply(state, tactic)
                except ProofError:
                    continue
                messages.append(_message([tactic]))
                break
            else:
                break
            if state.proved:
                return messages
        return [*messages, *[_message(["assumption"])] * (problem.n_turns - len(messages))]

    def explain(self, problem: ProofStepsProblem) -> list[str]:
        """Each tactic of the proof with the goal that it works on."""
        backend = KernelBackend()
        state, lines = backend.start(problem.statement), list[str]()
        for tactic in problem.proof:
            goal = state.text.split("⊢ ", 1)[1].split("\n", 1)[0]
            lines.append(f"To prove {goal}, use {tactic}.")
            state = backend.apply(state, tactic)
        return lines


def _message(tactics: Sequence[str]) -> str:
    return _FENCED.wrap("\n".join(tactics))


def _functions(statement: Statement) -> str:
    by_count = {count: [n for n, c in statement.functions if c == count] for count in (0, 1, 2)}
    own = {count: [n for n in names if n not in "0S+*"] for count, names in by_count.items()}
    told = []
    if own[0]:
        told.append(f"constants: {', '.join(own[0])}")
    if own[1]:
        told.append(f"functions of one argument: {', '.join(own[1])}")
    two = [*own[2], *["*"] * (statement.sort == "α" and "*" in by_count[2])]
    if two:
        told.append(f"functions of two arguments: {', '.join(two)}")
    text = "; ".join(told)
    return f"{text[:1].upper()}{text[1:]}." if told else ""
