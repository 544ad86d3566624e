"""How long a text becomes when its macros are replaced, without replacing them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
