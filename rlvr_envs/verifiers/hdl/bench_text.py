"""A dataset's testbench as text: where it prints, and what it says there by passing and failing.

Every call that prints gets a mark of its own in front of what it prints, so that a line of the
output can be told to come from that call. What a call means is read from its own literal text:
"All tests passed" is a pass, "Mismatch at %d" a failure, "Errors: %0d" a count of failures.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from rlvr_envs.core.errors import RlvrEnvsError
from rlvr_envs.verifiers.hdl.source import MOST_CHARACTERS
from rlvr_envs.verifiers.hdl.tokens import LAYOUT, TOKEN

PLACE = "\x01"  # stands for the nonce of a run in the marked text
PASS, FAIL, COUNT, OTHER = "pass", "fail", "count", "other"

_PRINTS = re.compile(r"\$(?:display|write|strobe|monitor)[bho]?|\$(?:info|warning|error|fatal)")
_DUMPS = re.compile(r"\$dump\w+")
_READS = re.compile(
    r"\$(?:s?readmem[bh]|fscanf|fgets|fgetc|fread|sdf_annotate|system|(?:test|value)\$plusargs)"
)

_NONE = re.compile(
    r"\b(?:no|zero|without|0)\s+(?:any\s+)?(?:errors?|mismatch(?:es)?|failures?|fails?)\b"
)
_NOT = re.compile(r"\bnot\s+(?:all\s+)?(?:passed|pass|correct|ok)\b|\bincorrect\b|\bunsuccessful\b")
_FAILS = re.compile(
    r"fail|error|mismatch|wrong|incorrect|unexpected|violat|\btime[ -]?out|\btimed out|\bnot ok\b"
)
_PASSES = re.compile(r"\bpass(?:ed|es)?\b|success|\bcorrect\b|\bok\b")
_ALL = re.compile(r"\ball\b|\bevery\b|\bdesign passed\b|\btest ?bench passed\b")
_SPEC = re.compile(r"%[-+]?\d*(?:\.\d+)?([a-zA-Z%])")
_COUNTED = re.compile(
    r"(?:errors|mismatches|failures|failed|(?:error|fail|failure|mismatch) count|"
    r"mismatched samples)(?:\s+(?:tests|cases|checks|found|count|total|is|are))*\s*[:=]?\s*%\d*d"
    r"|%\d*d\s+(?:\w+\s+)?(?:errors|mismatches|failures|failed|errors?\(s\)|mismatch(?:es)?\b)"
)
_COUNTER = re.compile(r"err|fail|mism|wrong|bad", re.IGNORECASE)


class BenchRefused(RlvrEnvsError):
    """A testbench cannot be judged by; the message says why."""


@dataclass(frozen=True, slots=True)
class Site:
    """A call that prints.

    Attributes:
        kind: what it means that it ran: `PASS`, `FAIL`, `COUNT` or `OTHER`.
        counts: for `COUNT`, what is printed, in which each group is a number of failures.
        summary: whether a pass speaks of all that is tested.
    """

    kind: str
    counts: re.Pattern[str] | None = None
    summary: bool = False


@dataclass(frozen=True, slots=True)
class Bench:
    """A testbench that can be run."""

    marked: str  # the text, with a mark before all that is printed
    sites: tuple[Site, ...]  # what the marks stand for, by number

    def text(self, nonce: str) -> str:
        """Return the testbench with the marks of one run, which nobody could know before it."""
        return self.marked.replace(PLACE, nonce)

    def passing(self) -> frozenset[int]:
        """Return the calls one of which has to run: those that speak of all tests, if any does.

        Where there is none, failures are counted, and a count of 0 may be told by silence.
        """
        whole = {n for n, site in enumerate(self.sites) if site.kind == PASS and site.summary}
        some = {n for n, site in enumerate(self.sites) if site.kind == PASS}
        return frozenset(whole or some)


class _Piece(NamedTuple):
    kind: str
    text: str


def read_bench(text: str, top: str) -> Bench:
    """Return a testbench that can be run, with a mark for every call that prints.

    Args:
        text: Verilog or SystemVerilog of a dataset, which instantiates the module ``top``.
        top: the module under test.

    Raises:
        BenchRefused: it reads files, does not contain the module, or never says that all is well.
    """
    plain = text.replace("\r\n", "\n").replace(PLACE, " ")
    if len(plain) > MOST_CHARACTERS:
        raise BenchRefused(f"its testbench has more than {MOST_CHARACTERS} characters")
    pieces = [_Piece(m.lastgroup or "other", m[0]) for m in TOKEN.finditer(plain)]
    words = [piece.text for piece in pieces if piece.kind not in LAYOUT]
    if top not in words:
        raise BenchRefused(f"its testbench does not contain the module {top}")
    if ("module", top) in pairwise(words):
        raise BenchRefused(f"its testbench defines the module {top} itself")
    for piece in pieces:
        if _READS.fullmatch(piece.text) or piece.text == "`include":
            raise BenchRefused(f"its testbench reads files or arguments ({piece.text})")
    bench = _marked(pieces)
    if not any(site.kind in (PASS, COUNT) for site in bench.sites):
        raise BenchRefused("no line that its testbench prints says that all is well")
    return bench


def _marked(pieces: Sequence[_Piece]) -> Bench:
    kept: list[str] = []
    sites: list[Site] = []
    place = 0
    while place < len(pieces):
        piece = pieces[place]
        if piece.kind == "system" and _DUMPS.fullmatch(piece.text):
            place = _call_end(pieces, place)  # the semicolon stays, as an empty statement
            continue
        kept.append(piece.text)
        place += 1
        if piece.kind == "system" and _PRINTS.fullmatch(piece.text):
            after = _call_end(pieces, place - 1)
            call = pieces[place:after]
            kept.append(_marked_call(piece.text, call, len(sites)))
            sites.append(_site(piece.text, [p for p in call if p.kind not in LAYOUT]))
            place = after
    return Bench("".join(kept), tuple(sites))


def _call_end(pieces: Sequence[_Piece], place: int) -> int:
    """Return where the arguments of the call end whose name stands at a place."""
    depth, number = 0, place + 1
    while number < len(pieces):
        piece = pieces[number]
        if depth == 0 and piece.kind not in LAYOUT and piece.text not in ("(", "(*"):
            return place + 1  # no arguments
        depth += (piece.text in ("(", "(*")) - (piece.text in (")", "*)"))
        number += 1
        if depth == 0 and piece.kind not in LAYOUT:
            return number
    return number


def _marked_call(name: str, call: Sequence[_Piece], number: int) -> str:
    mark = f'"{PLACE}:{number}:"'
    parts = [piece.text for piece in call]
    inner = [piece for piece in call if piece.kind not in LAYOUT][1:-1]
    if not inner:
        return f"(1, {mark})" if name == "$fatal" else f"({mark})"
    if name == "$fatal" and inner[0].kind == "number":
        comma = next((n for n, text in enumerate(parts) if text == ","), None)
        if comma is None:
            return f"({inner[0].text}, {mark})"
        return "".join([*parts[: comma + 1], f" {mark},", *parts[comma + 1 :]])
    opened = parts.index("(") if "(" in parts else 0
    return "".join([*parts[: opened + 1], f"{mark}, ", *parts[opened + 1 :]])


def _site(name: str, call: Sequence[_Piece]) -> Site:
    """Return what a call means, from its literals alone."""
    if name in ("$error", "$fatal"):
        return Site(FAIL)
    said = " ".join(piece.text[1:-1] for piece in call if piece.kind == "string").lower()
    counts = _counts(call)
    if counts is not None:
        return Site(COUNT, counts)
    calm = _NONE.sub("passed", said)
    fails = bool(_NOT.search(calm) or _FAILS.search(calm))
    passes = bool(_PASSES.search(_NOT.sub(" ", calm)))
    if fails == passes:
        return Site(OTHER)
    if fails:
        return Site(FAIL)
    return Site(PASS, summary=bool(_ALL.search(calm)))


def _counts(call: Sequence[_Piece]) -> re.Pattern[str] | None:
    """Return how a count of failures is printed: "Errors: %0d" with a variable called so."""
    arguments = _arguments(call)
    if not arguments or [piece.kind for piece in arguments[0]] != ["string"]:
        return None
    form = arguments[0][0].text[1:-1]
    if not _COUNTED.search(form.lower()) or re.search(r"%[-+]?\d*[sScC]", form):
        return None
    specs = [spec for spec in _SPEC.finditer(form) if spec[1] not in "%mM"]
    named = ["".join(piece.text for piece in argument) for argument in arguments[1:]]
    if len(specs) != len(named):
        return None
    found, last = "", 0
    counted = [bool(_COUNTER.search(name)) and "(" not in name for name in named]
    if not any(counted):
        return None
    for spec, counts in zip(specs, counted, strict=True):
        # Spaces may be printed otherwise than they are written, as tabs and padding.
        found += _spaced(form[last : spec.start()]) + (r"\s*(\w+)" if counts else r"\s*\S+?")
        last = spec.end()
    return re.compile(found)


def _spaced(literal: str) -> str:
    plain = literal.replace("\\n", " ").replace("\\t", " ").replace("%%", "%")
    return r"\s*".join(re.escape(word) for word in re.split(r"\s+", plain))


def _arguments(call: Sequence[_Piece]) -> list[list[_Piece]]:
    """Return the arguments of a call, each as its tokens."""
    found: list[list[_Piece]] = [[]]
    depth = 0
    for piece in call:
        depth -= piece.text in (")", "]", "}")
        if depth == 1 and piece.text == ",":
            found.append([])
        elif depth >= 1:
            found[-1].append(piece)
        depth += piece.text in ("(", "[", "{")
    return found if found[0] else []


def failures(site: Site, printed: str) -> bool:
    """Return whether what a call printed tells of failures; a count that is x does.

    Raises:
        BenchRefused: it should print a count, and none can be read.
    """
    if site.counts is None:
        return site.kind == FAIL
    told = site.counts.search(printed)
    if told is None:
        raise BenchRefused(f"no count of failures can be read in {printed!r:.100}")
    return any(number.strip("0") for number in told.groups())
