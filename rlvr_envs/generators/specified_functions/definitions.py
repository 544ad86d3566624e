"""The source text of trusted functions, so that what computes an answer and what is shown agree.

A function that stands in a table of this family runs when a problem is made, and its own text is
what a prompt shows or an oracle hands in: the two cannot differ.
"""

import inspect
import re
import textwrap
from collections.abc import Callable
from functools import cache
from typing import Any


def definition(function: Callable[..., Any], name: str) -> str:
    """Return the source of a function under another name, recursive calls included."""
    return re.sub(rf"(?<![.\w]){function.__name__}(?=\()", name, _source(function))


@cache
def _source(function: Callable[..., Any]) -> str:
    return textwrap.dedent(inspect.getsource(function)).rstrip()
