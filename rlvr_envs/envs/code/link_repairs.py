"""Networks that gain or lose links: union-find, with what each rule adds to it."""

from collections.abc import Mapping
from math import log2

from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.program_tasks.contest import Contest, ContestTask
from rlvr_envs.generators.program_tasks.program_task import Kind, Values

SCALE = {"level": (0, 30), "rules": (0, 6)}

READS: dict[str, Kind] = {
    "n": "int",
    "span": "int",
    "points": "rows",
    "links": "rows",
    "pairs": "rows",
}

RULES = ("removal", "lapse", "priced", "rich", "kinds", "spare", "even")

STORIES = {
    "wires": {"point": "pole", "link": "wire", "group": "grid", "worth": "demand"},
    "roads": {"point": "village", "link": "road", "group": "district", "worth": "population"},
    "cables": {"point": "server", "link": "cable", "group": "cluster", "worth": "storage"},
    "caves": {"point": "cave", "link": "passage", "group": "system", "worth": "volume"},
}

_NUMBER, _LARGEST, _TOGETHER, _ALIKE, _FIRST = range(5)


def statement(constants: Values) -> str:
    """Return the question, with the rules that this problem has."""
    if constants["removal"]:
        way = "At first all {link}s are there. In step i, the {link} of row i is removed."
    elif constants["lapse"]:
        way = (
            "At first there are no {link}s. In step i, the {link} of row i is built and, if "
            "i > `span`, the {link} of row i - `span` is removed, so that only the last `span` "
            "remain."
        )
    elif constants["priced"]:
        way = "With a budget of c, all {link}s are built that cost at most c each, and no others."
    else:
        way = "At first there are no {link}s. In step i, the {link} of row i is built."
    rules = {
        "rich": "The {worth}s of its {point}s add up to at least {worth_least}.",
        "kinds": "Its {point}s have at least {kinds} different kinds.",
        "spare": "It has more {link}s than {point}s."
        if constants["spare"] > 1
        else "It has at least as many {link}s as {point}s.",
        "even": "Its {point}s can be coloured with two colours so that each {link} joins two "
        "different colours.",
    }
    base = "It has at least {least} {point}s."
    listed = [base, *(rules[name] for name in RULES if name in rules and constants[name])]
    numbered = "\n".join(f"{at}. {rule}" for at, rule in enumerate(listed, 1))
    kept = "this rule" if len(listed) == 1 else "all of these rules"
    rows = "" if constants["priced"] else " The rows of `links` are numbered from 1."
    return (
        "There are n {point}s, numbered from 1. A {link} joins two of them, and several {link}s "
        f"may join the same two.{rows} {way} A {{group}} is a {{point}} together with all "
        "{point}s that can be reached from it over {link}s that are there; a {point} without any "
        f"is a {{group}} by itself. A {{group}} is good if it keeps {kept}:\n\n{numbered}"
    )


def output(constants: Values) -> str:
    """Return what is to be printed."""
    one = "{point}s are in one good {group}"
    if constants["asked"] == _FIRST:
        if constants["priced"]:
            asked = f"the smallest integer c such that with a budget of c the two {one}"
        elif constants["removal"]:
            asked = f"the largest number of steps, 0 included, after which the two {one}"
        else:
            asked = f"the smallest number of steps after which the two {one}"
        return (
            f"For each row of `pairs`, in order, print {asked}, or -1 if there is none; separate "
            "the numbers by white space."
        )
    asked = {
        _NUMBER: "the number of good {group}s",
        _LARGEST: "the number of {point}s of the largest good {group}, or 0 if there is none",
        _TOGETHER: "the number of pairs of {point}s that are in one good {group}",
        _ALIKE: "the number of pairs of {point}s that have the same kind and are in one good "
        "{group}",
    }[int(constants["asked"])]
    swapped = (
        " The order of the two does not matter."
        if constants["asked"] in (_TOGETHER, _ALIKE)
        else ""
    )
    return (
        f"For each step, in order, print {asked}, after this step; separate the numbers by white "
        f"space.{swapped}"
    )


def absent(constants: Values) -> tuple[str, ...]:
    """Return the inputs and columns that no rule needs."""
    kind = bool(constants["kinds"] or constants["asked"] == _ALIKE)
    worth = bool(constants["rich"])
    return (
        ("points",) * (not kind and not worth)
        + ("kind",) * (not kind)
        + ("{worth}",) * (not worth)
        + ("cost",) * (not constants["priced"])
        + ("span",) * (not constants["lapse"])
        + ("pairs",) * bool(constants["asked"] != _FIRST)
    )


def constants(rng: Rng, scale: Mapping[str, int]) -> Values:
    """Draw the numbers of the rules; those of rules that there are not are 0."""
    rules = scale["rules"]
    way = pick(rng, ("removal", "priced", *(("lapse",) * 2 if rules >= 3 else ())))
    chosen = [way, "rich", "kinds", "spare", "even"]
    rng.shuffle(chosen)
    on = set(chosen[:rules])
    most = _FIRST if rules else _TOGETHER
    if "lapse" in on:
        most = _TOGETHER
    asked = integer(rng, 0, most)
    return {
        "least": integer(rng, 2, 3),
        "removal": int("removal" in on),
        "lapse": int("lapse" in on),
        "priced": int("priced" in on),
        "rich": int("rich" in on),
        "worth_least": integer(rng, 8, 18) * ("rich" in on),
        "kinds": integer(rng, 2, 3) * ("kinds" in on),
        "spare": integer(rng, 1, 2) * ("spare" in on),
        "even": int("even" in on),
        "asked": _FIRST if "priced" in on else asked,
    }


def inputs(rng: Rng, scale: Mapping[str, int], constants: Values) -> Values:
    """Draw links within blocks of points, and a few between them; many join odd to even ones."""
    most, left_out = _most(scale, constants), absent(constants)
    n = most if most > 100 else integer(rng, 5, most)
    m = integer(rng, n, 2 * n)
    block = min(n, pick(rng, (3, 6, n, n)))
    mixed, kinds = pick(rng, (0.05, 0.4, 0.9)), _kinds(constants, n)
    apart, dearest = pick(rng, (0.04, 0.2)), pick(rng, (2 * m, 9, 3))
    names = [1 + at for at in rng.permutation(n).tolist()]
    links: list[tuple[int, int, int]] = []
    between: list[bool] = []
    while len(links) < m:
        first = integer(rng, 0, n - 1)
        start = first - first % block
        second = integer(rng, start, min(n, start + block) - 1)
        if rng.random() < apart:
            second = integer(rng, 0, n - 1)
        if first != second and ((first + second) % 2 or rng.random() < mixed or block == 1):
            cost = integer(rng, 1, dearest)
            links.append((names[first], names[second], cost if constants["priced"] else 0))
            between.append(first // block != second // block)
    if rng.random() < 0.4:  # blocks are complete before they are joined
        links = [
            link for _, link in sorted(zip(between, links, strict=True), key=lambda each: each[0])
        ]
        if constants["removal"]:
            links.reverse()
    points = [
        (
            integer(rng, 1, 9) if constants["rich"] else 0,
            integer(rng, 1, kinds) if "kind" not in left_out else 0,
        )
        for _ in range(n if "points" not in left_out else 0)
    ]
    pairs = []
    for _ in range(n if "pairs" not in left_out else 0):
        first = integer(rng, 0, n - 2)
        second = min(n - 1, first + integer(rng, 1, pick(rng, (2, block, n))))
        pairs.append((names[first], names[second]))
    span = integer(rng, max(1, n // 3), n) if constants["lapse"] else 0
    return {"n": n, "span": span, "points": points, "links": links, "pairs": pairs}


def _kinds(constants: Values, n: int) -> int:
    """Return how many kinds there are."""
    return max(3, n // 4) if constants["asked"] == _ALIKE else 5


def _most(scale: Mapping[str, int], constants: Values) -> int:
    """Return the largest number of points."""
    level = scale["level"]
    grown = min(round(6 * 1.45 ** min(level, 40)), 12_000 + 100 * level)
    return min(grown, 2_500 + 10 * level) if constants["lapse"] else grown


def limits(scale: Mapping[str, int], constants: Values) -> str:
    """Return how large the inputs get."""
    most, left_out = _most(scale, constants), absent(constants)
    told = [f"n is from 5 to {most}, and there are from n to 2n rows of `links`"]
    if constants["rich"]:
        told.append("the {worth} of a {point} is from 1 to 9")
    if "kind" not in left_out:
        told.append(f"a kind is from 1 to {_kinds(constants, most)}")
    if constants["priced"]:
        told.append("a cost is from 1 to 4n")
    if constants["lapse"]:
        told.append("`span` is from 1 to n")
    if "pairs" not in left_out:
        told.append("there are n rows of `pairs`, each with two different {point}s")
    return "; ".join(told) + "."


def work(scale: Mapping[str, int], constants: Values) -> float:
    """Return the steps of the reference: links, times what is kept of a group."""
    most = _most(scale, constants)
    rules = sum(bool(constants[name]) for name in RULES)
    steps = most * log2(most) * (1 + rules)
    return steps * (log2(most) if constants["lapse"] else 1)


def solve(  # noqa: C901, PLR0912, PLR0913, PLR0915 - the text of this is the oracle's program
    n: int,
    span: int,
    points: list[tuple[int, int]],
    links: list[tuple[int, int, int]],
    pairs: list[tuple[int, int]],
    least: int,
    removal: int,
    lapse: int,
    priced: int,
    rich: int,
    worth_least: int,
    kinds: int,
    spare: int,
    even: int,
    asked: int,
) -> list[int]:
    """Unite groups by size, backwards if links are removed; undo where links come and go."""
    from heapq import heappop, heappush

    m = len(links)
    parent = list(range(n + 1))
    turned = [0] * (n + 1)  # whether a point has another colour than its parent
    size = [1] * (n + 1)
    worths = [0, *(each for each, _ in points)] if points else [0] * (n + 1)
    seen = [0, *(1 << kind for _, kind in points)] if points else [0] * (n + 1)  # kinds as bits
    count = [0] * (n + 1)  # links of a group
    odd = [0] * (n + 1)  # links of a group that join equal colours
    alike = [0] * (n + 1)
    members = [{kind: 1} for _, kind in [(0, 0), *points]] if asked == 3 else []
    number = together = pairs_alike = 0
    heap: list[tuple[int, int]] = []

    def root_of(point: int) -> tuple[int, int]:
        colour = 0
        while parent[point] != point:
            colour ^= turned[point]
            point = parent[point]
        return point, colour

    def good(root: int) -> bool:
        if size[root] < least or worths[root] < worth_least:
            return False
        if kinds and seen[root].bit_count() < kinds:
            return False
        return count[root] - size[root] + 1 >= spare and not (even and odd[root])

    def tally(root: int, sign: int) -> None:
        nonlocal number, together, pairs_alike
        if good(root):
            number += sign
            together += sign * size[root] * (size[root] - 1) // 2
            pairs_alike += sign * alike[root]
            if asked == 1 and sign > 0:
                heappush(heap, (-size[root], root))

    def unite(link: int) -> tuple[int, int, int, int]:
        """Add a link; return what undoing it needs: large and small root, colours, and bits."""
        a, b, _ = links[link]
        large, first = root_of(a)
        small, second = root_of(b)
        tally(large, -1)
        same = first == second
        if large == small:
            count[large] += 1
            odd[large] += same
            tally(large, 1)
            return large, large, same, 0
        tally(small, -1)
        if size[large] < size[small]:
            large, small = small, large
        before = seen[large]
        parent[small] = large
        turned[small] = int(same)
        size[large] += size[small]
        worths[large] += worths[small]
        seen[large] |= seen[small]
        count[large] += count[small] + 1
        odd[large] += odd[small]
        if asked == 3:
            alike[large] += alike[small]
            for kind, many in members[small].items():
                others = members[large].get(kind, 0)
                alike[large] += many * others
                members[large][kind] = many + others
        tally(large, 1)
        return large, small, 0, before

    def undo(large: int, small: int, same: int, before: int) -> None:
        tally(large, -1)
        if large == small:
            count[large] -= 1
            odd[large] -= same
        else:
            parent[small] = small
            turned[small] = 0
            size[large] -= size[small]
            worths[large] -= worths[small]
            seen[large] = before
            count[large] -= count[small] + 1
            odd[large] -= odd[small]
            tally(small, 1)
        tally(large, 1)

    def answer() -> int:
        if asked == 1:
            while heap:
                most, root = heap[0]
                if parent[root] == root and size[root] == -most and good(root):
                    return -most
                heappop(heap)
            return 0
        return (number, 0, together, pairs_alike)[asked]

    for point in range(1, n + 1):
        tally(point, 1)

    if asked == 4:
        found = [-1] * len(pairs)
        waiting: list[list[int]] = [[] for _ in range(n + 1)]  # pairs with one end in a group
        ready: list[list[int]] = [[] for _ in range(n + 1)]  # pairs with both ends in it
        met = [False] * len(pairs)
        for pair, (x, y) in enumerate(pairs):
            waiting[x].append(pair)
            waiting[y].append(pair)
        steps = list(range(m))
        if removal:
            steps.reverse()
        elif priced:
            steps.sort(key=lambda link: links[link][2])
        touched = set()
        for place, link in enumerate(steps):
            large, small, _, _ = unite(link)
            if large != small:
                ready[large] += ready[small]
                for pair in waiting[small]:
                    if met[pair]:
                        continue
                    x, y = pairs[pair]
                    if root_of(x)[0] == root_of(y)[0]:
                        met[pair] = True
                        ready[large].append(pair)
                    else:
                        waiting[large].append(pair)
                waiting[small], ready[small] = [], []
            touched.add(large)
            if priced and place + 1 < m and links[steps[place + 1]][2] == links[link][2]:
                continue
            label = links[link][2] if priced else link if removal else link + 1
            for root in touched:
                if parent[root] == root and good(root):
                    for pair in ready[root]:
                        found[pair] = label
                    ready[root] = []
            touched = set()
        return found

    answers = [0] * m
    if lapse:
        within: list[list[int]] = [[] for _ in range(4 * m)]

        def place_link(node: int, low: int, high: int, link: int) -> None:
            """Put a link at the nodes that cover the steps after which it is there."""
            if link <= low and high <= min(m, link + span):
                within[node].append(link)
                return
            middle = (low + high) // 2
            if link < middle:
                place_link(2 * node, low, middle, link)
            if middle < min(m, link + span):
                place_link(2 * node + 1, middle, high, link)

        for link in range(m):
            place_link(1, 0, m, link)

        def go(node: int, low: int, high: int) -> None:
            done = [unite(link) for link in within[node]]
            if high - low == 1:
                answers[low] = answer()
            else:
                middle = (low + high) // 2
                go(2 * node, low, middle)
                go(2 * node + 1, middle, high)
            for each in done[::-1]:
                undo(*each)

        go(1, 0, m)
    elif removal:
        for link in range(m - 1, -1, -1):
            answers[link] = answer()
            unite(link)
    else:
        for link in range(m):
            unite(link)
            answers[link] = answer()
    return answers


def solve_plainly(  # noqa: C901, PLR0913, PLR0915 - arguments by name, as of the above
    n: int,
    span: int,
    points: list[tuple[int, int]],
    links: list[tuple[int, int, int]],
    pairs: list[tuple[int, int]],
    least: int,
    removal: int,
    lapse: int,
    priced: int,
    rich: int,
    worth_least: int,
    kinds: int,
    spare: int,
    even: int,
    asked: int,
) -> list[int]:
    """Go through all groups anew after each step."""

    def good_groups(there: list[tuple[int, int, int]]) -> list[list[int]]:  # noqa: C901 - as above
        around: dict[int, list[int]] = {point: [] for point in range(1, n + 1)}
        for a, b, _ in there:
            around[a].append(b)
            around[b].append(a)
        colours: dict[int, int] = {}
        found = []
        for start in around:
            if start in colours:
                continue
            colours[start], group = 0, [start]
            for point in group:
                for other in around[point]:
                    if other not in colours:
                        colours[other] = 1 - colours[point]
                        group.append(other)
            ends = sum(len(around[point]) for point in group)
            fine = len(group) >= least and ends // 2 >= len(group) + spare - 1
            if rich:
                fine = fine and sum(points[point - 1][0] for point in group) >= worth_least
            if kinds:
                fine = fine and len({points[point - 1][1] for point in group}) >= kinds
            if even:
                fine = fine and all(colours[a] != colours[b] for a in group for b in around[a])
            if fine:
                found.append(group)
        return found

    def there_after(step: int) -> list[tuple[int, int, int]]:
        if priced:
            return [link for link in links if link[2] <= step]
        if removal:
            return links[step:]
        return links[max(0, step - span) if lapse else 0 : step]

    m = len(links)
    if asked == 4:
        steps = sorted({link[2] for link in links}) if priced else list(range(m + 1))
        first = [-1] * len(pairs)
        for label in steps[::-1] if removal else steps:
            groups = good_groups(there_after(label))
            group_of = {point: at for at, group in enumerate(groups) for point in group}
            for place, (x, y) in enumerate(pairs):
                if first[place] < 0 and group_of.get(x, -1) == group_of.get(y, -2):
                    first[place] = label
        return first
    answers = []
    for step in range(1, m + 1):
        groups = good_groups(there_after(step))
        sizes = [len(group) for group in groups]
        if asked < 2:
            answers.append(max(sizes, default=0) if asked else len(sizes))
            continue
        total = 0
        for group in groups:
            for place, point in enumerate(group):
                for other in group[:place]:
                    total += asked == 2 or points[point - 1][1] == points[other - 1][1]
        answers.append(total)
    return answers


EDITS = (
    ("size[root] < least", "size[root] <= least"),
    ("size[root] * (size[root] - 1) // 2", "size[root] ** 2"),
    ("        tally(small, -1)\n", ""),
    ("and size[root] == -most and good(root)", ""),
    ("ready[large] += ready[small]", "pass"),
    ("many * others", "min(many, others)"),
    ("else link if removal else link + 1", "else link"),
    ("worths[root] < worth_least", "worths[root] <= worth_least", "rich"),
    ("worths[large] += worths[small]", "pass", "rich"),
    ("seen[root].bit_count() < kinds", "seen[root].bit_count() <= kinds", "kinds"),
    ("seen[large] |= seen[small]", "pass", "kinds"),
    ("count[large] += 1\n", "pass\n", "spare"),
    ("count[large] += count[small] + 1", "count[large] += count[small]", "spare"),
    ("- size[root] + 1 >= spare", "- size[root] >= spare", "spare"),
    ("same = first == second", "same = False", "even"),
    ("turned[small] = int(same)", "turned[small] = 1", "even"),
    ("colour ^= turned[point]", "colour = turned[point]", "even"),
    (
        "            answers[link] = answer()\n            unite(link)\n",
        "            unite(link)\n            answers[link] = answer()\n",
        "removal",
    ),
    ("steps.reverse()", "pass", "removal"),
    ("steps.sort(key=lambda link: links[link][2])", "pass", "priced"),
    ("if priced and place + 1 < m", "if place < 0", "priced"),
    ("for root in touched", "for root in [large]", "priced"),
    ("min(m, link + span)", "min(m, link + span + 1)", "lapse"),
    ("seen[large] = before", "pass", "lapse"),
    ("count[large] -= count[small] + 1", "count[large] -= count[small]", "lapse"),
)
RARE = (  # few inputs tell these
    ("odd[large] += odd[small]", "pass", "even"),
    ("odd[large] -= odd[small]", "pass", "lapse"),
)


@register("LinkRepairs-v0", domain="code", answer_format="fenced:python")
class LinkRepairsTask(ContestTask):
    """Write a program about the groups of a network whose links are built or removed.

    Description:
        Points are joined by links, which are built one after the other. Groups of connected points
        are good if they have enough points and keep some of four further rules: enough worth,
        enough kinds, enough links in cycles, no odd cycle. Links may be removed instead, last for
        some steps only, or have a cost that a budget has to cover. The question is, after each
        step, how many groups are good, how large one is, how many pairs of points are together, or
        are and have the same kind; or when two points are first together. Union-find is enough at
        first; then it works backwards, keeps colours, merges small sets into large ones, waits for
        a threshold as in a minimum spanning tree, or undoes what it did.

    Observation:
        A story with the rules, the input format, bounds on the input, the limits and two examples.

    Action:
        A Python program that reads one input and prints the answers.

    Reward:
        1 if every hidden test is passed, otherwise 0.

    Verification:
        The program runs in the sandbox on hidden inputs, each in a fresh process; outputs are
        compared outside. Small inputs are chosen by the wrong programs that fail them; the last
        ones are of the full size, where going through all groups after each step takes too long
        from difficulty 8 or so on. Expected outputs come from union-find, which going through all
        groups confirms.

    Difficulty:
        The number of rules, four at difficulty 10, and the number of points and links.

    References:
        R. E. Tarjan, "Efficiency of a good but not linear set union algorithm", 1975; A. Laaksonen,
        Guide to Competitive Programming, 2020, chapters 7 and 15, for spanning trees, merging small
        sets into large ones, and offline algorithms.
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
        columns={
            "points": ("{worth}", "kind"),
            "links": ("end", "other end", "cost"),
            "pairs": ("first", "second"),
        },
        meaning={
            "n": "the number of {point}s",
            "span": "how many {link}s are there at most",
            "points": "the {point}s, in the order of their numbers",
            "links": "the {link}s",
            "pairs": "pairs of {point}s",
        },
        absent=absent,
        output=output,
        work=work,
        rules=RULES,
        edits=EDITS + RARE,
        tried=(0, 1, 2, 0, 1, 2, 3, 0, 1, 2, 3, 4) * 3,
        patience=20,
        dull_words=("0", "-1"),
    )
