"""Plain English for word problems: counted nouns and lists."""

from collections.abc import Sequence


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: ``1 ball``, ``3 balls``."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def listed(items: Sequence[str], joint: str = "and") -> str:
    """Return ``a``, ``a and b`` or ``a, b and c``."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {joint} {items[-1]}"
