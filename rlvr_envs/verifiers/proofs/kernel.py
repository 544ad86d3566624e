"""The trusted kernel: expressions, and the rules by which alone a `Theorem` is made.

This is the one module that a proof has to be believed for, in the manner of LCF and HOL Light
(Harrison, "HOL Light: An Overview", 2009): tactics may be as wrong as they like, since what they
find counts only once the rules here have made a theorem of it. A theorem says that its conclusion
follows from its assumptions, which are formulas and not names, so that no name can be confused.

The logic is first-order with one sort of individuals: connectives, equality, ``∀`` over
individuals, and induction over 0 and S. ``¬ p`` is ``p → ⊥``. Bound variables are numbers (de
Bruijn), so that no substitution captures a name.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from rlvr_envs.core.errors import RlvrEnvsError

MOST_NODES = 600  # of an expression
MOST_DEPTH = 60

TERMS = frozenset({"var", "bound", "fn"})
# How many parts each kind of formula has; those of an equation are terms.
ARITY = {"atom": 0, "⊤": 0, "⊥": 0, "=": 2, "∧": 2, "∨": 2, "→": 2, "↔": 2, "∀": 1}
CLASSICAL, INDUCTION = "excluded middle", "induction"


class ProofError(RlvrEnvsError):
    """A step that does not follow, or an expression that is none; the message says why."""


@dataclass(frozen=True, slots=True)
class Expr:
    """A term or a formula.

    Attributes:
        op: ``var``, ``bound``, ``fn`` for terms; one of `ARITY` for formulas.
        name: of a variable, a function or an atom.
        args: the parts.
        index: of a bound variable, how many quantifiers lie between it and its own.
        hint: what a bound variable is called when it is shown; equal formulas may differ in it.
    """

    op: str
    name: str = ""
    args: tuple["Expr", ...] = ()
    index: int = 0
    hint: str = field(default="", compare=False)
    free: frozenset[str] = field(init=False, compare=False, repr=False)
    loose: int = field(init=False, compare=False, repr=False)  # quantifiers that are missing
    nodes: int = field(init=False, compare=False, repr=False)
    depth: int = field(init=False, compare=False, repr=False)
    digest: int = field(init=False, compare=False, repr=False)

    def __hash__(self) -> int:
        return self.digest

    def __post_init__(self) -> None:
        wants_terms = self.op in ("fn", "=")
        if self.op not in TERMS and len(self.args) != ARITY.get(self.op, -1):
            raise ProofError(f"{self.op!r} does not take {len(self.args)} parts")
        if any((arg.op in TERMS) != wants_terms for arg in self.args):
            raise ProofError(f"{self.op!r} joins {'terms' if wants_terms else 'formulas'} only")
        own = {self.name} if self.op == "var" else set()
        loose = max((arg.loose for arg in self.args), default=0)
        loose = self.index + 1 if self.op == "bound" else loose - (self.op == "∀")
        object.__setattr__(self, "free", frozenset(own).union(*(a.free for a in self.args)))
        object.__setattr__(self, "loose", max(0, loose))
        object.__setattr__(self, "nodes", 1 + sum(arg.nodes for arg in self.args))
        object.__setattr__(self, "depth", 1 + max((arg.depth for arg in self.args), default=0))
        digest = hash((self.op, self.name, self.args, self.index))
        object.__setattr__(self, "digest", digest)
        if self.nodes > MOST_NODES or self.depth > MOST_DEPTH:
            raise ProofError(
                f"an expression has at most {MOST_NODES} symbols and {MOST_DEPTH} levels"
            )

    @property
    def is_term(self) -> bool:
        """Whether it is a term, and not a formula."""
        return self.op in TERMS


def var(name: str) -> Expr:
    """Return a free variable."""
    return Expr("var", name)


def fn(name: str, *args: Expr) -> Expr:
    """Return a function's value; a constant has no arguments."""
    return Expr("fn", name, args)


ZERO = fn("0")
TRUE, FALSE = Expr("⊤"), Expr("⊥")


def successor(term: Expr) -> Expr:
    """Return S of a term."""
    return fn("S", term)


def implies(p: Expr, q: Expr) -> Expr:
    """Return ``p → q``."""
    return Expr("→", args=(p, q))


def equal(s: Expr, t: Expr) -> Expr:
    """Return ``s = t``."""
    return Expr("=", args=(s, t))


def negation(p: Expr) -> Expr:
    """Return ``¬ p``, which is ``p → ⊥``."""
    return implies(p, FALSE)


def mapped(expr: Expr, change: Callable[[Expr, int], Expr | None], level: int = 0) -> Expr:
    """Return an expression with parts changed, from the outside in.

    Args:
        expr: the expression.
        change: returns what stands for a part, given the quantifiers around it; None keeps it.
        level: the quantifiers around the whole.
    """
    changed = change(expr, level)
    if changed is not None:
        return changed
    if not expr.args:
        return expr
    inner = level + (expr.op == "∀")
    args = tuple(mapped(arg, change, inner) for arg in expr.args)
    return Expr(expr.op, expr.name, args, expr.index, expr.hint)


def forall(name: str, body: Expr) -> Expr:
    """Return ``∀ name, body``, in which the free variable of that name becomes the bound one."""

    def bind(part: Expr, level: int) -> Expr | None:
        if name not in part.free:
            return part
        return Expr("bound", index=level) if part.op == "var" else None

    _closed(body)
    return Expr("∀", args=(mapped(body, bind),), hint=name)


def instance(formula: Expr, term: Expr) -> Expr:
    """Return the body of a ``∀`` with a term for its variable."""
    if formula.op != "∀" or not term.is_term:
        raise ProofError("only a formula ∀ x, ... has an instance, at a term")
    _closed(formula)
    _closed(term)

    def put(part: Expr, level: int) -> Expr | None:
        if part.loose <= level:
            return part
        return term if part.op == "bound" else None

    return mapped(formula.args[0], put)


def _closed(expr: Expr) -> None:
    if expr.loose:
        raise ProofError("a bound variable stands outside of its quantifier")


_SEAL = object()


@dataclass(frozen=True, slots=True)
class Theorem:
    """That a formula follows from assumptions; only the rules of this module make one.

    Attributes:
        assumptions: the formulas that it rests on.
        conclusion: the formula.
        principles: which of `CLASSICAL` and `INDUCTION` were used.
    """

    assumptions: frozenset[Expr]
    conclusion: Expr
    principles: frozenset[str]
    seal: object = field(repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise ProofError("a theorem is made by the rules of the kernel alone")


def _theorem(
    conclusion: Expr, *premises: Theorem, less: tuple[Expr, ...] = (), by: str = ""
) -> Theorem:
    if conclusion.is_term:
        raise ProofError("a conclusion is a formula")
    _closed(conclusion)
    assumptions = frozenset[Expr]().union(*(each.assumptions for each in premises))
    principles = frozenset({by} - {""}).union(*(each.principles for each in premises))
    return Theorem(assumptions.difference(less), conclusion, principles, _SEAL)


def _parts(theorem: Theorem, op: str) -> tuple[Expr, ...]:
    if theorem.conclusion.op != op:
        raise ProofError(f"the rule wants {op}, and this is {theorem.conclusion.op}")
    return theorem.conclusion.args


def assume(p: Expr) -> Theorem:
    """``p ⊢ p``."""
    made = _theorem(p)
    return Theorem(frozenset({p}), p, made.principles, _SEAL)


def implies_intro(p: Expr, q: Theorem) -> Theorem:
    """From ``p ⊢ q``, ``⊢ p → q``."""
    return _theorem(implies(p, q.conclusion), q, less=(p,))


def implies_elim(pq: Theorem, p: Theorem) -> Theorem:
    """From ``p → q`` and ``p``, ``q``."""
    premise, conclusion = _parts(pq, "→")
    if premise != p.conclusion:
        raise ProofError("the premise of the implication is another formula")
    return _theorem(conclusion, pq, p)


def and_intro(p: Theorem, q: Theorem) -> Theorem:
    """From ``p`` and ``q``, ``p ∧ q``."""
    return _theorem(Expr("∧", args=(p.conclusion, q.conclusion)), p, q)


def and_elim(pq: Theorem, side: int) -> Theorem:
    """From ``p ∧ q``, ``p`` (side 0) or ``q`` (side 1)."""
    return _theorem(_parts(pq, "∧")[side], pq)


def or_intro(p: Theorem, whole: Expr) -> Theorem:
    """From one side of a disjunction, the disjunction."""
    if whole.op != "∨" or p.conclusion not in whole.args:
        raise ProofError("what is proved is no side of the disjunction")
    return _theorem(whole, p)


def or_elim(pq: Theorem, from_p: Theorem, from_q: Theorem) -> Theorem:
    """From ``p ∨ q``, ``p ⊢ r`` and ``q ⊢ r``, ``r``."""
    p, q = _parts(pq, "∨")
    if from_p.conclusion != from_q.conclusion:
        raise ProofError("the cases prove different formulas")
    one, other = (_theorem(t.conclusion, t, less=(c,)) for t, c in ((from_p, p), (from_q, q)))
    return _theorem(from_p.conclusion, pq, one, other)


def iff_intro(forth: Theorem, back: Theorem) -> Theorem:
    """From ``p → q`` and ``q → p``, ``p ↔ q``."""
    p, q = _parts(forth, "→")
    if _parts(back, "→") != (q, p):
        raise ProofError("the implications are not each other's converse")
    return _theorem(Expr("↔", args=(p, q)), forth, back)


def iff_elim(iff: Theorem, side: int) -> Theorem:
    """From ``p ↔ q``, ``p → q`` (side 0) or ``q → p`` (side 1)."""
    p, q = _parts(iff, "↔")
    return _theorem(implies(q, p) if side else implies(p, q), iff)


def true_intro() -> Theorem:
    """``⊢ ⊤``."""
    return _theorem(TRUE)


def false_elim(false: Theorem, p: Expr) -> Theorem:
    """From ``⊥``, anything."""
    _parts(false, "⊥")
    return _theorem(p, false)


def excluded_middle(p: Expr) -> Theorem:
    """``⊢ p ∨ ¬ p``."""
    return _theorem(Expr("∨", args=(p, negation(p))), by=CLASSICAL)


def forall_intro(name: str, body: Theorem) -> Theorem:
    """From ``p`` with a variable that no assumption has, ``∀ x, p``."""
    if any(name in each.free for each in body.assumptions):
        raise ProofError(f"an assumption is about {name}")
    return _theorem(forall(name, body.conclusion), body)


def forall_elim(all_: Theorem, term: Expr) -> Theorem:
    """From ``∀ x, p``, ``p`` with a term for x."""
    _parts(all_, "∀")
    return _theorem(instance(all_.conclusion, term), all_)


def reflexivity(term: Expr) -> Theorem:
    """``⊢ t = t``."""
    return _theorem(equal(term, term))


def substitute(equation: Theorem, motive: Expr, at_left: Theorem) -> Theorem:
    """From ``s = t`` and ``P s``, ``P t``, where the motive is ``∀ x, P x``."""
    left, right = _parts(equation, "=")
    if at_left.conclusion != instance(motive, left):
        raise ProofError("what is rewritten is not the motive at the left side")
    return _theorem(instance(motive, right), equation, at_left)


def induct(base: Theorem, step: Theorem) -> Theorem:
    """From ``P 0`` and ``∀ n, P n → P (S n)``, ``∀ n, P n``."""
    (body,) = _parts(step, "∀")
    if body.op != "→":
        raise ProofError("the step is ∀ n, P n → P (S n)")
    motive = Expr("∀", args=(body.args[0],), hint=step.conclusion.hint)
    name = "n"
    while name in motive.free or name in step.conclusion.free:
        name += "'"
    at_successor = forall(
        name, implies(instance(motive, var(name)), instance(motive, successor(var(name))))
    )
    if step.conclusion != at_successor:
        raise ProofError("the step does not lead from n to S n")
    if base.conclusion != instance(motive, ZERO):
        raise ProofError("the base is not the statement at 0")
    return _theorem(motive, base, step, by=INDUCTION)


def settles(
    theorem: Theorem, goal: Expr, given: frozenset[Expr], principles: frozenset[str]
) -> bool:
    """Return whether a theorem proves a goal from nothing but what is given."""
    return (
        theorem.conclusion == goal
        and theorem.assumptions <= given
        and theorem.principles <= principles
    )
