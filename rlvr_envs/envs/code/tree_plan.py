"""Best choices of the nodes of a tree under rules: dynamic programming over richer states."""

from collections.abc import Mapping
from typing import Any

from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.program_tasks.contest import Contest, ContestTask
from rlvr_envs.generators.program_tasks.program_task import Kind, Values

SCALE = {"level": (0, 30), "rules": (0, 6)}

_MOST_WORK = 1_000_000  # pairs of states that the reference puts together, in time
_NONE = -1_000_000  # is printed where the rules cannot be kept

READS: dict[str, Kind] = {"nodes": "rows", "links": "rows"}

RULES = ("border", "guard", "kinds", "groups", "modulus")

STORIES = {
    "huts": {"node": "hut", "link": "trail", "chosen": "open", "gain": "profit"},
    "lamps": {"node": "lamp", "link": "wire", "chosen": "lit", "gain": "brightness"},
    "wells": {"node": "well", "link": "pipe", "chosen": "active", "gain": "yield"},
    "shops": {"node": "shop", "link": "street", "chosen": "rented", "gain": "rent"},
}

_TOTAL, _WAY, _EACH = 0, 1, 2


def statement(constants: Values) -> str:
    """Return the question, with the rules that this problem has."""
    base = (
        "For each {node} that is {chosen}, at most {degree} of its neighbours are {chosen}, too."
        if constants["degree"]
        else "No two neighbours are both {chosen}."
    )
    rules = {
        "guard": "A {node} that is not {chosen} has at least one neighbour that is {chosen}.",
        "kinds": "Two neighbours that are both {chosen} have different kinds.",
        "groups": "The {node}s that are {chosen} form at most {groups} connected parts: two of "
        "them are in the same part if one can get from one to the other over {node}s that are "
        "all {chosen}.",
        "modulus": "The number of {node}s that are {chosen} leaves the remainder {rest} when "
        "divided by {modulus}.",
    }
    listed = [base, *(rules[name] for name in RULES if name in rules and constants[name])]
    numbered = "\n".join(f"{at}. {rule}" for at, rule in enumerate(listed, 1))
    kept = "this rule" if len(listed) == 1 else "all of these rules"
    less = ""
    if constants["border"]:
        less = " and {border} for each {link} between a {node} that is {chosen} and one that is not"
    return (
        "There are n {node}s, numbered from 1, and n - 1 {link}s. Each {link} joins two {node}s, "
        "which are neighbours then, and one can get from each {node} to each other one over "
        "{link}s. A plan says which of the {node}s are {chosen}; that may be none, or all. Its "
        f"total is the sum of the {{gain}}s of the {{node}}s that are {{chosen}}, less {{fee}} "
        f"for each of them{less}. A plan has to keep {kept}:\n\n{numbered}"
    )


def output(constants: Values) -> str:
    """Return what is to be printed."""
    nothing = f"print {_NONE}"
    return {
        _TOTAL: f"Print the largest total of a plan. If there is no plan, {nothing}.",
        _WAY: "Print the largest total of a plan, then the number of {node}s that are {chosen} in "
        "a plan with this total, then the numbers of these {node}s in any order; separate all by "
        f"white space. Any such plan will do. If there is no plan, {nothing} alone.",
        _EACH: "For each {node}, in the order of their numbers, print the largest total of a plan "
        f"in which this {{node}} is {{chosen}}. If there is none, {nothing} for it. Separate the "
        "totals by white space.",
    }[int(constants["asked"])]


def absent(constants: Values) -> tuple[str, ...]:
    """Return the columns that no rule needs."""
    return () if constants["kinds"] else ("kind",)


def constants(rng: Rng, scale: Mapping[str, int]) -> Values:
    """Draw the numbers of the rules; those of rules that there are not are 0."""
    chosen = ["border", "guard", "kinds", pick(rng, ("groups", "modulus"))]
    rng.shuffle(chosen)
    on = set(chosen[: scale["rules"]])
    if {"groups", "guard"} <= on:  # which no plan of a large tree keeps both
        on = on - {"groups"} | {"modulus"}
    modulus = integer(rng, 2, 4) * ("modulus" in on)
    return {
        "fee": integer(rng, 1, 12),
        "degree": integer(rng, int("kinds" in on), 2 if scale["rules"] else 1),
        "border": integer(rng, 1, 3) * ("border" in on),
        "guard": int("guard" in on),
        "kinds": int("kinds" in on),
        "groups": integer(rng, 2, 5) * ("groups" in on),
        "modulus": modulus,
        "rest": integer(rng, 0, modulus - 1) if modulus else 0,
        "asked": integer(rng, 0, min(2, scale["rules"])),
    }


def inputs(rng: Rng, scale: Mapping[str, int], constants: Values) -> Values:
    """Draw a tree that is long, random or bushy, and gains of which some are negative."""
    most = _most(scale, constants)
    n = most if most > 40 else integer(rng, 2, most)
    reach, lowest = pick(rng, (1, 2, n, n)), pick(rng, (-5, 1))
    hub = integer(rng, 0, n - 1)
    names = [1 + at for at in rng.permutation(n).tolist()]
    links = []
    for place in range(1, n):
        other = max(0, place - integer(rng, 1, reach))
        if reach > 1 and hub < place and rng.random() < 0.2:
            other = hub
        ends = [names[place], names[other]]
        rng.shuffle(ends)
        links.append((ends[0], ends[1]))
    kinds = 2 if rng.random() < 0.5 else 3
    nodes = [
        (
            integer(rng, lowest, 12) + int(constants["fee"]),
            integer(rng, 1, kinds) if constants["kinds"] else 0,
        )
        for _ in range(n)
    ]
    if rng.random() < 0.5:  # who takes this node as root may forget that a rule is broken there
        nodes[0] = (lowest + int(constants["fee"]), nodes[0][1])
    return {"nodes": nodes, "links": [links[at] for at in rng.permutation(n - 1).tolist()]}


def _most(scale: Mapping[str, int], constants: Values) -> int:
    """Return the largest number of nodes."""
    level = min(scale["level"], 200)
    grown = round(8 * 1.3 ** min(level, 40))
    return min(grown, (_MOST_WORK + 10_000 * level) // _pairs(constants))


def _pairs(constants: Values) -> int:
    """Return how many pairs of states a link may put together."""
    states = (2 + int(constants["guard"]) + int(constants["degree"])) * max(
        1, int(constants["groups"]), int(constants["modulus"])
    )
    return states**2 * (3 if constants["asked"] == _EACH else 1)


def limits(scale: Mapping[str, int], constants: Values) -> str:
    """Return how large the inputs get."""
    kinds = "; a kind is from 1 to 3" * bool(constants["kinds"])
    return f"n is from 2 to {_most(scale, constants)}, and each {{gain}} is from -4 to 24{kinds}."


def work(scale: Mapping[str, int], constants: Values) -> float:
    """Return the steps of the reference: links, times pairs of states."""
    return float(_most(scale, constants) * _pairs(constants))


def solve(  # noqa: C901, PLR0912, PLR0913, PLR0915 - the text of this is the oracle's program
    nodes: list[tuple[int, int]],
    links: list[tuple[int, int]],
    fee: int,
    degree: int,
    border: int,
    guard: int,
    kinds: int,
    groups: int,
    modulus: int,
    rest: int,
    asked: int,
) -> list[int]:
    """Put tables of states together, node by node; then from every node's point of view."""
    n = len(nodes)
    around: list[list[int]] = [[] for _ in range(n + 1)]
    for a, b in links:
        around[a].append(b)
        around[b].append(a)
    parent = [0] * (n + 1)
    order = [1]
    for node in order:
        for other in around[node]:
            if other != parent[node]:
                parent[other] = node
                order.append(other)

    # A state: is the node chosen; its chosen neighbours (only if there are any, if it is not
    # chosen); the number of groups, or of chosen nodes, so far.
    def alone(node: int) -> dict[tuple[int, int, int], int]:
        return {(0, 0, 0): 0, (1, 0, 1 if groups or modulus else 0): nodes[node - 1][0] - fee}

    def tallied(tally: int) -> int:
        return tally % modulus if modulus else tally

    def joined(
        table: dict[tuple[int, int, int], int],
        other: dict[tuple[int, int, int], int],
        node: int,
        neighbour: int,
        origin: dict[tuple[int, int, int], tuple[tuple[int, int, int], tuple[int, int, int]]],
    ) -> dict[tuple[int, int, int], int]:
        """Add the table of a neighbour, and remember what each state comes from."""
        clash = kinds and nodes[node - 1][1] == nodes[neighbour - 1][1]
        found: dict[tuple[int, int, int], int] = {}
        for one, gained in table.items():
            chosen, beside, tally = one
            for two, more in other.items():
                picked, near, count = two
                total = gained + more
                after = beside
                both = 0
                if chosen and picked:
                    if beside == degree or near == degree or clash:
                        continue
                    after += 1
                    both = 1 if groups else 0
                elif chosen:
                    total -= border
                elif picked:
                    total -= border
                    after = guard
                elif guard and not near:
                    continue
                state = (chosen, after, tallied(tally + count - both))
                if groups and state[2] > groups:
                    continue
                if state not in found or total > found[state]:
                    found[state] = total
                    origin[state] = (one, two)
        return found

    def best(table: dict[tuple[int, int, int], int], wanted: int) -> list[tuple[int, int, int]]:
        """Return a best state in which nothing is left to do, and the node is chosen if wanted."""
        fine = [
            (table[state], state)
            for state in table
            if state[0] >= wanted
            and (state[0] or state[1] or not guard)
            and (not modulus or state[2] == rest)
        ]
        return [max(fine)[1]] if fine else []

    down = [alone(node) for node in range(n + 1)]
    steps: list[
        list[
            tuple[
                int, dict[tuple[int, int, int], tuple[tuple[int, int, int], tuple[int, int, int]]]
            ]
        ]
    ]
    steps = [[] for _ in range(n + 1)]
    for node in order[:0:-1]:
        origin: dict[tuple[int, int, int], tuple[tuple[int, int, int], tuple[int, int, int]]] = {}
        above = parent[node]
        down[above] = joined(down[above], down[node], above, node, origin)
        steps[above].append((node, origin))

    if asked < 2:
        last = best(down[1], 0)
        if not last:
            return [-1000000]
        total = down[1][last[0]]
        if asked == 0:
            return [total]
        taken = []
        due = [(1, last[0])]
        for node, now in due:
            if now[0]:
                taken.append(node)
            state = now
            for child, origin in steps[node][::-1]:
                state, theirs = origin[state]
                due.append((child, theirs))
        return [total, len(taken), *taken]

    answers = [-1000000] * n
    up: list[dict[tuple[int, int, int], int]] = [{} for _ in range(n + 1)]
    for node in order:
        beside = [other for other in around[node] if other != parent[node]]
        tables = [down[other] for other in beside]
        if parent[node]:
            beside.append(parent[node])
            tables.append(up[node])
        before = [alone(node)]
        for other, table in zip(beside, tables, strict=True):
            before.append(joined(before[-1], table, node, other, {}))
        whole = best(before[-1], 1)
        if whole:
            answers[node - 1] = before[-1][whole[0]]
        after = alone(node)
        for place in range(len(beside) - 1, -1, -1):
            if beside[place] != parent[node]:
                # What is before and after this neighbour, without the node itself once.
                mixed: dict[tuple[int, int, int], int] = {}
                for (chosen, some, tally), gained in before[place].items():
                    for (too, more, count), gain in after.items():
                        if chosen != too or (chosen and some + more > degree):
                            continue
                        one = chosen if groups or modulus else 0
                        number = some + more if chosen else max(some, more)
                        key = (chosen, number, tallied(tally + count - one))
                        total = gained + gain - (nodes[node - 1][0] - fee if chosen else 0)
                        if groups and key[2] > groups:
                            continue
                        if key not in mixed or total > mixed[key]:
                            mixed[key] = total
                up[beside[place]] = mixed
            after = joined(after, tables[place], node, beside[place], {})
    return answers


def solve_plainly(  # noqa: C901, PLR0913 - arguments by name, as of the above
    nodes: list[tuple[int, int]],
    links: list[tuple[int, int]],
    fee: int,
    degree: int,
    border: int,
    guard: int,
    kinds: int,
    groups: int,
    modulus: int,
    rest: int,
    asked: int,
) -> list[int]:
    """Try every plan."""
    n = len(nodes)
    best, plan, each = -1000000, 0, [-1000000] * n
    for chosen in range(2**n):
        beside = [0] * n
        total = sum(nodes[at][0] - fee for at in range(n) if chosen >> at & 1)
        parts, fine = chosen.bit_count(), True
        for a, b in links:
            one, two = chosen >> (a - 1) & 1, chosen >> (b - 1) & 1
            beside[a - 1] += two
            beside[b - 1] += one
            parts -= one & two
            total -= border * (one ^ two)
            if kinds and one and two and nodes[a - 1][1] == nodes[b - 1][1]:
                fine = False
        for at in range(n):
            if beside[at] > degree if chosen >> at & 1 else guard and not beside[at]:
                fine = False
        if (groups and parts > groups) or (modulus and chosen.bit_count() % modulus != rest):
            fine = False
        if not fine:
            continue
        if total > best:
            best, plan = total, chosen
        each = [max(each[at], total) if chosen >> at & 1 else each[at] for at in range(n)]
    if asked == 2:
        return each
    if asked == 0 or best == -1000000:
        return [best]
    taken = [at + 1 for at in range(n) if plan >> at & 1]
    return [best, len(taken), *taken]


def accepts(found: list[int], expected: Any, inputs: Values, constants: Values) -> str:
    """Return what is wrong with an output, by looking at the plan."""
    if constants["asked"] != _WAY or expected == [_NONE]:
        return "" if found == list(expected) else "the output is wrong"
    if found[:1] != expected[:1]:
        return "the total is wrong"
    if len(found) < 2 or len(found) != found[1] + 2:
        return "the number of the chosen is not that of the numbers that follow"
    chosen = set(found[2:])
    if len(chosen) < found[1] or not chosen <= set(range(1, len(inputs["nodes"]) + 1)):
        return "a number repeats or is out of range"
    told = _total(chosen, inputs, constants)
    if isinstance(told, str):
        return told
    return "" if told == found[0] else "the plan has another total"


def _total(chosen: set[int], inputs: Values, constants: Values) -> int | str:
    """Return the total of a plan, or what rule it breaks."""
    get, nodes = constants.__getitem__, inputs["nodes"]
    beside: dict[int, int] = dict.fromkeys(range(1, len(nodes) + 1), 0)
    total, parts = sum(nodes[node - 1][0] - get("fee") for node in chosen), len(chosen)
    for a, b in inputs["links"]:
        beside[a] += b in chosen
        beside[b] += a in chosen
        if a in chosen and b in chosen:
            parts -= 1
            if get("kinds") and nodes[a - 1][1] == nodes[b - 1][1]:
                return "two neighbours of one kind are chosen"
        elif a in chosen or b in chosen:
            total -= get("border")
    if any(beside[node] > get("degree") for node in chosen):
        return "one has too many chosen neighbours"
    if get("guard") and not all(node in chosen or beside[node] for node in beside):
        return "one that is not chosen has no chosen neighbour"
    if get("groups") and parts > get("groups"):
        return "there are too many parts"
    if get("modulus") and len(chosen) % get("modulus") != get("rest"):
        return "the number of the chosen has another remainder"
    return int(total)


EDITS = (
    ("if beside == degree or", "if beside > degree or"),
    ("or near == degree or", "or"),
    ("after += 1", "pass"),
    ("if state not in found or total > found[state]", "if state not in found"),
    ("taken.append(node)", "taken.append(node - 1)"),
    ("some + more > degree", "False"),
    ("                elif chosen:\n                    total -= border\n", "", "border"),
    (
        "                    total -= border\n                    after",
        "                    after",
        "border",
    ),
    ("nodes[node - 1][0] - fee if chosen else 0", "0"),
    ("        if parent[node]:\n            beside", "        if not parent:\n            beside"),
    ("elif guard and not near", "elif guard and near", "guard"),
    ("after = guard", "pass", "guard"),
    ("and (state[0] or state[1] or not guard)", "", "guard"),
    ("max(some, more)", "min(some, more)", "guard"),
    ("== nodes[neighbour - 1][1]", "!= nodes[neighbour - 1][1]", "kinds"),
    ("both = 1 if groups else 0", "pass", "groups"),
    ("both = 1 if groups else 0", "both = 1", "modulus"),
    ("state[2] > groups", "state[2] >= groups", "groups"),
    ("and (not modulus or state[2] == rest)", "", "modulus"),
    ("one = chosen if groups or modulus else 0", "one = 0"),
)


@register("TreePlan-v0", domain="code", answer_format="fenced:python")
class TreePlanTask(ContestTask):
    """Write a program that chooses nodes of a tree under rules.

    Description:
        Nodes of a tree are chosen so that the sum of their gains is largest and no chosen node has
        more than a few chosen neighbours. A problem adds some of five rules: links at the border
        of what is chosen cost something, nodes that are not chosen need a chosen neighbour, chosen
        neighbours have different kinds, there are few connected parts, or the number of chosen
        nodes has a given remainder. Each makes the states of the dynamic programming richer. The
        question is the largest total, a plan with it, or, for each node, the largest total of the
        plans in which it is chosen, which needs every node as root.

    Observation:
        A story with the rules, the input format, bounds on the input, the limits and two examples.

    Action:
        A Python program that reads one input and prints the total, and the plan if asked.

    Reward:
        1 if every hidden test is passed, otherwise 0.

    Verification:
        The program runs in the sandbox on hidden inputs, each in a fresh process. A plan is looked
        at by a judge outside, so any best one passes. Small inputs are chosen by the wrong programs
        that fail them; the last ones are of the full size, where trying every plan takes too long
        from difficulty 2 or so on, and the dynamic programming anew for each node from difficulty
        9. Expected totals come from dynamic programming, which trying every plan confirms.

    Difficulty:
        The number of rules, four at difficulty 10, the question, and the number of nodes.

    References:
        J. Kleinberg and E. Tardos, Algorithm Design, 2005, chapters 6 and 10, for independent sets
        in trees; A. Laaksonen, Guide to Competitive Programming, 2020, chapter 10, for dynamic
        programming over all roots.
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
        columns={"nodes": ("{gain}", "kind"), "links": ("end", "other end")},
        meaning={"nodes": "the {node}s, in the order of their numbers", "links": "the {link}s"},
        absent=absent,
        output=output,
        work=work,
        rules=RULES,
        edits=EDITS,
        accepts=accepts,
        tried=(0, 1, 2, 3, 0, 2, 3, 1, 2) * 4,
        patience=20,
        dull=("0", "-1", str(_NONE)),
        dull_words=(str(_NONE),),
    )
