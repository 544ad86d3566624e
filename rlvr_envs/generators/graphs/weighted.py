"""Graphs whose edges have weights: a triple (a, b, weight) for each, with a < b and in order."""

from typing import TypeAlias

WeightedEdge: TypeAlias = tuple[int, int, int]
WeightedEdges: TypeAlias = tuple[WeightedEdge, ...]


def describe_weighted(n: int, edges: WeightedEdges, *, name: str) -> str:
    """Return a sentence that says what the graph is, with the edges written as ``1-4: 7``."""
    listing = ", ".join(f"{a}-{b}: {weight}" for a, b, weight in edges)
    count = f"these {len(edges)} edges" if len(edges) > 1 else "one edge"
    return (
        f"{name} has {n} vertices, numbered from 1 to {n}, and {count} (edge: weight):\n\n{listing}"
    )
