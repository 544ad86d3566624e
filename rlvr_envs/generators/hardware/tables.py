"""Tables in Markdown, and lists and numbers in prose."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    lines = [list(head), ["---"] * len(head), *(list(map(str, row)) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def article(number: int) -> str:
    """Return "an" before numbers that begin with a vowel sound, up to 79, else "a"."""
    return "an" if number in (8, 11, 18) else "a"


def listed(words: Sequence[object], last: str = "and") -> str:
    """Return words with commas and, before the last one, an "and"."""
    texts = [str(word) for word in words]
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} {last} {texts[-1]}"
