r"""From LaTeX and plain typing to one spelling, without changing what is meant.

Every rewriting is a single linear pass. Characters are folded only where the meaning is kept:
full-width digits become ASCII, ``²`` becomes ``^{2}``, digits of other scripts stay unreadable.
"""

import re
import unicodedata

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿⁱ", "0123456789+-ni")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋ₙₖ", "0123456789+-nk")
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿⁱ]+")
_LOWERED = re.compile("[₀₁₂₃₄₅₆₇₈₉₊₋ₙₖ]+")
_VULGAR = re.compile("[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]")
_SIGNS = {
    "−": "-",
    "–": "-",
    "—": "-",
    "‑": "-",
    "×": r"\times ",
    "·": r"\cdot ",
    "⋅": r"\cdot ",
    "∗": "*",
    "÷": "/",
    "∕": "/",
    "⁄": "/",
    "√": r"\sqrt ",
    "∛": r"\sqrt[3] ",
    "π": r"\pi ",
    "∞": r"\infty ",
    "≤": "<=",
    "⩽": "<=",
    "≥": ">=",
    "⩾": ">=",
    "≠": r"\neq ",
    "≈": r"\approx ",
    "≡": r"\equiv ",
    "∪": r"\cup ",
    "∩": r"\cap ",
    "∈": r"\in ",
    "∅": r"\emptyset ",
    "±": r"\pm ",
    "∓": r"\mp ",
    "°": r"\degree ",
    "º": r"\degree ",
    "′": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "⌊": r"\lfloor ",
    "⌋": r"\rfloor ",
    "⌈": r"\lceil ",
    "⌉": r"\rceil ",
    "⟨": r"\langle ",
    "⟩": r"\rangle ",
    "∨": " or ",
    "∧": " and ",
    "€": "",
    "£": "",
    "¥": "",
    "ℝ": r"\mathbb{R}",
    "\u00a0": " ",
    "\u200b": "",
    "\ufeff": "",
    "\u2009": " ",
    "\u202f": " ",
}
_GREEK = {
    ord(letter): f"\\{unicodedata.name(letter).split()[-1].lower()} "
    for letter in "αβγδεζηθικλμνξρστυφχψωΓΔΘΛΞΣΦΨΩ"
    if letter not in "ΓΔΘΛΞΣΦΨΩ"
} | {
    ord(letter): f"\\{unicodedata.name(letter).split()[-1].capitalize()} " for letter in "ΓΔΘΛΞΣΦΨΩ"
}
_TRANSLATION = str.maketrans(_SIGNS) | _GREEK

_WRAPPERS = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"), ("**", "**"), ("`", "`"))
_SIZES = re.compile(
    r"\\(?:left|right|middle|[bB]igg?[lrm]?)(?![A-Za-z])\s*+(?:\.(?!\d))?"
    r"|\\(?:displaystyle|textstyle|scriptstyle|large|Large|LARGE|huge|Huge|limits|nolimits|strut|rm|bf|it)(?![A-Za-z])"
)
# What follows an exponent or an index, as in x^2 100 and \log_2 128, is a number of its own.
_GROUPED = re.compile(
    r"(?<=[0-9])(?<![_^][0-9])(?<![_^][0-9]{2})"
    r"(?:\{,\}|,\s?\\!|\\!,|\\,|\\;|\\:|\\ |~)[ ]?(?=[0-9]{3}(?![0-9]))"
)
_SPACES = re.compile(r"\\(?:qquad|quad|thinspace|enspace|hspace\{[^{}]{0,20}\})|(?<!\\)\\[,;: >]|~")
_NOTHING = re.compile(r"\\!|\\(?:phantom|hphantom)\{[^{}]{0,40}\}|\\label\{[^{}]{0,40}\}")
_DEGREE = re.compile(
    r"\^\s*+(?:\{\s*+\\circ\s*+\}|\\circ(?![A-Za-z]))|\\circ(?![A-Za-z])|\\deg(?![A-Za-z])"
)
_PRIME = re.compile(r"\^\s*+(?:\{\s*+((?:\\prime\s*+)+)\}|\\prime(?![A-Za-z]))")
_PERIODIC = re.compile(r"(?<![0-9.])([0-9]{0,15})\.([0-9]{0,15})\\overline\s*+\{([0-9]{1,15})\}")
_SYSTEM = re.compile(
    r"\\left\s*+\\\{\s*+\\begin\{(?:array|aligned|matrix|split|gathered)\}(?:\{[lcr| ]{0,9}\})?"
)
_SYSTEM_END = re.compile(r"\\end\{(?:array|aligned|matrix|split|gathered)\}\s*+\\right\s*+(?:\.|$)")
_FRACTIONS = re.compile(r"\\[dtc]frac(?![A-Za-z])")
_THOUSANDS = re.compile(r"(?<![0-9.,])[1-9][0-9]{0,2}(?:,[0-9]{3})+(?![0-9]|,[0-9])")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_SPACED_THOUSANDS = re.compile(r"(?<![0-9.,^_])([0-9]{1,3}(?: [0-9]{3})+)(?! ?[0-9/])")
_PLAIN_UNION = re.compile(r"(?<=[])}])\s*+U\s*+(?=[\[({\\])")
_ROW_GAP = re.compile(r"(\\\\)\s*+\[\s*+-?[0-9.]{1,6}\s*+(?:pt|em|ex|mm|cm)\s*+\]")
_ALIGNED = re.compile(
    r"\\begin\{(aligned|align\*?|gathered|split)\}((?:[^\\]|\\(?!begin|end\{))*)\\end\{\1\}"
)
_LABEL = re.compile(
    r"(?:the )?(?:final )?answer(?: is)?\s*[:=]?\s+|answer\s*[:=]\s*", re.IGNORECASE
)


def fold_unicode(text: str) -> str:
    """Return the text with typographic characters spelled in ASCII where they mean the same."""
    text = _RAISED.sub(lambda m: "^{" + m.group().translate(_SUPERSCRIPTS) + "}", text)
    text = _LOWERED.sub(lambda m: "_{" + m.group().translate(_SUBSCRIPTS) + "}", text)
    text = _VULGAR.sub(_spell_fraction, text)
    return unicodedata.normalize("NFKC", text.translate(_TRANSLATION))


def _spell_fraction(match: re.Match[str]) -> str:
    top, _, bottom = unicodedata.normalize("NFKC", match.group()).partition("⁄")
    return f"\\frac{{{top}}}{{{bottom}}}"


def unwrap(text: str) -> str:
    """Return the text without math delimiters around it and punctuation after it."""
    for _ in range(4):
        before = text
        text = text.strip().rstrip(".,;:").rstrip()
        if text.endswith("\\"):
            text = before.strip().rstrip(".;:")
        for opening, closing in _WRAPPERS:
            inner = len(text) > len(opening) + len(closing)
            if inner and text.startswith(opening) and text.endswith(closing):
                middle = text[len(opening) : -len(closing)]
                if opening not in middle and closing not in middle:
                    text = middle
        if text == before:
            break
    return text


def normalise(text: str) -> str:
    """Return the spelling that the lexer reads."""
    if not text.isascii():
        text = fold_unicode(text)
    text = unwrap(text)
    if text[:1] == "=":
        text = text[1:].lstrip()
    if text[:1] in "aAtTfF":
        text = _LABEL.sub("", text, count=1) if _LABEL.match(text) else text
    if "\\" in text or "{,}" in text or "~" in text:
        text = _rewrite_latex(text)
    if "$" in text:
        text = text.replace("$", " ")
    if "U" in text:
        text = _PLAIN_UNION.sub(r"\\cup ", text)
    if " " in text:
        text = _SPACED_THOUSANDS.sub(lambda m: m.group(1).replace(" ", ""), text)
    return text.strip()


def _spell_period(match: re.Match[str]) -> str:
    """Write a periodic decimal as the fraction that it is."""
    whole, lead, period = match.group(1) or "0", match.group(2), match.group(3)
    nines = 10 ** len(period) - 1
    top = int(whole + lead) * nines + int(period)
    return f"\\frac{{{top}}}{{{nines * 10 ** len(lead)}}}"


def _spell_lines(match: re.Match[str]) -> str:
    return "\\begin{cases}" + match.group(2).replace("&", "") + "\\end{cases}"


def _rewrite_latex(text: str) -> str:
    if "\\begin" in text:
        text = _SYSTEM_END.sub(r"\\end{cases}", _SYSTEM.sub(r"\\begin{cases}", text))
        text = _ALIGNED.sub(_spell_lines, _ROW_GAP.sub(r"\1", text))
    if "\\overline" in text:
        text = _PERIODIC.sub(_spell_period, text)
    text = _GROUPED.sub("", text)
    text = text.replace("\\$", "").replace("\\%", "%").replace("\\&", "&").replace("\\#", "#")
    text = _SIZES.sub("", text)
    text = _NOTHING.sub("", text)
    text = _SPACES.sub(" ", text)
    text = _DEGREE.sub(r"\\degree ", text)
    text = _PRIME.sub(lambda m: "'" * max(1, m.group().count("prime")), text)
    return _FRACTIONS.sub(r"\\frac", text)


def join_thousands(text: str) -> str:
    """Return the text with the commas inside numbers such as ``1,234`` removed.

    Inside brackets a comma separates items, so there only an escaped comma groups digits.
    """
    if "," not in text or "(" in text or "[" in text or "\\{" in text or "&" in text:
        return text
    return _THOUSANDS.sub(lambda m: m.group().replace(",", ""), text)


def read_decimal_comma(text: str) -> str:
    """Return ``3,14`` written with a point; any other text as it is."""
    return text.replace(",", ".") if _DECIMAL_COMMA.fullmatch(text) else text


_ENUMERATED = re.compile(r"(?:\\text\s*+\{\s*+)?\(([1-9a-i])\)(?:\s*+\}|\s)\s*+")


def drop_enumeration(text: str) -> str:
    """Return ``(1) 5; (2) 7`` without its labels, as a list; any other text as it is."""
    labels = list(_ENUMERATED.finditer(text))
    if len(labels) < 2 or labels[0].start() != 0:
        return text
    first = "1" if labels[0].group(1) == "1" else "a"
    if [label.group(1) for label in labels] != [chr(ord(first) + n) for n in range(len(labels))]:
        return text
    ends = [label.start() for label in labels[1:]] + [len(text)]
    parts = [text[label.end() : end].strip(" ,;.") for label, end in zip(labels, ends, strict=True)]
    whole = all(any(c.isalnum() for c in part) and part[-1] not in "+-*/=^" for part in parts)
    return ", ".join(parts) if whole else text


_MODULUS = re.compile(
    r"(?:[\s,;(]|\\[ ,;:!]|\\q?quad)*(?:\\(?:text|mathrm|operatorname)\{\s*+\(?\s*+)?\\?[pb]?"
    r"mod(?:ulo)?(?![A-Za-z])(?:[\s{}]|\\[ ,;:])*([0-9]{1,300})[\s})$.]*+"
)
_DIGITS = re.compile(r"[0-9]{1,3000}")


def split_modulus(text: str) -> tuple[str, int] | None:
    r"""Return the ``12`` and 13 of ``12 \pmod{13}``, or None if the text ends in no modulus."""
    found = _MODULUS.search(text) if "mod" in text else None
    if found is None or found.end() < len(text):
        return None
    return text[: found.start()], int(found[1])


def drop_modulus(text: str) -> str:
    r"""Return ``12 \pmod{13}`` without its modulus, which names the residue and not the number.

    ``17 \bmod 13`` is another matter: a remainder still to be taken.
    """
    parts = split_modulus(text)
    if parts is None or "\\bmod" in text:
        return text
    rest, modulus = parts
    return rest if all(int(digits) < modulus for digits in _DIGITS.findall(rest)) else text


_COMMANDS = re.compile(
    r"\\(?:text|mbox|textbf|textit|mathrm|mathbf|textrm|textnormal|mathit|operatorname|emph"
    r"|mathsf|textsf|hbox)(?![A-Za-z])\s*+\*?"
)
_LOOSE_SPACE = re.compile(r"(?<![0-9A-Za-z])\s++|\s++(?![0-9A-Za-z])")
_SOFT = re.compile(r"[\s{}$\\*_\"'`]+")
_EDGES = re.compile(r"^[\s.,;:!?()]+|[\s.,;:!?()]+$")
_ARTICLE = re.compile(r"^(?:an?|the) ")


def loose_spelling(text: str) -> str:
    """Return a spelling without text commands, braces and meaningless spaces."""
    text = _COMMANDS.sub(" ", normalise(text)).replace("{", "").replace("}", "")
    return _LOOSE_SPACE.sub("", " ".join(text.split()))


NO_SOLUTION, NO_VALUE = "no solution", "does not exist"
_NOTHING_SOLVES = re.compile(
    r"(?:(?:there (?:is|are)|(?:it|the (?:equation|system|inequality)) has|has) )?"
    r"(?:no(?: such| real| integer| rational| positive| valid)*"
    r" (?:solutions?|roots?|numbers?|values?|integers?)(?: exists?)?|none)|(?:the )?empty set"
)
_NOTHING_IS = re.compile(
    r"d\.?\s?n\.?\s?e\.?|(?:(?:it|the limit|limit|the value) )?(?:does not|doesn't|do not) exist"
    r"|nonexistent|no limit(?: exists)?"
)


def canonical_words(words: str) -> str:
    """Return one phrase for all that say that there is no solution, or no value."""
    if _NOTHING_SOLVES.fullmatch(words):
        return NO_SOLUTION
    return NO_VALUE if _NOTHING_IS.fullmatch(words) else words


def plain_words(text: str) -> str:
    """Return a text answer reduced to its lower-case words."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    text = _SOFT.sub(" ", _COMMANDS.sub(" ", text)).casefold()
    return _ARTICLE.sub("", _EDGES.sub("", text))
