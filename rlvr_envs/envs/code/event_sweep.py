"""Loads of minutes under rules: a sweep over events, with what each rule has to keep in order."""

from collections.abc import Mapping
from math import log2

from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.program_tasks.contest import Contest, ContestTask
from rlvr_envs.generators.program_tasks.program_task import Kind, Values

SCALE = {"level": (0, 30), "rules": (0, 7)}

READS: dict[str, Kind] = {"jobs": "rows"}

RULES = ("setup", "grow", "drain", "solo", "top", "kinds", "period", "lanes")

STORIES = {
    "mill": {"job": "machine", "place": "a mill", "stuff": "power", "lane": "power line"},
    "pumps": {"job": "pump", "place": "a water works", "stuff": "water", "lane": "pipe"},
    "radio": {"job": "broadcast", "place": "a radio mast", "stuff": "energy", "lane": "channel"},
    "cranes": {"job": "crane", "place": "a harbour", "stuff": "diesel", "lane": "quay"},
}

_MAX, _MINUTES, _RUN = 0, 1, 2


def statement(constants: Values) -> str:
    """Return the question, with the rules that this problem has."""
    drain, kept = constants["drain"], bool(constants["solo"])
    raising = "that use {stuff}, " if drain else "that "
    rules = {
        "setup": "A {job} needs {setup} minutes to start: it runs only at the minutes t with "
        "start + {setup} <= t < end, and not at all if there are none.",
        "grow": "The use of a {job} grows while it is on: at minute t it is "
        "use + {grow} * (t - start).",
        "drain": "A {job} of kind 1 supplies {stuff} instead: its use is subtracted from the load.",
        "solo": f"Of all {{job}}s {raising}have the same kind and run at a minute, only one with "
        "the largest use at this minute is added to the load.",
        "top": f"Of all {{job}}s that {'use {stuff} and ' * bool(drain)}run at a minute"
        f"{' and are not left out by the rule before' * kept}, only the {{top}} with the largest "
        "uses at this minute are added to the load; all of them if there are fewer.",
        "kinds": "Only minutes at which {job}s of at least {kinds} different kinds run are looked "
        "at.",
        "period": "Only minutes t with t mod {period} < {green} are looked at.",
        "lanes": "A {job} uses {stuff} from each {lane} from number `low` to number `high`, both "
        "included, and as much from each of them as its use says. Each {lane} has a load of its "
        "own, from the {job}s on it. The load of a minute is then the largest load of a {lane}, "
        "instead of the sum of all uses.",
    }
    listed = [rules[name] for name in RULES if constants[name]]
    numbered = "\n".join(f"{at}. {rule}" for at, rule in enumerate(listed, 1))
    more = f" These rules hold:\n\n{numbered}" if listed else ""
    return (
        "The list `jobs` has the {job}s of {place}, in no particular order. Minutes are the "
        "integers from 0 on. A {job} runs at each minute t with start <= t < end, and then uses as "
        "many units of {stuff} as its `use` says. The load of a minute is the sum of the uses of "
        f"the {{job}}s that run at it; it is 0 if none runs.{more}"
    )


def output(constants: Values) -> str:
    """Return what is to be printed."""
    looked = " that are looked at" * bool(constants["kinds"] or constants["period"])
    return {
        _MAX: f"Print the largest load of all minutes{looked}, or 0 if none is above 0.",
        _MINUTES: f"Print the number of minutes{looked} whose load is at least {{need}}.",
        _RUN: "Print the largest number of consecutive minutes of which each has a load of at "
        f"least {{need}}{' and is looked at' * bool(looked)}, or 0 if there is no such minute.",
    }[int(constants["asked"])]


def absent(constants: Values) -> tuple[str, ...]:
    """Return the columns that no rule needs."""
    kind = constants["drain"] or constants["solo"] or constants["kinds"]
    return ("kind",) * (not kind) + ("low", "high") * (not constants["lanes"])


def constants(rng: Rng, scale: Mapping[str, int]) -> Values:
    """Draw the numbers of the rules; those of rules that there are not are 0."""
    if scale["rules"] >= 4 and rng.random() < 0.4:
        chosen = ["setup", "drain", "kinds", "period"]  # the others, lane by lane, are too slow
        rng.shuffle(chosen)
        chosen.insert(0, "lanes")
    else:
        chosen = [name for name in RULES if name != "lanes"]
        rng.shuffle(chosen)
    on = set(chosen[: scale["rules"]])
    period = integer(rng, 3, 12) * ("period" in on)
    asked = integer(rng, 0, 2)
    if asked == _RUN and period:  # whose runs would all be short
        asked = _MINUTES
    return {
        "need": integer(rng, 4, 14) + 10 * ("grow" in on),
        "setup": integer(rng, 2, 4) * ("setup" in on),
        "grow": integer(rng, 1, 3) * ("grow" in on),
        "drain": int("drain" in on),
        "solo": int("solo" in on),
        "top": integer(rng, 2, 4) * ("top" in on),
        "kinds": integer(rng, 2, 3) * ("kinds" in on),
        "period": period,
        "green": integer(rng, 1, period - 1) if period else 0,
        "lanes": int("lanes" in on),
        "asked": asked,
    }


def inputs(rng: Rng, scale: Mapping[str, int], constants: Values) -> Values:
    """Draw jobs of which a few or many run at once, some from or to the same minute."""
    most, horizon, widest = _most(scale, constants), _horizon(scale), _widest(scale)
    n = most if most > 100 else integer(rng, 3, most)
    longest = min(horizon, max(4, horizon * pick(rng, (4, 8, 16)) // n))
    marks = [integer(rng, 0, horizon) for _ in range(5)]
    shared, uses = pick(rng, (0.0, 0.3)), pick(rng, (9, 9, 4))
    jobs = []
    for _ in range(n):
        start = pick(rng, marks) if rng.random() < shared else integer(rng, 0, horizon)
        end = pick(rng, marks) if rng.random() < shared else 0
        if end <= start:
            end = start + integer(rng, 1, longest if rng.random() < 0.7 else 4)
        low, high = 0, 0
        if constants["lanes"]:
            low = integer(rng, 1, widest)
            high = min(widest, low + integer(rng, 0, max(2, widest // pick(rng, (3, 6)))))
        named = any(constants[name] for name in ("drain", "solo", "kinds"))
        kind = integer(rng, 1, 4) if named else 0
        jobs.append((start, end, integer(rng, 1, uses), kind, low, high))
    return {"jobs": jobs}


def _most(scale: Mapping[str, int], constants: Values) -> int:
    """Return the largest number of jobs."""
    level = scale["level"]
    grown = min(round(6 * 1.45 ** min(level, 40)), 20_000 + 100 * level)
    return min(grown, 5_000 + 20 * level) if constants["lanes"] else grown


def _horizon(scale: Mapping[str, int]) -> int:
    """Return the last minute at which a job may start."""
    return min(round(16 * 1.9 ** min(scale["level"], 40)), 10**9)


def _widest(scale: Mapping[str, int]) -> int:
    """Return the largest number of a lane."""
    return min(round(5 * 1.9 ** min(scale["level"], 40)), 10**9)


def limits(scale: Mapping[str, int], constants: Values) -> str:
    """Return how large the inputs get."""
    more = " `kind` is from 1 to 4." if "kind" not in absent(constants) else ""
    if constants["lanes"]:
        more += f" Also, 1 <= low <= high <= {_widest(scale)}."
    return (
        f"There are from 3 to {_most(scale, constants)} rows, with "
        f"0 <= start < end <= {2 * _horizon(scale)}; `use` is from 1 to 9.{more}"
    )


def work(scale: Mapping[str, int], constants: Values) -> float:
    """Return the steps of the sweep: events, times what is kept in order at each."""
    most = _most(scale, constants)
    rules = sum(bool(constants[name]) for name in RULES) + 3 * bool(constants["lanes"])
    return 2 * most * log2(most) * (1 + rules)


def solve(  # noqa: C901, PLR0912, PLR0913, PLR0915 - the text of this is the oracle's program
    jobs: list[tuple[int, int, int, int, int, int]],
    need: int,
    setup: int,
    grow: int,
    drain: int,
    solo: int,
    top: int,
    kinds: int,
    period: int,
    green: int,
    lanes: int,
    asked: int,
) -> int:
    """Sweep over starts and ends; between two of them the load is a linear function of time."""
    from collections import Counter
    from heapq import heappop, heappush

    n = len(jobs)
    uses = [use - grow * start for start, _, use, _, _, _ in jobs]  # as if they were on at minute 0
    events = []
    for job, (start, end, _, _, _, _) in enumerate(jobs):
        if start + setup < end:
            events.append((start + setup, job, 1))
            events.append((end, job, -1))
    events.sort()

    # All jobs grow alike, so their order never changes: a Fenwick tree over it adds up the first.
    ordered = sorted(range(n), key=lambda job: -uses[job])
    rank = {job: place for place, job in enumerate(ordered, 1)}
    numbers, sums = [0] * (n + 1), [0] * (n + 1)
    steps = [1 << bit for bit in range(n.bit_length())][::-1]

    # The largest load of a lane: a tree of maxima to which whole ranges are added.
    marks = sorted({lane for *_, low, high in jobs for lane in (low, high + 1)})
    mark = {lane: place for place, lane in enumerate(marks)}
    bits = len(marks).bit_length()
    size = 1 << bits
    highest, added = [0] * (2 * size), [0] * (2 * size)

    def raise_lanes(low: int, high: int, change: int) -> None:
        left, right = mark[low] + size, mark[high + 1] + size
        ends = (left, right - 1)
        while left < right:
            if left % 2:
                highest[left] += change
                added[left] += change
                left += 1
            if right % 2:
                right -= 1
                highest[right] += change
                added[right] += change
            left //= 2
            right //= 2
        for end in ends:
            for bit in range(1, bits + 1):
                node = end >> bit
                highest[node] = max(highest[2 * node], highest[2 * node + 1]) + added[node]

    heaps: dict[int, list[tuple[int, int]]] = {kind: [] for _, _, _, kind, _, _ in jobs}
    first: dict[int, int] = {}  # of each kind, the job that counts
    running = [False] * n
    running_kinds: Counter[int] = Counter()
    load = slope = 0

    def count(job: int, change: int) -> None:
        nonlocal load, slope
        if not top:
            load += change * uses[job]
            slope += change * grow
            return
        place = rank[job]
        while place <= n:
            numbers[place] += change
            sums[place] += change * uses[job]
            place += place & -place

    best = minutes = longest = 0
    run_begin = run_end = -1
    for place, (now, job, change) in enumerate(events):
        _, _, use, kind, low, high = jobs[job]
        running[job] = change == 1
        running_kinds[kind] += change
        drains = drain and kind == 1
        if lanes:
            raise_lanes(low, high, -use * change if drains else use * change)
        elif drains:
            load -= change * uses[job]
            slope -= change * grow
        elif solo:
            if change == 1:
                heappush(heaps[kind], (-uses[job], job))
            while heaps[kind] and not running[heaps[kind][0][1]]:
                heappop(heaps[kind])
            later = heaps[kind][0][1] if heaps[kind] else -1
            earlier = first.get(kind, -1)
            if later != earlier:
                first[kind] = later
                if earlier >= 0:
                    count(earlier, -1)
                if later >= 0:
                    count(later, 1)
        else:
            count(job, change)
        following = events[place + 1][0] if place + 1 < len(events) else now
        if following == now:
            continue
        if kinds and sum(number > 0 for number in running_kinds.values()) < kinds:
            continue
        base, rate = load, slope
        if lanes:
            base, rate = highest[1], 0
        elif top:
            left, at = top, 0
            for step in steps:
                if at + step <= n and numbers[at + step] <= left:
                    at += step
                    left -= numbers[at]
                    base += sums[at]
            rate += (top - left) * grow
        if asked == 0:
            early, late = now, following - 1
            if period and early % period >= green:
                early += period - early % period
            if period and late % period >= green:
                late -= late % period - green + 1
            if early <= late:
                best = max(best, base + rate * early, base + rate * late)
            continue
        early, late = now, following
        if rate > 0:
            early = max(early, (need - base + rate - 1) // rate)
        elif rate < 0:
            late = min(late, (base - need) // -rate + 1)
        elif base < need:
            continue
        if early >= late:
            continue
        if asked == 1:
            if period:
                full = late // period - early // period
                minutes += full * green + min(late % period, green) - min(early % period, green)
            else:
                minutes += late - early
            continue
        if early != run_end:
            run_begin = early
        run_end = late
        longest = max(longest, run_end - run_begin)
    return (best, minutes, longest)[asked]


def solve_plainly(  # noqa: PLR0913 - arguments by name, as of the above
    jobs: list[tuple[int, int, int, int, int, int]],
    need: int,
    setup: int,
    grow: int,
    drain: int,
    solo: int,
    top: int,
    kinds: int,
    period: int,
    green: int,
    lanes: int,
    asked: int,
) -> int:
    """Go through all minutes, and through all jobs in each of them."""
    found, run, answers = 0, 0, [0]
    for t in range(max(job[1] for job in jobs)):
        now = [job for job in jobs if job[0] + setup <= t < job[1]]
        looked_at = not period or t % period < green
        looked_at = looked_at and len({job[3] for job in now}) >= kinds
        loads = []
        for lane in {edge for job in now for edge in (job[4], job[5] + 1)} if lanes else {0}:
            less, more, known = 0, [], set()
            here = [job for job in now if not lanes or job[4] <= lane <= job[5]]
            for start, _, use, kind, _, _ in sorted(here, key=lambda job: job[2] - grow * job[0]):
                if drain and kind == 1:
                    less += use + grow * (t - start)
                else:
                    more.append((use + grow * (t - start), kind))
            added = []
            for use, kind in more[::-1]:
                if not (solo and kind in known):
                    added.append(use)
                known.add(kind)
            loads.append(sum(added[: top or len(added)]) - less)
        load = max(loads, default=0)
        if asked == 0:
            answers.append(load if looked_at else 0)
        run = run + 1 if looked_at and load >= need else 0
        found += run > 0
        if asked == 2:
            answers.append(run)
    return found if asked == 1 else max(answers)


EDITS = (
    ("events.append((end, job, -1))", "events.append((end + 1, job, -1))"),
    ("elif base < need", "elif base <= need"),
    (
        "        if early != run_end:\n            run_begin = early\n",
        "        run_begin = early\n",
    ),
    ("if start + setup < end:", "if start < end:", "setup"),
    ("use - grow * start", "use", "grow"),
    ("following - 1\n", "following\n"),
    ("base + rate * early, base + rate * late", "base + rate * early", "grow"),
    ("(need - base + rate - 1) // rate", "(need - base) // rate", "grow"),
    ("rate += (top - left) * grow", "rate += top * grow", "grow"),
    ("slope -= change * grow", "pass", "grow"),
    ("late = min(late, (base - need) // -rate + 1)", "pass", "grow"),
    ("-uses[job])", "-jobs[job][2])", "grow"),
    ("-uses[job])", "uses[job])", "top"),
    ("left, at = top, 0", "left, at = top - 1, 0", "top"),
    ("(-uses[job], job)", "(uses[job], job)", "solo"),
    ("not running[heaps[kind][0][1]]", "change < 0 and heaps[kind][0][1] == job", "solo"),
    ("sum(number > 0 for number in running_kinds.values())", "running_kinds.total()", "kinds"),
    ("late -= late % period - green + 1", "pass", "period"),
    ("+ min(late % period, green) - min(early % period, green)", "", "period"),
    ("if early <= late", "if True", "period"),
    (" + added[node]", "", "lanes"),
    ("highest[1], 0", "load, 0", "lanes"),
)


@register("EventSweep-v0", domain="code", answer_format="fenced:python")
class EventSweepTask(ContestTask):
    """Write a program about the loads of minutes under rules.

    Description:
        Jobs run from one minute to another and use something; the load of a minute is the sum of
        the uses. A problem adds some of eight rules: a time to start, uses that grow, jobs that
        supply instead, only the largest of each kind, only some of the largest, enough different
        kinds, minutes that are looked at periodically, and loads of lanes, where jobs become
        rectangles. The question is the largest load, the number of minutes with enough of it, or
        the longest run of such minutes. All need a sweep over sorted events; rules add heaps, order
        statistics, linear functions of time, arithmetic of periods, or a tree over lanes.

    Observation:
        A story with the rules, the input format, bounds on the input, the limits and two examples.

    Action:
        A Python program that reads one input and prints the answer.

    Reward:
        1 if every hidden test is passed, otherwise 0.

    Verification:
        The program runs in the sandbox on hidden inputs, each in a fresh process; outputs are
        compared outside. Small inputs are chosen by the wrong programs that fail them; the last
        ones are of the full size, where going minute by minute, or through all jobs at each event,
        takes too long from difficulty 9 or so on. Expected outputs come from a sweep, which going
        minute by minute confirms.

    Difficulty:
        The number of rules, five at difficulty 10, the number of jobs, and the length of time.

    References:
        M. de Berg, O. Cheong, M. van Kreveld and M. Overmars, Computational Geometry, 2008,
        chapters 2 and 10, for sweeps and segment trees; P. M. Fenwick, "A new data structure for
        cumulative frequency tables", 1994.
    """

    contest = Contest(
        statement=statement,
        scale=SCALE,
        constants=constants,
        reads=READS,
        inputs=inputs,
        solutions=(solve, solve_plainly),
        limits=limits,
        stories=STORIES,
        columns={"jobs": ("start", "end", "use", "kind", "low", "high")},
        meaning={"jobs": "the {job}s"},
        absent=absent,
        output=output,
        work=work,
        rules=RULES,
        edits=EDITS,
        tried=(0, 1, 2, 0, 1, 2, 3, 1, 2) * 4 + (4, 4),
        patience=16,
    )
