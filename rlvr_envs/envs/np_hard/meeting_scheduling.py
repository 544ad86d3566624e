"""Meeting scheduling: as many attendees as a day, its rooms and its people's calendars allow."""

import dataclasses
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.optimisation.lists import listed
from rlvr_envs.generators.optimisation.task import (
    Infeasible,
    OptimisationConfig,
    OptimisationTask,
    Reference,
    Unreadable,
    budget_at,
    ramp,
)
from rlvr_envs.solvers import cp_sat
from rlvr_envs.verifiers.certificate import lines
from rlvr_envs.verifiers.parse import MAX_CHARACTERS

Span = tuple[int, int]


class Booking(NamedTuple):
    """A meeting in a room from a time on; meetings and rooms are numbered from 0."""

    meeting: int
    room: int
    start: int


_MAX_SIZE = 120  # meetings, people or rooms: more than any level has


@dataclass(frozen=True, slots=True, kw_only=True)
class MeetingSchedulingConfig(OptimisationConfig):
    """How many meetings, people and rooms there are, and how full the calendars."""

    n_meetings: int = knob(5, "meetings to place", low=1, high=_MAX_SIZE)
    n_people: int = 5
    n_rooms: int = knob(4, "rooms", low=1, high=_MAX_SIZE)
    max_attendees: int = knob(4, "most people of one meeting; at least 2")
    n_busy: int = knob(3, "busy times of a person", low=0, high=6)

    def check(self) -> None:
        if not 2 <= self.max_attendees <= self.n_people <= _MAX_SIZE:
            raise ConfigError(f"need 2 <= max_attendees <= n_people <= {_MAX_SIZE}, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "MeetingSchedulingConfig":
        """Meetings are added at each level; people, rooms and attendees grow as in NP-Engine."""
        return cls(
            budget=budget_at(difficulty),
            n_meetings=ramp(difficulty, 3, easy=5, medium=8, hard=11, bench=14),
            n_people=ramp(difficulty, 3, easy=4, medium=6, hard=7, bench=9),
            n_rooms=ramp(difficulty, 2, easy=3, medium=4, hard=5, bench=6),
            max_attendees=ramp(difficulty, 2, easy=3, medium=4, hard=4, bench=5),
        )


@dataclass(frozen=True, slots=True)
class MeetingSchedulingProblem:
    """Times are minutes after midnight; people, meetings and rooms are numbered from 1."""

    attendees: tuple[tuple[int, ...], ...]  # of each meeting
    durations: tuple[int, ...]
    capacities: tuple[int, ...]
    busy: tuple[tuple[Span, ...], ...]  # of each person
    reference: Reference = hidden()


@register("MeetingScheduling-v0", domain="np_hard", answer_format="tag")
class MeetingSchedulingTask(OptimisationTask[MeetingSchedulingConfig, MeetingSchedulingProblem]):
    """Choose which meetings to hold, when and where, for the most attendees.

    Description:
        A day from 9:00 to 17:00 with an hour of lunch for everyone, meetings of 30, 60 or 90
        minutes, rooms of several sizes, and people who are asked to several meetings and have
        busy times of their own. A meeting is held with all of its people or not at all. Problems
        for which planning the largest meetings first is not outdone by another simple rule are
        drawn again, up to 40 times.

    Observation:
        The meetings with their durations and people, the rooms with their sizes, and the busy
        times of each person.

    Action:
        One line for each meeting that is held: its number, its room and its start.

    Reward:
        Scheme ``over_greedy``: how far the number of attendees lies between that of placing the
        meetings with the most people first, which earns 0, and the most known, which earns 1;
        ``ratio`` divides by the most known. A schedule with a conflict earns 0.

    Verification:
        Every rule is checked; any minute may be a start. The best known schedule comes from
        CP-SAT over starts at full and half hours, which loses nothing: a schedule in which no
        meeting can be moved to an earlier time has only such starts. No known gaps.

    Difficulty:
        Only the size grows: more meetings, people and rooms, and larger meetings.

    References:
        Li et al., "NP-Engine", 2025 (arXiv:2510.16476), for the problem and the size bands; the
        busy times are ours, since without them nearly every meeting can be held.
    """

    sense: ClassVar[Literal["max", "min"]] = "max"
    draws: ClassVar[int] = 40

    def draw(self, rng: Rng) -> MeetingSchedulingProblem:
        config = self.config
        attendees = []
        for _ in range(config.n_meetings):
            size = integer(rng, 2, config.max_attendees)
            people = rng.permutation(config.n_people)[:size].tolist()
            attendees.append(tuple(sorted(person + 1 for person in people)))
        durations = tuple(pick(rng, DURATIONS) for _ in range(config.n_meetings))
        capacities = [integer(rng, 2, config.max_attendees + 1) for _ in range(config.n_rooms)]
        capacities[integer(rng, 0, config.n_rooms - 1)] = config.max_attendees
        busy = tuple(busy_times(rng, config.n_busy) for _ in range(config.n_people))
        problem = MeetingSchedulingProblem(
            tuple(attendees), durations, tuple(capacities), busy, Reference.known(0, "")
        )
        plan = max(_schedules(problem), key=lambda plan: _value(problem, plan))
        known = Reference.known(_value(problem, plan), written(plan))
        return dataclasses.replace(problem, reference=known)

    def improve(self, rng: Rng, problem: MeetingSchedulingProblem) -> Reference:
        answer = problem.reference.answer
        known = read_bookings(answer) if answer else []
        choices = [option for m in range(len(problem.durations)) for option in options(problem, m)]
        model = cp_sat.new_model()
        chosen = [model.new_bool_var("") for _ in choices]
        used: dict[tuple[str, int, int], list[int]] = {}
        for i, (meeting, room, start) in enumerate(choices):
            used.setdefault(("meeting", meeting, 0), []).append(i)
            for slot in range(start, start + problem.durations[meeting], STEP):
                used.setdefault(("room", room, slot), []).append(i)
                for person in problem.attendees[meeting]:
                    used.setdefault(("person", person, slot), []).append(i)
        for together in used.values():
            if len(together) > 1:
                model.add_at_most_one([chosen[i] for i in together])
        for variable, option in zip(chosen, choices, strict=True):
            model.add_hint(variable, option in known)
        sizes = [len(problem.attendees[option.meeting]) for option in choices]
        model.maximize(sum(size * x for size, x in zip(sizes, chosen, strict=True)))
        solved = cp_sat.solve(model, chosen, budget=self.config.budget)
        if solved is None:
            total = sum(len(problem.attendees[m]) for m in {o.meeting for o in choices})
            return dataclasses.replace(problem.reference, bound=total)
        best = [option for option, x in zip(choices, solved.values, strict=True) if x]
        objective, proven = solved.objective, solved.proven
        return Reference(objective, solved.bound, proven, None, written(best), solved.effort)

    def prompt(self, problem: MeetingSchedulingProblem) -> str:
        meetings = "\n".join(
            f"{i}: {duration} minutes, people {listed(people)}"
            for i, (duration, people) in enumerate(
                zip(problem.durations, problem.attendees, strict=True), 1
            )
        )
        rooms = "\n".join(f"{i}: {size} people" for i, size in enumerate(problem.capacities, 1))
        busy = "\n".join(
            f"{i}: " + (", ".join(f"{clock(a)}-{clock(b)}" for a, b in spans) or "never")
            for i, spans in enumerate(problem.busy, 1)
        )
        credit = self.partial_credit(
            "it has more attendees than placing the meetings in turn, those with the most people "
            "first, each at the earliest time that still works, in the smallest such room"
        )
        return (
            "Schedule the meetings of one day. The day runs from 9:00 to 17:00, with lunch from "
            "12:00 to 13:00. These meetings are requested, each with its duration and the people "
            f"it needs:\n\n{meetings}\n\nRooms and how many people they hold:\n\n{rooms}\n\nTimes "
            f"at which each person is busy:\n\n{busy}\n\nRules:\n\n"
            "- You may leave out meetings. Hold each of the others once, without a break, in one "
            "room that is large enough for its people.\n"
            "- All people of a meeting attend it from start to end. Nobody can attend while busy.\n"
            "- A meeting lies within the day and does not overlap lunch.\n"
            "- No person and no room can be in two meetings at the same time.\n"
            "- A meeting may start at any minute, including the minute at which another meeting, "
            "lunch or a busy time ends.\n\n"
            "Maximise the total number of attendees: add up the people of all meetings that you "
            f"hold. {credit} Answer with one line for each meeting that you hold: "
            "its number, its room and its start (24-hour clock, for example 14:05), separated by "
            "commas."
        )

    def measure(self, problem: MeetingSchedulingProblem, answer: str) -> int:
        bookings = read_bookings(answer)
        taken: dict[tuple[str, int], list[Span]] = {}
        seen: set[int] = set()
        for meeting, room, start in bookings:
            if not (0 <= meeting < len(problem.durations) and 0 <= room < len(problem.capacities)):
                raise Infeasible(f"there is no meeting {meeting + 1} or no room {room + 1}")
            if meeting in seen:
                raise Infeasible(f"meeting {meeting + 1} is held twice")
            seen.add(meeting)
            people = problem.attendees[meeting]
            if len(people) > problem.capacities[room]:
                raise Infeasible(f"room {room + 1} is too small for meeting {meeting + 1}")
            span = (start, start + problem.durations[meeting])
            if not _free(problem, people, span):
                raise Infeasible(f"meeting {meeting + 1} is at a time that does not suit everyone")
            for place in [("room", room), *(("person", person) for person in people)]:
                if any(overlap(span, other) for other in taken.setdefault(place, [])):
                    raise Infeasible(
                        f"meeting {meeting + 1} overlaps another meeting of the same room or person"
                    )
                taken[place].append(span)
        return _value(problem, bookings)

    def explain(self, problem: MeetingSchedulingProblem) -> list[str]:
        steps = explained(read_bookings(self.solve(problem)), problem.durations, problem.attendees)
        return [*steps, self.conclusion(problem, "The number of attendees")]

    def baseline(self, rng: Rng, problem: MeetingSchedulingProblem) -> str:
        """Give the largest meetings first the earliest time and the smallest room that fit."""
        return written(greedy_bookings(problem))

    def neighbour(self, problem: MeetingSchedulingProblem, answer: str, rng: Rng) -> str:
        """Put a meeting somewhere else, or in, and drop those that are in its way."""
        bookings = read_bookings(answer)
        possible = options(problem, integer(rng, 0, len(problem.durations) - 1))
        if not possible:
            return answer
        new = pick(rng, possible)
        kept = [b for b in bookings if b.meeting != new.meeting and not _clash(problem, b, new)]
        return written([*kept, new])


def _free(problem: MeetingSchedulingProblem, people: tuple[int, ...], span: Span) -> bool:
    busy = [LUNCH, *(taken for person in people for taken in problem.busy[person - 1])]
    inside = DAY[0] <= span[0] and span[1] <= DAY[1]
    return inside and not any(overlap(span, taken) for taken in busy)


def options(problem: MeetingSchedulingProblem, meeting: int) -> list[Booking]:
    """Return where and when a meeting can be held, at full and half hours, smallest room first."""
    people, duration = problem.attendees[meeting], problem.durations[meeting]
    sizes = sorted((size, room) for room, size in enumerate(problem.capacities))
    rooms = [room for size, room in sizes if size >= len(people)]
    taken = {
        slot
        for begin, end in (LUNCH, *(span for person in people for span in problem.busy[person - 1]))
        for slot in range(begin, end, STEP)
    }
    return [
        Booking(meeting, room, start)
        for start in range(DAY[0], DAY[1] - duration + 1, STEP)
        if taken.isdisjoint(range(start, start + duration, STEP))
        for room in rooms
    ]


def _clash(problem: MeetingSchedulingProblem, one: Booking, other: Booking) -> bool:
    spans = [(b.start, b.start + problem.durations[b.meeting]) for b in (one, other)]
    shared = set(problem.attendees[one.meeting]) & set(problem.attendees[other.meeting])
    return overlap(*spans) and (one.room == other.room or bool(shared))


def greedy_bookings(problem: MeetingSchedulingProblem) -> list[Booking]:
    """Return the schedule of `MeetingSchedulingTask.baseline`."""
    return next(_schedules(problem))


def _schedules(problem: MeetingSchedulingProblem) -> Iterator[list[Booking]]:
    """Yield schedules of simple rules: large, inflexible, short, early and late meetings first."""
    places = [options(problem, meeting) for meeting in range(len(problem.durations))]
    sizes = [-len(people) for people in problem.attendees]
    room = [len(found) for found in places]
    for keys in (sizes, room, problem.durations, range(len(places)), range(len(places), 0, -1)):
        held: list[Booking] = []
        for _, found in sorted(zip(keys, places, strict=True), key=lambda pair: pair[0]):
            for option in found:
                if not any(_clash(problem, option, other) for other in held):
                    held.append(option)
                    break
        yield held


def _value(problem: MeetingSchedulingProblem, bookings: list[Booking]) -> int:
    return sum(len(problem.attendees[booking.meeting]) for booking in bookings)


# Bookings of rooms as texts, and the day that meetings are planned in.


DAY = (540, 1020)  # minutes after midnight
LUNCH = (720, 780)
STEP = 30  # every duration and every edge of a calendar is a multiple of this
DURATIONS = (30, 60, 90)
_LINE = re.compile(
    r"[(\[]?([0-9]{1,4})(?:\s*,\s*|\s+)([0-9]{1,4})(?:\s*,\s*|\s+)([0-9]{1,2}):([0-9]{2})[)\]]?"
)


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
    for line in lines(answer.replace(";", "\n")):
        read = _LINE.fullmatch(line)
        if read is None or int(read[4]) > 59:
            raise Unreadable(
                f"{line!r:.60} is not a meeting, a room and a time such as 2, 1, 14:30"
            )
        found.append(Booking(int(read[1]) - 1, int(read[2]) - 1, 60 * int(read[3]) + int(read[4])))
    if not found:
        raise Unreadable("expected a line for each meeting that is held")
    return found
