"""Lean 4 as a second judge of proof steps, where it is installed.

`LeanBackend` speaks the protocol of the REPL of Lean's community (leanprover-community/repl): JSON
objects, each ended by an empty line, of which ``{"cmd": ...}`` states the theorem with ``sorry``
and ``{"tactic": ..., "proofState": n}`` applies a tactic.

What is sent is never a model's own text. Lean can run programs while it reads a file, so a tactic
has to be accepted by the package's own tactics first, and is written anew from the tokens that they
have read. So Lean confirms step by step, and a proof counts where both accept it.

It was tried against a scripted stand-in for the REPL alone, not against Lean: the preamble of the
numbers and the names of cases are the places to look at first. Lean's answers are waited for
without a limit of time.
"""

import contextlib
import json
import shutil
import subprocess
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rlvr_envs.core.errors import DependencyError
from rlvr_envs.verifiers.proofs.backend import PEANO, KernelBackend, State, Statement
from rlvr_envs.verifiers.proofs.kernel import ProofError
from rlvr_envs.verifiers.proofs.notation import tokens

# Numbers of our own: those of Lean compute, and would prove by rfl what has to be rewritten here.
_NUMBERS = """\
inductive N where
  | zero
  | S (n : N)
open N (S)
instance : OfNat N 0 := ⟨N.zero⟩
axiom N.plus : N → N → N
axiom N.times : N → N → N
noncomputable instance : Add N := ⟨N.plus⟩
noncomputable instance : Mul N := ⟨N.times⟩
"""


@dataclass(frozen=True, slots=True)
class LeanState(State):
    """A state of the kernel's, with the number of the REPL's."""

    number: int = 0


class LeanBackend:
    """Proofs of one statement that Lean confirms step by step.

    Args:
        command: starts the REPL.

    Raises:
        DependencyError: there is no such command.
    """

    def __init__(self, command: Sequence[str] = ("repl",)) -> None:
        if shutil.which(command[0]) is None:
            raise DependencyError(
                f"proof steps with Lean need the command {command[0]!r}: install Lean 4 "
                "(https://lean-lang.org/install), build "
                "https://github.com/leanprover-community/repl and put its `repl` on the "
                "PATH, or use backend='kernel'"
            )
        self._kernel = KernelBackend()
        self._process = subprocess.Popen(  # noqa: S603 - the caller's own command
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        weakref.finalize(self, _end, self._process)

    def start(self, statement: Statement) -> LeanState:
        """Return the state before the first tactic."""
        state = self._kernel.start(statement)
        answer = self._ask({"cmd": theorem(statement)})
        sorries = answer.get("sorries") or [{}]
        if "proofState" not in sorries[0]:
            raise ProofError(f"Lean does not read the statement: {answer!s:.300}")
        return LeanState(state.goals, state.text, state.steps, False, sorries[0]["proofState"])

    def apply(self, state: State, tactic: str, case: str = "") -> LeanState:
        """Return the state after a tactic that both accept."""
        if not isinstance(state, LeanState):
            raise ProofError("the state is of another backend")
        after = self._kernel.apply(state, tactic, case)
        written = f"case {case} => {in_lean(tactic)}" if case else in_lean(tactic)
        answer = self._ask({"tactic": written, "proofState": state.number})
        problems = [m["data"] for m in answer.get("messages", ()) if m.get("severity") == "error"]
        if "proofState" not in answer or problems:
            raise ProofError(f"Lean says: {(problems or [answer.get('message')])[0]!s:.300}")
        proved = after.proved and not answer.get("goals")
        if after.proved != proved:
            raise ProofError("Lean has goals left where the kernel has none")
        number = answer["proofState"]
        return LeanState(after.goals, after.text, after.steps, proved, number)

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise ProofError("Lean's input and output are closed")
        try:
            stdin.write(f"{json.dumps(request, ensure_ascii=False)}\n\n")
            stdin.flush()
        except OSError as error:
            raise ProofError("Lean has ended") from error
        lines = list[str]()
        for line in stdout:
            if not line.strip():
                break
            lines.append(line)
        if not lines:
            raise ProofError("Lean has ended")
        found: dict[str, Any] = json.loads("".join(lines))
        return found


def _end(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):  # what could not be sent before it ended
                pipe.close()


def theorem(statement: Statement) -> str:
    """Return a statement in Lean 4, with ``sorry`` for its proof."""
    sort = {"ℕ": "N", "α": "α"}.get(statement.sort, "")
    binders = [f"({name} : Prop)" for name in statement.atoms]
    head = ""
    if statement.sort == "ℕ":
        head = _NUMBERS
    elif statement.sort:
        binders.append("{α : Type}")
        binders += ["[Mul α]"] * any(name == "*" for name, _ in statement.functions)
    for name, count in statement.functions:
        if name not in "0S+*":
            binders.append(f"({name} : {' → '.join([sort] * (count + 1))})")
    binders += [f"({name} : {sort})" for name in statement.variables]
    axioms = tuple(PEANO.items()) if statement.sort == "ℕ" else ()
    formulas = (*axioms, *statement.facts, *statement.hypotheses)
    binders += [f"({name} : {_typed(text, sort)})" for name, text in formulas]
    return f"{head}theorem given {' '.join(binders)} : {_typed(statement.goal, sort)} := by sorry"


def _typed(text: str, sort: str) -> str:
    """Return a formula with the sort of the variables that each ∀ binds."""
    pieces = text.split("∀ ")
    for i, piece in enumerate(pieces[1:], 1):
        names, _, body = piece.partition(",")
        pieces[i] = f"∀ ({names.strip()} : {sort}),{body}"
    return "".join(pieces)


def in_lean(tactic: str) -> str:
    """Return a tactic that the package's own have read, as core Lean 4 writes it."""
    words = tokens(tactic)
    head, rest = words[0], words[1:]
    names = rest[rest.index("with") + 1 :] if "with" in rest else []
    match head:
        case "split":
            words = ["constructor"]
        case "intros" if not rest:
            words = ["intros"]
        case "by_contra":
            return f"apply Classical.byContradiction; intro {' '.join(rest)}".strip()
        case "rewrite":
            words = ["rw", *rest]
        case "have" if ":=" not in rest:
            words = [*words, ":=", "?_"]
        case "induction":
            before = rest[: rest.index("with")] if names else rest
            bound = " ".join(names or [rest[0], "ih"])
            text = " ".join(["induction", *before])
            return f"{text} with | zero => ?_ | S {bound} => ?_"
        case "cases" if names:
            bar = ["|"] if "|" in names or len(names) < 2 or names[0] in "⟨(" else None
            pattern = names if bar else ["⟨", names[0], ",", names[1], "⟩"]
            words = ["rcases", *rest[: rest.index("with")], "with", *pattern]
    return " ".join(words).replace(" .", ".")
