"""What the server counts, for Prometheus, and what it writes to its log."""

import json
import logging
import time
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from rlvr_envs.serving.episodes import Turn

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

log = logging.getLogger("rlvr_envs.serving")


class Metrics:
    """The counters of one server, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.sessions = Gauge("rlvr_sessions", "Open sessions.", registry=registry)
        self.queue = Gauge("rlvr_queue", "Requests that wait or run.", registry=registry)
        self.resets = Counter("rlvr_resets", "Episodes begun.", registry=registry)
        self.expired = Counter("rlvr_sessions_expired", "Sessions ended unused.", registry=registry)
        self.steps = Counter("rlvr_steps", "Actions taken.", registry=registry)
        self.verdicts = Counter(
            "rlvr_verdicts", "Verdicts by status.", ["status"], registry=registry
        )
        self.messages = Histogram(
            "rlvr_message_seconds",
            "Time from a WebSocket message to its reply.",
            buckets=_SECONDS,
            registry=registry,
        )
        self.requests = Histogram(
            "rlvr_request_seconds",
            "Time of an HTTP request.",
            ["status"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.errors = Counter("rlvr_errors", "Refused messages.", ["code"], registry=registry)

    def quota(self, what: str, count: Callable[[], float]) -> None:
        """Show a count of a server's budget of episodes."""
        gauge = Gauge(f"rlvr_episodes_{what}", f"Episodes {what}.", registry=self.registry)
        gauge.set_function(count)

    def step(self, turn: Turn) -> None:
        """Count a step."""
        self.steps.inc()
        if turn.done:
            self.verdicts.labels(turn.metadata["status"]).inc()


class JsonFormatter(logging.Formatter):
    """Writes each record as a JSON object on a line: time, level, event and its fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {
            "time": f"{stamp}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line)


def note(event: str, level: int = logging.INFO, *, trace: bool = False, **fields: object) -> None:
    """Write an event to the log; a field never holds a token, a prompt or an answer."""
    log.log(level, event, exc_info=trace, extra={"fields": fields})
