"""Maximum common subgraph: match as many vertices of two graphs as possible."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.generators.graphs.undirected import (
    Edge,
    Edges,
    all_pairs,
    check_order,
    chosen,
    describe,
    edge,
    in_range,
    members,
    neighbour_masks,
    neighbours,
    random_numbers,
    read_pairs,
    renumbered,
    show_edges,
)
from rlvr_envs.generators.optimisation.task import (
    Infeasible,
    OptimisationConfig,
    OptimisationTask,
    Reference,
    budget_at,
    ramp,
)

_TRIVIAL = 2  # any two vertices, joined in both graphs or in neither


@dataclass(frozen=True, slots=True, kw_only=True)
class MaximumCommonSubgraphConfig(OptimisationConfig):
    """How large the two graphs and what they share are."""

    n_vertices: int = knob(8, "vertices of each graph")
    n_common: int = knob(6, "vertices of the hidden common subgraph")
    edge_percent: int = knob(
        50, "probability of an edge between two vertices, in percent", low=1, high=99
    )

    def check(self) -> None:
        check_order(self.n_vertices, least=_TRIVIAL + 2)
        if not _TRIVIAL < self.n_common < self.n_vertices:
            raise ConfigError(
                f"n_common is from 3 to {self.n_vertices - 1} for n_vertices={self.n_vertices}, "
                f"got {self.n_common}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "MaximumCommonSubgraphConfig":
        """Vertices are added to both graphs and to what they share, through Graph-R1's sizes."""
        return cls(
            budget=budget_at(difficulty),
            n_vertices=ramp(difficulty, 6, easy=8, medium=11, hard=14, bench=18),
            n_common=ramp(difficulty, 4, easy=5, medium=8, hard=9, bench=13),
        )


@dataclass(frozen=True, slots=True)
class MaximumCommonSubgraphProblem:
    """The vertices of either graph are numbered from 1."""

    n_vertices: int  # of each graph
    first: Edges
    second: Edges
    reference: Reference = hidden()


@register("MaximumCommonSubgraph-v0", domain="np_hard")
class MaximumCommonSubgraphTask(
    OptimisationTask[MaximumCommonSubgraphConfig, MaximumCommonSubgraphProblem]
):
    """Match as many vertices of two graphs as possible so that their edges agree.

    Description:
        A random graph is hidden in both graphs. Each has further vertices, joined to each other
        and to the hidden graph as often as its own vertices are, and numbers of its own.

    Observation:
        The number of vertices, and the edges of both graphs.

    Action:
        Matched pairs such as ``1-4, 2-3``: a vertex of the first graph, then one of the second.

    Reward:
        Scheme ``over_greedy``: how far the number of pairs lies between that of matching the
        vertices of the first graph in turn, each with the first that fits, which earns 0, and the
        best known number, which earns 1; ``ratio`` begins instead at 2, which takes no search. A
        matching in which two vertices are joined in one graph only earns 0.

    Verification:
        No vertex may be matched twice, and any two matched vertices must be joined in both graphs
        or in neither (an induced subgraph, which need not be connected). The best known matching
        comes from a branch and bound, and the row says whether it is proven to be the largest. No
        known gaps.

    Difficulty:
        Only the size grows: that of both graphs and of what they share.

    References:
        McCreesh, Prosser and Trimble, "A partitioning algorithm for maximum common subgraph
        problems", 2017. "Graph-R1", 2025 (arXiv:2508.20373), for the sizes.
    """

    sense: ClassVar[Literal["max", "min"]] = "max"

    def draw(self, rng: Rng) -> MaximumCommonSubgraphProblem:
        config = self.config
        n, percent = config.n_vertices, config.edge_percent
        common = chosen(rng, all_pairs(config.n_common), percent)
        further = [pair for pair in all_pairs(n) if pair[1] > config.n_common]
        one, other = random_numbers(rng, n), random_numbers(rng, n)
        first = renumbered(common + chosen(rng, further, percent), one)
        second = renumbered(common + chosen(rng, further, percent), other)
        known = sorted((one[v], other[v]) for v in range(1, config.n_common + 1))
        reference = Reference.known(len(known), show_edges(known), trivial=_TRIVIAL)
        return MaximumCommonSubgraphProblem(n, first, second, reference)

    def improve(self, rng: Rng, problem: MaximumCommonSubgraphProblem) -> Reference:
        n, known = problem.n_vertices, problem.reference
        best = largest_matching(
            neighbour_masks(n, problem.first),
            neighbour_masks(n, problem.second),
            read_pairs(known.answer, what="matched pairs"),
            self.config.budget,
        )
        return Reference(
            objective=len(best.pairs),
            bound=best.bound,
            proven=len(best.pairs) == best.bound,
            trivial=known.trivial,
            answer=show_edges(best.pairs),
            effort=best.effort,
        )

    def prompt(self, problem: MaximumCommonSubgraphProblem) -> str:
        n = problem.n_vertices
        credit = self.partial_credit(
            "it has more pairs than matching the vertices 1, 2, 3, ... of the first graph in turn, "
            "each with the lowest-numbered vertex that fits, if there is one",
            f"it has at least {_TRIVIAL + 1} pairs",
        )
        return (
            f"{describe(n, problem.first, name='The first graph')}\n\n"
            f"{describe(n, problem.second, name='The second graph')}\n\n"
            "Find a maximum common induced subgraph: match as many vertices of the first graph as "
            "possible with vertices of the second. Each vertex has at most one partner. If an edge "
            "joins two matched vertices, an edge must also join their partners. If no edge joins "
            "two matched vertices, no edge may join their partners. The subgraph need not be "
            f"connected. {credit} Answer with the matched pairs, separated by commas. Write each "
            "pair as the number of the vertex in the first graph, a hyphen, and the number of its "
            "partner in the second graph, for example 1-4, 2-3."
        )

    def measure(self, problem: MaximumCommonSubgraphProblem, answer: str) -> int:
        partner = _partners(problem, read_pairs(answer, what="matched pairs"))
        back = {other: one for one, other in partner.items()}
        first = _matched_edges(problem.first, partner)
        second = _matched_edges(problem.second, back)
        for a, b in first:
            if edge(partner[a], partner[b]) not in second:
                raise Infeasible(
                    f"{a} and {b} are joined in the first graph, but their partners are not"
                )
        if len(first) < len(second):
            raise Infeasible("two matched vertices are joined in the second graph only")
        return len(partner)

    def explain(self, problem: MaximumCommonSubgraphProblem) -> list[str]:
        """Return pair by pair how it goes with those before it."""
        pairs = read_pairs(self.solve(problem), what="matched pairs")
        first = neighbours(problem.n_vertices, problem.first)
        second = neighbours(problem.n_vertices, problem.second)
        steps = []
        for i, (one, other) in enumerate(pairs):
            joined = [(a, b) for a, b in pairs[:i] if a in first[one] and b in second[other]]
            steps.append(
                f"Match {one}-{other}. Of the pairs so far, both are joined to "
                f"{show_edges(joined) or 'none'}, and neither is joined to the others."
            )
        return [*steps, self.conclusion(problem, "The number of pairs")]

    def baseline(self, rng: Rng, problem: MaximumCommonSubgraphProblem) -> str:
        """Match the vertices of the first graph in turn, each with the first that fits."""
        n = problem.n_vertices
        first, second = neighbours(n, problem.first), neighbours(n, problem.second)
        pairs: list[Edge] = []
        for one in range(1, n + 1):
            taken = {other for _, other in pairs}
            for other in range(1, n + 1):
                if other not in taken and all(
                    (a in first[one]) == (b in second[other]) for a, b in pairs
                ):
                    pairs.append((one, other))
                    break
        return show_edges(pairs)

    def neighbour(self, problem: MaximumCommonSubgraphProblem, answer: str, rng: Rng) -> str:
        """Match another two vertices, and leave out the pairs that do not go with them."""
        vertices = range(1, problem.n_vertices + 1)
        pairs = _partners(problem, read_pairs(answer, what="matched pairs"))
        first, second = frozenset(problem.first), frozenset(problem.second)
        one, other = pick(rng, vertices), pick(rng, vertices)
        kept = [
            (a, b)
            for a, b in sorted(pairs.items())
            if a != one and b != other and (edge(a, one) in first) == (edge(b, other) in second)
        ]
        return show_edges(sorted([*kept, (one, other)]))


def _partners(problem: MaximumCommonSubgraphProblem, pairs: list[Edge]) -> dict[int, int]:
    """Return the partner of each matched vertex of the first graph.

    Raises:
        Infeasible: a vertex does not exist, or is matched twice.
    """
    partner: dict[int, int] = {}
    used: set[int] = set()
    for one, other in pairs:
        in_range(one, problem.n_vertices, of="the first graph")
        in_range(other, problem.n_vertices, of="the second graph")
        if one in partner or other in used:
            raise Infeasible(f"a vertex of the pair {one}-{other} is matched twice")
        partner[one] = other
        used.add(other)
    return partner


def _matched_edges(edges: Edges, matched: dict[int, int]) -> frozenset[Edge]:
    return frozenset((a, b) for a, b in edges if a in matched and b in matched)


# Large common subgraphs of two graphs: an exact search.


# Deterministic microseconds that a node of the search counts for: about what it takes.
_NODE = 50
# Vertices of the first and the second graph that may still be matched with each other.
_Class = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Matching:
    """The largest common subgraph that was found."""

    pairs: tuple[Edge, ...]  # which vertex of the first graph stands for which of the second
    bound: int  # no common subgraph has more vertices
    effort: int  # the work done, in deterministic microseconds


def largest_matching(
    first: Sequence[int], second: Sequence[int], known: Sequence[Edge], budget: float
) -> Matching:
    """Search for a larger induced common subgraph than a known one.

    Branch and bound on classes of vertices that look alike to all matched pairs (McCreesh,
    Prosser and Trimble's McSplit): each class adds at most the smaller of its two sides.

    Args:
        first: the neighbours of each vertex of the first graph, as masks.
        second: those of the second graph.
        known: matched pairs.
        budget: deterministic seconds; when they are over, the best matching so far is returned.
    """
    search = _Search(first, second, max(1, round(budget * 1e6) // _NODE))
    search.best = list(known)
    everything = ((1 << len(first)) - 2, (1 << len(second)) - 2)
    search.extend([everything], [])
    finished = search.nodes <= search.limit
    bound = len(search.best) if finished else _room([everything])
    return Matching(tuple(sorted(search.best)), bound, _NODE * search.nodes)


class _Search:
    def __init__(self, first: Sequence[int], second: Sequence[int], limit: int) -> None:
        self.first = first
        self.second = second
        self.limit = limit
        self.nodes = 0
        self.best: list[Edge] = []

    def extend(self, classes: list[_Class], pairs: list[Edge]) -> None:
        if len(pairs) > len(self.best):
            self.best = list(pairs)
        while classes and len(pairs) + _room(classes) > len(self.best):
            self.nodes += 1
            if self.nodes > self.limit:
                return
            position = min(range(len(classes)), key=lambda i: _breadth(classes[i]))
            left, right = classes[position]
            one = max(members(left), key=lambda v: (self.first[v].bit_count(), -v))
            for other in members(right):
                pairs.append((one, other))
                self.extend(_split(classes, self.first[one], self.second[other], one, other), pairs)
                pairs.pop()
            left ^= 1 << one
            classes = [c for i, c in enumerate(classes) if i != position]
            if left:
                classes.append((left, right))


def _room(classes: list[_Class]) -> int:
    return sum(min(left.bit_count(), right.bit_count()) for left, right in classes)


def _breadth(pair: _Class) -> int:
    return max(pair[0].bit_count(), pair[1].bit_count())


def _split(
    classes: list[_Class], beside_one: int, beside_other: int, one: int, other: int
) -> list[_Class]:
    """Return the classes once two vertices are matched: each falls in joined and not joined."""
    found = []
    for left, right in classes:
        joined = left & beside_one, right & beside_other
        apart = left & ~beside_one & ~(1 << one), right & ~beside_other & ~(1 << other)
        found += [pair for pair in (joined, apart) if pair[0] and pair[1]]
    return found
