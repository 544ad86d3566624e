"""Quickest routes under rules that a map alone does not hold: a search over richer states."""

from collections.abc import Mapping
from typing import Any

from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.program_tasks.contest import Contest, ContestTask
from rlvr_envs.generators.program_tasks.program_task import Kind, Values

SCALE = {"level": (0, 30), "length": (9, 99), "rules": (0, 6)}

_MOST_WORK = 2_000_000  # edges of the graph of states, which the reference passes in time

READS: dict[str, Kind] = {"n": "int", "roads": "rows"}

RULES = ("coupons", "modulus", "change", "key", "stretch", "period")

STORIES = {
    "courier": {
        "person": "courier",
        "town": "town",
        "road": "road",
        "toll_kind": "toll roads",
        "delay": "waiting at the toll gate",
        "coupon": "a voucher for an express lane",
        "permit": "permit",
        "closed": "guarded roads",
        "inn": "an inn",
    },
    "barge": {
        "person": "bargee",
        "town": "harbour",
        "road": "canal",
        "toll_kind": "canals with a lock",
        "delay": "passing the lock",
        "coupon": "an order for a tugboat",
        "permit": "pilot's licence",
        "closed": "narrow canals",
        "inn": "a coal depot",
    },
    "robot": {
        "person": "warehouse robot",
        "town": "station",
        "road": "track",
        "toll_kind": "tracks with a gate",
        "delay": "opening the gate",
        "coupon": "a charge of the booster",
        "permit": "badge",
        "closed": "secured tracks",
        "inn": "a charger",
    },
    "hiker": {
        "person": "hiker",
        "town": "hut",
        "road": "trail",
        "toll_kind": "trails with a ferry",
        "delay": "crossing by the ferry",
        "coupon": "a ticket for the cable car",
        "permit": "rope",
        "closed": "climbing trails",
        "inn": "a spring",
    },
}


def statement(constants: Values) -> str:
    """Return the question, with the rules that this problem has."""
    rules = {
        "coupons": "The {person} has {coupons} of this kind: {coupon}. Each can be used once, on "
        "one {road} of any kind, and halves its length, rounded down; at most one may be used on a "
        "{road}, and nothing else on it gets shorter.",
        "modulus": "The number of {road}s travelled, each counted as often as it is travelled, "
        "must leave the remainder {rest} when divided by {modulus}.",
        "change": "When a {road} has another kind than the {road} travelled just before, "
        "{change} more minutes are needed.",
        "key": "Kind 3 are {closed}: they may be travelled only with a {permit}, which the "
        "{person} gets, and then keeps, in every {town} whose number is a multiple of {key}.",
        "stretch": "Every {town} whose number is a multiple of {inn_every} has {inn}. At most "
        "{stretch} {road}s in a row may be travelled before the {person} is at a {town} with "
        "{inn}: when {stretch} {road}s have been travelled since the start or the last such "
        "{town}, no further {road} may be travelled. A route may end at such a point.",
        "period": "A {town} can be left only at minutes t with t mod {period} < {green}, counted "
        "from the start at minute 0; otherwise the {person} waits there for the next such minute. "
        "Waiting to leave counts as time, and comes before everything else that costs time on the "
        "{road}.",
    }
    return " ".join([_MAP, *(rules[name] for name in RULES if constants[name]), _ASKED])


_MAP = (
    "A {person} wants to get from {town} 1 to {town} n as quickly as possible. There are n "
    "{town}s, numbered from 1. A {road} joins two {town}s, can be travelled both ways and as often "
    "as one likes, and has a length, the minutes that it takes, and a kind, which is 1, 2 or 3. "
    "Kind 1 are {toll_kind}: each of them takes {toll} minutes more each time, for {delay}."
)
_ASKED = "The route may come to any {town} more than once, {town} 1 and {town} n included."


def output(constants: Values) -> str:
    """Return what is to be printed."""
    if not constants["route"]:
        return "Print the fewest minutes until the arrival, or -1 if there is no such route."
    used = " with a minus sign before it if the {coupon} is used on it" * bool(constants["coupons"])
    return (
        "Print the fewest minutes until the arrival, then the number of {road}s of a quickest "
        "route, then these {road}s in order, each as its place among the rows of `roads`, counted "
        f"from 1{used}; separate all by white space. Any quickest route will do. If there is no "
        "such route, print -1 alone."
    )


def constants(rng: Rng, scale: Mapping[str, int]) -> Values:
    """Draw the numbers of the rules; those of rules that there are not are 0."""
    chosen = list(RULES)
    rng.shuffle(chosen)
    on = set(chosen[: scale["rules"]])
    modulus = integer(rng, 2, 5) * ("modulus" in on)
    period = integer(rng, 4, 15) * ("period" in on)
    return {
        "toll": integer(rng, 1, 40),
        "coupons": integer(rng, 1, 3) * ("coupons" in on),
        "modulus": modulus,
        "rest": integer(rng, 0, modulus - 1) if modulus else 0,
        "change": integer(rng, 1, 9) * ("change" in on),
        "key": integer(rng, 3, 6) * ("key" in on),
        "stretch": integer(rng, 2, 3) * ("stretch" in on),
        "inn_every": integer(rng, 2, 3) * ("stretch" in on),
        "period": period,
        "green": integer(rng, 1, period // 2) if period else 0,
        "route": int(scale["rules"] >= 1 and rng.random() < 0.6),
    }


def inputs(rng: Rng, scale: Mapping[str, int], constants: Values) -> Values:
    """Draw a map that is long rather than round, so that routes have many roads."""
    most = _most(scale, constants)
    n = integer(rng, 3, most) if most < 10 else most
    names = [1, *(2 + at for at in rng.permutation(n - 2).tolist()), n]
    least = 2 if constants["stretch"] else 1  # roads to those before
    longest, reach = pick(rng, (4, scale["length"])), pick(rng, (2, 3, 5))
    roads: list[tuple[int, int, int, int]] = []
    for place in range(1, n):
        for _ in range(integer(rng, least, 3)):
            other = max(0, place - integer(rng, 1, reach))
            if rng.random() < 0.03:
                other = integer(rng, 0, place - 1)
            ends = [names[place], names[other]]
            rng.shuffle(ends)
            kind = integer(rng, 1, 3)
            length = integer(rng, max(1, longest // 2), longest) + pick(
                rng, (0, 0, int(constants["toll"]))
            )
            roads.append((ends[0], ends[1], length, kind))
    return {"n": n, "roads": [roads[at] for at in rng.permutation(len(roads)).tolist()]}


def limits(scale: Mapping[str, int], constants: Values) -> str:
    """Return how large the inputs get."""
    most = _most(scale, constants)
    longest = max(4, scale["length"]) + int(constants["toll"])
    return (
        f"n is from 3 to {most}, there are from n - 1 to {3 * most} rows, and a length is from 1 "
        f"to {longest}. Several rows may join the same two."
    )


def _most(scale: Mapping[str, int], constants: Values) -> int:
    """Return the largest number of towns."""
    level = min(scale["level"], 200)
    grown = round(5 * 1.33 ** min(level, 40))
    return max(5, min(grown, (_MOST_WORK + 10_000 * level) // (4 * _states(constants))))


def _states(constants: Values) -> int:
    """Return in how many states one can be in a town."""
    states = (int(constants["coupons"]) + 1) * max(1, int(constants["modulus"]))
    states *= (1 + bool(constants["key"])) * (1 + int(constants["stretch"]))
    return states * (3 if constants["change"] else 1) * (2 if constants["period"] else 1)


def work(scale: Mapping[str, int], constants: Values) -> float:
    """Return the edges of the graph of states: roads, times what a state holds beside a town."""
    return 4.0 * _most(scale, constants) * _states(constants)


def solve(  # noqa: C901, PLR0912, PLR0913, PLR0915 - the text of this is the oracle's program
    n: int,
    roads: list[tuple[int, int, int, int]],
    toll: int,
    coupons: int,
    modulus: int,
    rest: int,
    change: int,
    key: int,
    stretch: int,
    inn_every: int,
    period: int,
    green: int,
    route: int,
) -> list[int]:
    """Search by Dijkstra over states: a town and what the rules remember."""
    from heapq import heappop, heappush

    around: list[list[tuple[int, int, int, int]]] = [[] for _ in range(n + 1)]
    for number, (a, b, length, kind) in enumerate(roads, 1):
        around[a].append((b, length, kind, number))
        around[b].append((a, length, kind, number))
    start = (1, 0, 0, 0, False, 0)
    best = {start: 0}
    before = {start: (start, 0)}
    heap = [(0, start)]
    while heap:
        time, state = heappop(heap)
        if time > best[state]:
            continue
        town, used, count, last, permit, since = state
        if town == n and count == rest:
            if not route:
                return [time]
            taken: list[int] = []
            while state != start:
                state, number = before[state]
                taken.append(number)
            return [time, len(taken), *reversed(taken)]
        if stretch and since == stretch:
            continue
        leave = time
        if period and time % period >= green:
            leave = time - time % period + period
        for other, length, kind, number in around[town]:
            if key and kind == 3 and not permit:
                continue
            arrive = leave
            if kind == 1:
                arrive += toll
            if change and last and kind != last:
                arrive += change
            following = (
                (count + 1) % modulus if modulus else 0,
                kind if change else 0,
                permit or (key > 0 and other % key == 0),
                since + 1 if stretch and other % inn_every else 0,
            )
            for coupon in (0, 1):
                if used + coupon > coupons:
                    continue
                after = arrive + (length // 2 if coupon else length)
                reached = (other, used + coupon, *following)
                if reached not in best or after < best[reached]:
                    best[reached] = after
                    before[reached] = (state, -number if coupon else number)
                    heappush(heap, (after, reached))
    return [-1]


def solve_plainly(  # noqa: C901, PLR0913 - arguments by name, as of the above
    n: int,
    roads: list[tuple[int, int, int, int]],
    toll: int,
    coupons: int,
    modulus: int,
    rest: int,
    change: int,
    key: int,
    stretch: int,
    inn_every: int,
    period: int,
    green: int,
    route: int,
) -> list[int]:
    """Go through all minutes one by one, and through all roads in each of them."""
    due: dict[int, dict[tuple[int, ...], tuple[int, ...]]] = {0: {(1, 0, 0, 0, 0, 0): ()}}
    known: set[tuple[int, ...]] = set()
    minute = 0
    while due:
        for state, way in due.pop(minute, {}).items():
            at, spent, steps, kept, held, tired = state
            if at == n and steps == rest:
                return [minute, len(way), *way] if route else [minute]
            if state in known:
                continue
            known.add(state)
            for number, (a, b, length, kind) in enumerate(roads, 1):
                if at not in (a, b) or (stretch and tired >= stretch):
                    continue
                if key and kind == 3 and not held:
                    continue
                to, leave = b if at == a else a, minute
                while period and leave % period >= green:
                    leave += 1
                extra = (toll if kind == 1 else 0) + (change if kept not in (0, kind) else 0)
                for sign in (1, -1):
                    if sign < 0 and spent == coupons:
                        continue
                    arrive = leave + extra + (length if sign > 0 else length // 2)
                    new = (
                        to,
                        spent + (sign < 0),
                        (steps + 1) % modulus if modulus else 0,
                        kind if change else 0,
                        int(held or (key > 0 and to % key == 0)),
                        (0 if to % inn_every == 0 else tired + 1) if stretch else 0,
                    )
                    due.setdefault(arrive, {}).setdefault(new, (*way, sign * number))
        minute += 1
    return [-1]


def accepts(found: list[int], expected: Any, inputs: Values, constants: Values) -> str:
    """Return what is wrong with an output, by travelling the route."""
    if found[:1] != expected[:1]:
        return "the number of minutes is wrong"
    if not constants["route"] or expected == [-1]:
        return "" if len(found) == 1 else "there is more than the number of minutes"
    if len(found) < 2 or len(found) != found[1] + 2:
        return "the number of roads of the route is not that of the places that follow"
    told = _travel(found[2:], inputs, constants)
    if isinstance(told, str):
        return told
    return "" if told == found[0] else "the route takes another time"


def _travel(places: list[int], inputs: Values, constants: Values) -> int | str:  # noqa: C901, PLR0911 - one rule after the other
    """Return the minutes of a route, or what rule it breaks."""
    get = constants.__getitem__
    roads, town, minute, last, spent, since, permit = inputs["roads"], 1, 0, 0, 0, 0, False
    for place in places:
        if not 1 <= abs(place) <= len(roads):
            return "a place is not that of a row"
        a, b, length, kind = roads[abs(place) - 1]
        if town not in (a, b):
            return "the route is broken"
        if get("stretch") and since >= get("stretch"):
            return "too long a stretch"
        if get("key") and kind == 3 and not permit:
            return "kind 3 is used without a permit"
        if get("period") and minute % get("period") >= get("green"):
            minute += get("period") - minute % get("period")
        if last and kind != last:
            minute += get("change")
        minute += get("toll") if kind == 1 else 0
        minute += length // 2 if place < 0 else length
        spent += place < 0
        town, last, since = a + b - town, kind, since + 1
        if get("stretch") and town % get("inn_every") == 0:
            since = 0
        permit = permit or (get("key") > 0 and town % get("key") == 0)
    if spent > get("coupons"):
        return "too many roads are marked as halved"
    if town != inputs["n"]:
        return "the route does not end where it should"
    if get("modulus") and len(places) % get("modulus") != get("rest"):
        return "the number of roads has another remainder"
    return minute


EDITS = (
    ("        around[b].append((a, length, kind, number))\n", ""),
    ("if kind == 1:", "if kind != 1:"),
    ("arrive += toll", "pass"),
    ("length // 2", "(length + 1) // 2"),
    ("used + coupon > coupons", "used + coupon > 1"),
    ("following = (\n", "used = 0\n            following = (\n"),
    ("count == rest", "True"),
    ("and kind != last", "and kind > last"),
    ("if change and last and", "if change and"),
    ("kind == 3 and not permit", "kind == 3"),
    ("permit or (key > 0 and other % key == 0)", "key > 0 and other % key == 0"),
    ("since == stretch", "since > stretch"),
    ("time % period >= green", "time % period > green"),
    ("leave = time - time % period + period", "leave = time + period"),
    ("if stretch and other % inn_every else 0", "if stretch else 0"),
    ("reached not in best or after < best[reached]", "reached not in best"),
    ("if reached not in best or", "if all(town[0] != other for town in best) or"),
)


@register("RuledRoute-v0", domain="code", answer_format="fenced:python")
class RuledRouteTask(ContestTask):
    """Write a program that finds a quickest route under several rules.

    Description:
        A map has roads of three kinds. A problem adds some of six rules: vouchers that halve a
        road, a remainder that the number of roads must leave, time lost where the kind of road
        changes, a permit that is found on the way, stretches between inns, and times at which a
        town can be left. Each makes the state of the search richer in another way. Many problems
        ask for the route itself.

    Observation:
        A story with the rules, the input format, bounds on the input, the limits and two examples.

    Action:
        A Python program that reads one input and prints the minutes, and the route if asked.

    Reward:
        1 if every hidden test is passed, otherwise 0.

    Verification:
        The program runs in the sandbox on hidden inputs, each in a fresh process. A route is
        travelled by a judge outside, so any quickest one passes. Small inputs are chosen by the
        wrong programs that fail them; the last ones are of the full size. Expected minutes come
        from a search over states, which a search minute by minute confirms.

    Difficulty:
        The number of rules, up to four at difficulty 10 and six in the end, and the size of the
        map.

    References:
        E. W. Dijkstra, "A note on two problems in connexion with graphs", 1959; R. K. Ahuja,
        T. L. Magnanti and J. B. Orlin, Network Flows, 1993, section 4.4, for networks whose
        vertices are states.
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
        columns={"roads": ("first end", "second end", "length", "kind")},
        meaning={"n": "the number of {town}s", "roads": "the {road}s"},
        output=output,
        work=work,
        rules=RULES,
        edits=EDITS,
        accepts=accepts,
    )
