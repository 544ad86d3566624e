"""An episode with tools: calls and their results, then the one call that ends it."""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar

from rlvr_envs.core.task import Reply
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.search_episodes.browser import Browser
from rlvr_envs.generators.search_episodes.protocol import (
    ANSWER,
    SEARCH_R1,
    Call,
    Malformed,
    parse_action,
)
from rlvr_envs.generators.search_episodes.usage import framed, usage

# Parts of an episode that ends without an answer.
NOTHING = {"em": 0.0, "f1": 0.0, "declined": 0.0}


class ToolSession(ABC):
    """What the episodes of all search tasks do alike.

    The parts of a verdict count ``calls``, ``malformed`` messages, messages with ``trailing``
    calls that were not run, ``result_chars``, and ``pages_opened``; a session adds its own.

    Attributes:
        last: how the last call is written.
        browser: the tools.
        syntax: of the calls.
    """

    last: ClassVar[str] = ANSWER

    def __init__(self, browser: Browser, syntax: str) -> None:
        self.browser = browser
        self.syntax = syntax
        self._malformed = 0
        self._trailing = 0
        self._result_chars = 0

    @abstractmethod
    def judged(self, text: str) -> Verdict:
        """Judge the text of the last call."""

    @abstractmethod
    def own_parts(self, *, answered: bool) -> dict[str, float]:
        """Return what a session counts beside the common parts; a verdict's own parts go first."""

    def unfinished(self) -> Verdict:
        """Return the verdict on an episode whose calls are used up without the last one."""
        return Verdict.wrong(f"there was no {self.last} after {self.browser.calls} calls")

    def read(self, action: str) -> Call | Malformed:
        """Return the first call of a message."""
        return parse_action(action, self.syntax, self.last)

    def usage(self) -> str:
        """Return what calls there are."""
        return usage(self.syntax, self.last)

    def run(self, call: Call) -> str:
        """Run a call of a tool."""
        return self.browser.run(call)

    def reply(self, action: str) -> Reply:
        """Run the first call of a message, or judge the last call that it is."""
        call = self.read(action)
        if isinstance(call, Call):
            self._trailing += call.more
            if call.tool == ANSWER:
                return self._end(self.judged(call.text), answered=True)
        if self.browser.left < 1:
            over = self._end(self.unfinished(), answered=False)
            return replace(over, void=isinstance(call, Malformed), out_of_turns=True)
        result = self._result(call)
        self._result_chars += len(result)
        left = self.browser.left
        told = f"({left} {'call' if left == 1 else 'calls'} left.)"
        if self.syntax == SEARCH_R1:
            told = ""
        if not left:
            told = f"(No calls are left. Your next message must be the {self.last}.)"
        before, after = framed(self.syntax)
        return Reply(f"{before}{result}{after}{told}", void=isinstance(call, Malformed))

    def _result(self, call: Call | Malformed) -> str:
        if isinstance(call, Malformed):
            self._malformed += 1
            self.browser.spend()
            return f"Nothing was run: {call.reason}.\n{self.usage()}"
        result = self.run(call)
        if call.more:
            result += "\nOnly the first call of a message is run; what followed was ignored."
        return result

    def _end(self, verdict: Verdict, *, answered: bool) -> Reply:
        parts = {
            "calls": float(self.browser.calls),
            "malformed": float(self._malformed),
            "trailing": float(self._trailing),
            "result_chars": float(self._result_chars),
            "pages_opened": float(len(self.browser.opened)),
        }
        return Reply(
            "",
            replace(verdict, parts={**self.own_parts(answered=answered), **verdict.parts, **parts}),
        )
