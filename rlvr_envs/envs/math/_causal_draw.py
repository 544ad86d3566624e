"""Random causal graphs of bounded width, and random mechanisms for them."""

from typing import Protocol

from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.generators.mathematics.causal_model import Mechanism

_WINDOW = 4  # parents are looked for among this many variables before, which bounds the cost


class Shape(Protocol):
    """The size of a model."""

    @property
    def n_variables(self) -> int: ...
    @property
    def n_bystanders(self) -> int: ...
    @property
    def max_values(self) -> int: ...
    @property
    def max_parents(self) -> int: ...
    @property
    def denominator(self) -> int: ...


def draw_model(
    rng: Rng, shape: Shape, *, structural: bool
) -> tuple[tuple[int, ...], list[Mechanism], list[int]]:
    """Return the sizes, the mechanisms, and the variables that count, causes first.

    The last of these depends on all the others. Variables are numbered at random, so that their
    numbers say nothing.
    """
    n_variables, n_all = shape.n_variables, shape.n_variables + shape.n_bystanders
    graph = _draw_graph(rng, n_variables, shape.max_parents)
    for _ in range(shape.n_bystanders):
        count = integer(rng, 0, min(shape.max_parents, len(graph)))
        graph.append(sorted(rng.permutation(len(graph)).tolist()[:count]))
    label = rng.permutation(n_all).tolist()
    sizes = integers(rng, 2, shape.max_values, n_all)
    mechanisms = []
    for node, parents in enumerate(graph):
        variable, causes = label[node], tuple(label[parent] for parent in parents)
        n_rows = 1
        for cause in causes:
            n_rows *= sizes[cause]
        size = sizes[variable]
        if structural:
            noise = _weights(rng, size + 1, shape.denominator)
            rows = tuple(_onto(rng, size, size + 1) for _ in range(n_rows))
        else:
            noise = ()
            rows = tuple(_weights(rng, size, shape.denominator) for _ in range(n_rows))
        mechanisms.append(Mechanism(variable, causes, rows, noise))
    return sizes, mechanisms, label[:n_variables]


def _draw_graph(rng: Rng, n: int, max_parents: int) -> list[list[int]]:
    """Return the parents of each node; every node but the last has a child.

    At most ``max_parents`` nodes are without a child at any time, so the last can take them all.
    """
    graph: list[list[int]] = [[]]
    childless = [0]
    for node in range(1, n):
        window = range(max(0, node - _WINDOW), node)
        others = [v for v in window if v not in childless]
        if node == n - 1:
            taken = childless
        elif len(childless) < max_parents and rng.random() < 0.4:
            taken = []
        else:
            taken = childless[: integer(rng, 1, len(childless))]
        room = integer(rng, 0, max_parents - len(taken))
        extra = [others[i] for i in rng.permutation(len(others)).tolist()[:room]]
        childless = [v for v in childless if v not in taken] + [node]
        graph.append(sorted([*taken, *extra]))
    return graph


def _weights(rng: Rng, size: int, total: int) -> tuple[int, ...]:
    """Return positive integers of a given sum, every such tuple being equally likely."""
    cuts = sorted((rng.permutation(total - 1)[: size - 1] + 1).tolist())
    return tuple(b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True))


def _onto(rng: Rng, size: int, length: int) -> tuple[int, ...]:
    """Return values in random order, each of 0..size-1 among them."""
    values = [*range(size), *(pick(rng, range(size)) for _ in range(length - size))]
    return tuple(values[i] for i in rng.permutation(length).tolist())
