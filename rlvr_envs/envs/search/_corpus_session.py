"""Episodes over a corpus: the browser that shows more of a hit, the calls, and the judgement."""

from typing import cast

from rlvr_envs.core.task import Reply
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.search._browser import Browser, Limits
from rlvr_envs.envs.search._corpus_pages import CorpusSite, shown_title
from rlvr_envs.envs.search._protocol import ANSWER, Call, Malformed, parse_action
from rlvr_envs.envs.search._site import Site
from rlvr_envs.envs.search._usage import RESULT, usage
from rlvr_envs.verifiers import retrieval

SCORES = ("em", "f1")
_NOTHING = {"em": 0.0, "f1": 0.0, "declined": 0.0}  # parts of an episode without an answer


class CorpusBrowser(Browser):
    """The tools of one episode over a corpus.

    Attributes:
        titles: of the pages that were opened, as `retrieval.normal` writes them.
    """

    def __init__(self, site: CorpusSite, limits: Limits, shown_chars: int) -> None:
        # It has what a browser asks of a site: an engine, and pages by address.
        super().__init__(cast("Site", site), limits)
        self._pages = site
        self._shown = shown_chars
        self.titles: set[str] = set()

    def _around(self, page_id: str, needle: str) -> str:
        """Return a short text whole, and of a long one what stands around some words."""
        if not self._shown:
            return ""
        text = self._pages.text(page_id)
        if len(text) <= self._shown:
            return text
        at = max(0, text.lower().find(needle))
        begin = max(0, min(at - self._shown // 2, len(text) - self._shown))
        end = begin + self._shown
        return f"{'...' if begin else ''}{text[begin:end]}{'...' if end < len(text) else ''}"

    def _open(self, text: str) -> str:
        result = super()._open(text)
        if self._page is not None:
            self.titles.add(retrieval.normal(self._page.title))
        return result


class CorpusSession:
    """One episode: calls and their results, then an answer.

    The parts of its verdict are those of the other search tasks. ``evidence_opened``, the share
    of the titles of the evidence of which a page was opened, is there where these are known.
    """

    def __init__(
        self, browser: CorpusBrowser, syntax: str, judge: "Judge", titles: tuple[str, ...]
    ) -> None:
        self._browser = browser
        self._syntax = syntax
        self._judge = judge
        self._evidence = {retrieval.normal(shown_title(title)) for title in titles}
        self._malformed = 0
        self._trailing = 0
        self._result_chars = 0

    def reply(self, action: str) -> Reply:
        """Run the first call of a message, or judge the answer that it is."""
        call = parse_action(action, self._syntax)
        if isinstance(call, Call):
            self._trailing += call.more
            if call.tool == ANSWER:
                return self._end(self._judge(call.text), answered=True)
        if self._browser.left < 1:
            calls = self._browser.calls
            return self._end(Verdict.wrong(f"there was no answer after {calls} calls"))
        result = self._result(call)
        self._result_chars += len(result)
        left = self._browser.left
        told = f"({left} more {'call' if left == 1 else 'calls'}.)"
        if not left:
            told = "(No calls are left. Your next message must be the answer.)"
        name = RESULT[self._syntax]
        return Reply(f"<{name}>\n{result}\n</{name}>\n{told}")

    def _result(self, call: Call | Malformed) -> str:
        if isinstance(call, Malformed):
            self._malformed += 1
            self._browser.spend()
            return f"Nothing was run: {call.reason}.\n{usage(self._syntax)}"
        result = self._browser.run(call)
        if call.more:
            result += "\nOnly the first call of a message is run; what followed was ignored."
        return result

    def _end(self, verdict: Verdict, *, answered: bool = False) -> Reply:
        parts = {
            **_NOTHING,
            **verdict.parts,
            "answered": float(answered),
            "calls": float(self._browser.calls),
            "malformed": float(self._malformed),
            "trailing": float(self._trailing),
            "result_chars": float(self._result_chars),
            "pages_opened": float(len(self._browser.opened)),
        }
        if self._evidence:
            seen = len(self._evidence & self._browser.titles)
            parts["evidence_opened"] = seen / len(self._evidence)
        return Reply("", Verdict(verdict.score, verdict.status, verdict.detail, parts))


class Judge:
    """Judges answers to one question, by any of the accepted forms of its answer.

    The parts of a verdict are ``em``, ``f1`` (the plain one of SQuAD, whatever the score is) and
    ``declined`` (the answer says that there is none).
    """

    def __init__(self, score: str, answers: tuple[str, ...]) -> None:
        self._score = score
        self._answers = answers

    def __call__(self, answer: str) -> Verdict:
        """Return the verdict on any text."""
        plain = retrieval.f1(answer, self._answers)
        if self._score == "f1":
            verdict = retrieval.concise_f1(answer, self._answers)
        else:
            verdict = retrieval.exact(answer, self._answers)
        parts = {
            "em": plain.parts.get("exact", 0.0),
            "f1": plain.parts.get("f1", 0.0),
            "declined": float(retrieval.unanswerable(answer)),
        }
        return Verdict(verdict.score, verdict.status, verdict.detail, parts)
