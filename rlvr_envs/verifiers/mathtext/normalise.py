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
    r"|\\(?:displaystyle|textstyle|scriptstyle|limits|nolimits|strut|rm|bf|it)(?![A-Za-z])"
)
_GROUPED = re.compile(
    r"(?<=[0-9])(?:\{,\}|,\s?\\!|\\!,|\\,|\\;|\\:|\\ |~)[ ]?(?=[0-9]{3}(?![0-9]))"
)
_SPACES = re.compile(r"\\(?:qquad|quad|thinspace|enspace|hspace\{[^{}]{0,20}\})|(?<!\\)\\[,;: >]|~")
_NOTHING = re.compile(r"\\!|\\(?:phantom|hphantom)\{[^{}]{0,40}\}|\\label\{[^{}]{0,40}\}")
_DEGREE = re.compile(
    r"\^\s*+(?:\{\s*+\\circ\s*+\}|\\circ(?![A-Za-z]))|\\circ(?![A-Za-z])|\\deg(?![A-Za-z])"
)
_PRIME = re.compile(r"\^\s*+(?:\{\s*+((?:\\prime\s*+)+)\}|\\prime(?![A-Za-z]))")
_FRACTIONS = re.compile(r"\\[dtc]frac(?![A-Za-z])")
_THOUSANDS = re.compile(r"(?<![0-9.,])[1-9][0-9]{0,2}(?:,[0-9]{3})++(?![0-9]|,[0-9])")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_SPACED_THOUSANDS = re.compile(r"(?<![0-9.,])([0-9]{1,3}(?: [0-9]{3})++)(?! ?[0-9/])")
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
    if text[:1] in "aAtTfF":
        text = _LABEL.sub("", text, count=1) if _LABEL.match(text) else text
    if "\\" in text or "{,}" in text or "~" in text:
        text = _rewrite_latex(text)
    if "$" in text:
        text = text.replace("$", " ")
    if " " in text:
        text = _SPACED_THOUSANDS.sub(lambda m: m.group(1).replace(" ", ""), text)
    return text.strip()


def _rewrite_latex(text: str) -> str:
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


_COMMANDS = re.compile(
    r"\\(?:text|mbox|textbf|textit|mathrm|mathbf|textrm|textnormal|mathit|operatorname|emph"
    r"|mathsf|textsf|hbox)(?![A-Za-z])\s*+\*?"
)
_SOFT = re.compile(r"[\s{}$\\*_\"'`]+")
_EDGES = re.compile(r"^[\s.,;:!?()]+|[\s.,;:!?()]+$")
_ARTICLE = re.compile(r"^(?:an?|the) ")


def plain_words(text: str) -> str:
    """Return a text answer reduced to its lower-case words."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    text = _SOFT.sub(" ", _COMMANDS.sub(" ", text)).casefold()
    return _ARTICLE.sub("", _EDGES.sub("", text))
