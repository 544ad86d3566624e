"""Episodes over a corpus: the browser that shows more of a hit, the calls, and the judgement."""

from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.published.corpus_pages import CorpusSite, shown_title
from rlvr_envs.generators.search_episodes.browser import Browser, Limits
from rlvr_envs.generators.search_episodes.session import NOTHING, ToolSession
from rlvr_envs.verifiers import retrieval

SCORES = ("em", "f1")


class CorpusBrowser(Browser):
    """The tools of one episode over a corpus.

    Attributes:
        titles: of the pages that were opened, as `retrieval.normal` writes them.
    """

    def __init__(self, site: CorpusSite, limits: Limits, shown_chars: int) -> None:
        super().__init__(site, limits)
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


class CorpusSession(ToolSession):
    """One episode: calls and their results, then an answer.

    The parts of its verdict are those of the other search tasks. ``evidence_opened``, the share
    of the titles of the evidence of which a page was opened, is there where these are known.
    """

    def __init__(
        self, browser: CorpusBrowser, syntax: str, judge: "Judge", titles: tuple[str, ...]
    ) -> None:
        super().__init__(browser, syntax)
        self._judge = judge
        self._opened = browser.titles
        self._evidence = {retrieval.normal(shown_title(title)) for title in titles}

    def judged(self, text: str) -> Verdict:
        return self._judge(text)

    def own_parts(self, *, answered: bool) -> dict[str, float]:
        parts = {**NOTHING, "answered": float(answered)}
        if self._evidence:
            seen = len(self._evidence & self._opened)
            parts["evidence_opened"] = seen / len(self._evidence)
        return parts


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
