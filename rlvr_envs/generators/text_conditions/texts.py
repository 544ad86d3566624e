"""Plain little texts about people and things, from which conditions can be read off."""

from collections.abc import Callable, Sequence

from rlvr_envs.core.seeding import Rng, integer, pick

_PEOPLE = (
    *("farmers", "sailors", "painters", "children", "teachers", "pilots", "bakers", "giants"),
    *("nurses", "ghosts", "dancers", "doctors", "judges", "kings", "queens", "poets", "clowns"),
    *("miners", "hunters", "monks", "tailors", "wizards", "drivers", "girls", "boys", "uncles"),
)
_ACTIONS = (
    *("found", "sold", "carried", "painted", "watched", "lost", "built", "borrowed", "hid", "drew"),
    *("made", "kept", "bought", "cleaned", "wanted", "moved", "shared", "broke", "mended", "took"),
)
_QUALITIES = (
    *("old", "small", "bright", "heavy", "quiet", "green", "odd", "yellow", "clever", "tall"),
    *("young", "happy", "tired", "round", "brave", "lucky", "quick", "golden", "empty", "warm"),
)
_THINGS = (
    *("boats", "lamps", "maps", "coins", "drums", "kites", "apples", "bells", "tents", "books"),
    *("ladders", "mirrors", "clocks", "carpets", "baskets", "violins", "pumpkins", "bridges"),
    *("keys", "cups", "letters", "wagons", "puppets", "blankets", "jackets", "candles", "hats"),
)
_ENDINGS = (
    *("at night", "near rivers", "in spring", "by hand", "under trees", "before noon", "at home"),
    *("in town", "after dinner", "on islands", "without help", "behind walls", "in winter"),
    *("for friends", "every morning", "at sea", "quietly", "again", "together", "slowly"),
)


class _Vocabulary:
    """The words to choose from; those with the letter that is to be missing are left out."""

    def __init__(self, missing: str) -> None:
        def rest(words: Sequence[str]) -> list[str]:
            return [word for word in words if not missing or missing not in word]

        self.people, self.actions = rest(_PEOPLE), rest(_ACTIONS)
        self.qualities, self.things, self.endings = rest(_QUALITIES), rest(_THINGS), rest(_ENDINGS)

    def thing(self, rng: Rng) -> str:
        plain = pick(rng, self.things)
        return f"{pick(rng, self.qualities)} {plain}" if integer(rng, 0, 1) else plain

    def sentence(self, rng: Rng) -> str:
        """Return a sentence without a mark at its end, in lower case but for its first letter."""
        parts = [pick(rng, self.qualities)] if integer(rng, 0, 2) == 0 else []
        parts += [pick(rng, self.people), pick(rng, self.actions), self.thing(rng)]
        if integer(rng, 0, 1):
            parts.append(pick(rng, self.endings))
        return " ".join(parts).capitalize()


def draw_text(rng: Rng, n_sentences: int, n_features: int) -> str:
    """Draw a text of some sentences, and of a few lines more where a feature adds them."""
    vocabulary = _Vocabulary(pick(rng, "bcdgkmpqvwxz") if n_features else "")
    sentences = [vocabulary.sentence(rng) for _ in range(n_sentences)]
    order = rng.permutation(len(_FEATURES)).tolist()
    features = [_FEATURES[i] for i in order[:n_features]]
    for feature in features:
        sentences = feature(rng, vocabulary, sentences)
    marks = "..!?" if n_features > 1 else "."
    blocks = [f"{sentence}{pick(rng, marks)}" for sentence in sentences]
    return _dressed(rng, vocabulary, _paragraphs(rng, blocks), n_features)


def _paragraphs(rng: Rng, sentences: list[str]) -> list[str]:
    """Return the sentences in paragraphs, about three in each."""
    count = integer(rng, 1, 1 + len(sentences) // 3)
    cuts = sorted((1 + rng.permutation(len(sentences) - 1)[: count - 1]).tolist())
    ends = [*cuts, len(sentences)]
    return [" ".join(sentences[a:b]) for a, b in zip([0, *cuts], ends, strict=True)]


def _dressed(rng: Rng, vocabulary: _Vocabulary, paragraphs: list[str], n_features: int) -> str:
    """Return the text, perhaps with a title, a list at its end, in quotes or in one case."""
    if n_features > 1 and integer(rng, 0, 3) == 0:
        paragraphs.insert(0, f"<<{vocabulary.thing(rng).capitalize()}>>")
    if n_features > 1 and integer(rng, 0, 2) == 0:
        items = [f"- {vocabulary.thing(rng).capitalize()}" for _ in range(integer(rng, 2, 4))]
        paragraphs.append("\n".join(items))
    text = "\n\n".join(paragraphs)
    if n_features and integer(rng, 0, 4) == 0:
        text = text.lower() if integer(rng, 0, 2) else text.upper()
    if n_features and integer(rng, 0, 4) == 0 and not text.startswith("<<"):
        text = f'"{text}"'
    return text


def _with_numbers(rng: Rng, vocabulary: _Vocabulary, sentences: list[str]) -> list[str]:
    """Count the things in one sentence or two."""
    for _ in range(integer(rng, 1, 2)):
        place = integer(rng, 0, len(sentences) - 1)
        sentences[place] += f" for {integer(rng, 11, 99)} days"
    return sentences


def _with_commas(rng: Rng, vocabulary: _Vocabulary, sentences: list[str]) -> list[str]:
    """Add things to a sentence, as a list."""
    place = integer(rng, 0, len(sentences) - 1)
    mark = pick(rng, (",", ",", ";"))
    more = "".join(f"{mark} {vocabulary.thing(rng)}" for _ in range(integer(rng, 1, 3)))
    sentences[place] += more
    return sentences


def _with_capitals(rng: Rng, vocabulary: _Vocabulary, sentences: list[str]) -> list[str]:
    """Write a word in capital letters."""
    place = integer(rng, 0, len(sentences) - 1)
    words = sentences[place].split(" ")
    chosen = integer(rng, 0, len(words) - 1)
    words[chosen] = words[chosen].upper()
    sentences[place] = " ".join(words)
    return sentences


def _growing(rng: Rng, vocabulary: _Vocabulary, sentences: list[str]) -> list[str]:
    """Order the sentences by their lengths, and keep one of each length."""
    by_length = {len(sentence.split()): sentence for sentence in sentences}
    return [by_length[length] for length in sorted(by_length)]


def _with_same_ends(rng: Rng, vocabulary: _Vocabulary, sentences: list[str]) -> list[str]:
    return [*sentences, sentences[0]] if len(sentences) > 1 else sentences


_Feature = Callable[[Rng, _Vocabulary, list[str]], list[str]]
_FEATURES: tuple[_Feature, ...] = (
    _with_numbers,
    _with_commas,
    _with_capitals,
    _growing,
    _with_same_ends,
)
