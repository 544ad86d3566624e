"""Lemmas with their proofs: of the natural numbers, and of groups.

The proofs rest on the lemmas that each names, and on the axioms. Landau, "Foundations of Analysis",
1930, chapter 1, has those of numbers; any book on groups has the others.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lemma:
    """A lemma: what it says, the tactics that prove it, and the lemmas that these use."""

    text: str
    proof: tuple[str, ...]
    needs: tuple[str, ...] = ()


def _by_induction(on: str, base: str, step: str, names: str) -> tuple[str, ...]:
    return (f"intro {names}", f"induction {on} with n ih", f"rw [{base}]", f"rw [{step}]")


NUMBER_LEMMAS: Mapping[str, Lemma] = {
    "zero_add": Lemma("∀ a, 0 + a = a", _by_induction("a", "add_zero", "add_succ, ih", "a")),
    "succ_add": Lemma(
        "∀ a b, S a + b = S (a + b)",
        _by_induction("b", "add_zero, add_zero", "add_succ, ih, add_succ", "a b"),
    ),
    "add_comm": Lemma(
        "∀ a b, a + b = b + a",
        _by_induction("b", "add_zero, zero_add", "add_succ, succ_add, ih", "a b"),
        ("zero_add", "succ_add"),
    ),
    "add_assoc": Lemma(
        "∀ a b c, a + b + c = a + (b + c)",
        _by_induction("c", "add_zero, add_zero", "add_succ, add_succ, add_succ, ih", "a b c"),
    ),
    "add_left_comm": Lemma(
        "∀ a b c, a + (b + c) = b + (a + c)",
        ("intro a b c", "rw [← add_assoc, add_comm a b, add_assoc]"),
        ("add_assoc", "add_comm"),
    ),
    "zero_mul": Lemma(
        "∀ a, 0 * a = 0", _by_induction("a", "mul_zero", "mul_succ, ih, add_zero", "a")
    ),
    "succ_mul": Lemma(
        "∀ a b, S a * b = a * b + b",
        _by_induction(
            "b",
            "mul_zero, mul_zero, add_zero",
            "mul_succ, mul_succ, ih, add_succ, add_succ, add_assoc, add_assoc, add_comm n a",
            "a b",
        ),
        ("add_assoc", "add_comm"),
    ),
    "mul_comm": Lemma(
        "∀ a b, a * b = b * a",
        _by_induction("b", "mul_zero, zero_mul", "mul_succ, succ_mul, ih", "a b"),
        ("zero_mul", "succ_mul"),
    ),
    "mul_add": Lemma(
        "∀ a b c, a * (b + c) = a * b + a * c",
        _by_induction(
            "c",
            "add_zero, mul_zero, add_zero",
            "add_succ, mul_succ, ih, mul_succ, add_assoc",
            "a b c",
        ),
        ("add_assoc",),
    ),
    "add_mul": Lemma(
        "∀ a b c, (a + b) * c = a * c + b * c",
        ("intro a b c", "rw [mul_comm, mul_add, mul_comm c a, mul_comm c b]"),
        ("mul_comm", "mul_add"),
    ),
    "mul_assoc": Lemma(
        "∀ a b c, a * b * c = a * (b * c)",
        _by_induction(
            "c", "mul_zero, mul_zero, mul_zero", "mul_succ, mul_succ, mul_add, ih", "a b c"
        ),
        ("mul_add",),
    ),
    "mul_left_comm": Lemma(
        "∀ a b c, a * (b * c) = b * (a * c)",
        ("intro a b c", "rw [← mul_assoc, mul_comm a b, mul_assoc]"),
        ("mul_assoc", "mul_comm"),
    ),
}

GROUP_AXIOMS: Mapping[str, str] = {
    "assoc": "∀ x y z, x * y * z = x * (y * z)",
    "e_mul": "∀ x, e * x = x",
    "i_mul": "∀ x, i x * x = e",
}
GROUP_LEMMAS: Mapping[str, Lemma] = {
    "i_mul_mul": Lemma("∀ x y, i x * (x * y) = y", ("intro x y", "rw [← assoc, i_mul, e_mul]")),
    "mul_i": Lemma(
        "∀ x, x * i x = e",
        (
            "intro x",
            "have k := i_mul_mul (i x) (x * i x)",
            "rw [i_mul_mul x (i x), i_mul] at k",
            "exact k.symm",
        ),
        ("i_mul_mul",),
    ),
    "mul_e": Lemma(
        "∀ x, x * e = x",
        ("intro x", "rw [← i_mul x, ← assoc, mul_i, e_mul]"),
        ("mul_i",),
    ),
    "mul_i_mul": Lemma(
        "∀ x y, x * (i x * y) = y",
        ("intro x y", "rw [← assoc, mul_i, e_mul]"),
        ("mul_i",),
    ),
    "i_e": Lemma(
        "i e = e",
        ("have k := mul_e (i e)", "rw [i_mul] at k", "exact k.symm"),
        ("mul_e",),
    ),
    "i_i": Lemma(
        "∀ x, i (i x) = x",
        ("intro x", "have k := i_mul_mul (i x) x", "rw [i_mul, mul_e] at k", "exact k"),
        ("i_mul_mul", "mul_e"),
    ),
    "i_of_mul": Lemma(
        "∀ x y, i (x * y) = i y * i x",
        (
            "intro x y",
            "have k := i_mul_mul (x * y) (i y * i x)",
            "rw [assoc x y, mul_i_mul y, mul_i, mul_e] at k",
            "exact k",
        ),
        ("i_mul_mul", "mul_i_mul", "mul_i", "mul_e"),
    ),
}


def prelude(
    library: Mapping[str, Lemma], wanted: Iterable[str], given: Collection[str]
) -> tuple[list[str], list[str]]:
    """Return the names of the lemmas that have to be proved, and the tactics that do it.

    Args:
        library: the lemmas, each after those that it needs.
        wanted: the lemmas that are used.
        given: those that need no proof.
    """
    missing = set[str]()
    left = [name for name in wanted if name in library]
    while left:
        name = left.pop()
        if name not in given and name not in missing:
            missing.add(name)
            left += library[name].needs
    names = [name for name in library if name in missing]
    lines = list[str]()
    for name in names:
        lines += [f"have {name} : {library[name].text}", *library[name].proof]
    return names, lines
