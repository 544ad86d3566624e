"""Tactics: they turn a goal into goals that suffice, and say how the kernel is to follow.

Nothing here is trusted. Each tactic leaves a function that makes the goal's theorem of those of
the new goals by the rules of the kernel (`kernel.py`), and a proof counts once these functions
have made the theorem that was asked for.

The words are Lean's, and a tactic does what Lean's does or less: names are never shadowed,
equality is of the text of the terms, and nothing is filled in that the goal does not determine.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rlvr_envs.verifiers.proofs import kernel
from rlvr_envs.verifiers.proofs.kernel import (
    FALSE,
    TRUE,
    ZERO,
    Expr,
    ProofError,
    Theorem,
    equal,
    forall,
    implies,
    instance,
    successor,
    var,
)
from rlvr_envs.verifiers.proofs.notation import Reader, Signature, fresh, show, tokens

MOST_GOALS = 40
MOST_HYPOTHESES = 60
_MOST_PARTS = 40  # of a proof that is written as a term, and of a pattern
_REFUSED = (
    *("sorry", "admit", "simp", "simp_all", "ring", "ring_nf", "omega", "tauto", "decide", "aesop"),
    *("linarith", "norm_num", "native_decide", "exact?", "apply?", "rw?", "grind", "itauto"),
    *(
        "finish",
        "library_search",
        "hint",
        "unfold",
        "conv",
        "calc",
        "axiom",
        "nlinarith",
        "trivial",
    ),
)

Justify = Callable[[Sequence[Theorem]], Theorem]


@dataclass(frozen=True, slots=True)
class Goal:
    """What is to be proved, from what.

    Attributes:
        variables: the names of the individuals at hand.
        hypotheses: the formulas at hand, by name.
        target: the formula to prove.
        case: what the goal is called after ``cases`` or ``induction``, such as ``succ``.
    """

    variables: tuple[str, ...]
    hypotheses: Mapping[str, Expr]
    target: Expr
    case: str = ""

    def taken(self, signature: Signature) -> frozenset[str]:
        """Return the names that nothing new may have."""
        return signature.names.union(self.variables, self.hypotheses)


@dataclass(frozen=True, slots=True)
class Move:
    """What a tactic did: the goals that suffice, and how their theorems give the goal's."""

    goals: tuple[Goal, ...]
    justify: Justify


@dataclass(frozen=True, slots=True)
class Proof:
    """A hypothesis, or what was built of some: a formula and how the kernel gets to it."""

    formula: Expr
    theorem: Callable[[], Theorem]


class Tactics:
    """The tactics of a statement: its signature, and the facts that are at hand everywhere.

    Args:
        signature: the names of the statement.
        facts: lemmas and axioms by name.
    """

    def __init__(self, signature: Signature, facts: Mapping[str, Expr]) -> None:
        self.signature = signature
        self.facts = facts
        self._known: dict[str, Callable[[Goal, Reader], Move]] = {
            "intro": self._intro,
            "intros": self._intros,
            "exact": self._exact,
            "apply": self._apply,
            "assumption": self._assumption,
            "constructor": self._constructor,
            "split": self._constructor,
            "left": lambda goal, reader: self._side(goal, reader, 0),
            "right": lambda goal, reader: self._side(goal, reader, 1),
            "exfalso": self._exfalso,
            "contradiction": self._contradiction,
            "cases": self._cases,
            "rcases": self._cases,
            "obtain": self._obtain,
            "by_cases": self._by_cases,
            "by_contra": self._by_contra,
            "rfl": self._rfl,
            "symm": self._symm,
            "rw": self._rw,
            "rewrite": self._rw,
            "induction": self._induction,
            "have": self._have,
            "revert": self._revert,
            "show": self._show,
        }

    @property
    def names(self) -> tuple[str, ...]:
        """The tactics that there are."""
        return tuple(self._known)

    def run(self, goal: Goal, text: str) -> Move:
        """Return what one tactic does to a goal.

        Raises:
            ProofError: it does not apply; the message says why.
        """
        words = tokens(text)
        if not words:
            raise ProofError("there is no tactic")
        if words[0] in _REFUSED:
            raise ProofError(f"the tactic {words[0]} is not allowed here")
        if words[0] not in self._known:
            raise ProofError(
                f"there is no tactic {words[0]!r:.60}; there are {', '.join(self._known)}"
            )
        reader = Reader(words[1:], self.signature, goal.variables)
        move = self._known[words[0]](goal, reader)
        reader.done()
        if any(len(each.hypotheses) > MOST_HYPOTHESES for each in move.goals):
            raise ProofError(f"a goal has at most {MOST_HYPOTHESES} hypotheses")
        return move

    # Names

    def _new(self, name: str, goal: Goal) -> str:
        if name in goal.taken(self.signature) or name in self.facts:
            raise ProofError(f"the name {name} is taken; choose another")
        return name

    def _free(self, name: str, goal: Goal) -> str:
        return fresh(name, goal.taken(self.signature).union(self.facts))

    def _named(self, goal: Goal, reader: Reader, default: str) -> str:
        if reader.next and reader.next not in (":", ",", "|", "⟩", ")"):
            if reader.skip("_"):
                return self._free(default, goal)
            return self._new(reader.name(), goal)
        return self._free(default, goal)

    # Proofs that are written as terms

    def _proof(self, goal: Goal, reader: Reader, wanted: Expr | None = None) -> Proof:
        """Return the proof that is read: applied names, ⟨_, _⟩, fun, Or.inl, Or.inr, rfl."""
        if sum(word in ("(", "⟨", "fun") for word in reader.words) > _MOST_PARTS:
            raise ProofError(f"a term has at most {_MOST_PARTS} parentheses and functions")
        if reader.skip("fun"):
            return self._function(goal, reader, wanted)
        if reader.skip("Or"):
            return self._injected(goal, reader, wanted)
        proof = self._atom(goal, reader, wanted)
        while reader.next and reader.next not in ("]", ")", ",", "⟩", "with", "at", ":", ":=", "|"):
            proof = self._applied(goal, reader, proof)
        return proof

    def _applied(self, goal: Goal, reader: Reader, proof: Proof) -> Proof:
        formula = proof.formula
        if formula.op == "∀":
            term = reader.argument()
            return Proof(instance(formula, term), lambda: kernel.forall_elim(proof.theorem(), term))
        if formula.op == "→":
            argument = self._atom(goal, reader, formula.args[0])
            self._same(argument.formula, formula.args[0], goal, "the argument")
            return Proof(
                formula.args[1], lambda: kernel.implies_elim(proof.theorem(), argument.theorem())
            )
        raise ProofError(f"{self._text(formula, goal)} takes no argument")

    def _atom(self, goal: Goal, reader: Reader, wanted: Expr | None) -> Proof:
        if reader.skip("("):
            proof = self._proof(goal, reader, wanted)
            if reader.skip(":"):
                self._same(proof.formula, reader.formula(), goal, "the term")
            reader.expect(")")
        elif reader.skip("⟨"):
            proof = self._pair(goal, reader, wanted)
        elif reader.skip("rfl"):
            if wanted is None or wanted.op != "=" or wanted.args[0] != wanted.args[1]:
                raise ProofError("rfl proves t = t alone")
            term = wanted.args[0]
            proof = Proof(wanted, lambda: kernel.reflexivity(term))
        else:
            proof = self._hypothesis(goal, reader.take())
        while reader.next.startswith("."):
            proof = self._projected(goal, reader, proof)
        return proof

    def _hypothesis(self, goal: Goal, name: str) -> Proof:
        formula = goal.hypotheses.get(name, self.facts.get(name))
        if formula is None:
            raise ProofError(f"there is no hypothesis or lemma {name!r:.60}")
        return Proof(formula, lambda: kernel.assume(formula))

    def _projected(self, goal: Goal, reader: Reader, proof: Proof) -> Proof:
        word, formula = reader.take(), proof.formula
        sides = {".1": 0, ".2": 1, ".left": 0, ".right": 1, ".mp": 0, ".mpr": 1}
        if word in sides and formula.op in ("∧", "↔"):
            side = sides[word]
            if formula.op == "∧" and not word.startswith(".mp"):
                return Proof(formula.args[side], lambda: kernel.and_elim(proof.theorem(), side))
            if formula.op == "↔" and word not in (".left", ".right"):
                p, q = formula.args
                way = implies(q, p) if side else implies(p, q)
                return Proof(way, lambda: kernel.iff_elim(proof.theorem(), side))
        if word == ".symm" and formula.op == "=":
            s, t = formula.args
            motive = _motive(goal, lambda x: equal(x, s), formula)
            return Proof(
                equal(t, s),
                lambda: kernel.substitute(proof.theorem(), motive, kernel.reflexivity(s)),
            )
        if word == ".trans" and formula.op == "=":
            s, t = formula.args
            other = self._atom(goal, reader, None)
            if other.formula.op != "=" or other.formula.args[0] != t:
                raise ProofError("the equations after .trans do not meet")
            u = other.formula.args[1]
            chain = _motive(goal, lambda x: equal(s, x), formula, other.formula)
            return Proof(
                equal(s, u), lambda: kernel.substitute(other.theorem(), chain, proof.theorem())
            )
        raise ProofError(f"{self._text(formula, goal)} has no {word}")

    def _pair(self, goal: Goal, reader: Reader, wanted: Expr | None) -> Proof:
        if wanted is None or wanted.op not in ("∧", "↔"):
            raise ProofError("⟨_, _⟩ proves a conjunction or an equivalence")
        p, q = wanted.args
        sides = (p, q) if wanted.op == "∧" else (implies(p, q), implies(q, p))
        one = self._proof(goal, reader, sides[0])
        self._same(one.formula, sides[0], goal, "the first part")
        reader.expect(",")
        place = reader.at
        other = self._proof(goal, reader, sides[1])
        if reader.next == "," and sides[1].op == "∧":  # ⟨a, b, c⟩ is ⟨a, ⟨b, c⟩⟩
            reader.at = place
            other = self._pair(goal, reader, sides[1])
        else:
            reader.expect("⟩")
        self._same(other.formula, sides[1], goal, "the second part")
        join = kernel.and_intro if wanted.op == "∧" else kernel.iff_intro
        return Proof(wanted, lambda: join(one.theorem(), other.theorem()))

    def _function(self, goal: Goal, reader: Reader, wanted: Expr | None) -> Proof:
        names = list[str]()
        while not reader.skip("=>"):
            names.append(self._new(reader.name(), goal) if reader.next != "_" else reader.take())
        if not names or wanted is None:
            raise ProofError("fun x => ... stands where an implication or a ∀ is wanted")
        inner, target, built = goal, wanted, list[tuple[str, Expr | None]]()
        for word in names:
            name = self._free("h", inner) if word == "_" else self._new(word, inner)
            built.append((name, target.args[0] if target.op == "→" else None))
            inner = self._introduced(inner, target, name)
            target = inner.target
        reader.variables = frozenset(inner.variables)
        body = self._proof(inner, reader, target)
        reader.variables = frozenset(goal.variables)
        self._same(body.formula, target, inner, "the body")

        def theorem() -> Theorem:
            made = body.theorem()
            for name, premise in reversed(built):
                made = _closed_over(made, name, premise)
            return made

        return Proof(wanted, theorem)

    def _injected(self, goal: Goal, reader: Reader, wanted: Expr | None) -> Proof:
        side = {".inl": 0, ".inr": 1}.get(reader.take())
        if side is None or wanted is None or wanted.op != "∨":
            raise ProofError("Or.inl and Or.inr prove a disjunction")
        proof = self._atom(goal, reader, wanted.args[side])
        self._same(proof.formula, wanted.args[side], goal, "the side")
        return Proof(wanted, lambda: kernel.or_intro(proof.theorem(), wanted))

    # Tactics

    def _intro(self, goal: Goal, reader: Reader) -> Move:
        names = list[str]()
        while reader.next:
            names.append(reader.take())
        found, built = goal, list[tuple[str, Expr | None]]()
        while names or not built:
            word = names.pop(0) if names else "_"
            target = found.target
            if target.op not in ("→", "∀"):
                raise ProofError(f"nothing to introduce: the goal is {self._text(target, found)}")
            if word == "_":
                name = self._free(target.hint or "x" if target.op == "∀" else "h", found)
            else:
                name = self._new(Reader([word], self.signature, ()).name(), found)
            built.append((name, target.args[0] if target.op == "→" else None))
            found = self._introduced(found, target, name)

        def justify(theorems: Sequence[Theorem]) -> Theorem:
            made = theorems[0]
            for name, premise in reversed(built):
                made = _closed_over(made, name, premise)
            return made

        return Move((found,), justify)

    def _intros(self, goal: Goal, reader: Reader) -> Move:
        if not reader.next:
            target = goal.target
            while target.op == "∀" or (target.op == "→" and target.args[1] != FALSE):
                reader.words.append("_")
                target = target.args[-1]
        return self._intro(goal, reader)

    def _introduced(self, goal: Goal, target: Expr, name: str) -> Goal:
        if target.op == "→":
            premise, conclusion = target.args
            return _with(goal, {name: premise}, conclusion)
        if target.op == "∀":
            variables = (*goal.variables, name)
            return replace(goal, variables=variables, target=instance(target, var(name)), case="")
        raise ProofError(f"{self._text(target, goal)} is no implication and no ∀")

    def _exact(self, goal: Goal, reader: Reader) -> Move:
        proof = self._proof(goal, reader, goal.target)
        self._same(proof.formula, goal.target, goal, "what is given")
        return Move((), lambda _: proof.theorem())

    def _assumption(self, goal: Goal, reader: Reader) -> Move:
        if goal.target not in goal.hypotheses.values():
            raise ProofError(f"no hypothesis is {self._text(goal.target, goal)}")
        return Move((), lambda _: kernel.assume(goal.target))

    def _apply(self, goal: Goal, reader: Reader) -> Move:
        proof = self._proof(goal, reader, None)
        metas, premises, conclusion = list[Expr](), list[Expr](), proof.formula
        peeled = list[str]()
        while True:
            found = _match(conclusion, goal.target, metas)
            if found is not None or conclusion.op not in ("→", "∀"):
                break
            peeled.append(conclusion.op)
            if conclusion.op == "→":
                premises.append(conclusion.args[0])
                conclusion = conclusion.args[1]
            else:
                metas.append(_meta(len(metas), conclusion.hint))
                conclusion = instance(conclusion, metas[-1])
        if found is None:
            raise ProofError(
                f"{self._text(proof.formula, goal)} does not lead to "
                f"{self._text(goal.target, goal)}"
            )
        if missing := [meta.hint for meta in metas if meta.name not in found]:
            raise ProofError(f"the goal does not say what {missing[0]} is; give it as an argument")
        terms = found
        goals = tuple(replace(goal, target=_put(each, terms), case="") for each in premises)

        def justify(theorems: Sequence[Theorem]) -> Theorem:
            made, left, asked = proof.theorem(), iter(theorems), iter(metas)
            for op in peeled:
                if op == "∀":
                    made = kernel.forall_elim(made, terms[next(asked).name])
                else:
                    made = kernel.implies_elim(made, next(left))
            return made

        return Move(goals, justify)

    def _constructor(self, goal: Goal, reader: Reader) -> Move:
        target = goal.target
        if target == TRUE:
            return Move((), lambda _: kernel.true_intro())
        if target.op not in ("∧", "↔"):
            raise ProofError(f"{self._text(target, goal)} is no conjunction and no equivalence")
        p, q = target.args
        parts = (p, q) if target.op == "∧" else (implies(p, q), implies(q, p))
        join = kernel.and_intro if target.op == "∧" else kernel.iff_intro
        goals = tuple(replace(goal, target=part, case="") for part in parts)
        return Move(goals, lambda theorems: join(*theorems))

    def _side(self, goal: Goal, reader: Reader, side: int) -> Move:
        target = goal.target
        if target.op != "∨":
            raise ProofError(f"{self._text(target, goal)} is no disjunction")
        chosen = replace(goal, target=target.args[side], case="")
        return Move((chosen,), lambda theorems: kernel.or_intro(theorems[0], target))

    def _exfalso(self, goal: Goal, reader: Reader) -> Move:
        inner = replace(goal, target=FALSE, case="")
        return Move((inner,), lambda theorems: kernel.false_elim(theorems[0], goal.target))

    def _contradiction(self, goal: Goal, reader: Reader) -> Move:
        known = tuple(goal.hypotheses.values())
        if FALSE in known:
            return Move((), lambda _: kernel.false_elim(kernel.assume(FALSE), goal.target))
        for each in known:
            if each.op == "→" and each.args[1] == FALSE and each.args[0] in known:
                both = kernel.implies_elim(kernel.assume(each), kernel.assume(each.args[0]))
                return _closed(kernel.false_elim(both, goal.target))
        raise ProofError("no hypothesis is False, and none is the negation of another")

    def _cases(self, goal: Goal, reader: Reader) -> Move:
        word, after = reader.next, reader.words[1:2]
        if word in goal.variables:
            return self._induction(goal, reader, keep=False)
        proof = self._proof(goal, reader)
        if word in goal.hypotheses and after in ([], ["with"]):
            kept = {name: each for name, each in goal.hypotheses.items() if name != word}
            goal = replace(goal, hypotheses=kept)
        return self._taken_apart(goal, proof, reader, reader.skip("with"))

    def _obtain(self, goal: Goal, reader: Reader) -> Move:
        try:
            at = reader.words.index(":=")
        except ValueError:
            raise ProofError("obtain ⟨a, b⟩ := h lacks its :=") from None
        source = Reader(reader.words[at + 1 :], self.signature, goal.variables)
        proof = self._proof(goal, source)
        source.done()
        pattern = Reader(reader.words[:at], self.signature, goal.variables)
        move = self._taken_apart(goal, proof, pattern, True)
        pattern.done()
        reader.at = len(reader.words)
        return move

    def _taken_apart(self, goal: Goal, proof: Proof, reader: Reader, named: bool) -> Move:
        formula = proof.formula
        if formula.op not in ("∧", "∨", "↔", "⊥"):
            raise ProofError(f"{self._text(formula, goal)} has no cases")
        if named and reader.next:
            split = self._pattern(goal, formula, reader)
        else:
            split = self._split(goal, formula, self._free)
        made = proof.theorem

        def justify(theorems: Sequence[Theorem]) -> Theorem:
            return kernel.implies_elim(split.justify(theorems), made())

        return Move(split.goals, justify)

    def _split(  # noqa: C901 - one branch a kind of formula
        self, goal: Goal, formula: Expr, name: Callable[[str, Goal], str] | None
    ) -> Move:
        """Return the cases of a formula; `justify` gives ``formula → target``.

        Args:
            goal: the goal, without the formula.
            formula: what is taken apart.
            name: chooses the names of the parts; without it they are premises of the new goals.
        """
        if formula.op == "⊥":
            false = kernel.false_elim(kernel.assume(formula), goal.target)
            return Move((), lambda _: kernel.implies_intro(formula, false))
        p, q = formula.args
        sides: list[tuple[Expr, ...]] = [(p, q)]
        if formula.op == "∨":
            sides = [(p,), (q,)]
        elif formula.op == "↔":
            sides = [(implies(p, q), implies(q, p))]
        labels = ["inl", "inr"] if formula.op == "∨" else ["intro"]
        goals = list[Goal]()
        for parts, label in zip(sides, labels, strict=True):
            inner = goal
            if name is None:
                target = goal.target
                for part in reversed(parts):
                    target = implies(part, target)
                inner = replace(goal, target=target)
            else:
                for part in parts:
                    inner = _with(inner, {name("h", inner): part}, goal.target)
            goals.append(replace(inner, case=label))

        def justify(theorems: Sequence[Theorem]) -> Theorem:
            whole, cases = kernel.assume(formula), list[Theorem]()
            for parts, theorem in zip(sides, theorems, strict=True):
                made = theorem
                if name is not None:
                    for part in reversed(parts):
                        made = kernel.implies_intro(part, made)
                cases.append(made)
            if formula.op == "∨":
                p, q = (
                    kernel.implies_elim(case, kernel.assume(side))
                    for case, side in zip(cases, formula.args, strict=True)
                )
                return kernel.implies_intro(formula, kernel.or_elim(whole, p, q))
            take = kernel.and_elim if formula.op == "∧" else kernel.iff_elim
            made = kernel.implies_elim(cases[0], take(whole, 0))
            return kernel.implies_intro(formula, kernel.implies_elim(made, take(whole, 1)))

        return Move(tuple(goals), justify)

    def _pattern(self, goal: Goal, formula: Expr, reader: Reader) -> Move:
        """Take a formula apart by a pattern of rcases, or by names as in ``cases h with a b``."""
        start = reader.at
        tree = _alternatives(reader)
        if reader.next and formula.op in ("∧", "∨", "↔"):  # cases h with a b
            reader.at = start
            one, other = reader.take(), reader.take()
            tree = ("|" if formula.op == "∨" else "⟨", [one, other])
        return self._by_pattern(goal, formula, tree)

    def _by_pattern(self, goal: Goal, formula: Expr, tree: "_Tree") -> Move:
        if isinstance(tree, str):
            if formula.op == "⊥":
                return self._split(goal, formula, None)
            name = self._free("h", goal) if tree == "_" else self._new(_checked(tree), goal)
            inner = _with(goal, {name: formula}, goal.target)
            return Move((inner,), lambda theorems: kernel.implies_intro(formula, theorems[0]))
        kind, trees = tree
        if len(trees) == 1:
            return self._by_pattern(goal, formula, trees[0])
        if formula.op not in (("∨",) if kind == "|" else ("∧", "↔")):
            raise ProofError(f"the pattern does not fit {self._text(formula, goal)}")
        rest: _Tree = trees[1] if len(trees) == 2 else (kind, trees[1:])
        return (self._either if formula.op == "∨" else self._both)(goal, formula, trees[0], rest)

    def _either(self, goal: Goal, formula: Expr, first: "_Tree", rest: "_Tree") -> Move:
        p, q = formula.args
        moves = [self._by_pattern(goal, p, first), self._by_pattern(goal, q, rest)]
        count = len(moves[0].goals)

        def joined(theorems: Sequence[Theorem]) -> Theorem:
            split = self._split(goal, formula, None)
            one = moves[0].justify(theorems[:count])
            return split.justify([one, moves[1].justify(theorems[count:])])

        labelled = [
            replace(each, case=label) if len(move.goals) == 1 else each
            for move, label in zip(moves, ("inl", "inr"), strict=True)
            for each in move.goals
        ]
        return Move(tuple(labelled), joined)

    def _both(self, goal: Goal, formula: Expr, first: "_Tree", rest: "_Tree") -> Move:
        p, q = formula.args
        if formula.op == "↔":
            p, q = implies(p, q), implies(q, p)
        outer = self._by_pattern(goal, p, first)
        inners = [self._by_pattern(each, q, rest) for each in outer.goals]

        def nested(theorems: Sequence[Theorem]) -> Theorem:
            # p → q → target, of which the premise q is put first for the outer pattern
            left, made = list(theorems), list[Theorem]()
            for inner in inners:
                made.append(inner.justify([left.pop(0) for _ in inner.goals]))
            assumed = [kernel.implies_elim(each, kernel.assume(q)) for each in made]
            both = kernel.implies_elim(outer.justify(assumed), kernel.assume(p))
            curried = kernel.implies_intro(p, kernel.implies_intro(q, both))
            return self._split(goal, formula, None).justify([curried])

        goals = [each for inner in inners for each in inner.goals]
        if len(goals) == 1:
            goals = [replace(goals[0], case="intro")]
        return Move(tuple(goals), nested)

    def _by_cases(self, goal: Goal, reader: Reader) -> Move:
        name = None
        if reader.words[1:2] == [":"]:
            name = self._named(goal, reader, "h")
            reader.expect(":")
        p = reader.formula()
        name = name or self._free("h", goal)
        middle = kernel.excluded_middle(p)
        goals = tuple(
            replace(_with(goal, {name: side}, goal.target), case=label)
            for side, label in zip(middle.conclusion.args, ("pos", "neg"), strict=True)
        )
        return Move(goals, lambda theorems: kernel.or_elim(middle, *theorems))

    def _by_contra(self, goal: Goal, reader: Reader) -> Move:
        name, p = self._named(goal, reader, "h"), goal.target
        inner = _with(goal, {name: kernel.negation(p)}, FALSE)
        return Move(
            (inner,),
            lambda theorems: kernel.or_elim(
                kernel.excluded_middle(p),
                kernel.assume(p),
                kernel.false_elim(theorems[0], p),
            ),
        )

    def _rfl(self, goal: Goal, reader: Reader) -> Move:
        target = goal.target
        if target.op != "=" or target.args[0] != target.args[1]:
            raise ProofError(f"the sides of {self._text(target, goal)} are not the same")
        return Move((), lambda _: kernel.reflexivity(target.args[0]))

    def _symm(self, goal: Goal, reader: Reader) -> Move:
        if goal.target.op != "=":
            raise ProofError(f"{self._text(goal.target, goal)} is no equation")
        s, t = goal.target.args
        turned = equal(t, s)
        motive = _motive(goal, lambda x: equal(x, t), turned)

        def justify(theorems: Sequence[Theorem]) -> Theorem:
            return kernel.substitute(theorems[0], motive, kernel.reflexivity(t))

        return Move((replace(goal, target=turned, case=""),), justify)

    def _rw(self, goal: Goal, reader: Reader) -> Move:
        reader.expect("[")
        rules = list[tuple[bool, Proof]]()
        while True:
            backwards = reader.skip("←")
            rules.append((backwards, self._proof(goal, reader)))
            if not reader.skip(","):
                break
            if reader.next == "]":
                break
        reader.expect("]")
        if reader.skip("at"):
            return self._rewritten_at(goal, rules, reader.name())
        steps, target = list[tuple[Expr, Expr, Theorem]](), goal.target
        for backwards, proof in rules:
            before = target
            equation, motive, target = self._rewrite(goal, target, proof, backwards)
            steps.append((before, motive, equation))
        done = target.op == "=" and target.args[0] == target.args[1]

        def justify(theorems: Sequence[Theorem]) -> Theorem:
            made = kernel.reflexivity(target.args[0]) if done else theorems[0]
            for _, motive, equation in reversed(steps):
                made = kernel.substitute(_turned(equation), motive, made)
            return made

        return Move(() if done else (replace(goal, target=target, case=""),), justify)

    def _rewritten_at(self, goal: Goal, rules: Sequence[tuple[bool, Proof]], name: str) -> Move:
        if name not in goal.hypotheses:
            raise ProofError(f"there is no hypothesis {name!r:.60} to rewrite")
        formula, made = goal.hypotheses[name], kernel.assume(goal.hypotheses[name])
        for backwards, proof in rules:
            equation, motive, formula = self._rewrite(goal, formula, proof, backwards)
            made = kernel.substitute(equation, motive, made)
        inner = replace(goal, hypotheses={**goal.hypotheses, name: formula}, case="")

        def justify(theorems: Sequence[Theorem]) -> Theorem:
            return kernel.implies_elim(kernel.implies_intro(formula, theorems[0]), made)

        return Move((inner,), justify)

    def _rewrite(
        self, goal: Goal, formula: Expr, proof: Proof, backwards: bool
    ) -> tuple[Theorem, Expr, Expr]:
        """Return the equation that is used, the motive, and the formula with all places changed."""
        metas, equation = list[Expr](), proof.formula
        while equation.op == "∀":
            metas.append(_meta(len(metas), equation.hint))
            equation = instance(equation, metas[-1])
        if equation.op != "=":
            raise ProofError(
                f"{self._text(proof.formula, goal)} is no equation"
                + (": give its premise as an argument" if equation.op == "→" else "")
            )
        pattern = equation.args[backwards]
        if pattern in metas:
            raise ProofError(f"every term fits {pattern.hint}: give it as an argument")
        found = _first(pattern, formula, metas)
        if found is None:
            side = _put(pattern, {meta.name: var(meta.hint or "x") for meta in metas})
            raise ProofError(f"no term of {self._text(formula, goal)} is {show(side)}")
        if missing := [meta.hint for meta in metas if meta.name not in found]:
            raise ProofError(f"nothing says what {missing[0]} is; give it as an argument")
        theorem = proof.theorem()
        for meta in metas:
            theorem = kernel.forall_elim(theorem, found[meta.name])
        if backwards:
            theorem = _turned(theorem)
        old, new = theorem.conclusion.args
        hole = fresh("x", formula.free | theorem.conclusion.free)
        motive = forall(hole, kernel.mapped(formula, lambda e, _: var(hole) if e == old else None))
        return theorem, motive, instance(motive, new)

    def _induction(  # noqa: C901 - one part of the tactic after the other
        self, goal: Goal, reader: Reader, keep: bool = True
    ) -> Move:
        """Split by the number of a variable; ``keep`` says whether the step has a hypothesis."""
        name = reader.take()
        if self.signature.sort != "ℕ" or name not in goal.variables:
            raise ProofError(f"{name:.60} is no natural number among the variables of the goal")
        general = list[str]()
        if reader.skip("generalizing"):
            while reader.next not in ("with", ""):
                general.append(reader.name())
        if wrong := [x for x in general if x not in goal.variables or x == name]:
            raise ProofError(f"{wrong[0]} is no other variable of the goal")
        general = list(dict.fromkeys(general))
        moved = self._depending(goal, {name, *general})
        rest = {k: v for k, v in goal.hypotheses.items() if k not in moved}
        motive = self._motive_of(goal, name, general, moved)
        outer = replace(
            goal,
            variables=tuple(x for x in goal.variables if x not in {name, *general}),
            hypotheses=rest,
        )
        named = reader.skip("with") and bool(reader.next)
        taken = goal.taken(self.signature).union(self.facts)
        base = self._reintroduced(outer, instance(motive, ZERO), general, moved, "zero")
        number, premise = name, ""
        if named:
            number, premise = self._names_of_step(outer, reader, (*general, *moved), name, keep)
        premise = premise or fresh("ih", taken | {number})
        k = var(number)
        step = replace(outer, variables=(*outer.variables, number))
        if keep:
            step = replace(step, hypotheses={**rest, premise: instance(motive, k)})
        step = self._reintroduced(step, instance(motive, successor(k)), general, moved, "succ")

        def justify(theorems: Sequence[Theorem]) -> Theorem:
            cases = list[Theorem]()
            for theorem, at in zip(theorems, (ZERO, successor(k)), strict=True):
                made = theorem
                for formula in reversed(self._premises(motive, at, general, moved)):
                    made = kernel.implies_intro(formula, made)
                for x in reversed(general):
                    made = kernel.forall_intro(x, made)
                cases.append(made)
            each = kernel.implies_intro(instance(motive, k), cases[1])
            made = kernel.induct(cases[0], kernel.forall_intro(number, each))
            made = kernel.forall_elim(made, var(name))
            for x in general:
                made = kernel.forall_elim(made, var(x))
            for formula in moved.values():
                made = kernel.implies_elim(made, kernel.assume(formula))
            return made

        return Move((base, step), justify)

    def _names_of_step(
        self, goal: Goal, reader: Reader, kept: Sequence[str], name: str, keep: bool
    ) -> tuple[str, str]:
        """Return the names of the number and of the hypothesis of a step, which may be empty."""
        number, premise = self._named(goal, reader, name), ""
        if keep and reader.next:
            premise = self._named(goal, reader, "ih")
        for clash in (number, premise):
            if clash in kept or number == premise:
                raise ProofError(f"the name {clash} is taken; choose another")
        return number, premise

    def _depending(self, goal: Goal, names: Iterable[str]) -> dict[str, Expr]:
        names = frozenset(names)
        return {k: v for k, v in goal.hypotheses.items() if v.free & names}

    def _motive_of(
        self, goal: Goal, name: str, general: Sequence[str], moved: Mapping[str, Expr]
    ) -> Expr:
        body = goal.target
        for formula in reversed(list(moved.values())):
            body = implies(formula, body)
        for x in reversed(general):
            body = forall(x, body)
        return forall(name, body)

    def _reintroduced(
        self, goal: Goal, target: Expr, general: Sequence[str], moved: Mapping[str, Expr], case: str
    ) -> Goal:
        for x in general:
            target = instance(target, var(x))
        hypotheses = dict(goal.hypotheses)
        for name in moved:
            hypotheses[name], target = target.args
        return Goal((*goal.variables, *general), hypotheses, target, case)

    def _premises(
        self, motive: Expr, at: Expr, general: Sequence[str], moved: Mapping[str, Expr]
    ) -> list[Expr]:
        target = instance(motive, at)
        for x in general:
            target = instance(target, var(x))
        found = list[Expr]()
        for _ in moved:
            premise, target = target.args
            found.append(premise)
        return found

    def _have(self, goal: Goal, reader: Reader) -> Move:
        name = "this"
        if reader.next not in (":", ":="):
            name = reader.name()
        name = self._new(name, goal)
        if reader.skip(":"):
            formula = reader.formula()
            proof = self._proof(goal, reader, formula) if reader.skip(":=") else None
            if proof is not None:
                self._same(proof.formula, formula, goal, "what is given")
        else:
            reader.expect(":=")
            proof = self._proof(goal, reader)
            formula = proof.formula
        main = _with(goal, {name: formula}, goal.target)
        if proof is not None:
            given = proof.theorem
            return Move((main,), lambda ths: _cut(given(), ths[0]))
        lemma = replace(goal, target=formula, case="")
        return Move((lemma, main), lambda ths: _cut(ths[0], ths[1]))

    def _revert(self, goal: Goal, reader: Reader) -> Move:
        name = reader.take()
        if name in goal.hypotheses:
            formula = goal.hypotheses[name]
            rest = {k: v for k, v in goal.hypotheses.items() if k != name}
            inner = replace(goal, hypotheses=rest, target=implies(formula, goal.target), case="")
            return Move((inner,), lambda ths: kernel.implies_elim(ths[0], kernel.assume(formula)))
        if name not in goal.variables:
            raise ProofError(f"there is no {name!r:.60} to revert")
        moved = self._depending(goal, {name})
        target = self._motive_of(goal, name, (), moved)
        rest = {k: v for k, v in goal.hypotheses.items() if k not in moved}
        variables = tuple(x for x in goal.variables if x != name)

        def justify(theorems: Sequence[Theorem]) -> Theorem:
            made = kernel.forall_elim(theorems[0], var(name))
            for formula in moved.values():
                made = kernel.implies_elim(made, kernel.assume(formula))
            return made

        return Move((Goal(variables, rest, target),), justify)

    def _show(self, goal: Goal, reader: Reader) -> Move:
        self._same(reader.formula(), goal.target, goal, "what is shown")
        return Move((goal,), lambda theorems: theorems[0])

    # Words

    def _same(self, found: Expr, wanted: Expr, goal: Goal, what: str) -> None:
        if found != wanted:
            raise ProofError(
                f"{what} is {self._text(found, goal)}, and {self._text(wanted, goal)} is wanted"
            )

    def _text(self, formula: Expr, goal: Goal) -> str:
        text = show(formula, goal.variables)
        return f"({text})" if len(text) <= 200 else f"({text[:200]} ...)"


_Tree = str | tuple[str, list["_Tree"]]


def _alternatives(reader: Reader, depth: int = 0) -> _Tree:
    """Return the pattern of rcases that comes next: a | b, ⟨a, b⟩, names and _."""
    if depth > _MOST_PARTS:
        raise ProofError("the pattern is nested too deeply")
    found = list[_Tree]()
    while True:
        if reader.skip("⟨"):
            parts = list[_Tree]()
            while not parts or reader.skip(","):
                parts.append(_alternatives(reader, depth + 1))
            reader.expect("⟩")
            found.append(("⟨", parts))
        elif reader.skip("("):
            found.append(_alternatives(reader, depth + 1))
            reader.expect(")")
        else:
            found.append(reader.take())
        if not reader.skip("|"):
            return found[0] if len(found) == 1 else ("|", found)


def _checked(word: str) -> str:
    return Reader([word], Signature({}, frozenset()), ()).name()


def _with(goal: Goal, added: Mapping[str, Expr], target: Expr) -> Goal:
    return replace(goal, hypotheses={**goal.hypotheses, **added}, target=target, case="")


def _closed_over(theorem: Theorem, name: str, premise: Expr | None) -> Theorem:
    if premise is None:
        return kernel.forall_intro(name, theorem)
    return kernel.implies_intro(premise, theorem)


def _closed(theorem: Theorem) -> Move:
    return Move((), lambda _: theorem)


def _cut(lemma: Theorem, main: Theorem) -> Theorem:
    return kernel.implies_elim(kernel.implies_intro(lemma.conclusion, main), lemma)


def _turned(equation: Theorem) -> Theorem:
    s, _ = equation.conclusion.args
    hole = fresh("x", equation.conclusion.free)
    motive = forall(hole, equal(var(hole), s))
    return kernel.substitute(equation, motive, kernel.reflexivity(s))


def _motive(goal: Goal, body: Callable[[Expr], Expr], *around: Expr) -> Expr:
    hole = fresh("x", frozenset[str]().union(goal.variables, *(each.free for each in around)))
    return forall(hole, body(var(hole)))


# A variable of a lemma that is still to be found. No name that can be read has a question mark.


def _meta(number: int, hint: str) -> Expr:
    return Expr("var", f"?{number}", hint=hint)


def _match(pattern: Expr, expr: Expr, metas: Sequence[Expr]) -> dict[str, Expr] | None:
    """Return the terms that make a pattern equal to an expression, None where there are none."""
    found, left = dict[str, Expr](), [(pattern, expr)]
    names = {meta.name for meta in metas}
    while left:
        one, other = left.pop()
        if one.op == "var" and one.name in names:
            if not other.is_term or other.loose or found.setdefault(one.name, other) != other:
                return None
        elif (one.op, one.name, one.index, len(one.args)) != (
            *(other.op, other.name, other.index, len(other.args)),
        ):
            return None
        else:
            left += zip(one.args, other.args, strict=True)
    return found


def _first(pattern: Expr, expr: Expr, metas: Sequence[Expr]) -> dict[str, Expr] | None:
    """Return the match of the first term, from the outside and the left, that a pattern fits."""
    left = [expr]
    while left:
        part = left.pop()
        if part.is_term and not part.loose:
            found = _match(pattern, part, metas)
            if found is not None:
                return found
        left += reversed(part.args)
    return None


def _put(expr: Expr, found: Mapping[str, Expr]) -> Expr:
    return kernel.mapped(expr, lambda e, _: found.get(e.name) if e.op == "var" else None)
