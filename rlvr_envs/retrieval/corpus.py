r"""A corpus file, indexed on disk once and then opened in an instant.

A corpus is JSONL or Parquet, a document a record, in one of these layouts:

- ``{"id": …, "title": …, "text": …}``; ``_id``, ``docid`` or ``url`` may stand for ``id``, and
  ``contents`` or ``content`` for ``text``;
- ``{"id": …, "contents": "\"Title\"\ntext"}``, as wiki-18 of Search-R1: without a ``title``, the
  first line of several is the title, in quotes or not.

The index lies in a cache folder under a name made of the file's path, size and time of change, and
of the engine's version: a file that changes is indexed anew. It is written beside its place and
moved there when it is whole, and processes that need it at once wait for the first. Opened, it is
mapped into memory: processes share its pages, and each holds it once however many environments
use it. Its manifest says which file it was made from, and holds a digest of the documents, which
is the same wherever the file lies and whatever its format.
"""

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from rlvr_envs.core.errors import ConfigError, did_you_mean_path
from rlvr_envs.core.files import appended
from rlvr_envs.core.tables import Entry, entries
from rlvr_envs.retrieval.base import Document, Engine, Hit, RetrievalError
from rlvr_envs.retrieval.engines import choose
from rlvr_envs.retrieval.texts import Lookup, RepeatedText, Texts, TextsWriter, encoded

FORMAT = 2  # of the folder; words that are cut otherwise need a new one as well
MANIFEST = "manifest.json"

_IDS = ("id", "_id", "docid", "url")
_BODIES = ("text", "contents", "content")
_TITLE_CHARS = 300  # a longer first line is no title
_ID_CHARS = 1_000  # a longer text is no id
_DIGEST_CHARS = 32
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip", ".7z", ".tar")

_open: dict[Path, "Corpus"] = {}
_opening = threading.Lock()


class Corpus:
    r"""The documents of a file, by search and by id; made by `open_corpus`.

    A pickled corpus is the path of its file: it is opened anew where it arrives.

    Attributes:
        path: of the file.
        folder: where the index lies.
        digest: 32 hex digits that are equal for equal documents in the same order.

    Examples:
        >>> from pathlib import Path
        >>> from rlvr_envs.retrieval.corpus import open_corpus
        >>> text = '{"id": "1", "title": "Paris", "text": "In France."}\n'
        >>> _ = Path("docs.jsonl").write_text(text)
        >>> open_corpus("docs.jsonl", engine="bm25", cache="index").page("1").text
        'In France.'
    """

    def __init__(self, source: "_Source", folder: Path) -> None:
        """Map a folder that is known to be whole."""
        self._source = source
        self.path = source.path
        self.folder = folder
        self.digest = str(_manifest(folder)["digest"])
        self._titles = Texts.open(folder, "titles")
        self._texts = Texts.open(folder, "texts")
        ids = Texts.open(folder, "ids")
        self._lookup = Lookup(ids, np.load(folder / "order.npy", mmap_mode="r"))
        self._engine = _opened(source.engine, folder / "engine", ids, self._titles)

    def search(self, query: str, k: int) -> list[Hit]:
        """Return up to ``k`` hits, the best first, equals by id."""
        return self._engine.search(query, k)

    def page(self, document_id: str) -> Document | None:
        """Return the document with an id, or None."""
        at = self._lookup.find(document_id)
        return None if at is None else self._at(at)

    def neighbours(self, document_id: str, count: int) -> tuple[list[Document], list[Document]]:
        """Return up to ``count`` documents before and after one that have its title.

        They stand next to it in the file, as the passages of an article do in wiki-18. A document
        without a title has none, nor has an id that is not there.
        """
        at = self._lookup.find(document_id)
        title = "" if at is None else self._titles[at]
        if at is None or not title:
            return [], []
        first, last = at, at
        while first > 0 and at - first < count and self._titles[first - 1] == title:
            first -= 1
        while last + 1 < len(self) and last - at < count and self._titles[last + 1] == title:
            last += 1
        before, after = range(first, at), range(at + 1, last + 1)
        return [self._at(place) for place in before], [self._at(place) for place in after]

    def _at(self, place: int) -> Document:
        return Document(self._lookup.texts[place], self._titles[place], self._texts[place])

    def ids(self) -> Texts:
        """Return the ids of all documents, in the order of the file."""
        return self._lookup.texts

    def __len__(self) -> int:
        return len(self._engine)

    def __reduce__(self) -> Any:
        source = self._source
        return open_corpus, (source.path, source.engine, source.cache)


@dataclass(frozen=True, slots=True)
class _Source:
    """A file as it is now, the engine that indexes it, and the folder of indexes."""

    path: Path
    engine: str
    cache: Path
    size: int
    changed: int

    @classmethod
    def of(cls, path: Path, engine: str, cache: Path) -> "_Source":
        try:
            status = path.stat()
        except OSError as error:
            hint = did_you_mean_path(path)
            raise ConfigError(
                f"there is no corpus {str(path)!r}: {error.strerror}{hint}"
            ) from error
        return cls(path, engine, cache, status.st_size, status.st_mtime_ns)

    def folder(self) -> Path:
        """Return where its index belongs."""
        written_by = version("tantivy") if self.engine == "tantivy" else ""
        facts = [FORMAT, str(self.path), self.size, self.changed, self.engine, written_by]
        key = hashlib.sha256(json.dumps(facts).encode("utf-8", "surrogatepass")).hexdigest()
        return self.cache / f"{self.path.stem[:40]}-{self.engine}-{key[:20]}"


def open_corpus(path: Path | str, engine: str = "auto", cache: Path | str | None = None) -> Corpus:
    r"""Return the corpus of a file, indexing it where that has not been done.

    Args:
        path: the file.
        engine: as for `rlvr_envs.retrieval.engines.build`.
        cache: the folder of indexes; ``rlvr_envs/search`` in the user's cache by default.

    Raises:
        ConfigError: there is no such file, or a line of it is no document; the message says which.
        DependencyError: the engine is not installed, or pyarrow for a Parquet file.

    Examples:
        >>> from pathlib import Path
        >>> from rlvr_envs.retrieval.corpus import open_corpus
        >>> text = '{"id": "1", "title": "Paris", "text": "In France."}\n'
        >>> _ = Path("docs.jsonl").write_text(text)
        >>> open_corpus("docs.jsonl", engine="bm25", cache="index").search("France", 3)[0].title
        'Paris'
    """
    kept_in = Path(cache).resolve() if cache is not None else _default_cache()
    source = _Source.of(Path(path).resolve(), choose(engine), kept_in)
    folder = source.folder()
    with _opening:
        if folder not in _open:
            _open[folder] = _reopen(source, folder)
        return _open[folder]


def documents(path: Path) -> Iterator[Document]:
    """Return the documents of a file, in order.

    Raises:
        ConfigError: a line is no document; the message says which.
    """
    if path.suffix in _COMPRESSED and path.exists():
        raise ConfigError(f"{str(path)!r} is compressed: unpack it first, and name what it holds")
    return (_document(entry) for entry in entries(path))


def _default_cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "rlvr_envs" / "search"


def _reopen(source: _Source, folder: Path) -> Corpus:
    """Return the corpus; what is missing or damaged is written first."""
    fault = ""
    if _whole(folder):
        try:
            return Corpus(source, folder)
        except (RetrievalError, ValueError, OSError) as error:
            fault = f"; what lies there cannot be used: {error}"
    with _alone(folder, fault):
        if fault or not _whole(folder):
            _write(source, folder)
        return Corpus(source, folder)


def _whole(folder: Path) -> bool:
    """Say whether an index is there with every file in its full length."""
    try:
        manifest = _manifest(folder)
        sizes = manifest["files"]
        whole = all((folder / name).stat().st_size == size for name, size in sizes.items())
        return whole and isinstance(manifest["digest"], str)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _manifest(folder: Path) -> Any:
    return json.loads((folder / MANIFEST).read_text(encoding="utf-8"))


@contextmanager
def _alone(folder: Path, fault: str) -> Iterator[None]:
    """Keep other processes from writing the same index; the lock goes with the process.

    Raises:
        ConfigError: nothing can be written there; the message ends with why it would have to be.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = appended(Path(f"{folder}.lock"))
    except OSError as error:
        raise ConfigError(
            f"the index cannot be kept in {str(folder.parent)!r} ({error.strerror}): "
            f"name another cache folder{fault}"
        ) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write(source: _Source, folder: Path) -> None:
    """Write an index beside its place and move it there."""
    for left in folder.parent.glob(f"{folder.name}.*.tmp"):  # of a process that died
        shutil.rmtree(left, ignore_errors=True)
    draft = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", suffix=".tmp", dir=folder.parent))
    try:
        facts = _fill(source, draft)
        files = {
            str(file.relative_to(draft)): file.stat().st_size
            for file in sorted(draft.rglob("*"))
            if file.is_file()
        }
        manifest = {
            "corpus": str(source.path),
            "size": source.size,
            "changed_ns": source.changed,
            **facts,
            "files": files,
        }
        (draft / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        draft.rename(folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def _fill(source: _Source, folder: Path) -> dict[str, Any]:
    """Write an index into a folder; return how many documents it has, and their digest."""
    (folder / "engine").mkdir()
    builder = _builder(source.engine, folder / "engine")
    try:
        digest = _index(source.path, folder, builder)
    except BaseException:
        builder.abandon()
        raise
    written = Texts.open(folder, "ids")
    if not len(written):
        raise ConfigError(f"the corpus {str(source.path)!r} holds no documents")
    if _Source.of(source.path, source.engine, source.cache) != source:
        raise ConfigError(f"{str(source.path)!r} changed while it was read: try again")
    try:
        order = Lookup.of(written).order
    except RepeatedText as error:
        raise ConfigError(_repeated(source.path, error.text)) from error
    np.save(folder / "order.npy", order)
    return {"documents": len(written), "digest": digest}


def _index(path: Path, folder: Path, builder: Any) -> str:
    sha = hashlib.sha256()
    with (
        TextsWriter(folder, "ids") as ids,
        TextsWriter(folder, "titles") as titles,
        TextsWriter(folder, "texts") as texts,
    ):
        for document in documents(path):
            ids.add(document.id)
            titles.add(document.title)
            texts.add(document.text)
            builder.add(document.title, document.text)
            _update(sha, document)
    builder.finish()
    return sha.hexdigest()[:_DIGEST_CHARS]


def digest(documents: Iterable[Document]) -> str:
    """Return the digest that a corpus of some documents has."""
    sha = hashlib.sha256()
    for document in documents:
        _update(sha, document)
    return sha.hexdigest()[:_DIGEST_CHARS]


def _update(sha: Any, document: Document) -> None:
    for text in (document.id, document.title, document.text):
        data = encoded(text)
        sha.update(len(data).to_bytes(8, "big"))
        sha.update(data)


def _repeated(path: Path, document_id: str) -> str:
    places = [entry.place for entry in entries(path) if _document(entry).id == document_id]
    return f"{places[1]}: the id {document_id!r:.80} stands at {places[0]} already: ids are unique"


def _builder(engine: str, folder: Path) -> Any:
    if engine == "tantivy":
        from rlvr_envs.retrieval.tantivy_engine import TantivyBuilder

        return TantivyBuilder(folder)
    from rlvr_envs.retrieval.bm25 import Bm25Builder

    return Bm25Builder(folder)


def _opened(engine: str, folder: Path, ids: Texts, titles: Texts) -> Engine:
    if engine == "tantivy":
        from rlvr_envs.retrieval.tantivy_engine import TantivyEngine

        return TantivyEngine.open(folder, ids, titles)
    from rlvr_envs.retrieval.bm25 import Bm25Engine

    return Bm25Engine.open(folder, ids, titles)


def _document(entry: Entry) -> Document:
    if entry.fault:
        raise ConfigError(f"{entry.place}: {entry.fault}")
    data = entry.data
    name = next((name for name in _IDS if data.get(name) is not None), None)
    if name is None:
        raise ConfigError(f"{entry.place}: no id: expected one of {_names(_IDS)}, {_got(data)}")
    document_id = data[name]
    if isinstance(document_id, bool) or not isinstance(document_id, int | str):
        raise ConfigError(f"{entry.place}: {name!r} should be text, got {document_id!r:.80}")
    if not 0 < len(str(document_id)) <= _ID_CHARS:
        told = f"{name!r} should have 1 to {_ID_CHARS:,} characters, got {document_id!r:.80}"
        raise ConfigError(f"{entry.place}: {told}")
    body = next((name for name in _BODIES if data.get(name) is not None), None)
    if body is None:
        raise ConfigError(
            f"{entry.place}: no text: expected one of {_names(_BODIES)}, {_got(data)}"
        )
    text, title = data[body], data.get("title")
    for field, value in ((body, text), ("title", title or "")):
        if not isinstance(value, str):
            raise ConfigError(f"{entry.place}: {field!r} should be text, got {value!r:.80}")
    if title is None:
        title, text = titled(text)
    return Document(str(document_id), title, text)


def titled(contents: str) -> tuple[str, str]:
    """Return title and text of contents whose first line is the title, as in wiki-18."""
    first, newline, rest = contents.partition("\n")
    title = first.strip()
    if not newline or len(title) > _TITLE_CHARS:
        return "", contents
    if len(title) > 1 and title[0] == title[-1] == '"':
        title = title[1:-1]
    return title, rest


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(map(repr, names))


def _got(data: dict[str, Any]) -> str:
    return f"got the fields {', '.join(map(repr, list(data)[:10]))}"
