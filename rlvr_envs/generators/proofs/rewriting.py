"""Equations proved by rewriting: a walk from term to term along laws, and its tactics."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.generators.proofs.statements import Proved, checked
from rlvr_envs.verifiers.proofs.backend import KernelBackend, Statement
from rlvr_envs.verifiers.proofs.kernel import Expr, ProofError, equal, instance, mapped, var
from rlvr_envs.verifiers.proofs.notation import show


@dataclass(frozen=True, slots=True)
class Law:
    """An equation with variables.

    Attributes:
        name: its name.
        variables: the names of its variables, in their order.
        sides: both sides; a variable named x is ``var("?x")``.
    """

    name: str
    variables: tuple[str, ...]
    sides: tuple[Expr, Expr]


@dataclass(frozen=True, slots=True)
class Step:
    """One rewriting: the instance of a law, and which of its sides was replaced everywhere."""

    law: str
    arguments: tuple[Expr, ...]
    backwards: bool
    after: Expr

    def rule(self, *, turned: bool = False) -> str:
        """Return it as ``rw`` takes it."""
        words = [self.law, *(_argument(each) for each in self.arguments)]
        return "← " * (self.backwards != turned) + " ".join(words)


def law(name: str, formula: Expr) -> Law:
    """Return a law, given its formula."""
    variables = list[str]()
    while formula.op == "∀":
        variables.append(f"x{len(variables)}")
        formula = instance(formula, var(f"?{variables[-1]}"))
    return Law(name, tuple(variables), (formula.args[0], formula.args[1]))


def walk(rng: Rng, start: Expr, laws: Sequence[Law], n_steps: int, most_nodes: int) -> list[Step]:
    """Return rewritings of a term, none of which leads back to an earlier one.

    There are fewer than asked for where the walk cannot go on.
    """
    steps, seen = list[Step](), {start}
    while len(steps) < n_steps:
        term = steps[-1].after if steps else start
        ways = [step for step in _ways(term, laws) if step.after not in seen]
        ways = [step for step in ways if step.after.nodes <= most_nodes]
        if not ways:
            break
        names = sorted({step.law for step in ways})  # each law alike, however often it fits
        name = pick(rng, names)
        steps.append(pick(rng, [step for step in ways if step.law == name]))
        seen.add(steps[-1].after)
    return steps


def _ways(term: Expr, laws: Iterable[Law]) -> list[Step]:
    parts = list(dict.fromkeys(_parts(term)))
    found = list[Step]()
    for each in laws:
        for backwards in (False, True):
            old, new = each.sides[::-1] if backwards else each.sides
            if old.op == "var":
                continue
            for part in parts:
                terms = dict[str, Expr]()
                if not _fits(old, part, terms) or len(terms) < len(each.variables):
                    continue
                after = _replaced(term, part, _filled(new, terms))
                arguments = tuple(terms[f"?{x}"] for x in each.variables)
                found.append(Step(each.name, arguments, backwards, after))
    return found


def _replaced(term: Expr, old: Expr, new: Expr) -> Expr:
    return mapped(term, lambda e, _: new if e == old else None)


def _parts(term: Expr) -> Iterable[Expr]:
    yield term
    for arg in term.args:
        yield from _parts(arg)


def _fits(pattern: Expr, term: Expr, terms: dict[str, Expr]) -> bool:
    if pattern.op == "var" and pattern.name.startswith("?"):
        return terms.setdefault(pattern.name, term) == term
    same = (pattern.op, pattern.name) == (term.op, term.name)
    return same and all(map(_fits, pattern.args, term.args, [terms] * len(term.args)))


def _filled(pattern: Expr, terms: Mapping[str, Expr]) -> Expr:
    return mapped(pattern, lambda e, _: terms.get(e.name) if e.op == "var" else None)


def _argument(term: Expr) -> str:
    text = show(term)
    return f"({text})" if term.args else text


def prove_walk(
    statement: Statement, prelude: Sequence[str], start: Expr, steps: Sequence[Step]
) -> Proved | None:
    """Return a statement with its proof: the prelude, and then the walk from side to side."""
    rules = [step.rule() for step in steps]
    found = checked(statement, [*prelude, *(f"rw [{rule}]" for rule in rules)])
    if found is not None:
        return found
    backend, lines, before = KernelBackend(), list(prelude), start
    try:
        state = backend.start(statement)
        for line in prelude:
            state = backend.apply(state, line)
        for number, step in enumerate(steps, 1):
            have = f"have s{number} : {show(equal(before, step.after))}"
            opened, after = backend.apply(state, have), None
            for turned in (False, True):
                rw = f"rw [{step.rule(turned=turned)}]"
                try:
                    tried = backend.apply(opened, rw)
                except ProofError:
                    continue
                if len(tried.goals) < len(opened.goals):
                    after = tried
                    lines += [have, rw]
                    break
            if after is None:
                return None
            state, before = after, step.after
    except ProofError:
        return None
    chain = f"s{len(steps)}"
    for number in range(len(steps) - 1, 0, -1):
        chain = (
            f"s{number}.trans {chain if chain[-1] != ')' and '.' not in chain else f'({chain})'}"
        )
    return checked(statement, [*lines, f"exact {chain}"])
