"""CUDA graphs of one function, one for each shape that it is called with."""

from collections.abc import Callable

import torch

from rlvr_envs.core.errors import ConfigError


class Graphs:
    """Runs a step as a CUDA graph: all its kernels are then started at once.

    The first call of a shape runs the step itself, which is also the warm-up that a capture needs.
    The second captures it, and from then on the graph is replayed. The step reads and writes
    tensors that stay where they are, draws nothing at random, and waits for nothing. All graphs
    share the memory of what they compute in between, since one runs at a time.

    Args:
        step: what to run; its arguments are what Python may decide on, such as a number of rows.
    """

    def __init__(self, step: Callable[[int, int], None]) -> None:
        self._step = step
        self._graphs: dict[tuple[int, int], torch.cuda.CUDAGraph | None] = {}
        self._pool: tuple[int, int] | None = None

    def __len__(self) -> int:
        return sum(graph is not None for graph in self._graphs.values())

    def clear(self) -> None:
        """Drop the graphs, as when a tensor has moved."""
        self._graphs.clear()
        self._pool = None

    def __call__(self, rows: int, span: int) -> None:
        """Run the step."""
        shape = (rows, span)
        if shape not in self._graphs:
            self._warm_up(shape)
            self._graphs[shape] = None
            return
        graph = self._graphs[shape]
        if graph is None:
            graph = self._graphs[shape] = self._capture(shape)
        graph.replay()

    def _warm_up(self, shape: tuple[int, int]) -> None:
        # On a stream of its own, so that libraries set up what a capture needs.
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            self._step(*shape)
        torch.cuda.current_stream().wait_stream(stream)

    def _capture(self, shape: tuple[int, int]) -> torch.cuda.CUDAGraph:
        graph = torch.cuda.CUDAGraph()
        try:
            # Other threads may use the GPU meanwhile; only this one is held to the rules.
            with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
                self._step(*shape)
        except RuntimeError as error:
            raise ConfigError(
                "the model's step cannot be captured in a CUDA graph: set graphs=False, or sample "
                f'with engine="generate" ({error})'
            ) from error
        self._pool = graph.pool()
        return graph
