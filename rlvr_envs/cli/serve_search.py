"""Serve a corpus or a fictional world as Search-R1's retrieval server does.

    rlvr serve-search pages.jsonl --port 8000
    rlvr serve-search --world 3 --seed 1
    curl -s localhost:8000/retrieve -d '{"queries": ["a town"], "topk": 3, "return_scores": true}'

A corpus is a file that SearchCorpus-v0 reads. POST /access shows documents by their ids, as
ASearcher's server does. There are no tokens: other machines reach it only with --host.
"""

import argparse

from rlvr_envs.cli._text import say
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.generators.worlds.site import Shelf, site
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.retrieval.corpus import open_corpus
from rlvr_envs.retrieval.server import MOST_HITS, Collection, RetrievalServer

HELP = "serve documents to searches, as Search-R1's retrieval server does"
_MOST_PORT = 65_535


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("corpus", nargs="?", metavar="FILE", help="JSONL or Parquet, a document a record")
    add("--world", type=int, metavar="LEVEL", help="a fictional world of this level instead")
    add("--seed", type=int, default=0, metavar="N", help="of the world (default: 0)")
    add("--engine", default="auto", help="tantivy or bm25, for a corpus (default: auto)")
    add("--index-dir", metavar="DIR", help="the folder of indexes (default: the user's cache)")
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    add("--port", type=int, default=8000, help="0 for any that is free (default: 8000)")
    add("--topk", type=int, default=3, metavar="K", help="hits, unless a request says (3)")


def run(args: argparse.Namespace) -> int:
    """Serve until an interrupt."""
    if not 0 <= args.port <= _MOST_PORT:
        raise ConfigError(f"--port is from 0 to {_MOST_PORT}, got {args.port}")
    if not 1 <= args.topk <= MOST_HITS:
        raise ConfigError(f"--topk is from 1 to {MOST_HITS}, got {args.topk}")
    server = _server(_collection(args), args)
    say(f"serving at {server.url}/retrieve", flush=True)
    try:
        server.serve()
    except KeyboardInterrupt:
        pass
    finally:
        server.close()
    return 0


def _collection(args: argparse.Namespace) -> Collection:
    if (args.corpus is None) == (args.world is None):
        raise ConfigError("name either a corpus file or --world LEVEL")
    if args.corpus is not None:
        return open_corpus(args.corpus, args.engine, args.index_dir)
    if args.world < 0 or args.seed < 0:
        raise ConfigError(f"--world and --seed are 0 or more, got {args.world} and {args.seed}")
    return Shelf(site(WorldSpec.at(args.world), args.seed))


def _server(collection: Collection, args: argparse.Namespace) -> RetrievalServer:
    try:
        return RetrievalServer(collection, args.host, args.port, args.topk)
    except OSError as error:
        raise ConfigError(f"cannot listen on {args.host}:{args.port}: {error}") from error
