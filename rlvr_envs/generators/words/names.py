"""Names for people, words for invented things, and lists of them in English."""

from collections.abc import Sequence

from rlvr_envs.core.seeding import Rng
from rlvr_envs.verifiers import parse

_PEOPLE = (
    "Ada Ben Cleo Dan Eva Finn Gwen Hugo Iris Jack Kim Leo Mia Ned Olga Paul Quinn Rosa Sam Tess "
    "Uma Vic Wanda Xena Yuri Zoe Amir Bea Carl Dora Emil Fay Greg Hana Ivan June Kurt Lena Max "
    "Nora Otto Pia Ravi Sue Tim Una Vera Walt Yara Zack"
)

# Plurals that mean nothing, so that nobody's knowledge of the world gets in the way.
_INVENTED = (
    "borps clidges dufts eblins frulls glomps hivers jorbs kwends lunds morps nargs oplits pribs "
    "quilps rundles snerps tolvs umblers varns wosks yumps zerks braffs crivets drenks feldars "
    "gristles hulms jinkets krolls luvets mirds nibbets ploins raspens skells truffets"
)

PEOPLE = tuple(_PEOPLE.split())
INVENTED = tuple(_INVENTED.split())


def draw_some(rng: Rng, items: Sequence[str], count: int) -> tuple[str, ...]:
    """Draw ``count`` different items, in random order."""
    return tuple(items[i] for i in rng.permutation(len(items))[:count].tolist())


def joined(items: Sequence[str], joint: str = "and") -> str:
    """Return ``a``, ``a and b`` or ``a, b and c``."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {joint} {items[-1]}"


def read_names(text: str, known: Sequence[str]) -> list[str] | None:
    """Return a list of different names out of ``known``, in any case, or None.

    Commas or white space separate them; an "and" may stand before the last one.
    """
    pieces = parse.words(text, max_items=2 * len(known) + 1)
    if not pieces:
        return None
    if len(pieces) > 2 and pieces[-2].lower() == "and":
        del pieces[-2]
    table = {name.lower(): name for name in known}
    found = [table[piece.lower()] for piece in pieces if piece.lower() in table]
    return found if len(set(found)) == len(pieces) else None
