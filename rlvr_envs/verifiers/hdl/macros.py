"""Macros: how long a text becomes when they are replaced, and the text in which they are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rlvr_envs.verifiers.hdl.tokens import LAYOUT, Token, ends_line, tokens_of

# A text that is longer than that is not measured on: nobody wants the exact number.
ENDLESS = 10**12


@dataclass(frozen=True, slots=True)
class Macro:
    """A definition: the names of its parameters, and the tokens that stand for it."""

    parameters: tuple[str, ...]
    body: tuple[str, ...]

    @classmethod
    def of(cls, tokens: Sequence[str], *, glued: bool) -> "Macro":
        """Return the definition that stands behind a name.

        Args:
            tokens: the parameters in parentheses, if there are any, and the body.
            glued: whether there are parameters.
        """
        if not glued or ")" not in tokens:
            return cls((), tuple(tokens))
        end = tokens.index(")")
        return cls(tuple(tokens[1:end]), tuple(tokens[end + 1 :]))


def expanded(macros: Mapping[str, Sequence[Macro]], text: Sequence[str]) -> int:
    """Return how many tokens a text has at most when every macro is replaced; at most `ENDLESS`."""
    return _Measure(macros).text(text)


class _Measure:
    """Measures macros, each once."""

    def __init__(self, macros: Mapping[str, Sequence[Macro]]) -> None:
        self._macros = macros
        # How many tokens a macro brings itself, and how often it repeats an argument.
        self._known: dict[str, tuple[int, int]] = {}

    def text(self, tokens: Sequence[str]) -> int:
        return self._walk(tokens, frozenset())[0]

    def _walk(self, tokens: Sequence[str], parameters: frozenset[str]) -> tuple[int, int]:
        """Return how many tokens these become, and how often they repeat a parameter at most."""
        total, repeats = 0, dict.fromkeys(parameters, 0)
        factor, factors = 1, []  # of what stands within the arguments of macros
        argued = 0  # by what the parenthesis that comes next multiplies, 0 if it is none of a call
        for token in tokens:
            if token == "(":  # noqa: S105 - no password
                factors.append(factor)
                factor = min(ENDLESS, factor * max(1, argued))
            elif token == ")" and factors:  # noqa: S105
                factor = factors.pop()
            own, argued = self._macro(token[1:]) if token[0] == "`" else (1, 0)
            total = min(ENDLESS, total + factor * own)
            if token in repeats:
                repeats[token] = min(ENDLESS, repeats[token] + factor)
        return total, max(repeats.values(), default=0)

    def _macro(self, name: str) -> tuple[int, int]:
        if name not in self._macros:
            return 1, 0
        if name not in self._known:
            self._known[name] = ENDLESS, ENDLESS  # for a macro that comes back to itself
            found = [self._walk(m.body, frozenset(m.parameters)) for m in self._macros[name]]
            self._known[name] = (
                min(ENDLESS, sum(own for own, _ in found)),
                max(repeated for _, repeated in found),
            )
        return self._known[name]


def replaced(text: str) -> str:
    """Return a text with its macros replaced, of which `expanded` says that it is not too long.

    Lines keep their numbers as long as the arguments of a macro stand in one.
    """
    if "`define" not in text:
        return text
    macros: dict[str, _Pattern] = {}
    found: list[str] = []
    pieces: list[str] = []  # since the last definition
    definition: list[Token] | None = None
    for token in tokens_of(text):
        if definition is not None and not ends_line(token):
            definition.append(token)
        elif definition is not None:
            _define(definition, macros)
            found.append("\n" * (1 + sum(token.text.count("\n") for token in definition)))
            definition = None
        elif token.text in ("`define", "`undef"):
            found += _replaced(pieces, macros)
            pieces, definition = [], [token]
        else:
            pieces.append(token.text)
    return "".join([*found, *_replaced(pieces, macros)])


# The parameters with their defaults, None of a macro without parentheses; and the text.
_Pattern = tuple[dict[str, list[str]] | None, list[str]]


def _define(definition: Sequence[Token], macros: dict[str, _Pattern]) -> None:
    """Carry out a directive that defines a macro, or forgets one."""
    pieces = [" " if token.kind in LAYOUT else token.text for token in definition]
    first = next((n for n, piece in enumerate(pieces) if n and piece != " "), 0)
    name, body = pieces[first], pieces[first + 1 :]
    macros.pop(name, None)
    if pieces[0] != "`define":
        return
    if body[:1] != ["("]:
        macros[name] = None, body
        return
    rows, end = _arguments(body, 0)
    parameters = {}
    for row in rows:
        words = [piece for piece in row if piece != " "]
        if words:
            parameters[words[0]] = words[2:]
    macros[name] = parameters, body[end:]


def _arguments(pieces: Sequence[str], place: int) -> tuple[list[list[str]], int]:
    """Return what stands between parentheses and commas, and the place behind all of it."""
    rows: list[list[str]] = [[]]
    depth = 0
    while place < len(pieces):
        piece = pieces[place]
        depth += (piece in ("(", "[", "{", "(*")) - (piece in (")", "]", "}", "*)"))
        place += 1
        if depth == 0:
            break
        if depth == 1 and piece == ",":
            rows.append([])
        elif not (len(rows) == 1 and not rows[0] and depth == 1 and piece == "("):
            rows[-1].append(piece)
    return rows, place


def _replaced(pieces: Sequence[str], macros: Mapping[str, _Pattern]) -> Iterator[str]:
    """Yield the pieces of a text with its macros replaced, and those in what stands for them."""
    place = 0
    while place < len(pieces):
        piece = pieces[place]
        place += 1
        if piece[0] != "`" or piece[1:] not in macros:
            yield piece
            continue
        parameters, body = macros[piece[1:]]
        if parameters is not None:
            while pieces[place : place + 1] and pieces[place].isspace():
                place += 1
            rows, place = _arguments(pieces, place)
            pairs = zip_longest(parameters.items(), rows[: len(parameters)], fillvalue=None)
            given = {pair[0]: row or pair[1] for pair, row in pairs if pair}
            body = [word for piece in body for word in given.get(piece, [piece])]
        yield from _replaced(body, macros)
