"""Tantivy, embedded: the engine for anything that is not small.

One thread indexes, so that a rebuild gives the same ranking. Documents and queries are cut into
words by `rlvr_envs.retrieval.query`; the query is put together from terms and phrases through the
API, never parsed by the engine, so nothing that a model writes is syntax. Of documents that tie
in more than 65,536 numbers, those that come first in the index are put in order.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import DependencyError
from rlvr_envs.core.extras import hint
from rlvr_envs.retrieval import query as queries
from rlvr_envs.retrieval.base import (
    TITLE_BOOST,
    Document,
    Hit,
    RetrievalError,
    check_k,
    lowest,
    ranked,
)
from rlvr_envs.retrieval.texts import Lookup, Texts

_HEAP_BYTES = 128_000_000  # of one segment while it is written
_MOST_TIED = 65_536


def require_tantivy() -> Any:
    """Return the module.

    Raises:
        DependencyError: it is not installed.
    """
    try:
        import tantivy
    except ImportError as error:
        raise DependencyError(
            f"the search engine tantivy cannot be imported ({error}): "
            f"{hint('search')}, or choose the engine 'bm25'"
        ) from error
    return tantivy


class TantivyEngine:
    """An engine over a tantivy index, in memory or in a folder."""

    def __init__(self, index: Any, ids: Texts, titles: Texts) -> None:
        """Take what `build` and `open` make: an index of numbered documents, and their labels."""
        self._tantivy = require_tantivy()
        self._schema = index.schema
        self._searcher = index.searcher()
        self._ids = ids
        self._titles = titles

    @classmethod
    def build(cls, documents: Iterable[Document]) -> "TantivyEngine":
        """Return an engine in memory over documents, which are gone through once.

        Raises:
            ConfigError: two documents share an id.
            DependencyError: tantivy is not installed.
        """
        builder = TantivyBuilder()
        ids, titles = [], []
        for document in documents:
            ids.append(document.id)
            titles.append(document.title)
            builder.add(document.title, document.text)
        labels = Texts.of(ids)
        Lookup.of(labels)
        return cls(builder.finish(), labels, Texts.of(titles))

    @classmethod
    def open(cls, folder: Path, ids: Texts, titles: Texts) -> "TantivyEngine":
        """Return an engine over the index in a folder, mapped into memory.

        Raises:
            RetrievalError: the index is damaged, or another version wrote it.
        """
        tantivy = require_tantivy()
        try:
            index = tantivy.Index.open(str(folder))
            index.config_reader("manual")  # else a thread watches the folder for changes
            return cls(index, ids, titles)
        except (ValueError, OSError) as error:
            raise RetrievalError(f"the index {str(folder)!r} cannot be opened: {error}") from error

    def search(self, query: str, k: int) -> list[Hit]:
        """Return up to ``k`` hits, the best first, equals by id."""
        check_k(k)
        wanted = queries.read(query)
        if not wanted or not len(self):
            return []
        found = self._found(self._query(wanted), k)
        return ranked((self._hit(score, address) for score, address in found), k)

    def _found(self, query: Any, k: int) -> list[tuple[float, Any]]:
        """Return the hits that may be among the first ``k``, with every tie for the last place."""
        limit = k + 8
        while True:
            found: list[tuple[float, Any]] = self._searcher.search(query, limit, count=False).hits
            cut = lowest(found[k - 1][0]) if len(found) >= k else 0.0
            if len(found) < limit or found[-1][0] < cut or limit >= _MOST_TIED:
                return [(score, address) for score, address in found if score >= cut]
            limit *= 4

    def _hit(self, score: float, address: Any) -> Hit:
        number = self._searcher.doc(address).get_first("number")
        return Hit(self._ids[number], self._titles[number], score)

    def _query(self, wanted: queries.Query) -> Any:
        occur = self._tantivy.Occur
        clauses = [(occur.Must, self._anywhere(phrase)) for phrase in wanted.phrases]
        clauses += [(occur.Should, self._anywhere((word,))) for word in wanted.words]
        return self._tantivy.Query.boolean_query(clauses)

    def _anywhere(self, phrase: tuple[str, ...]) -> Any:
        """Return a query for a word or phrase in either field, where both add to the score."""
        query, occur = self._tantivy.Query, self._tantivy.Occur

        def within(field: str) -> Any:
            if len(phrase) == 1:
                return query.term_query(self._schema, field, phrase[0])
            return query.phrase_query(self._schema, field, list(phrase))

        title = query.boost_query(within("title"), TITLE_BOOST)
        return query.boolean_query([(occur.Should, title), (occur.Should, within("text"))])

    def __len__(self) -> int:
        return len(self._ids)


class TantivyBuilder:
    """Takes documents one by one, into memory or into a folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self._tantivy = require_tantivy()
        builder = self._tantivy.SchemaBuilder()
        builder.add_unsigned_field("number", stored=True)
        for name in ("title", "text"):  # words come cut and in lower case, with spaces between
            builder.add_text_field(name, tokenizer_name="whitespace", index_option="position")
        schema = builder.build()
        if folder is None:
            self._index = self._tantivy.Index(schema)
        else:
            self._index = self._tantivy.Index(schema, path=str(folder), reuse=False)
        self._index.config_reader("manual")
        self._writer = self._index.writer(heap_size=_HEAP_BYTES, num_threads=1)
        self._number = 0

    def add(self, title: str, text: str) -> None:
        """Take a document."""
        document = self._tantivy.Document()
        document.add_unsigned("number", self._number)
        document.add_text("title", " ".join(queries.words(title)))
        document.add_text("text", " ".join(queries.words(text)))
        self._writer.add_document(document)
        self._number += 1

    def finish(self) -> Any:
        """Return the index with everything in it."""
        self._writer.commit()
        self._writer.wait_merging_threads()
        self._index.reload()
        return self._index

    def abandon(self) -> None:
        """Stop the writing, so that the folder can be removed."""
        with suppress(ValueError, RuntimeError):  # of a writer that ended before
            self._writer.rollback()
            self._writer.wait_merging_threads()
