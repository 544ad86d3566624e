"""Splits: which part of a dataset a question belongs to, from its fingerprint alone.

The same question lands in the same split of every dataset that is cut in the same way, whatever
its seed: nothing that one was trained on is in the test split of another. The price is that the
sizes are met on average, not exactly; the dataset card counts them.
"""

import hashlib
import re
from fractions import Fraction

from rlvr_envs.core.errors import ConfigError

Splits = tuple[tuple[str, Fraction], ...]

WHOLE: Splits = (("train", Fraction(1)),)
_SPLIT = re.compile(r"([a-z]\w*)=(\d+(?:\.\d+)?|\.\d+)", re.ASCII)


def read_splits(text: str) -> Splits:
    """Return the splits of ``"train=0.9,test=0.1"``; the shares need not add up to 1.

    Raises:
        ConfigError: the text has another form, a name comes twice or no share is positive.
    """
    parts = [part.strip() for part in text.split(",")]
    found = [_SPLIT.fullmatch(part) for part in parts]
    if not all(found):
        raise ConfigError(f"splits look like 'train=0.9,test=0.1', got {text!r}")
    shares = {match[1]: Fraction(match[2]) for match in found if match}
    total = sum(shares.values())
    if len(shares) < len(parts) or not all(shares.values()):
        raise ConfigError(f"split names must differ and their shares be positive, got {text!r}")
    return tuple((name, share / total) for name, share in shares.items())


def split_of(fingerprint: str, splits: Splits) -> str:
    """Return the name of the split that a fingerprint falls in."""
    digest = hashlib.sha256(f"split:{fingerprint}".encode()).digest()
    point = Fraction(int.from_bytes(digest[:8], "big"), 2**64)
    reached = Fraction(0)
    for name, share in splits:
        reached += share
        if point < reached:
            return name
    return splits[-1][0]
