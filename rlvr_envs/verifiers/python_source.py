"""Reading the model's Python as a syntax tree, without running it."""

import ast
import threading
import warnings

_LONGEST = 150_000  # characters
_FILTERS = threading.Lock()  # the filters of warnings belong to all threads


def parse_module(source: str) -> ast.Module | None:
    """Return the tree of a module, or None where the text is no module of a sane size.

    It is read as a file would be: a comment that declares an encoding decides what the rest means.
    """
    if len(source) > _LONGEST:
        return None
    try:
        with _FILTERS, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a stray backslash is no error of ours
            return ast.parse(source.encode("utf-8", "replace"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
