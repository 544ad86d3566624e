"""Proof steps: rules of the kernel, tactics, notation; cheats; truth tables and finite models."""

import dataclasses
import itertools

import pytest

from rlvr_envs.core.seeding import integer, pick, stream
from rlvr_envs.verifiers.proofs import kernel
from rlvr_envs.verifiers.proofs.backend import NUMBERS, PEANO, KernelBackend, Statement
from rlvr_envs.verifiers.proofs.kernel import (
    FALSE,
    Expr,
    ProofError,
    equal,
    fn,
    forall,
    implies,
    instance,
    negation,
    successor,
    var,
)
from rlvr_envs.verifiers.proofs.notation import Signature, read_formula, show
from rlvr_envs.verifiers.proofs.script import apply_line, read_script

ATOMS = ("p", "q", "r")
P, Q = Expr("atom", "p"), Expr("atom", "q")
CONSTANTS = (("a", 0), ("b", 0), ("c", 0), ("f", 1), ("g", 2))
NAT = Signature(dict(NUMBERS), frozenset(), "ℕ")


def play(statement, text):
    backend = KernelBackend()
    state, case = backend.start(statement), ""
    for line in read_script(text):
        state, case = apply_line(backend, state, line, case)
    return state


def logic(goal, *hypotheses):
    return Statement(goal, hypotheses, atoms=ATOMS)


def terms(goal, *hypotheses, variables=()):
    return Statement(goal, hypotheses, functions=CONSTANTS, variables=variables, sort="α")


def numbers(goal, *hypotheses, variables=()):
    return Statement(goal, hypotheses, functions=NUMBERS, variables=variables, sort="ℕ")


@pytest.mark.parametrize(
    ("statement", "proof"),
    [
        (logic("p ∧ q → q ∧ p"), "intro h\nconstructor\nexact h.2\nexact h.left"),
        (logic("p ∧ q → q ∧ p"), "exact fun h => ⟨h.2, h.1⟩"),
        (logic("q ∧ p", ("h", "p ∧ q")), "example : True := by\n  exact ⟨h.2, h.1⟩"),
        (logic("p ∨ q → q ∨ p"), "intro h; cases h with x y; right; exact x; left; exact y"),
        (
            logic("p ∨ q → q ∨ p"),
            "intro h\ncases h with\n| inr y => exact Or.inl y\n| inl x =>\n  right\n  exact x",
        ),
        (logic("p ∨ q → q ∨ p"), "intro h\nrcases h with x | y\n· exact Or.inr x\n· left; exact y"),
        (
            logic("(p ∧ q) ∧ r → p ∧ (q ∧ r)"),
            "intro h\nobtain ⟨⟨x, y⟩, z⟩ := h\nexact ⟨x, y, z⟩",
        ),
        (logic("(p ↔ q) → (q ↔ p)"), "intro h\nconstructor\nexact h.mpr\nexact h.mp"),
        (logic("(p ↔ q) → (q ↔ p)"), "intro h\nrcases h with ⟨x, y⟩\nexact ⟨y, x⟩"),
        (logic("p ∨ ¬p"), "by_cases h : p\nleft\nassumption\nright\nassumption"),
        (logic("¬¬p → p"), "intro h\nby_contra k\nexact h k"),
        (
            logic("((p → q) → p) → p"),
            "intro h\nby_cases k : p\nexact k\napply h\nintro x\ncontradiction",
        ),
        (logic("q", ("h", "p"), ("k", "¬p")), "exfalso\napply k\nexact h"),
        (logic("q", ("h", "False")), "cases h"),
        (logic("True"), "constructor"),
        (logic("r", ("h", "p → q → r"), ("x", "p"), ("y", "q")), "apply h\nexact x\nexact y"),
        (logic("r", ("h", "p → r"), ("x", "p")), "have y : r := h x\nexact y"),
        (logic("r", ("h", "p → r"), ("x", "p")), "have y : r := by\n  apply h\n  exact x\nexact y"),
        (logic("r", ("h", "p → r"), ("x", "p")), "have y := h x\nshow r\nexact y"),
        (logic("p → p → p"), "intros\nassumption"),
        (logic("q → p", ("h", "p")), "revert h\nintro k x\nexact k"),
        (terms("f a = f c", ("h", "a = b"), ("k", "c = b")), "rw [h, ← k]"),
        (terms("a = c", ("h", "a = b"), ("k", "c = b")), "exact h.trans k.symm"),
        (terms("a = c", ("h", "a = b"), ("k", "c = b")), "rw [h]\nsymm\nexact k"),
        (terms("f a = b", ("h", "∀ x, f x = b")), "apply h"),
        (terms("f a = c", ("h", "f b = c"), ("k", "a = b")), "rw [← k] at h\nexact h"),
        (terms("g a (f b) = b", ("h", "∀ x y, g x (f y) = y")), "exact h a b"),
        (numbers("S 2 = 3"), "rfl"),
        (
            numbers("∀ a, 0 + a = a"),
            "intro a\ninduction a with n ih\nrw [add_zero]\nrw [add_succ, ih]",
        ),
        (
            numbers("∀ a b, a + b = b + a"),
            (
                "have zero_add : ∀ a, 0 + a = a := by\n  intro a\n  induction a with\n"
                "  | zero => rw [add_zero]\n  | succ n ih => rw [add_succ, ih]\n"
                "have succ_add : ∀ a b, S a + b = S (a + b)\n· intro a b\n  induction b with\n"
                "  | zero => rw [add_zero, add_zero]\n  | succ n ih => rw [add_succ, ih, add_succ]\n"
                "intro a b\ninduction b with n ih\nrw [add_zero, zero_add]\n"
                "rw [add_succ, succ_add, ih]"
            ),
        ),
        (
            numbers("∀ a b c, a + c = b + c → a = b"),
            (
                "intro a b c h\ninduction c with n ih\nrw [add_zero, add_zero] at h\nexact h\n"
                "apply ih\napply succ_inj\nrw [add_succ, add_succ] at h\nexact h"
            ),
        ),
        (
            numbers("∀ a, a + 0 = 0 → a = 0"),
            (
                "intro a h\ncases a with\n| zero => rfl\n| succ n =>\n  rw [add_zero] at h\n"
                "  exfalso\n  exact zero_ne_succ n h.symm"
            ),
        ),
        (
            numbers("∀ n m, n + S m = S n + m"),
            (
                "intro n m\ninduction m generalizing n with k ih\nrw [add_succ, add_zero, add_zero]\n"
                "rw [add_succ, add_succ (S n), ih]"
            ),
        ),
    ],
)
def test_proofs_that_are_right_are_accepted(statement, proof):
    state = play(statement, proof)
    assert state.proved
    assert state.text == "No goals."


# Each is a false statement, or one that does not follow, with a text that could be taken for a
# proof of it.
CHEATS = [
    (logic("False"), "sorry"),
    (logic("False"), "admit"),
    (logic("False"), "exact sorry"),
    (logic("False"), "trivial"),
    (logic("False"), "axiom h : False\nexact h"),
    (logic("p"), "exact Classical.choice"),
    (logic("p"), "exact em"),
    (logic("p"), "have h : p\nexact h"),
    (logic("p"), "have h : p := h\nexact h"),
    (logic("p"), "have h : p := by assumption\nassumption"),
    (logic("False"), "theorem t : False := by sorry"),
    (logic("q", ("h", "p")), "exact h"),
    (logic("q", ("h", "p")), "exact (h : q)"),
    (logic("q", ("h", "p ∨ q")), "exact h.2"),
    (logic("q", ("h", "p ∨ q")), "cases h with x y\nexact y\nexact y"),
    (logic("p ∧ q", ("h", "p")), "constructor\nexact h\nexact h"),
    (logic("p ∨ q", ("h", "r")), "left\nexact h"),
    (logic("q", ("h", "p → q")), "apply h\napply h"),
    (logic("p", ("h", "p → q"), ("k", "q")), "apply h"),
    (logic("p", ("h", "q")), "intro p\nexact p"),
    (logic("q → p", ("h", "p → q")), "intro h\nexact h"),
    (logic("r", ("h", "p ↔ q"), ("x", "q")), "exact h.mp x"),
    (logic("p", ("h", "¬p")), "contradiction"),
    (logic("p", ("h", "¬¬p")), "exact h"),
    (logic("q", ("h", "p")), "revert h\nintro h\nexact h\n"),
    (logic("p → q"), "intro h\nby_cases q : p\nexact q"),
    (logic("p"), "by_contra h\nexact h"),
    (logic("p"), "intro\nexact h"),
    (logic("p"), "exact\np"),
    (logic("p"), "exact rfl"),
    (logic("p"), "· -- all goals are proved\n/- by -/"),
    (logic("p"), "case pos => assumption"),
    (terms("a = b"), "rfl"),
    (terms("a = b"), "symm\nsymm\nrfl"),
    (terms("f a = b", ("h", "f b = b")), "rw [h]"),
    (terms("f a = f b", ("h", "g a a = g b b")), "rw [h]"),
    (terms("a = b", ("h", "∀ x, f x = b")), "rw [h]"),
    (terms("a = b", ("h", "∀ x, x = x")), "exact h a"),
    (terms("a = b", ("h", "∀ x, x = x")), "rw [h b]\nrfl"),
    (terms("∀ x y, f x = f y"), "intro x x\nrfl"),
    (terms("∀ x y, f x = f y"), "intro x y\nrfl"),
    (terms("∀ x y, f x = f y", ("h", "∀ x, g x x = a")), "intro x\nintro x\nrfl"),
    (terms("∀ x, x = a", ("h", "b = a")), "intro b\nexact h"),
    (terms("b = a", ("h", "x = a"), variables=("x",)), "revert x\nintro b\nexact h"),
    (terms("b = a", ("h", "x = a"), variables=("x",)), "apply h"),
    (terms("∀ x, x = a", ("h", "x = a"), variables=("x",)), "intro y\nexact h"),
    (terms("∀ y, g y y = y", ("h", "∀ x, ∀ y, g x y = y"), variables=("z",)), "exact h z"),
    (terms("g b a = b", ("h", "∀ x y, g x y = g y x"), ("k", "g a b = a")), "rw [h, k]"),
    (terms("a = b"), "induction a with n ih\nrfl\nrfl"),
    (terms("a = b", variables=("n",)), "induction n\nrfl"),
    (numbers("∀ n, n = 0"), "intro n\ninduction n with k ih\nrfl\nexact ih"),
    (numbers("∀ n, n = S n"), "intro n\ninduction n with\n| succ k ih => rw [← ih]"),
    (numbers("∀ n, n = S n"), "intro n\ninduction n with k ih\nrw [ih]\nrw [← ih]"),
    (numbers("n = 0", ("h", "m = 0"), variables=("m", "n")), "induction n with m ih\nrfl\nexact h"),
    (
        numbers("m = n", ("h", "n = 0"), variables=("m", "n")),
        "induction n generalizing m with k ih\nrw [h]\nexact ih",
    ),
    (numbers("∀ n, 0 = S n"), "intro n\nexact zero_ne_succ n"),
    (numbers("S 0 = 0"), "apply succ_inj\nrfl"),
    (numbers("∀ a b, a = b"), "intro a b\napply succ_inj\nrfl"),
    (numbers("∀ a b, a + b = a"), "intro a b\nrw [add_zero]\nrfl"),
    (numbers("∀ a, a * 0 = a"), "intro a\nrw [mul_zero]"),
    (numbers("False"), "have add_zero : False\nexact add_zero"),
    (numbers("False"), "have zero_ne_succ : 0 = S 0\nexact zero_ne_succ 0 zero_ne_succ"),
    (numbers("False"), "have h : ∀ S, S = 0\nexact zero_ne_succ 0 (h 1)"),
    (numbers("0 = 1"), "exact add_zero 0"),
    (numbers("0 = 1"), "decide"),
    (numbers("0 = 1"), "intro h;\u2028rfl"),
    (logic("p"), ""),
    (logic("p"), "by"),
]


@pytest.mark.parametrize(("statement", "cheat"), CHEATS)
def test_cheats_prove_nothing(statement, cheat):
    """Lines that fail are left out, so that what comes after them is tried as well."""
    backend = KernelBackend()
    state, case, failed = backend.start(statement), "", 0
    try:
        lines = read_script(cheat)
    except ProofError:
        return
    for line in lines:
        try:
            state, case = apply_line(backend, state, line, case)
        except ProofError as error:
            failed += bool(str(error))
    assert not state.proved
    assert state.goals
    assert failed or not lines or state.text != "No goals."


def test_nothing_is_captured():
    x, y = var("x"), var("y")
    all_y = forall("y", equal(x, y))  # of the x outside
    turned = instance(forall("x", all_y), y)
    assert turned == forall("z", equal(y, var("z")))
    assert turned != forall("y", equal(y, y))
    assert show(turned) == "∀ y1, y = y1"
    assert forall("x", equal(x, y)) == forall("z", equal(var("z"), y))
    assert forall("y", equal(x, y)) != forall("x", equal(x, x))
    state = play(
        terms("∀ y, ∀ z, g y z = g y z", ("h", "∀ x, ∀ y, g x y = x"), variables=("y1",)),
        "have k := h y1\nintro y z\nhave m := h y",
    )
    assert "m : ∀ y2, g y y2 = y" in state.text
    with pytest.raises(ProofError):
        play(
            terms("False", ("h", "∀ x, ¬ ∀ y, x = y"), variables=("y",)),
            "apply h y\nintro z\nrfl",
        )


def test_a_theorem_comes_from_the_rules_alone():
    true = kernel.true_intro()
    with pytest.raises(ProofError):
        kernel.Theorem(frozenset(), FALSE, frozenset(), object())
    with pytest.raises(ProofError):
        dataclasses.replace(true, conclusion=FALSE, seal=None)
    assert not kernel.settles(kernel.assume(P), P, frozenset(), frozenset())
    assert kernel.settles(kernel.assume(P), P, frozenset({P}), frozenset())
    assert not kernel.settles(kernel.assume(P), Q, frozenset({P, Q}), frozenset())
    middle = kernel.excluded_middle(P)
    assert not kernel.settles(middle, middle.conclusion, frozenset(), frozenset())
    assert kernel.settles(middle, middle.conclusion, frozenset(), frozenset({kernel.CLASSICAL}))


N, M = var("n"), var("m")
BASE = kernel.reflexivity(kernel.ZERO)
STEP = kernel.assume(forall("n", implies(equal(N, N), equal(successor(N), successor(N)))))
ABOUT_N = kernel.assume(equal(N, kernel.ZERO))


@pytest.mark.parametrize(
    "rule",
    [
        lambda: kernel.implies_elim(kernel.assume(implies(P, Q)), kernel.assume(Q)),
        lambda: kernel.implies_elim(kernel.assume(P), kernel.assume(P)),
        lambda: kernel.and_elim(kernel.assume(Expr("∨", args=(P, Q))), 0),
        lambda: kernel.or_intro(kernel.assume(P), Expr("∨", args=(Q, Q))),
        lambda: kernel.or_intro(kernel.assume(P), Expr("∧", args=(P, Q))),
        lambda: kernel.or_elim(
            kernel.assume(Expr("∨", args=(P, Q))), kernel.assume(P), kernel.assume(Q)
        ),
        lambda: kernel.iff_intro(kernel.assume(implies(P, Q)), kernel.assume(implies(P, Q))),
        lambda: kernel.iff_elim(kernel.assume(implies(P, Q)), 0),
        lambda: kernel.false_elim(kernel.assume(P), Q),
        lambda: kernel.forall_intro("n", ABOUT_N),
        lambda: kernel.forall_elim(kernel.assume(P), N),
        lambda: kernel.forall_elim(kernel.assume(forall("n", equal(N, N))), Expr("bound")),
        lambda: kernel.forall_elim(kernel.assume(forall("n", equal(N, N))), P),
        lambda: kernel.assume(equal(Expr("bound"), N)),
        lambda: kernel.assume(N),
        lambda: kernel.substitute(ABOUT_N, forall("x", equal(var("x"), M)), BASE),
        lambda: kernel.substitute(kernel.assume(P), forall("x", equal(var("x"), N)), BASE),
        lambda: kernel.induct(kernel.assume(equal(N, kernel.ZERO)), STEP),
        lambda: kernel.induct(BASE, kernel.assume(forall("n", implies(equal(N, N), equal(N, N))))),
        lambda: kernel.induct(BASE, kernel.assume(forall("n", equal(N, N)))),
        lambda: kernel.induct(
            BASE,
            kernel.assume(forall("n", implies(equal(N, N), equal(successor(N), successor(M))))),
        ),
        lambda: Expr("=", args=(P, Q)),
        lambda: Expr("∧", args=(N, M)),
        lambda: Expr("∧", args=(P,)),
        lambda: Expr("sorry"),
        lambda: fn("f", P),
    ],
)
def test_a_rule_refuses_what_does_not_fit(rule):
    with pytest.raises(ProofError):
        rule()


def test_induction_gives_the_statement_for_every_number():
    theorem = kernel.induct(BASE, STEP)
    assert theorem.conclusion == forall("k", equal(var("k"), var("k")))
    assert theorem.principles == {kernel.INDUCTION}
    assert theorem.assumptions == STEP.assumptions


def _random_formula(rng, size, atoms=ATOMS):
    if size <= 1:
        return pick(rng, [*(Expr("atom", a) for a in atoms), FALSE, kernel.TRUE])
    op = pick(rng, ["∧", "∨", "→", "↔", "¬"])
    if op == "¬":
        return negation(_random_formula(rng, size - 1, atoms))
    left = integer(rng, 1, size - 1)
    parts = (_random_formula(rng, left, atoms), _random_formula(rng, size - left, atoms))
    return Expr(op, args=parts)


def _value(formula, row):
    values = [_value(arg, row) for arg in formula.args]
    match formula.op:
        case "atom":
            return row[formula.name]
        case "⊤" | "⊥":
            return formula.op == "⊤"
        case "∧":
            return all(values)
        case "∨":
            return any(values)
        case "→":
            return not values[0] or values[1]
        case "↔":
            return values[0] == values[1]
    raise AssertionError(formula)


ROWS = [dict(zip(ATOMS, row, strict=True)) for row in itertools.product((0, 1), repeat=3)]


def test_random_tactics_never_prove_what_a_truth_table_refutes():
    rng, proved, refuted, applied = stream("random tactics"), 0, 0, 0
    signature = Signature({}, frozenset(ATOMS))
    words = ["h", "k", "p", "q", "h.1", "h.2", "h k", "k h", "h.mp", "(h k)", "⟨h, k⟩", "Or.inl h"]
    for _ in range(1500):
        hypotheses = [_random_formula(rng, integer(rng, 1, 5)) for _ in range(2)]
        goal = _random_formula(rng, integer(rng, 1, 5))
        named = tuple((name, show(each)) for name, each in zip(("h", "k"), hypotheses, strict=True))
        assert read_formula(show(goal), signature) == goal
        backend = KernelBackend()
        state = backend.start(Statement(show(goal), named, atoms=ATOMS))
        for _ in range(25):
            first = state.goals[0]
            known = [*first.hypotheses]
            tactic = pick(
                rng,
                ["intro", "constructor", "left", "right", "assumption", "exfalso", "contradiction"]
                + [f"cases {name}" for name in known]
                + [f"apply {name}" for name in known]
                + [f"exact {pick(rng, words)}", f"apply {pick(rng, words)}"]
                + [f"have {pick(rng, ['m', 'h', 'p'])} := {pick(rng, words)}"]
                + [f"revert {name}" for name in known[:1]]
                + [f"by_cases {pick(rng, 'xyz')} : {pick(rng, ATOMS)}", "by_contra", "rfl"],
            )
            try:
                state = backend.apply(state, tactic)
                applied += 1
            except ProofError:
                continue
            for open_goal in state.goals:
                assert not open_goal.target.loose
            if state.proved:
                break
        follows = all(
            _value(goal, row) for row in ROWS if all(_value(each, row) for each in hypotheses)
        )
        assert follows or not state.proved, (named, show(goal))
        proved += state.proved
        refuted += not follows
    assert min(proved, refuted) > 100
    assert applied > 3000


def _random_term(rng, size, variables):
    if size <= 1:
        return pick(rng, [kernel.ZERO, *map(var, variables)])
    if integer(rng, 0, 2) == 0:
        return successor(_random_term(rng, size - 1, variables))
    left = integer(rng, 1, size - 1)
    parts = (_random_term(rng, left, variables), _random_term(rng, size - left, variables))
    return fn(pick(rng, "+*"), *parts)


def _number(term, at):
    values = [_number(arg, at) for arg in term.args]
    if term.op == "var":
        return at[term.name]
    return {"0": lambda: 0, "S": lambda n: n + 1, "+": lambda m, n: m + n, "*": lambda m, n: m * n}[
        term.name
    ](*values)


def test_random_tactics_never_prove_what_small_numbers_refute():
    rng, proved, refuted = stream("random numbers"), 0, 0
    grid = list(itertools.product(range(4), repeat=2))
    names = [*PEANO, *(f"← {name}" for name in PEANO), "ih", "← ih"]
    for _ in range(600):
        left = _random_term(rng, integer(rng, 1, 4), "ab")
        right = _random_term(rng, integer(rng, 1, 4), "ab")
        if integer(rng, 0, 1):
            right = fn("+", left, kernel.ZERO)
        goal = forall("a", forall("b", equal(left, right)))
        assert read_formula(show(goal), NAT) == goal
        backend = KernelBackend()
        state = backend.apply(backend.start(numbers(show(goal))), "intro a b")
        for _ in range(25):
            variables = state.goals[0].variables
            one, other = pick(rng, names), pick(rng, names)
            tactics = ["intro", "rfl", "symm", "apply succ_inj", "cases b", "exact ih", "apply ih"]
            tactics += [f"rw [{one}]", f"rw [{one}, {other}]", f"rw [{one}] at ih"]
            tactics += ["induction a generalizing b", *[f"rw [{one}]"] * 4, *["rfl"] * 2]
            tactics += [f"{word} {x}" for x in variables[:2] for word in ("induction", "revert")]
            tactic = pick(rng, tactics)
            try:
                state = backend.apply(state, tactic)
            except ProofError:
                continue
            if state.proved:
                break
        holds = all(
            _number(left, {"a": a, "b": b}) == _number(right, {"a": a, "b": b}) for a, b in grid
        )
        assert holds or not state.proved, show(goal)
        proved += state.proved
        refuted += not holds
    assert proved > 5
    assert refuted > 200


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("add_zero", lambda a, b: a + 0 == a),
        ("add_succ", lambda a, b: a + (b + 1) == a + b + 1),
        ("mul_zero", lambda a, b: a * 0 == 0),
        ("mul_succ", lambda a, b: a * (b + 1) == a * b + a),
        ("succ_inj", lambda a, b: a + 1 != b + 1 or a == b),
        ("zero_ne_succ", lambda a, b: a + 1 != 0),
    ],
)
def test_the_axioms_hold(name, holds):
    def value(formula, at):
        match formula.op:
            case "∀":
                x = f"x{len(at)}"
                return all(value(instance(formula, var(x)), {**at, x: n}) for n in range(5))
            case "→":
                return not value(formula.args[0], at) or value(formula.args[1], at)
            case "=":
                return _number(formula.args[0], at) == _number(formula.args[1], at)
        return False

    assert value(read_formula(PEANO[name], NAT), {})
    assert all(holds(a, b) for a in range(5) for b in range(5))
    assert len(PEANO) == 6


@pytest.mark.parametrize(
    "text",
    [
        "p ∧ q → r",
        "p → q → r",
        "(p → q) → r",
        "¬p ∨ ¬¬q",
        "¬(p ∧ q) ↔ ¬p ∨ ¬q",
        "(p ↔ q) ↔ r",
        "p ∧ q ∧ r",
        "(p ∧ q) ∧ r",
        "(p ∨ q) ∧ r ∨ p",
        "True → ¬False",
    ],
)
def test_what_is_shown_is_read_again(text):
    signature = Signature({}, frozenset(ATOMS))
    assert show(read_formula(text, signature)) == text
    spelt = text.replace("∧", "/\\").replace("∨", "\\/").replace("→", "->").replace("↔", "<->")
    assert show(read_formula(spelt, signature)) == text


@pytest.mark.parametrize(
    "text",
    [
        "p ∧", "∧ p", "p q", "p = q", "(p", "p)", "∀ x, p", "s", "p ∧ 0", "p; q", "p ∧ {q}", "",
        "∀", "¬", "p → → q", "#eval p", "Classical.em p", "p\u200b ∧", "𝐩",
        "(" * 5000 + "p" + ")" * 5000, "¬" * 5000 + "p", "p ∧ " * 3000 + "p", "p" * 30_000,
    ],
)  # fmt: skip
def test_what_is_no_formula_is_refused(text):
    with pytest.raises(ProofError):
        read_formula(text, Signature({}, frozenset(ATOMS)))


@pytest.mark.parametrize(
    "tactic",
    [
        "rw [" + "h, " * 3000 + "h]",
        "exact " + "(" * 4000,
        "exact " + "⟨" * 4000,
        *(f"exact {sign * 300}h" for sign in ("(", "⟨", "fun x => ", "Or.inl (", "f ", "¬")),
        *(f"have k : {sign * 300}a = a" for sign in ("(", "f (", "∀ x, ", "a = a → ", "¬")),
        "exact h" + ".symm" * 3000,
        "rcases h with " + "⟨" * 3000,
        "intro " + "x " * 3000,
        "have k : " + "f (" * 2000 + "a" + ")" * 2000 + " = a",
        "exact fun " + "x " * 2000 + "=> h",
        "induction " + "9" * 5000,
        "rw [h]" * 2000,
        "\0",
        "apply h" + " a" * 4000,
    ],
)
def test_hostile_tactics_are_refused(tactic):
    backend = KernelBackend()
    state = backend.start(terms("f a = b", ("h", "a = f a")))
    with pytest.raises(ProofError) as caught:
        backend.apply(state, tactic)
    assert len(str(caught.value)) < 1200


def test_terms_that_grow_are_stopped():
    backend = KernelBackend()
    state = backend.start(terms("f a = b", ("h", "a = g a a")))
    with pytest.raises(ProofError, match="at most 600 symbols"):
        _repeated(backend, state, lambda number: "rw [h]")
    state = backend.start(logic("p"))
    with pytest.raises(ProofError, match="goals at a time"):
        _repeated(backend, state, lambda number: f"have h{number} : q")
    state = backend.start(logic("p", ("h", "q")))
    with pytest.raises(ProofError, match="hypotheses"):
        _repeated(backend, state, lambda number: f"have h{number} := h")


def _repeated(backend, state, tactic):
    for number in range(100):
        state = backend.apply(state, tactic(number))


@pytest.mark.parametrize(
    ("tactic", "told"),
    [
        ("exact k", "there is no hypothesis or lemma 'k'"),
        ("exact h", r"what is given is \(a = b\), and \(f a = f b\) is wanted"),
        ("rw [← h, h, m]", "no hypothesis or lemma 'm'"),
        ("rw [fact]", r"no term of \(f a = f b\) is g x x"),
        ("rw [← fact]", "every term fits x"),
        ("intro x", "nothing to introduce"),
        ("ring", "not allowed"),
        ("foo", "there is no tactic 'foo'; there are intro"),
        ("exact h h", "takes no argument"),
        ("left", "no disjunction"),
        ("rw [h", "expected ']'"),
        ("rw [h] at fact2", "no hypothesis 'fact2'"),
        ("have h : a = a", "the name h is taken"),
        ("apply trans", "there is no hypothesis or lemma 'trans'"),
        ("apply chain", "the goal does not say what"),
    ],
)
def test_errors_say_what_was_wrong(tactic, told):
    facts = (("fact", "∀ x, g x x = x"), ("chain", "∀ x y z, x = y → y = z → x = z"))
    statement = dataclasses.replace(terms("f a = f b", ("h", "a = b")), facts=facts)
    backend = KernelBackend()
    with pytest.raises(ProofError, match=told):
        backend.apply(backend.start(statement), tactic)


@pytest.mark.parametrize(
    "statement",
    [
        logic("p", ("p", "q")),
        logic("p", ("h", "q"), ("h", "p")),
        numbers("0 = 0", ("add_zero", "0 = S 0")),
        logic("p", ("sorry", "q")),
        terms("x = x"),
    ],
)
def test_statements_with_names_taken_twice_are_refused(statement):
    with pytest.raises(ProofError):
        KernelBackend().start(statement)
