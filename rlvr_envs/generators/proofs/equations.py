"""Equations to prove: from given ones, in groups, and between natural numbers with induction."""

from collections.abc import Callable, Mapping, Sequence

from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.proofs.library import (
    GROUP_AXIOMS,
    GROUP_LEMMAS,
    NUMBER_LEMMAS,
    Lemma,
    prelude,
)
from rlvr_envs.generators.proofs.rewriting import Law, law, prove_walk, walk
from rlvr_envs.generators.proofs.statements import Proved, checked
from rlvr_envs.verifiers.proofs.backend import NUMBERS, PEANO, Named, Statement
from rlvr_envs.verifiers.proofs.kernel import ZERO, Expr, equal, fn, forall, var
from rlvr_envs.verifiers.proofs.notation import Signature, read_formula, show

_CONSTANTS = "abcdklmnuvw"
_GROUP = (("*", 2), ("i", 1), ("e", 0))
# Axioms of numbers along which terms are rewritten.
_DEFINITIONS = ("add_zero", "add_succ", "mul_zero", "mul_succ")


def draw_given(rng: Rng, n_steps: int, n_laws: int) -> Proved:
    """Return an equation that follows from given ones in some steps.

    Args:
        rng: the source of randomness.
        n_steps: rewritings from side to side.
        n_laws: given equations with variables; without any, all are between constants.
    """
    while True:
        letters = [_CONSTANTS[i] for i in sorted(rng.permutation(len(_CONSTANTS))[:4].tolist())]
        functions = (*((each, 0) for each in letters), ("f", 1), ("g", 2))
        signature = Signature(dict(functions), frozenset(), "α")
        texts = [f"{_given(rng, letters)} = {_given(rng, letters)}" for _ in range(3)]
        texts += [_general(rng) for _ in range(n_laws)]
        named = [(f"h{i + 1}", text) for i, text in enumerate(dict.fromkeys(texts))]
        formulas = {name: read_formula(text, signature) for name, text in named}
        laws = [law(name, each) for name, each in formulas.items()]
        sides = [part for each in laws[:3] for part in each.sides]
        if any(len(set(each.sides)) == 1 for each in laws):
            continue
        start = pick(rng, sides)
        start = fn("f", start) if integer(rng, 0, 1) else fn("g", start, pick(rng, sides))
        steps = walk(rng, start, laws, n_steps, 12 + 2 * n_steps)
        if len(steps) < n_steps:
            continue
        goal = equal(start, steps[-1].after)
        used = {step.law for step in steps}
        if goal in formulas.values() or len(used) < min(n_steps, 2):
            continue
        kept = tuple(pair for pair in named if pair[0] in used or integer(rng, 0, 1))
        statement = Statement(show(goal), kept, functions=functions, sort="α")
        if found := prove_walk(statement, (), start, steps):
            return found


def _given(rng: Rng, letters: Sequence[str]) -> str:
    a, b = pick(rng, letters), pick(rng, letters)
    return pick(rng, [a, a, f"f {a}", f"g {a} {b}"])


def _general(rng: Rng) -> str:
    return pick(
        rng,
        [
            "∀ x, f (f x) = f x",
            "∀ x, f (f x) = x",
            "∀ x y, g x y = g y x",
            "∀ x y, g (f x) y = g x (f y)",
            "∀ x y, f (g x y) = g (f x) (f y)",
            "∀ x y, f (g x y) = g (f y) x",
            "∀ x y, g x (g x y) = y",
            "∀ x y z, g (g x y) z = g x (g y z)",
            "∀ x y, g (g x y) y = x",
            "∀ x, g x x = f x",
            "∀ x y, g x (f y) = g (f x) y",
        ],
    )


def draw_group(rng: Rng, n_steps: int, n_missing: int) -> Proved:
    """Return an equation of groups, for which lemmas have to be proved first.

    Args:
        rng: the source of randomness.
        n_steps: rewritings from side to side.
        n_missing: how many lemmas are not given, at least.
    """
    while True:
        letters = [_CONSTANTS[i] for i in sorted(rng.permutation(len(_CONSTANTS))[:3].tolist())]
        functions = (*((each, 0) for each in letters), *_GROUP)
        signature = Signature(dict(functions), frozenset(), "α")
        facts = {**GROUP_AXIOMS, **{name: each.text for name, each in GROUP_LEMMAS.items()}}
        laws = [law(name, read_formula(text, signature)) for name, text in facts.items()]
        leaves = [*map(fn, letters), fn("e")]
        start = _product(rng, leaves, integer(rng, 3, 4), inverse=True)
        found = _with_lemmas(
            rng,
            Statement("", functions=functions, sort="α", facts=tuple(GROUP_AXIOMS.items())),
            GROUP_LEMMAS,
            start,
            laws,
            n_steps,
            n_missing,
        )
        if found is not None:
            return found


def _product(rng: Rng, leaves: Sequence[Expr], size: int, *, inverse: bool) -> Expr:
    if size <= 1:
        leaf = pick(rng, leaves)
        return fn("i", leaf) if inverse and integer(rng, 0, 1) else leaf
    left = integer(rng, 1, size - 1)
    parts = [_product(rng, leaves, each, inverse=inverse) for each in (left, size - left)]
    made = fn("*", *parts)
    return fn("i", made) if inverse and integer(rng, 0, 3) == 0 else made


def _with_lemmas(  # noqa: PLR0913 - the parts of one statement
    rng: Rng,
    statement: Statement,
    library: Mapping[str, Lemma],
    start: Expr,
    laws: Sequence[Law],
    n_steps: int,
    n_missing: int,
    variables: Sequence[str] = (),
) -> Proved | None:
    """Return an equation by a walk, with some of the lemmas given and the others to be proved."""
    steps = walk(rng, start, laws, n_steps, 14 + 2 * n_steps)
    if len(steps) < n_steps:
        return None
    used = list(dict.fromkeys(step.law for step in steps if step.law in library))
    given = set[str]()
    names, lines = prelude(library, used, given)
    while len(names) > n_missing:
        # the first lemma that is missing is the simplest: it is given
        given.add(names[0])
        names, lines = prelude(library, used, given)
    if len(names) < n_missing:
        return None
    goal = equal(start, steps[-1].after)
    for name in reversed(variables):
        goal = forall(name, goal)
    needed = given.intersection([*used, *(n for name in names for n in library[name].needs)])
    facts = tuple((name, library[name].text) for name in library if name in needed)
    posed = Statement(
        show(goal),
        facts=(*statement.facts, *facts),
        functions=statement.functions,
        sort=statement.sort,
    )
    intro = [f"intro {' '.join(variables)}"] if variables else []
    return prove_walk(posed, [*lines, *intro], start, steps)


def draw_numbers(rng: Rng, n_steps: int, n_missing: int) -> Proved:
    """Return an equation between numbers that holds for all, with lemmas to be proved first.

    Args:
        rng: the source of randomness.
        n_steps: rewritings from side to side.
        n_missing: how many lemmas are not given.
    """
    signature = Signature(dict(NUMBERS), frozenset(), "ℕ")
    facts = {name: PEANO[name] for name in _DEFINITIONS}
    if n_missing or n_steps > 2:
        facts |= {name: each.text for name, each in NUMBER_LEMMAS.items()}
    laws = [law(name, read_formula(text, signature)) for name, text in facts.items()]
    while True:
        letters = [_CONSTANTS[i] for i in sorted(rng.permutation(len(_CONSTANTS))[:3].tolist())]
        start = _number(rng, [*map(var, letters), ZERO], integer(rng, 3, 4))
        variables = [name for name in letters if name in start.free]
        found = _with_lemmas(
            rng,
            Statement("", functions=NUMBERS, sort="ℕ"),
            NUMBER_LEMMAS,
            start,
            laws,
            n_steps,
            n_missing,
            variables,
        )
        if found is not None:
            return found


def _number(rng: Rng, leaves: Sequence[Expr], size: int) -> Expr:
    if size <= 1:
        leaf = pick(rng, leaves)
        return fn("S", leaf) if integer(rng, 0, 2) == 0 else leaf
    left = integer(rng, 1, size - 1)
    parts = [_number(rng, leaves, each) for each in (left, size - left)]
    made = fn(pick(rng, "++*"), *parts)
    return fn("S", made) if integer(rng, 0, 3) == 0 else made


def draw_recursion(rng: Rng, idea: int) -> Proved:
    """Return a statement about functions that are defined by recursion.

    Args:
        rng: the source of randomness.
        idea: what it takes: 1 an induction; 2 an induction for all values of another variable; 3 a
            lemma of that kind, which the statement does not show; 4 and 5 such a lemma in a harder
            place.
    """
    while True:
        f, g, s = (pick(rng, pool) for pool in ("fdhm", "gpqt", "srv"))
        k = pick(rng, "kcu")
        if len({f, g, s, k}) == 4:
            break
    step = _step(rng, s, k)

    def of(term: str) -> str:
        return step.replace("x", f"({term})" if " " in term else term)

    functions = (*NUMBERS, (f, 1), (g, 2), (s, 1), (k, 0), ("w", 1))
    single = ((f"{f}_zero", f"{f} 0 = {k}"), (f"{f}_succ", f"∀ n, {f} (S n) = {of(f'{f} n')}"))
    double = (
        (f"{g}_zero", f"∀ x, {g} 0 x = x"),
        (f"{g}_succ", f"∀ n x, {g} (S n) x = {g} n ({step})"),
    )
    shift = (
        f"∀ n x, {g} n ({step}) = {of(f'{g} n x')}",
        (
            *("intro n", "induction n with j ih", "intro x", f"rw [{g}_zero, {g}_zero]"),
            *("intro x", f"rw [{g}_succ, {g}_succ, ih]"),
        ),
    )
    have = (f"have shift : {shift[0]}", *shift[1])
    if idea <= 1:
        goal, proof, facts = _plain(rng, f, s, k, single, of)
    elif idea == 2:
        goal, proof, facts = *shift, double
    elif idea == 3:
        goal, facts = f"∀ n, {g} n {k} = {f} n", (*single, *double)
        proof = (*have, "intro n", "induction n with j ih", f"rw [{g}_zero, {f}_zero]")
        proof = (*proof, f"rw [{g}_succ, shift, ih, {f}_succ]")
    elif idea == 4:
        goal, facts = f"∀ n m, {f} (n + m) = {g} m ({f} n)", (*single, *double)
        proof = (*have, "intro n m", "induction m with j ih", f"rw [add_zero, {g}_zero]")
        proof = (*proof, f"rw [add_succ, {f}_succ, ih, {g}_succ, shift]")
    else:
        goal, facts = f"∀ n m x, {g} n ({g} m x) = {g} m ({g} n x)", double
        proof = (*have, "intro n m", "induction n with j ih", "intro x")
        proof = (*proof, f"rw [{g}_zero, {g}_zero]", "intro x")
        proof = (*proof, f"rw [{g}_succ, {g}_succ, ← shift m x, ih]")
    used = (
        " ".join([goal, *(text for _, text in facts)]).replace("(", " ").replace(")", " ").split()
    )
    kept = tuple(pair for pair in functions if pair in NUMBERS or pair[0] in used)
    found = checked(Statement(goal, facts=facts, functions=kept, sort="ℕ"), proof)
    return found if found is not None else draw_recursion(rng, idea)


def _plain(
    rng: Rng, f: str, s: str, k: str, single: Named, of: Callable[[str], str]
) -> tuple[str, tuple[str, ...], Named]:
    """Return a statement that one induction proves, with its proof and what it uses."""
    zero, succ = f"{f}_zero", f"{f}_succ"
    begin = ("intro n", "induction n with j ih")
    if integer(rng, 0, 1):  # the same function under another name
        facts = (*single, ("w_zero", f"w 0 = {k}"), ("w_succ", f"∀ n, w (S n) = {of('w n')}"))
        proof = (*begin, f"rw [{zero}, w_zero]", f"rw [{succ}, ih, w_succ]")
        return f"∀ n, {f} n = w n", proof, facts
    by = pick(rng, [k, "S 0", "S (S 0)", f"{s} {k}", f"{s} 0", f"{k} * {k}", f"S {k}"])
    start = pick(rng, [k, "0", "S 0", f"{s} {k}", f"{s} 0", f"S {k}"])
    facts = (
        ("add_assoc", NUMBER_LEMMAS["add_assoc"].text),
        (zero, f"{f} 0 = {start}"),
        (succ, f"∀ n, {f} (S n) = {f} n + {by}"),
    )
    proof = (*begin, f"rw [{zero}, mul_zero, add_zero]", f"rw [{succ}, ih, mul_succ, add_assoc]")
    times = f"({by})" if " " in by else by
    return f"∀ n, {f} n = {start} + {times} * n", proof, facts


def _step(rng: Rng, s: str, k: str) -> str:
    """Return a term in x, with at least one function around it."""
    inner = pick(rng, ["x", f"{s} x", "S x", f"x + {k}", f"x * {k}", f"{k} + x", "x + x"])
    if inner == "x":
        return pick(rng, [f"{s} x", f"x + {k}", f"{k} * x", f"{s} (S x)", f"{s} x + x"])
    return pick(rng, [f"{s} ({inner})", f"S ({inner})", f"{inner} + {k}", f"({inner}) * {k}"])
