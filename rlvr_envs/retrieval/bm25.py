"""BM25 over numpy arrays: the engine of a bare install.

It ranks as `rlvr_envs.retrieval.tantivy_engine` does: the same words, the same formula, and the
lengths of documents in the same 256 steps (exact up to 40 words, then within an eighth), so that
what an environment shows does not depend on what is installed. Tantivy is faster from some ten
thousand documents on, and needs less memory.

    score(word) = idf · tf · (K1 + 1) / (tf + K1 · (1 - B + B · length / mean length))
    idf = ln(1 + (N - n + 1/2) / (n + 1/2))

A phrase counts like a word that is there as often as the phrase is, with the sum of its words' idf.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from rlvr_envs.retrieval import query as queries
from rlvr_envs.retrieval.base import K1, TITLE_BOOST, B, Document, Hit, check_k, lowest, ranked
from rlvr_envs.retrieval.texts import Lookup, Texts

_GAP = 0  # stands between documents, so that no phrase runs from one into the next


def _steps() -> Any:
    """Return the lengths that are told apart: steps of one up to 40, then eight to the octave."""
    exact = list(range(40))
    wider = [24 + (8 + i % 8 << i // 8 + 1) for i in range(256 - len(exact))]
    return np.array(exact + wider, np.int64)


_STEPS = _steps()


@dataclass(frozen=True, slots=True)
class _Field:
    """One field of all documents.

    Attributes:
        tokens: the words of every document in a row, each document followed by a gap.
        starts: where each document begins there, and where the last one ends.
        heads: where the postings of each word begin, and where the last ones end.
        docs: the postings: documents that have the word, in order.
        counts: how often it is there.
        norms: the length of each document, as a place among the steps.
        mean: the mean length.
    """

    tokens: Any
    starts: Any
    heads: Any
    docs: Any
    counts: Any
    norms: Any
    mean: Any

    @classmethod
    def of(cls, tokens: Any, lengths: Any, n_words: int) -> "_Field":
        starts = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths + 1, out=starts[1:])
        # Sixteen bits are sorted by counting, which is faster.
        keys = tokens.astype(np.uint16) if n_words < 65_535 else tokens
        order = np.argsort(keys, kind="stable")[len(lengths) :]  # without the gaps
        owner = np.repeat(np.arange(len(lengths), dtype=np.uint32), lengths + 1)[order]
        word = tokens[order]
        fresh = np.ones(len(order), bool)
        fresh[1:] = (word[1:] != word[:-1]) | (owner[1:] != owner[:-1])
        firsts = np.flatnonzero(fresh)
        counts = np.diff(np.append(firsts, len(order)))
        return cls(
            tokens=np.append(tokens, np.zeros(queries.MAX_PHRASE_WORDS, np.uint32)),
            starts=starts,
            heads=np.searchsorted(word[firsts], np.arange(1, n_words + 2)),
            docs=owner[firsts],
            counts=np.minimum(counts, 65_535).astype(np.uint16),
            norms=(np.searchsorted(_STEPS, lengths, side="right") - 1).astype(np.uint8),
            mean=np.float64(lengths.sum() / max(len(lengths), 1)),
        )

    def frequency(self, word: int) -> int:
        """Return how many documents have a word; words are counted from 1."""
        return int(self.heads[word] - self.heads[word - 1])

    def postings(self, word: int) -> tuple[Any, Any]:
        """Return the documents that have a word, and how often."""
        at = slice(int(self.heads[word - 1]), int(self.heads[word]))
        return self.docs[at], self.counts[at]

    def phrase(self, phrase: list[int]) -> tuple[Any, Any]:
        """Return the documents that have words in a row, and how often."""
        docs = reduce(
            lambda a, b: np.intersect1d(a, b, assume_unique=True),
            sorted((self.postings(word)[0] for word in set(phrase)), key=len),
        )
        lengths = self.starts[docs + 1] - self.starts[docs]
        total = int(lengths.sum())
        if total > len(self.tokens) // 8:  # one pass over everything is cheaper than many spans
            places = np.flatnonzero(self.tokens == phrase[0])
        else:
            shifts = self.starts[docs] - np.cumsum(lengths) + lengths
            places = np.repeat(shifts, lengths) + np.arange(total)
            places = places[self.tokens[places] == phrase[0]]
        for offset, word in enumerate(phrase[1:], start=1):
            places = places[self.tokens[places + offset] == word]
        owners = np.searchsorted(self.starts, places, side="right") - 1
        return np.unique(owners, return_counts=True)

    def scores(self, found: tuple[Any, Any], words: list[int]) -> Any:
        """Return what some words, or the phrase of them, add to each document that has them."""
        docs, counts = found
        n_docs = len(self.norms)
        had = np.array([self.frequency(word) for word in words], np.float64)
        weight = np.log1p((n_docs - had + 0.5) / (had + 0.5)).sum() * (K1 + 1)
        lengths = _STEPS[self.norms[docs]]
        return weight * counts / (counts + K1 * (1 - B + B * lengths / self.mean))


class Bm25Engine:
    """An engine over arrays, in memory or mapped from a folder."""

    def __init__(self, ids: Texts, titles: Texts, vocabulary: Lookup, parts: list[_Field]) -> None:
        """Take what `build` and `open` make: labels, sorted words, and two fields."""
        self._ids = ids
        self._titles = titles
        self._vocabulary = vocabulary
        self._parts = tuple(zip(parts, (TITLE_BOOST, 1.0), strict=True))

    @classmethod
    def build(cls, documents: Iterable[Document]) -> "Bm25Engine":
        """Return an engine over documents, which are gone through once.

        Raises:
            ConfigError: two documents share an id.
        """
        builder = Bm25Builder()
        ids, titles = [], []
        for document in documents:
            ids.append(document.id)
            titles.append(document.title)
            builder.add(document.title, document.text)
        labels = Texts.of(ids)
        Lookup.of(labels)
        return cls(labels, Texts.of(titles), *builder.finish())

    @classmethod
    def open(cls, folder: Path, ids: Texts, titles: Texts) -> "Bm25Engine":
        """Return the engine that was saved in a folder, mapped into memory."""
        words = Texts.open(folder, "words")
        parts = [
            _Field(
                **{f.name: np.load(folder / f"{part}_{f.name}.npy", mmap_mode="r") for f in _PARTS}
            )
            for part in ("title", "text")
        ]
        return cls(ids, titles, Lookup(words, range(len(words))), parts)

    def search(self, query: str, k: int) -> list[Hit]:
        """Return up to ``k`` hits, the best first, equals by id."""
        check_k(k)
        wanted = queries.read(query)
        if not wanted:
            return []
        total = np.zeros(len(self), np.float64)
        kept = np.ones(len(self), bool)
        for phrase in wanted.phrases:
            kept &= self._add(total, phrase)
        for word in wanted.words:
            self._add(total, (word,))
        docs = np.flatnonzero(kept & (total > 0))
        scores = total[docs]
        if len(docs) > k:
            cut = lowest(float(np.partition(scores, len(scores) - k)[len(scores) - k]))
            docs, scores = docs[scores >= cut], scores[scores >= cut]
        return ranked(
            (
                Hit(self._ids[doc], self._titles[doc], score)
                for doc, score in zip(docs.tolist(), scores.tolist(), strict=True)
            ),
            k,
        )

    def _add(self, total: Any, phrase: tuple[str, ...]) -> Any:
        """Add what a word or phrase is worth; return which documents have it."""
        has = np.zeros(len(total), bool)
        places = [self._vocabulary.find(word) for word in phrase]
        words = [place + 1 for place in places if place is not None]
        if len(words) < len(phrase):
            return has
        for part, boost in self._parts:
            if not all(part.frequency(word) for word in words):
                continue
            found = part.phrase(words) if len(words) > 1 else part.postings(words[0])
            total[found[0]] += boost * part.scores(found, words)
            has[found[0]] = True
        return has

    def __len__(self) -> int:
        return len(self._ids)


_PARTS = fields(_Field)


class Bm25Builder:
    """Takes documents one by one and keeps only their words; a folder is for `Bm25Engine.open`."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._places: defaultdict[str, int] = defaultdict()
        self._places.default_factory = lambda: len(self._places) + 1
        self._tokens = (array("I"), array("I"))
        self._lengths = (array("Q"), array("Q"))

    def add(self, title: str, text: str) -> None:
        """Take a document."""
        for tokens, lengths, part in zip(self._tokens, self._lengths, (title, text), strict=True):
            found = queries.words(part)
            tokens.extend(map(self._places.__getitem__, found))
            tokens.append(_GAP)
            lengths.append(len(found))

    def finish(self) -> tuple[Lookup, list[_Field]]:
        """Return the words and the fields, and write them where there is a folder."""
        words = sorted(self._places, key=lambda word: word.encode())
        sorted_place = np.zeros(len(words) + 1, np.uint32)
        for place, word in enumerate(words, start=1):
            sorted_place[self._places[word]] = place
        parts = [
            _Field.of(
                sorted_place[np.frombuffer(tokens, np.uint32)],
                np.frombuffer(lengths, np.uint64).astype(np.int64),
                len(words),
            )
            for tokens, lengths in zip(self._tokens, self._lengths, strict=True)
        ]
        vocabulary = Lookup(Texts.of(words), range(len(words)))
        if self._folder is not None:
            vocabulary.texts.save(self._folder, "words")
            for name, part in zip(("title", "text"), parts, strict=True):
                for field in _PARTS:
                    np.save(self._folder / f"{name}_{field.name}.npy", getattr(part, field.name))
        return vocabulary, parts

    def abandon(self) -> None:
        """Do nothing: before the end nothing is written."""
