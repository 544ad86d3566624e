"""Articles: the pages of a world, in plain or in varied prose, written once a process."""

from functools import lru_cache

from rlvr_envs.generators.worlds.pages import Page
from rlvr_envs.generators.worlds.prose import VariedWriter
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.generators.worlds.world import World, build_world
from rlvr_envs.generators.worlds.writing import Library, Writer

PLAIN, VARIED = "plain", "varied"
PROSE = (PLAIN, VARIED)
_KEPT = 16


@lru_cache(maxsize=_KEPT)
def _written(spec: WorldSpec, seed: int, prose: str) -> Library:
    world = build_world(spec, seed)
    return (VariedWriter if prose == VARIED else Writer)(world).library()


def library(world: World, prose: str = PLAIN) -> Library:
    """Return the pages of a world, written once; equal worlds give equal pages.

    Args:
        world: what the pages tell.
        prose: how they tell it, one of `PROSE`.
    """
    return _written(world.spec, world.seed, prose)


def articles(world: World, prose: str = PLAIN) -> tuple[Page, ...]:
    """Return only the pages."""
    return library(world, prose).pages
