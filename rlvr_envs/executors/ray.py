"""The executor of a Ray cluster (Ray Core).

On every node one actor, the host, owns a pool of our own worker processes with its warm caches and
sandboxes, so that a hostile answer never ends a process of Ray. A batch whose host is lost goes to
another one; a batch that is lost twice is halved, until the one call that brings hosts down stands
alone and has an error for its outcome.
"""

import socket
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rlvr_envs.core.errors import ConfigError, DependencyError, WorkerDied
from rlvr_envs.core.executor import MEMORY_MIB, Call, Executor, Outcome, Processes, batched
from rlvr_envs.core.extras import needs
from rlvr_envs.core.version import __version__

try:
    import ray
    from ray.exceptions import RayError, RayTaskError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError as error:
    raise DependencyError(needs("the executor 'ray'", error, "ray")) from error

# One batch is at work on a host while the next one waits there.
_BATCHES_A_HOST = 2
# Batches that are taken from the caller beyond what it has been given back, for each host.
_AHEAD = 4
_TRIES = 2
_LOOK_EVERY_S = 2.0
_CONNECT_S = 10.0


class Host:
    """The actor of a node."""

    def __init__(self, workers: int, memory_mib: int | None) -> None:
        self._processes = Processes(workers, memory_mib=memory_mib)

    def version(self) -> str:
        """Return the version of this package on the node."""
        return __version__

    def run(self, function: str, calls: Sequence[Call], cpu_s: float) -> list[Outcome]:
        """Return the outcome of each call, in order."""
        return self._processes.run(function, calls, cpu_s)


@dataclass(slots=True)
class _Batch:
    """Calls by their numbers, and how often they were lost."""

    calls: list[tuple[int, Call]]
    losses: int = 0


def _check_reachable(address: str | None) -> None:
    """Check that somebody listens at an address, because Ray itself waits for minutes.

    Raises:
        ConfigError: nobody does.
    """
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if not (colon and port.isdigit()):
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_S).close()
    except (OSError, OverflowError) as error:
        raise ConfigError(f"no Ray cluster at {address!r}: {error}") from error


class RayExecutor(Executor):
    """Runs calls on the nodes of a Ray cluster; nodes that join are used, nodes may be lost.

    The package has to be installed on every node, in the same version.

    Args:
        workers: processes of each node; by default as many as the node has CPUs for Ray.
        address: of the cluster; None starts one on this machine, which ends with this executor.
        memory_mib: see `open_executor`.

    Raises:
        ConfigError: there is no cluster at the address, or another version on a node.
    """

    def __init__(
        self,
        *,
        workers: int | None = None,
        address: str | None = None,
        memory_mib: int | None = MEMORY_MIB,
    ) -> None:
        self._workers, self._memory_mib = workers, memory_mib
        self._own = not ray.is_initialized()
        if self._own:
            _check_reachable(address)
            try:
                ray.init(address=address, log_to_driver=False, include_dashboard=False)
            except (ConnectionError, ValueError, RuntimeError) as error:
                raise ConfigError(f"no Ray cluster at {address!r}: {error}") from error
        self._hosts: dict[str, Any] = {}  # node id → actor
        self._looked = 0.0
        self._look()
        self._check_versions()

    def _look(self) -> None:
        """Start hosts on nodes that have joined, and forget those of nodes that have left."""
        self._looked = time.monotonic()
        alive = {node["NodeID"]: node for node in ray.nodes() if node["Alive"]}
        for gone in self._hosts.keys() - alive.keys():
            del self._hosts[gone]
        for node_id in alive.keys() - self._hosts.keys():
            cpus = alive[node_id]["Resources"].get("CPU", 0)
            if cpus > 0:
                self._hosts[node_id] = self._start(node_id, self._workers or max(1, int(cpus)))

    def _start(self, node_id: str, workers: int) -> Any:
        return (
            ray.remote(Host)
            .options(
                num_cpus=0,  # its pool holds the node's CPUs
                max_restarts=3,
                max_task_retries=2,
                max_concurrency=_BATCHES_A_HOST,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node_id, soft=False),
            )
            .remote(workers, self._memory_mib)
        )

    def _check_versions(self) -> None:
        for node_id, host in self._hosts.items():
            found = ray.get(host.version.remote())
            if found != __version__:
                raise ConfigError(
                    f"node {node_id} has rlvr_envs {found}, the driver {__version__}: install the "
                    "same version on all nodes"
                )

    def map(
        self, function: str, calls: Iterable[Call], *, cpu_s: float, batch: int = 64
    ) -> Iterator[Outcome]:
        """Yield the outcome of each call, in order; see `Executor.map`."""
        source = batched(enumerate(calls), batch)
        waiting: deque[_Batch] = deque()
        flying: dict[Any, tuple[_Batch, str]] = {}
        done: dict[int, Outcome] = {}
        taken = given = 0
        more = True
        while True:
            while more and taken - given < batch * _AHEAD * max(1, len(self._hosts)):
                part = next(source, None)
                more = part is not None
                if part is not None:
                    waiting.append(_Batch(part))
                    taken += len(part)
            self._send(function, cpu_s, waiting, flying)
            if not (waiting or flying or done):
                return
            self._receive(waiting, flying, done)
            while given in done:
                yield done.pop(given)
                given += 1

    def _send(
        self,
        function: str,
        cpu_s: float,
        waiting: deque[_Batch],
        flying: dict[Any, tuple[_Batch, str]],
    ) -> None:
        if time.monotonic() - self._looked > _LOOK_EVERY_S:
            self._look()
        load = dict.fromkeys(self._hosts, 0)
        for _, node_id in flying.values():
            load[node_id] = load.get(node_id, 0) + 1
        while waiting and self._hosts:
            node_id = min(self._hosts, key=lambda each: load[each])
            if load[node_id] >= _BATCHES_A_HOST:
                return
            load[node_id] += 1
            batch = waiting.popleft()
            calls = [call for _, call in batch.calls]
            sent = self._hosts[node_id].run.remote(function, calls, cpu_s)
            flying[sent] = batch, node_id

    def _receive(
        self,
        waiting: deque[_Batch],
        flying: dict[Any, tuple[_Batch, str]],
        done: dict[int, Outcome],
    ) -> None:
        if not flying:  # no node is left: another may join
            time.sleep(_LOOK_EVERY_S)
            return
        ready, _ = ray.wait(list(flying), num_returns=1, timeout=_LOOK_EVERY_S)
        for reference in ready:
            batch, node_id = flying.pop(reference)
            try:
                outcomes = ray.get(reference)
            except RayTaskError as error:
                raise error.as_instanceof_cause() from None
            except RayError as error:
                self._hosts.pop(node_id, None)  # a new one starts where the node is alive
                self._looked = 0.0
                self._lost(batch, error, waiting, done)
                continue
            for (number, _), outcome in zip(batch.calls, outcomes, strict=True):
                done[number] = outcome

    def _lost(
        self, batch: _Batch, error: RayError, waiting: deque[_Batch], done: dict[int, Outcome]
    ) -> None:
        """Send a batch again; halve it after two losses, and give up a call that stands alone."""
        batch.losses += 1
        if batch.losses < _TRIES:
            waiting.appendleft(batch)
        elif len(batch.calls) == 1:
            done[batch.calls[0][0]] = Outcome(None, WorkerDied(f"its host was lost: {error}"))
        else:
            middle = len(batch.calls) // 2
            waiting.appendleft(_Batch(batch.calls[middle:]))
            waiting.appendleft(_Batch(batch.calls[:middle]))

    def close(self) -> None:
        """End the hosts, and the cluster if this executor started it."""
        for host in self._hosts.values():
            ray.kill(host)
        self._hosts.clear()
        if self._own and ray.is_initialized():
            ray.shutdown()
