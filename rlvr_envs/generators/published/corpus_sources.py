"""Where corpora and questions come from: our sample, files of the user, or a search server."""

from functools import lru_cache
from pathlib import Path

from rlvr_envs.generators.published.corpus_pages import Collection, CorpusSite
from rlvr_envs.generators.published.search_files import CorpusQuestion, read_questions
from rlvr_envs.retrieval import corpus as corpora
from rlvr_envs.retrieval import query as queries
from rlvr_envs.retrieval.base import Document, Hit
from rlvr_envs.retrieval.engines import build
from rlvr_envs.retrieval.remote import HttpEngine

SAMPLE = "sample"
_SAMPLE_CORPUS = Path(__file__).with_name("_sample_corpus.jsonl")
_SAMPLE_QUESTIONS = Path(__file__).with_name("_sample_corpus_questions.jsonl")


class _Memory:
    """A few documents, indexed where nothing is written."""

    def __init__(self, path: Path) -> None:
        self._pages = {page.id: page for page in corpora.documents(path)}
        self._engine = build(self._pages.values(), "bm25")
        self.digest = corpora.digest(self._pages.values())

    def search(self, query: str, k: int) -> list[Hit]:
        return self._engine.search(query, k)

    def page(self, document_id: str) -> Document | None:
        return self._pages.get(document_id)

    def neighbours(self, document_id: str, count: int) -> tuple[list[Document], list[Document]]:
        del document_id, count  # the sample has whole pages
        return [], []

    def __len__(self) -> int:
        return len(self._pages)


class _Server:
    """A search server; what one episode has seen there is unknown to the next."""

    def __init__(self, url: str) -> None:
        self._engine = HttpEngine(url=url)

    def search(self, query: str, k: int) -> list[Hit]:
        # As in every engine here, a query without a word finds nothing, whatever a server does.
        return self._engine.search(query, k) if queries.read(query) else []

    def page(self, document_id: str) -> Document | None:
        return self._engine.page(document_id)

    def neighbours(self, document_id: str, count: int) -> tuple[list[Document], list[Document]]:
        del document_id, count  # a server does not tell what stands around a passage
        return [], []

    def __len__(self) -> int:
        return len(self._engine)


class _ServerSite(CorpusSite):
    """A server as a site; a hit that has an address of the web is shown by its title alone."""

    def text(self, page_address: str) -> str:
        # Its text would have to be fetched, hit by hit.
        return "" if is_server(page_address) else super().text(page_address)


def is_server(corpus: str) -> bool:
    """Tell whether a corpus is named by the address of a server."""
    return corpus.startswith(("http://", "https://"))


def open_site(corpus: str, engine: str, index_dir: str | None) -> tuple[CorpusSite, str]:
    """Return a corpus as a site, and the digest of its documents; a server has none.

    Files are opened once a process, however many environments ask.

    Raises:
        ConfigError: there is no such file, a line of it is no document, or the index cannot be
            written where it should be.
        DependencyError: what the engine, the format or the server needs is not installed.
    """
    if is_server(corpus):
        return _ServerSite(_Server(corpus)), ""
    if corpus == SAMPLE:
        memory = _sample()
        return _site(memory), memory.digest
    opened = corpora.open_corpus(corpus, engine, index_dir)
    return _site(opened), opened.digest


@lru_cache(maxsize=1)
def _sample() -> _Memory:
    return _Memory(_SAMPLE_CORPUS)


@lru_cache(maxsize=64)
def _site(collection: Collection) -> CorpusSite:
    return CorpusSite(collection)


def load_questions(
    questions: str, aliases: str | None, *, skip_faults: bool
) -> tuple[CorpusQuestion, ...]:
    """Return the questions of a file, from a cache while the file has not changed.

    Raises:
        ConfigError: as `read_questions` does.
    """
    path = _SAMPLE_QUESTIONS if questions == SAMPLE else Path(questions)
    more = None if aliases is None else Path(aliases)
    state = (_state(path), _state(more))
    return _questions(path, more, skip_faults, state)


def _state(path: Path | None) -> tuple[int, int]:
    if path is None or not path.is_file():
        return (0, 0)
    status = path.stat()
    return (status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
def _questions(
    path: Path, aliases: Path | None, skip_faults: bool, state: tuple[tuple[int, int], ...]
) -> tuple[CorpusQuestion, ...]:
    return tuple(read_questions(path, aliases, skip_faults=skip_faults))
