"""The functions of a package: what each does in words, its source, and which others it calls.

All work on records, tuples of a name and two whole numbers, or on lists of them. A function calls
only functions that were drawn before it, and its docstring says exactly what it returns in terms
of those, so that each docstring is a specification.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rlvr_envs.core.seeding import Rng, integer, pick

RECORD, RECORDS = "record", "records"  # what a function takes


@dataclass(frozen=True, slots=True)
class Domain:
    """What the records of a package are.

    Attributes:
        package: its name.
        one: a record, in the singular.
        many: the plural.
        first: the first number of a record.
        second: the second number.
        keys: names of records.
        modules: names of modules, in the order in which they may import each other.
    """

    package: str
    one: str
    many: str
    first: str
    second: str
    keys: tuple[str, ...]
    modules: tuple[str, ...]


DOMAINS = (
    Domain(
        *("stockroom", "item", "items", "quantity", "price"),
        ("bolt", "cable", "drill", "fuse", "gear", "hinge", "lamp"),
        ("pricing", "rules", "shelves", "orders", "totals", "audit", "summary", "export"),
    ),
    Domain(
        *("ledger", "entry", "entries", "amount", "fee"),
        ("rent", "food", "tax", "wages", "books", "travel", "gifts"),
        ("charges", "policy", "journal", "accounts", "balance", "review", "statement", "archive"),
    ),
    Domain(
        *("planner", "job", "jobs", "start", "length"),
        ("paint", "sand", "weld", "pack", "load", "test", "ship"),
        ("effort", "limits", "queue", "shifts", "workload", "checks", "overview", "board"),
    ),
    Domain(
        *("lexicon", "word", "words", "count", "rank"),
        ("amber", "brook", "cedar", "dune", "ember", "fjord", "grove"),
        ("weights", "filters", "tokens", "phrases", "counts", "stats", "index", "printing"),
    ),
    Domain(
        *("orchard", "tree", "trees", "row", "height"),
        ("apple", "cherry", "fig", "lemon", "olive", "pear", "plum"),
        ("growth", "health", "plots", "harvest", "yields", "survey", "digest", "poster"),
    ),
    Domain(
        *("fleet", "trip", "trips", "distance", "load"),
        ("Arvo", "Bela", "Cato", "Dora", "Egon", "Fina", "Gero"),
        ("tariff", "permits", "routes", "drivers", "mileage", "control", "digest", "bulletin"),
    ),
)


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a package.

    Attributes:
        name: unique in its package.
        kind: what it returns; one of `KINDS`.
        takes: `RECORD` or `RECORDS`.
        told: what it returns, a sentence.
        source: with the docstring.
        calls: the names of the functions that it calls.
    """

    name: str
    kind: str
    takes: str
    told: str
    source: str
    calls: tuple[str, ...]


# What a draft of a function is: words, lines of its body, and what it calls.
Draft = tuple[str, list[str], tuple[str, ...]]

_NAMES: dict[str, tuple[str, ...]] = {
    "value": ("worth", "cost", "score", "burden", "points", "rating", "charge", "portion"),
    "test": ("is_large", "is_special", "is_open", "is_prime", "is_marked", "is_safe", "is_late"),
    "list": ("chosen", "merged", "leading", "relevant", "cleaned", "trimmed", "ordered"),
    "numbers": ("series", "running", "steps", "levels", "carried", "curve", "profile"),
    "totals": ("by_name", "sums", "tally", "shares", "overall", "balances", "groups"),
    "number": ("total", "peak", "streak", "spread", "result", "measure", "figure"),
    "lines": ("report", "listing", "table", "notice", "overview_lines", "rows_of_text"),
}
KINDS = tuple(_NAMES)
_TAKES_ONE = ("value", "test")
# Of the kinds that need nothing but what the first three functions are.
_LATER = ("value", "test", "list", "numbers", "totals", "number", "lines")


class Drawing:
    """Draws the functions of a package one after the other."""

    def __init__(self, rng: Rng, domain: Domain) -> None:
        self.rng, self.domain = rng, domain
        self.functions: list[Function] = []

    def draw(self, count: int) -> list[Function]:
        """Return functions, each after those that it calls."""
        kinds = ("value", "test", "list")
        for number in range(count):
            kind = kinds[number] if number < len(kinds) else pick(self.rng, _LATER)
            self._add(kind, base=number < len(kinds))
        return self.functions

    def _add(self, kind: str, *, base: bool) -> None:
        drafts = _BASE[kind] if base else _DRAFTS[kind]
        usable = [d for d in drafts if all(self._known(need) for need in d[0])]
        told, body, calls = pick(self.rng, usable)[1](self)
        takes = RECORD if kind in _TAKES_ONE else RECORDS
        given = self.domain.one if takes == RECORD else self.domain.many
        name = self._name(kind)
        lines = [f"def {name}({given}):", f'    """{told}"""', *(f"    {line}" for line in body)]
        found = Function(name, kind, takes, told, "\n".join(lines), tuple(dict.fromkeys(calls)))
        self.functions.append(found)

    def _name(self, kind: str) -> str:
        used = {function.name for function in self.functions}
        for turn in range(1, len(used) + 2):
            names = [n if turn == 1 else f"{n}_{turn}" for n in _NAMES[kind]]
            free = [name for name in names if name not in used]
            if free:
                return pick(self.rng, free)
        raise AssertionError("some name is free")

    def _known(self, kind: str) -> bool:
        return any(function.kind == kind for function in self.functions)

    def function(self, kind: str, *, other: str = "") -> str:
        """Draw a function of a kind, more likely one of the last."""
        names = [f.name for f in self.functions if f.kind == kind and f.name != other]
        if not names:
            return other
        recent = names[-2:]
        return pick(self.rng, recent if self.rng.random() < 0.75 else names)

    def number(self, low: int, high: int) -> int:
        return integer(self.rng, low, high)

    def opened(self, *fields: int) -> str:
        """Return the line that takes a record apart, as far as it is used."""
        domain = self.domain
        names = ["name", domain.first, domain.second]
        parts = [name if place in fields else "_" for place, name in enumerate(names)]
        return f"{', '.join(parts)} = {domain.one}"

    def either(self) -> tuple[int, str, int, str]:
        """Return the places and names of the two numbers, in either order."""
        one, two = (1, self.domain.first), (2, self.domain.second)
        return (*one, *two) if self.rng.random() < 0.5 else (*two, *one)


# Values of a record.


def _weighted(d: Drawing) -> Draft:
    p, q = d.number(2, 9), d.number(2, 9)
    a, b = d.domain.first, d.domain.second
    told = f"Return {p} times the {a} plus {q} times the {b}."
    return told, [d.opened(1, 2), f"return {p} * {a} + {q} * {b}"], ()


def _capped(d: Drawing) -> Draft:
    a, b, cap = d.domain.first, d.domain.second, d.number(20, 60)
    told = f"Return the {a} times the {b}, but at most {cap}."
    return told, [d.opened(1, 2), f"return min({a} * {b}, {cap})"], ()


def _reduced(d: Drawing) -> Draft:
    _, a, _, b = d.either()
    t, k = d.number(3, 9), d.number(2, 15)
    told = f"Return the {a} times the {b}; where the {a} is {t} or more, {k} less."
    body = [d.opened(1, 2), f"if {a} >= {t}:", f"    return {a} * {b} - {k}", f"return {a} * {b}"]
    return told, body, ()


def _surcharged(d: Drawing) -> Draft:
    v, one = d.function("value"), d.domain.one
    place, a, _, _ = d.either()
    k, t = d.number(3, 20), d.number(3, 9)
    told = f"Return {v}({one}), plus {k} if the {a} is more than {t}."
    body = [d.opened(place), f"extra = {k} if {a} > {t} else 0", f"return {v}({one}) + extra"]
    return told, body, (v,)


def _rounded(d: Drawing) -> Draft:
    v, one, m = d.function("value"), d.domain.one, d.number(3, 9)
    told = f"Return {v}({one}) rounded down to a multiple of {m}."
    return told, [f"found = {v}({one})", f"return found - found % {m}"], (v,)


def _chosen(d: Drawing) -> Draft:
    v, p, one = d.function("value"), d.function("test"), d.domain.one
    place, a, _, _ = d.either()
    k = d.number(2, 9)
    told = f"Return {v}({one}) if {p}({one}), otherwise {k} times the {a}."
    body = [d.opened(place), f"if {p}({one}):", f"    return {v}({one})", f"return {k} * {a}"]
    return told, body, (v, p)


# Tests of a record.


def _at_least(d: Drawing) -> Draft:
    place, a, _, _ = d.either()
    t = d.number(3, 9)
    return f"Tell whether the {a} is {t} or more.", [d.opened(place), f"return {a} >= {t}"], ()


def _between(d: Drawing) -> Draft:
    _, a, _, b = d.either()
    t, u = d.number(5, 10), d.number(2, 7)
    told = f"Tell whether the {a} is less than {t} and the {b} more than {u}."
    return told, [d.opened(1, 2), f"return {a} < {t} and {b} > {u}"], ()


def _in_range(d: Drawing) -> Draft:
    v, one = d.function("value"), d.domain.one
    low = d.number(10, 30)
    high = low + d.number(15, 40)
    told = f"Tell whether {v}({one}) is from {low} to {high}, both included."
    return told, [f"return {low} <= {v}({one}) <= {high}"], (v,)


def _or_small(d: Drawing) -> Draft:
    p, one = d.function("test"), d.domain.one
    place, a, _, _ = d.either()
    t = d.number(2, 6)
    told = f"Tell whether {p}({one}), or the {a} is at most {t}."
    return told, [d.opened(place), f"return {p}({one}) or {a} <= {t}"], (p,)


def _remainder(d: Drawing) -> Draft:
    v, one, m = d.function("value"), d.domain.one, d.number(2, 4)
    r = d.number(0, m - 1)
    told = f"Tell whether {v}({one}) leaves the remainder {r} when divided by {m}."
    return told, [f"return {v}({one}) % {m} == {r}"], (v,)


# Lists of records.


def _kept(d: Drawing) -> Draft:
    p, one, many = d.function("test"), d.domain.one, d.domain.many
    told = f"Return the {many} for which {p}({one}) holds, in their order."
    return told, [f"return [{one} for {one} in {many} if {p}({one})]"], (p,)


def _merged(d: Drawing) -> Draft:
    a, b, one, many = d.domain.first, d.domain.second, d.domain.one, d.domain.many
    told = (
        f"Return one {one} for each name, in the order in which names first appear, with the sum "
        f"of the {a} and the largest {b}."
    )
    body = [
        "found = {}",
        f"for name, {a}, {b} in {many}:",
        f"    before = found.get(name, (0, {b}))",
        f"    found[name] = (before[0] + {a}, max(before[1], {b}))",
        f"return [(name, {a}, {b}) for name, ({a}, {b}) in found.items()]",
    ]
    return told, body, ()


def _leading(d: Drawing) -> Draft:
    v, one, many, k = d.function("value"), d.domain.one, d.domain.many, d.number(2, 4)
    told = (
        f"Return the {k} {many} with the largest {v}({one}), the largest first; equal ones are "
        "ordered by name, then as they come."
    )
    key = f"key=lambda {one}: (-{v}({one}), {one}[0])"
    return told, [f"return sorted({many}, {key})[:{k}]"], (v,)


def _refined(d: Drawing) -> Draft:
    chosen, p = d.function("list"), d.function("test")
    one, many = d.domain.one, d.domain.many
    told = f"Return those of {chosen}({many}) for which {p}({one}) does not hold, in their order."
    body = [f"return [{one} for {one} in {chosen}({many}) if not {p}({one})]"]
    return told, body, (chosen, p)


def _no_repeats(d: Drawing) -> Draft:
    chosen, one, many = d.function("list"), d.domain.one, d.domain.many
    told = f"Return {chosen}({many}) without each {one} whose name is that of the one just before."
    body = [
        "kept, last = [], None",
        f"for {one} in {chosen}({many}):",
        f"    if {one}[0] != last:",
        f"        kept.append({one})",
        f"    last = {one}[0]",
        "return kept",
    ]
    return told, body, (chosen,)


# Lists of numbers.


def _values(d: Drawing) -> Draft:
    v, chosen = d.function("value"), d.function("list")
    one, many = d.domain.one, d.domain.many
    told = f"Return {v}({one}) for each {one} of {chosen}({many})."
    return told, [f"return [{v}({one}) for {one} in {chosen}({many})]"], (v, chosen)


def _running(d: Drawing) -> Draft:
    n, many = d.function("numbers"), d.domain.many
    told = f"Return the running totals of {n}({many})."
    body = [
        "total, found = 0, []",
        f"for number in {n}({many}):",
        "    total = total + number",
        "    found.append(total)",
        "return found",
    ]
    return told, body, (n,)


def _differences(d: Drawing) -> Draft:
    n, many = d.function("numbers"), d.domain.many
    told = f"Return each number of {n}({many}) but the first, minus the number before it."
    body = [
        f"numbers = {n}({many})",
        "return [numbers[i] - numbers[i - 1] for i in range(1, len(numbers))]",
    ]
    return told, body, (n,)


def _carried(d: Drawing) -> Draft:
    n, many, cap = d.function("numbers"), d.domain.many, d.number(15, 45)
    told = (
        f"Return the numbers of {n}({many}) limited to {cap}: what is above the limit is added to "
        "the next number before that is limited, and after the last number it is lost."
    )
    body = [
        "carry, found = 0, []",
        f"for number in {n}({many}):",
        f"    taken = min(number + carry, {cap})",
        "    carry = number + carry - taken",
        "    found.append(taken)",
        "return found",
    ]
    return told, body, (n,)


# Numbers by name.


def _sums(d: Drawing) -> Draft:
    v, chosen = d.function("value"), d.function("list")
    one, many = d.domain.one, d.domain.many
    told = f"Return, by name, the sum of {v}({one}) over {chosen}({many})."
    body = [
        "found = {}",
        f"for {one} in {chosen}({many}):",
        f"    found[{one}[0]] = found.get({one}[0], 0) + {v}({one})",
        "return found",
    ]
    return told, body, (v, chosen)


def _counted(d: Drawing) -> Draft:
    p, one, many = d.function("test"), d.domain.one, d.domain.many
    told = f"Return, by name, for how many {many} {p}({one}) holds; names without any count 0."
    body = [
        "found = {}",
        f"for {one} in {many}:",
        f"    found[{one}[0]] = found.get({one}[0], 0) + (1 if {p}({one}) else 0)",
        "return found",
    ]
    return told, body, (p,)


def _worthy(d: Drawing) -> Draft:
    t, many, low = d.function("totals"), d.domain.many, d.number(1, 30)
    told = f"Return {t}({many}) without the names that have less than {low}."
    body = [f"return {{name: n for name, n in {t}({many}).items() if n >= {low}}}"]
    return told, body, (t,)


# One number.


def _sum_where(d: Drawing) -> Draft:
    v, p = d.function("value"), d.function("test")
    one, many = d.domain.one, d.domain.many
    told = f"Return the sum of {v}({one}) over the {many} for which {p}({one}) holds."
    return told, [f"return sum({v}({one}) for {one} in {many} if {p}({one}))"], (v, p)


def _largest(d: Drawing) -> Draft:
    n, many = d.function("numbers"), d.domain.many
    told = f"Return the largest number of {n}({many}), and 0 where there is none or it is below 0."
    return told, [f"return max([0, *{n}({many})])"], (n,)


def _names_above(d: Drawing) -> Draft:
    t, many, low = d.function("totals"), d.domain.many, d.number(1, 30)
    told = f"Return how many names of {t}({many}) have more than {low}."
    return told, [f"return sum(1 for n in {t}({many}).values() if n > {low})"], (t,)


def _longest_run(d: Drawing) -> Draft:
    p, one, many = d.function("test"), d.domain.one, d.domain.many
    told = f"Return the length of the longest run of neighbours for which {p}({one}) holds."
    body = [
        "best = run = 0",
        f"for {one} in {many}:",
        f"    run = run + 1 if {p}({one}) else 0",
        "    best = max(best, run)",
        "return best",
    ]
    return told, body, (p,)


def _rises(d: Drawing) -> Draft:
    n, many = d.function("numbers"), d.domain.many
    told = f"Return how many numbers of {n}({many}) are larger than the number before them."
    body = [
        f"numbers = {n}({many})",
        "return sum(1 for i in range(1, len(numbers)) if numbers[i] > numbers[i - 1])",
    ]
    return told, body, (n,)


def _combined(d: Drawing) -> Draft:
    one = d.function("number")
    two, k, many = d.function("number", other=one), d.number(2, 9), d.domain.many
    told = f"Return {k} times {one}({many}) minus {two}({many})."
    return told, [f"return {k} * {one}({many}) - {two}({many})"], (one, two)


# Lines of text.


def _ranking(d: Drawing) -> Draft:
    t, many = d.function("totals"), d.domain.many
    told = (
        f"Return a line such as 'name: 7' for each name of {t}({many}), the largest number first, "
        "equal ones by name."
    )
    body = [
        f"ranked = sorted({t}({many}).items(), key=lambda pair: (-pair[1], pair[0]))",
        'return [f"{name}: {n}" for name, n in ranked]',
    ]
    return told, body, (t,)


def _numbered(d: Drawing) -> Draft:
    chosen, v = d.function("list"), d.function("value")
    one, many = d.domain.one, d.domain.many
    told = (
        f"Return lines such as '1. name (7)' for {chosen}({many}), numbered from 1, with "
        f"{v}({one}) in brackets."
    )
    body = [
        "lines = []",
        f"for place, {one} in enumerate({chosen}({many}), 1):",
        f'    lines.append(f"{{place}}. {{{one}[0]}} ({{{v}({one})}})")',
        "return lines",
    ]
    return told, body, (chosen, v)


Entry = tuple[tuple[str, ...], Callable[[Drawing], Draft]]  # the kinds that it needs, and a draft
_BASE: dict[str, Sequence[Entry]] = {
    "value": (((), _weighted), ((), _capped), ((), _reduced)),
    "test": (((), _at_least), ((), _between), (("value",), _in_range)),
    "list": ((("test",), _kept), (("value",), _leading), ((), _merged)),
}
_DRAFTS: dict[str, Sequence[Entry]] = {
    "value": (((), _surcharged), ((), _rounded), ((), _chosen)),
    "test": (((), _in_range), ((), _or_small), ((), _remainder)),
    "list": (((), _kept), ((), _leading), ((), _refined), ((), _no_repeats), ((), _merged)),
    "numbers": (
        ((), _values),
        *((("numbers",), draft) for draft in (_running, _differences, _carried)),
    ),
    "totals": (((), _sums), ((), _counted), (("totals",), _worthy)),
    "number": (
        *(((), _sum_where), ((), _longest_run), (("numbers",), _largest)),
        *((("totals",), _names_above), (("numbers",), _rises), (("number",), _combined)),
    ),
    "lines": ((("totals",), _ranking), ((), _numbered)),
}
