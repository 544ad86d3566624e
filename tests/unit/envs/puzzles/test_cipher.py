"""Ciphers: published examples, all keys tried, a dictionary attack, ambiguous letters, cheats."""

import itertools
import re

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.cipher import CipherConfig, CipherProblem, CipherTask, read_letters
from rlvr_envs.generators.words.ciphers import CIPHERS, pairs_of
from rlvr_envs.generators.words.english import words_of
from rlvr_envs.generators.words.messages import draw_message, known_words, made_of_words

A_TO_Z = "abcdefghijklmnopqrstuvwxyz"
DISCOVERED = "wearediscoveredfleeatonce"


@pytest.mark.parametrize(
    ("kind", "key", "plain", "expected"),
    [
        ("caesar", "3", "xyzabc", "ABCDEF"),
        ("affine", "5 8", "affinecipher", "IHHWVCSWFRCP"),
        ("vigenere", "lemon", "attackatdawn", "LXFOPVEFRNHR"),
        ("rail_fence", "3", DISCOVERED, "WECRLTEERDSOEEFEAOCAIVDEN"),
        ("columnar", "zebras", DISCOVERED, "EVLNACDTESEAROFODEECWIREE"),
        ("playfair", "playfirexm", "hidethegoldinthetreestump", "BMODZBXDNABEKUDMUIXMMOUVIF"),
        ("substitution", "zebrascdfghijklmnopqtuvwxy", "flee", "SIAA"),
    ],
)
def test_published_examples(kind, key, plain, expected):
    assert CIPHERS[kind].encrypt(plain, key) == expected


def test_pairs_of_playfair():
    assert pairs_of("balloon") == "balxloon"
    assert pairs_of("jar") == "iarx"
    assert pairs_of("box") == "boxq"


def shifted(text, a, b):
    back = {A_TO_Z[(a * i + b) % 26]: letter for i, letter in enumerate(A_TO_Z)}
    return "".join(back[letter] for letter in text)


def off_rails(text, rails):
    """Write marks in a zigzag, and put the letters where the marks are read."""
    rows = [[] for _ in range(rails)]
    row, step = 0, 1
    for place in range(len(text)):
        rows[row].append(place)
        if row + step not in range(rails):
            step = -step
        row += step
    plain = dict(zip(itertools.chain(*rows), text, strict=True))
    return "".join(plain[place] for place in range(len(text)))


def from_columns(text, order):
    width = len(order)
    full, rest = divmod(len(text), width)
    columns, at = {}, 0
    for column in order:
        height = full + (column < rest)
        columns[column] = text[at : at + height]
        at += height
    return "".join(columns[i % width][i // width] for i in range(len(text)))


def without_key(text, key):
    numbers = [A_TO_Z.index(letter) for letter in key]
    return "".join(
        A_TO_Z[(A_TO_Z.index(x) - numbers[i % len(key)]) % 26] for i, x in enumerate(text)
    )


def readings(kind, text):
    """All readings of a ciphertext under the keys of a kind that are made of words."""
    match kind:
        case "caesar":
            found = (shifted(text, 1, b) for b in range(1, 26))
        case "affine":
            keys = itertools.product(range(1, 26, 2), range(26))
            found = (shifted(text, a, b) for a, b in keys if a != 13)
        case "rail_fence":
            found = (off_rails(text, rails) for rails in range(2, 9))
        case "columnar":
            found = (from_columns(text, order) for order in itertools.permutations(range(6)))
        case _:
            found = (without_key(text, key) for key in words_of(6))
    return {plain for plain in found if made_of_words(plain)}


@pytest.mark.parametrize("kind", ["caesar", "affine", "rail_fence", "columnar", "vigenere"])
def test_one_key_of_all_gives_words(kind):
    task = CipherTask(CipherConfig(kinds=(kind,), n_words=8))
    for seed in range(3):
        problem = task.generate(stream("Cipher", kind, seed))
        text = re.sub(r"\W", "", problem.ciphertext).lower()
        assert readings(kind, text) == {problem.plaintext.replace(" ", "")}


def pattern(word):
    return tuple(map(word.index, word))


def broken(words, limit=20_000):
    """Break a substitution by looking for words that fit together; the first text found."""
    by_pattern = {}
    for word in sorted(known_words()):
        by_pattern.setdefault(pattern(word), []).append(word)
    nodes = 0

    def fitting(word, key):
        used = set(key.values())
        return [
            plain
            for plain in by_pattern.get(pattern(word), [])
            if all(
                key.get(a, b) == b and (a in key or b not in used)
                for a, b in zip(word, plain, strict=True)
            )
        ]

    def search(left, key):
        nonlocal nodes
        nodes += 1
        if not left or nodes > limit:
            return key if not left else None
        options = {word: fitting(word, key) for word in left}
        word = min(left, key=lambda each: len(options[each]))
        for plain in options[word]:
            found = search(left - {word}, key | dict(zip(word, plain, strict=True)))
            if found is not None:
                return found
        return None

    return search(frozenset(words), {})


@pytest.mark.parametrize("level", [4, 6])
def test_substitutions_can_be_broken_from_the_ciphertext_alone(level):
    task = CipherTask(CipherConfig.at(level))
    for seed in range(2):
        problem = task.generate(stream("Cipher", "break", level, seed))
        key = broken(problem.ciphertext.lower().split())
        answer = "".join(key.get(letter, letter) for letter in problem.ciphertext.lower())
        told = problem.crib and problem.crib not in answer
        assert told or task.verify(problem, answer).score == 1.0


def problem_of(plain, kind="substitution", **fields):
    letters = plain.replace(" ", "")
    keys = {"substitution": "qwertyuiopasdfghjklzxcvbnm", "playfair": "monarchy", "caesar": "3"}
    return CipherProblem(
        ciphertext=CIPHERS[kind].encrypt(letters, keys[kind]),
        **{"kinds": (kind,), "keys": (), "crib": ""} | fields,
        plaintext=plain,
        layers=(kind,),
        secrets=(keys[kind],),
    )


TASK = CipherTask(CipherConfig())
PLAIN = "the old captain found the box"
PROBLEM = problem_of(PLAIN)


def test_letters_that_stay_open_may_be_read_otherwise():
    cat = problem_of("the cat sat near the tree")
    assert TASK.verify(cat, "the cat sat near the tree").score == 1.0
    bat = TASK.verify(cat, "the bat sat near the tree")
    assert (bat.score, bat.detail) == (1.0, "another message that some key encrypts in this way")
    assert TASK.verify(cat, "the eat sat near the tree").score == 0.0  # e twice
    assert TASK.verify(cat, "the cat sat hear the tree").score == 0.0  # h twice
    assert "no English word" in TASK.verify(cat, "the qat sat near the tree").detail


def test_with_the_key_no_letter_stays_open():
    told = problem_of("the cat sat near the tree", keys=("qwertyuiopasdfghjklzxcvbnm",))
    assert TASK.verify(told, "the bat sat near the tree").score == 0.0
    caesar = problem_of("the cat sat near the tree", "caesar")
    assert TASK.verify(caesar, "the bat sat near the tree").score == 0.0


def test_a_crib_stays_in_the_message():
    crib = problem_of("the cat sat near the tree", crib="cat")
    assert TASK.verify(crib, "the bat sat near the tree").score == 0.0


def test_playfair_may_be_answered_with_the_letters_it_adds():
    joker = problem_of("the judge called the balloon", "playfair")
    for answer in (
        "the judge called the balloon",
        "THE IUDGE CALLED THE BALLOON",
        pairs_of("thejudgecalledtheballoon"),
        "THEIUDGECALLEDTHEBALLOON",
    ):
        assert TASK.verify(joker, answer).score == 1.0
    assert TASK.verify(joker, "the budge called the balloon").score == 0.0


@pytest.mark.parametrize(
    "answer",
    [
        PLAIN,
        PLAIN.upper(),
        PLAIN.title() + ".",
        PLAIN.replace(" ", ""),
        PLAIN.replace(" ", "\n"),
        f'"{PLAIN}"',
        f"```\n{PLAIN}\n```",
        "The old captain found... the box!",
        rf"\text{{{PLAIN}}}",
        "THEOL DCAPT AINFO UNDTH EBOX",
    ],
)
def test_forms_of_a_right_answer(answer):
    assert TASK.verify(PROBLEM, answer).score == 1.0


WORDS = PLAIN.split()


@pytest.mark.parametrize(
    "answer",
    [
        "",
        " ",
        "...",
        "the",
        PROBLEM.ciphertext,
        PROBLEM.ciphertext.lower(),
        PLAIN[::-1],
        " ".join(WORDS[::-1]),
        " ".join(WORDS[:-1]),
        " ".join(WORDS[1:]),
        " ".join([*WORDS, "again"]),
        f"{PLAIN} {PLAIN}",
        f"{PLAIN} or the old captain found the map",
        f"The message is: {PLAIN}",
        f"not {PLAIN}",
        PLAIN.replace("box", "bag"),
        PLAIN.replace("box", "bxo"),
        PLAIN.replace("old", "odd"),
        PLAIN.replace("a", "\u0430"),
        PLAIN.replace("o", "0"),
        f"{PLAIN} 1",
        "qwertyuiopasdfghjklzxcvbnm",
        "9" * 5_000,
        "the " * 40_000,
        TASK.prompt(PROBLEM),
        "\u0442\u0435\u043a\u0441\u0442",
        " ".join(draw_message(stream("another"), 6)),
        "e" * len(PLAIN.replace(" ", "")),
        "NaN",
    ],
)
def test_wrong_answers_earn_nothing(answer):
    assert TASK.verify(PROBLEM, answer).score == 0.0


def test_all_shifts_of_a_small_message():
    problem = problem_of("the dog ran", "caesar")
    for shift in range(26):
        answer = shifted(problem.ciphertext.lower(), 1, shift)
        assert TASK.verify(problem, answer).score == float(shift == 3)


def test_only_letters_are_read():
    assert read_letters("The cat, 'sat'.") == "thecatsat"
    assert read_letters("the c4t") is None
    assert read_letters("th\u00e9") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("thecatsat", True),
        ("thecatsz", False),
        ("", False),
        ("yesterdaytheking", True),
        ("q", False),
    ],
)
def test_words_without_spaces(text, expected):
    assert made_of_words(text) == expected


def test_messages_are_made_of_known_words():
    for n_words in (3, 8, 40, 200):
        words = draw_message(stream("message", n_words), n_words)
        assert n_words <= len(words) < n_words + 25
        assert known_words().issuperset(words)


def test_the_prompt_tells_what_is_known():
    def prompt(level):
        task = CipherTask(CipherConfig.at(level))
        return task.prompt(task.generate(stream("Cipher", "prompt", level)))

    assert "The number of places is" in prompt(0)
    assert "The key is not known." in prompt(2)
    assert "an affine" in prompt(3) or "a rail fence" in prompt(3)
    assert "The message contains the word" in prompt(4)
    assert "written in groups of five letters" in prompt(7)
    assert "one of the ciphers below" in prompt(8)
    assert "two of the ciphers below" in prompt(10)
    assert "three of the ciphers below" in prompt(12)
    told = CipherTask(CipherConfig(n_layers=2, given="key"))
    assert "Step 2 of the encryption is a" in told.prompt(told.generate(stream("Cipher", 2)))


@pytest.mark.parametrize("level", [0, 1, 3, 6, 9, 10, 12])
def test_the_worked_solution_ends_in_the_message(level):
    task = CipherTask(CipherConfig.at(level))
    problem = task.generate(stream("Cipher", "steps", level))
    steps = task.explain(problem)
    assert len(steps) == len(problem.layers)
    last = steps[-1].rpartition("leaves ")[2]
    assert read_letters(last) == problem.plaintext.replace(" ", "")


def test_effort_rises_with_the_level():
    means = []
    for level in range(14):
        task = CipherTask(CipherConfig.at(level))
        found = [task.effort(task.generate(stream("effort", level, i))) for i in range(20)]
        means.append(sum(found) / len(found))
    assert means == sorted(set(means))
    assert TASK.effort(PROBLEM) == len(PLAIN.replace(" ", "")) * 10_000


@pytest.mark.parametrize(
    ("knobs", "told"),
    [
        ({"kinds": ("rot13",)}, "kinds"),
        ({"n_layers": 2, "kinds": ("caesar",)}, "kinds"),
        ({"given": "key", "kind_told": False}, "kind_told"),
        ({"given": "all"}, "given"),
        ({"key_length": 2}, "key_length"),
    ],
)
def test_config_is_checked(knobs, told):
    with pytest.raises(ConfigError, match=told):
        CipherConfig(**knobs)
