"""The search engines by name, and the one that is chosen here."""

import os
from collections.abc import Iterable
from importlib.util import find_spec

from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.retrieval.base import Document, Engine
from rlvr_envs.retrieval.bm25 import Bm25Engine

ENGINES = ("bm25", "tantivy")
VARIABLE = "RLVR_SEARCH_ENGINE"


def build(documents: Iterable[Document], engine: str = "auto") -> Engine:
    """Return an engine in memory over some documents.

    Args:
        documents: gone through once.
        engine: ``tantivy``, ``bm25``, or ``auto``: the one that the variable RLVR_SEARCH_ENGINE
            names, else tantivy where it is installed, else bm25. Both rank alike.

    Raises:
        ConfigError: there is no such engine, or two documents share an id.
        DependencyError: the engine is not installed.

    Examples:
        >>> from rlvr_envs.retrieval.base import Document
        >>> from rlvr_envs.retrieval.engines import build
        >>> documents = [Document("1", "Paris", "In France."), Document("2", "Rome", "In Italy.")]
        >>> [hit.id for hit in build(documents, "bm25").search("Italy", 3)]
        ['2']
    """
    if choose(engine) == "tantivy":
        from rlvr_envs.retrieval.tantivy_engine import TantivyEngine

        return TantivyEngine.build(documents)
    return Bm25Engine.build(documents)


def choose(engine: str = "auto") -> str:
    """Return the name of the engine that `build` takes.

    Raises:
        ConfigError: there is no such engine.
    """
    source = "engine"
    if engine == "auto":
        engine = os.environ.get(VARIABLE, "").strip() or "auto"
        source = VARIABLE
    if engine == "auto":
        return "tantivy" if find_spec("tantivy") else "bm25"
    if engine not in ENGINES:
        known = ", ".join(("auto", *ENGINES))
        hint = did_you_mean(engine, ENGINES)
        raise ConfigError(f"{source} should be one of {known}, got {engine!r}{hint}")
    return engine
