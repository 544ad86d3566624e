"""Meeting scheduling: the whole small world, rules one by one, forms, configuration."""

import dataclasses
import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.np_hard.meeting_scheduling import (
    MeetingSchedulingConfig,
    MeetingSchedulingProblem,
    MeetingSchedulingTask,
)
from rlvr_envs.generators.optimisation.task import BANDS, Reference

TASK = MeetingSchedulingTask(dataclasses.replace(MeetingSchedulingConfig.at(0), scheme="ratio"))
# Meetings 1 and 2 share person 1; meeting 3 needs the larger room; person 2 is busy early.
SMALL = MeetingSchedulingProblem(
    attendees=((1, 2), (1, 3), (2, 3, 4)),
    durations=(60, 30, 90),
    capacities=(2, 3),
    busy=((), ((540, 600),), (), ((780, 1020),)),
    reference=Reference(7, 7, True, None, "1, 1, 13:00\n2, 1, 9:00\n3, 2, 10:00"),
)
BEST = "1, 1, 13:00\n2, 1, 9:00\n3, 2, 10:00"


def feasible(problem, bookings):
    """The rules, minute by minute: each person and each room is somewhere at most once."""
    diary = set()
    for i, (meeting, room, start) in enumerate(bookings):
        people = problem.attendees[meeting]
        if len(people) > problem.capacities[room] or meeting in [b[0] for b in bookings[:i]]:
            return False
        for minute in range(start, start + problem.durations[meeting]):
            if not (540 <= minute < 720 or 780 <= minute < 1020):
                return False
            for person in people:
                if any(a <= minute < b for a, b in problem.busy[person - 1]):
                    return False
            for name in [("room", room), *(("person", p) for p in people)]:
                if (name, minute) in diary:
                    return False
                diary.add((name, minute))
    return True


def text(bookings):
    return "\n".join(f"{m + 1}, {r + 1}, {s // 60}:{s % 60:02d}" for m, r, s in bookings)


@pytest.mark.parametrize("seed", range(4))
def test_whole_small_world_of_two_meetings(seed):
    sizes = {"n_meetings": 2, "n_people": 3, "n_rooms": 2, "max_attendees": 3, "n_busy": 5}
    task = MeetingSchedulingTask(MeetingSchedulingConfig(**sizes, scheme="ratio"))
    problem = task.generate(stream("MeetingScheduling", seed))
    places = [None, *((r, s) for r in range(2) for s in range(510, 1050, 30))]
    best = 0
    for choice in itertools.product(places, repeat=2):
        held = [(m, *place) for m, place in enumerate(choice) if place is not None]
        if not held:
            continue
        verdict = task.verify(problem, text(held))
        value = sum(len(problem.attendees[m]) for m, _, _ in held)
        assert verdict.parts["feasible"] == feasible(problem, held), text(held)
        if verdict.parts["feasible"]:
            best = max(best, value)
            assert verdict.score == pytest.approx(value / problem.reference.objective)
        else:
            assert verdict.score == 0
    assert (problem.reference.objective, problem.reference.proven) == (best, True)


@pytest.mark.parametrize("seed", range(6))
def test_optimum_of_three_meetings_by_enumeration(seed):
    problem = TASK.generate(stream("MeetingScheduling", "three", seed))
    everywhere = [
        [None]
        + [
            (m, r, s)
            for r in range(len(problem.capacities))
            for s in range(540, 1020, 30)
            if feasible(problem, [(m, r, s)])
        ]
        for m in range(len(problem.durations))
    ]
    best, tried = 0, 0
    for choice in itertools.product(*everywhere):
        held = [booking for booking in choice if booking]
        value = sum(len(problem.attendees[b[0]]) for b in held)
        if value > best and (tried := tried + 1) and feasible(problem, held):
            best = value
    assert tried > 0
    assert problem.reference.objective == best


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        (BEST, 1.0),
        (f"```\n{BEST}\n```", 1.0),
        ("$(3, 2, 10:00); (1, 1, 13:00); (2, 1, 9:00)$", 1.0),
        ("**2, 1, 9:30\n1, 1, 10:00**", 4 / 7),
        ("(3, 2, 10:00); (1, 1, 13:00); (2, 1, 9:00)", 1.0),
        ("2 1 09:00\n\n1 1 10:17", 4 / 7),  # any minute will do
        ("2, 1, 9:30\n1, 1, 10:00", 4 / 7),  # one begins as another ends
        ("3, 2, 10:00", 3 / 7),
        ("2, 1, 9:31\n1, 1, 10:00", 0.0),  # the room and person 1 are taken for a minute
        ("2, 1, 9:30\n1, 2, 9:45", 0.0),  # only person 1 is in two meetings
        ("3, 1, 10:00", 0.0),  # room too small
        ("3, 2, 9:30", 0.0),  # person 2 is busy until 10:00
        ("3, 2, 10:31", 0.0),  # into lunch
        ("3, 2, 13:00", 0.0),  # person 4 is busy
        ("1, 1, 12:00", 0.0),
        ("2, 1, 16:31", 0.0),
        ("2, 1, 8:30", 0.0),
        ("2, 1, 9:00\n2, 1, 10:00", 0.0),  # held twice
        ("0, 1, 9:00", 0.0),
        ("4, 1, 9:00", 0.0),
        ("2, 0, 9:00", 0.0),
        ("2, 3, 9:00", 0.0),
        ("2, 1, 9:60", 0.0),
        ("2, 1, 540", 0.0),
        ("2, 1, 9.5", 0.0),
        ("-2, 1, 9:00", 0.0),
        ("2, 1, NaN", 0.0),
        ("2, 1, 9:00 and so on", 0.0),
        ("[]", 0.0),
        ("2, 1, 9:00\n" * 5000, 0.0),
    ],
)
def test_rules_and_forms(answer, score):
    assert TASK.verify(SMALL, answer).score == pytest.approx(score)


def test_bands_of_np_engine():
    meetings = {"easy": (4, 5), "medium": (5, 8), "hard": (6, 11), "bench": (8, 14)}
    people = {"easy": (3, 5), "medium": (4, 6), "hard": (5, 7), "bench": (7, 9)}
    rooms = {"easy": (3, 4), "medium": (4, 5), "hard": (5, 6), "bench": (6, 7)}
    attendees = {"easy": 3, "medium": 4, "hard": 4, "bench": 5}
    for band, level in BANDS.items():
        config = MeetingSchedulingConfig.at(level)
        assert meetings[band][0] <= config.n_meetings <= meetings[band][1]
        assert people[band][0] <= config.n_people <= people[band][1]
        assert rooms[band][0] <= config.n_rooms <= rooms[band][1]
        assert config.max_attendees == attendees[band]


@pytest.mark.parametrize(
    "knob",
    [
        {"n_meetings": 0},
        {"n_meetings": 121},
        {"n_rooms": 0},
        {"n_rooms": 121},
        {"max_attendees": 1},
        {"n_people": 3},
        {"n_people": 121},
        {"n_busy": 7},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        MeetingSchedulingConfig(**knob)


@pytest.mark.parametrize("seed", range(5))
def test_greedy_and_its_neighbours_are_answers(seed):
    rng = stream("MeetingScheduling", "moves", seed)
    problem = MeetingSchedulingTask(MeetingSchedulingConfig.at(5)).generate(rng)
    answer = TASK.baseline(stream("baseline"), problem)
    assert TASK.verify(problem, answer).parts["feasible"] == 1.0
    for _ in range(20):
        answer = TASK.neighbour(problem, answer, rng)
        assert TASK.verify(problem, answer).parts["feasible"] == 1.0


def test_the_baseline_of_the_small_problem():
    # meeting 3 comes first; person 2 is then free from 13:00
    assert TASK.baseline(stream("baseline"), SMALL) == "2, 1, 9:00\n3, 2, 10:00\n1, 1, 13:00"
