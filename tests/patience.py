"""Waiting for what happens soon, however slow the machine is: the limit only ends what is stuck."""

import time

PATIENCE_S = 60.0


def eventually(check):
    """Return what a check returns once that is true, or in the end."""
    end = time.monotonic() + PATIENCE_S
    while not (found := check()) and time.monotonic() < end:
        time.sleep(0.02)
    return found
