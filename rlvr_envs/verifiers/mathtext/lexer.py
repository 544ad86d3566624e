"""From normalised text to tokens."""

import re
from typing import NamedTuple

MAX_TOKENS = 1_500


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


_TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<num>(?:[0-9]+(?:\.[0-9]*+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+(?![0-9.]))?)"
    r"|(?P<cmd>\\(?:[A-Za-z]+|.))"
    r"|(?P<word>[A-Za-z]+)"
    r"|(?P<op><=|>=|!=|==|\*\*|.)",
    re.DOTALL,
)
_NAME = re.compile(r"\s*\{\s*([A-Za-z]+\*?)\s*\}(?:\s*(?:\{[lcr| ]*\}|\[[a-z]\]))?")
_TEXT_COMMANDS = words_of(
    "text mbox textbf textit mathrm mathbf textrm textnormal mathit operatorname emph mathsf "
    "textsf hbox boldsymbol bm vec overline overrightarrow hat bar tilde dot ddot mathbb mathcal "
    "underline widehat fbox boxed"
)
_FLAT = words_of("boxed fbox underline")
_MARKS = words_of("vec overline overrightarrow hat bar tilde dot ddot mathbb widehat")

FUNCTIONS = {
    name: name
    for name in words_of(
        "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh ln log exp max min gcd lcm "
        "floor ceil abs sqrt lg arccot arcsec arccsc coth cbrt asinh acosh atanh"
    )
} | {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "ctg": "cot", "tg": "tan"}
CONSTANTS = {
    "pi": "pi",
    "Pi": "pi",
    "infty": "oo",
    "infinity": "oo",
    "Infinity": "oo",
    "inf": "oo",
    "oo": "oo",
}
GREEK = words_of(
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi "
    "omicron rho varrho sigma varsigma tau upsilon phi varphi chi psi omega Gamma Delta Theta "
    "Lambda Xi Sigma Upsilon Phi Psi Omega hbar ell odot oplus partial nabla mho aleph star bullet "
    "triangle angle perp parallel"
)
_OPERATORS = {
    "\\cdot": "*",
    "\\times": "*",
    "\\ast": "*",
    "\\div": "/",
    "\\le": "<=",
    "\\leq": "<=",
    "\\leqslant": "<=",
    "\\ge": ">=",
    "\\geq": ">=",
    "\\geqslant": ">=",
    "\\lt": "<",
    "\\gt": ">",
    "\\ne": "!=",
    "\\neq": "!=",
    "\\equiv": "=",
    "\\approx": "~=",
    "\\simeq": "~=",
    "\\in": "in",
    "\\cup": "cup",
    "\\bigcup": "cup",
    "\\cap": "cap",
    "\\pm": "pm",
    "\\mp": "mp",
    "\\{": "\\{",
    "\\lbrace": "\\{",
    "\\}": "\\}",
    "\\rbrace": "\\}",
    "\\lvert": "|",
    "\\rvert": "|",
    "\\vert": "|",
    "\\mid": "|",
    "\\|": "||",
    "\\degree": "deg",
    "\\colon": ":",
    "\\lor": "or",
    "\\vee": "or",
    "\\land": "and",
    "\\wedge": "and",
    "\\lfloor": "lfloor",
    "\\rfloor": "rfloor",
    "\\lceil": "lceil",
    "\\rceil": "rceil",
    "\\langle": "langle",
    "\\rangle": "rangle",
    "\\frac": "frac",
    "\\sqrt": "sqrt",
    "\\binom": "binom",
    "\\tbinom": "binom",
    "\\dbinom": "binom",
    "\\\\": "row",
    "\\emptyset": "empty",
    "\\varnothing": "empty",
    "\\lbrack": "[",
    "\\rbrack": "]",
    "\\bmod": "mod",
    "\\pmod": "mod",
    "\\mod": "mod",
    "**": "^",
    "==": "=",
}


class Unreadable(ValueError):
    """The text does not follow the grammar; the message says where it left it."""


class Token(NamedTuple):
    """A piece of the answer; its kind is num, sym, const, fun, op, text, begin or end."""

    kind: str
    text: str
    spaced: bool  # whether white space came before it


def tokens(text: str) -> list[Token]:
    """Split a normalised answer into tokens.

    Raises:
        Unreadable: the answer is too long, or a command is unknown.
    """
    found: list[Token] = []
    at, spaced = 0, False
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise Unreadable("an unknown character")
        at = match.end()
        kind, piece = match.lastgroup, match.group()
        if kind == "space":
            spaced = True
            continue
        if kind == "cmd":
            at = _command(found, text, piece, at, spaced)
        elif kind == "word":
            _word(found, piece, spaced)
        else:
            found.append(_simple(kind or "op", piece, spaced))
        spaced = False
        if len(found) > MAX_TOKENS:
            raise Unreadable("too many symbols")
    return found


def _simple(kind: str, piece: str, spaced: bool) -> Token:
    if kind == "op" and piece in '"?@#;`' and piece != ";":
        raise Unreadable(f"the character {piece!r}")
    return Token(kind, _OPERATORS.get(piece, piece), spaced)


def _command(found: list[Token], text: str, piece: str, at: int, spaced: bool) -> int:
    name = piece[1:]
    if piece in _OPERATORS:
        found.append(Token("op", _OPERATORS[piece], spaced))
    elif name in FUNCTIONS:
        found.append(Token("fun", FUNCTIONS[name], spaced))
    elif name in CONSTANTS:
        found.append(Token("const", CONSTANTS[name], spaced))
    elif name in GREEK:
        found.append(Token("sym", name, spaced))
    elif name in _TEXT_COMMANDS:
        content, at = _argument(text, at)
        _texty(found, name, content, spaced)
    elif name in ("begin", "end"):
        match = _NAME.match(text, at)
        if match is None:
            raise Unreadable("an environment without a name")
        found.append(Token(name, match.group(1), spaced))
        at = match.end()
    else:
        raise Unreadable(f"the command {piece[:20]!r}")
    return at


def _argument(text: str, at: int) -> tuple[str, int]:
    """Return the braced text or the single character at a place, and the place after it."""
    while at < len(text) and text[at].isspace():
        at += 1
    if at >= len(text) or text[at] != "{":
        return text[at : at + 1], at + 1
    depth, start = 0, at + 1
    for place in range(at, len(text)):
        if text[place] == "{":
            depth += 1
        elif text[place] == "}":
            depth -= 1
            if depth == 0:
                return text[start:place], place + 1
    raise Unreadable("a brace that never closes")


_PLAIN_NUMBER = re.compile(r"\s*-?[0-9][0-9,]*(?:\.[0-9]+|/[0-9]+)?\s*")
_COUNTED = re.compile(r"(-?[0-9][0-9,]*(?:\.[0-9]+)?)\s+([A-Za-z][A-Za-z ]*)")
_CONSTANT = words_of("C c const constant")


def _texty(found: list[Token], command: str, content: str, spaced: bool) -> None:
    inner = content.strip()
    if not inner:
        return
    if command in _FLAT or _PLAIN_NUMBER.fullmatch(inner):
        found.extend(tokens(inner.replace(",", "")) if command not in _FLAT else tokens(inner))
    elif (counted := _COUNTED.fullmatch(inner)) is not None:
        found.extend(tokens(counted.group(1).replace(",", "")))
        found.append(Token("text", counted.group(2), True))
    elif inner.lower() in ("and", "or", ", and", ", or", "and/or"):
        found.append(Token("op", "or" if "or" in inner.lower() else "and", spaced))
    else:
        kind, text = _word_kind(command, inner, bool(found) and found[-1].text == "+")
        found.append(Token(kind, text, spaced))


def _word_kind(command: str, inner: str, added: bool) -> tuple[str, str]:
    """Return the kind of token that a word in a text command is, and its text."""
    if command in _MARKS:
        return "sym", f"{command} {inner}"
    if added and inner in _CONSTANT:
        return "sym", "C"
    if inner in FUNCTIONS:
        return "fun", FUNCTIONS[inner]
    if inner == "e" or (inner == "i" and command == "mathrm"):
        return "const", inner
    variable = len(inner) == 1 and command in ("mathbf", "mathit", "boldsymbol", "bm", "mathcal")
    return ("sym" if variable else "text"), inner


_SPLIT = re.compile(
    r"(arcsin|arccos|arctan|sinh|cosh|tanh|sin|cos|tan|cot|sec|csc|log|ln|exp)([a-zA-Z])"
)


def _word(found: list[Token], word: str, spaced: bool) -> None:
    """Tell apart names of functions, constants, greek letters, units, prose and products."""
    from_unit = bool(found) and found[-1].kind in ("num", "text", "unit")
    if word in ("and", "or"):
        found.append(Token("op", word, spaced))
    elif word in FUNCTIONS:
        found.append(Token("fun", FUNCTIONS[word], spaced))
    elif word in CONSTANTS:
        found.append(Token("const", CONSTANTS[word], spaced))
    elif word in GREEK:
        found.append(Token("sym", word, spaced))
    elif word in ("e", "i"):
        found.append(Token("const", word, spaced))
    elif len(word) == 1 or (word in _CONSTANT and found and found[-1].text == "+"):
        found.append(Token("sym", word if len(word) == 1 else "C", spaced))
    elif (parts := _SPLIT.fullmatch(word)) is not None:
        found.append(Token("fun", parts.group(1), spaced))
        _word(found, parts.group(2), False)
    elif len(word) > 4 or word.lower() in WORDS or (from_unit and word in UNITS):
        found.append(Token("text", word, spaced))
    else:
        for place, letter in enumerate(word):
            _word(found, letter, spaced and place == 0)


UNITS = words_of(
    "cm mm km kg mg ml mph ft in lb lbs oz hr hrs min mins sec secs day days yr yrs mi nm Hz kHz "
    "MHz GHz kW kJ eV keV MeV GeV mol pm am cents cent deg rad Pa kPa atm mol mL yd sq cu rpm kmh "
    "st nd rd th dollars degrees percent pct AU pc Mpc kpc erg Gyr Myr ly dB ohm ohms V W J N K A"
)
WORDS = words_of(
    "yes no none true odd even east west cm km kg mm inch feet foot day days hour cent mile year "
    "unit per pct week men boys cups cats dogs eggs is the for all any if not but with of to are "
    "nan null mph week from then when one two six ten zero four five nine "
    "way ways old set sets pair code coin card ball book toys rank rows"
)
