"""Bookings of rooms as texts, and the day that meetings are planned in."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.optimisation.task import Unreadable
from rlvr_envs.verifiers.markup import unmarked
from rlvr_envs.verifiers.parse import MAX_CHARACTERS

DAY = (540, 1020)  # minutes after midnight
LUNCH = (720, 780)
STEP = 30  # every duration and every edge of a calendar is a multiple of this
DURATIONS = (30, 60, 90)

_LINE = re.compile(
    r"[(\[]?([0-9]{1,4})(?:\s*,\s*|\s+)([0-9]{1,4})(?:\s*,\s*|\s+)([0-9]{1,2}):([0-9]{2})[)\]]?"
)

Span = tuple[int, int]


class Booking(NamedTuple):
    """A meeting in a room from a time on; meetings and rooms are numbered from 0."""

    meeting: int
    room: int
    start: int


def overlap(one: Span, other: Span) -> bool:
    """Return whether two spans of time have a minute in common."""
    return one[0] < other[1] and other[0] < one[1]


def busy_times(rng: Rng, count: int) -> tuple[Span, ...]:
    """Draw up to ``count`` busy times, in order; those that touch another are left out."""
    spans: list[Span] = []
    for _ in range(count):
        start = DAY[0] + STEP * integer(rng, 0, (DAY[1] - DAY[0]) // STEP - 1)
        span = (start, min(start + pick(rng, DURATIONS), DAY[1]))
        beside = [(other[0] - STEP, other[1] + STEP) for other in spans]
        if not any(overlap(span, other) for other in (*beside, LUNCH)):
            spans.append(span)
    return tuple(sorted(spans))


def clock(minutes: int) -> str:
    """Return minutes after midnight as a time such as 14:30."""
    return f"{minutes // 60}:{minutes % 60:02d}"


def written(bookings: list[Booking]) -> str:
    """Return bookings as an answer, in the order of their starts."""
    ordered = sorted(bookings, key=lambda booking: (booking.start, booking.meeting))
    return "\n".join(f"{b.meeting + 1}, {b.room + 1}, {clock(b.start)}" for b in ordered)


def explained(
    bookings: Sequence[Booking], durations: Sequence[int], attendees: Sequence[Sequence[int]]
) -> list[str]:
    """Return the meetings that are held, those of most people first, with the attendees so far."""
    steps, total = [], 0
    for b in sorted(bookings, key=lambda b: (-len(attendees[b.meeting]), b.meeting)):
        total += len(attendees[b.meeting])
        steps.append(
            f"Meeting {b.meeting + 1} in room {b.room + 1} from {clock(b.start)} to "
            f"{clock(b.start + durations[b.meeting])}, people "
            f"{', '.join(map(str, attendees[b.meeting]))}: {total} attendees so far."
        )
    left = sorted(set(range(len(durations))) - {b.meeting for b in bookings})
    if left:
        steps.append(f"Left out: {', '.join(str(meeting + 1) for meeting in left)}.")
    return steps


def read_bookings(answer: str) -> list[Booking]:
    """Return the bookings of an answer, one a line or apart by semicolons, in markup or not.

    Raises:
        Unreadable: a line is no booking, or there is none.
    """
    if len(answer) > MAX_CHARACTERS:
        raise Unreadable(f"more than {MAX_CHARACTERS} characters")
    found = []
    for line in unmarked(answer).replace(";", "\n").split("\n"):
        if not line.strip():
            continue
        read = _LINE.fullmatch(line.strip())
        if read is None or int(read[4]) > 59:
            raise Unreadable(f"{line!r:.60} is no meeting, room and time such as 2, 1, 14:30")
        found.append(Booking(int(read[1]) - 1, int(read[2]) - 1, 60 * int(read[3]) + int(read[4])))
    if not found:
        raise Unreadable("expected a line for each meeting that is held")
    return found
