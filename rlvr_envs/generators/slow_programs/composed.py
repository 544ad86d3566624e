"""Program text put together from functions of this package, under names that say nothing."""

import inspect
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

_IMPORTS = {
    "accumulate": "from itertools import accumulate",
    "bisect_left": "from bisect import bisect_left",
    "deque": "from collections import deque",
    "gcd": "from math import gcd",
}


def compose(functions: Sequence[Callable[..., Any]], main: str) -> str:
    """Return the text of the functions, called step_1, step_2, ..., followed by ``main``."""
    steps = [
        re.sub(rf"\b{function.__name__}\b", step_name(number), text_of(function))
        for number, function in enumerate(functions, 1)
    ]
    body = "\n\n\n".join((*steps, main))
    words = set(re.findall(r"\w+", body))
    imports = sorted(line for name, line in _IMPORTS.items() if name in words)
    return "\n".join(imports) + "\n\n\n" + body if imports else body


def step_name(number: int) -> str:
    """Return what `compose` calls a function, counted from 1."""
    return f"step_{number}"


@cache
def text_of(function: Callable[..., Any]) -> str:
    """Return the source text of a function."""
    return inspect.getsource(function).strip()
