"""Classical ciphers on the letters A to Z: how they encrypt, their keys as text, and what they do.

A plaintext is lower-case letters, a ciphertext upper-case ones; neither has spaces. A key is text:
a number, two numbers, a word or an alphabet, as `Cipher.key` says.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import factorial

from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.words.english import all_words

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_SQUARE = ALPHABET.replace("j", "")
_UNITS = (1, 3, 5, 7, 9, 11, 15, 17, 19, 21, 23, 25)  # have an inverse modulo 26
_MOST_RAILS = 8

Encrypt = Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class Cipher:
    """One kind of cipher.

    Attributes:
        name: what it is called.
        rule: how it encrypts, in a sentence or two.
        key: how a told key is worded, with ``{}`` for it.
        encrypt: returns the ciphertext of a plaintext under a key.
        draw_key: draws a key; of about the given length, if it is a word.
        trials: decryptions that the usual attack makes when the key, of the given length, is not
            known: all keys where they are few, otherwise steps of a hill climb.
        moves_letters: whether it changes the places of letters, not the letters.
    """

    name: str
    rule: str
    key: str
    encrypt: Encrypt
    draw_key: Callable[[Rng, int], str]
    trials: Callable[[int], int]
    moves_letters: bool = False


def _caesar(plain: str, key: str) -> str:
    return _affine(plain, f"1 {key}")


def _affine(plain: str, key: str) -> str:
    a, b = map(int, key.split())
    return "".join(ALPHABET[(a * ALPHABET.index(x) + b) % 26] for x in plain).upper()


def _substitute(plain: str, key: str) -> str:
    return plain.translate(str.maketrans(ALPHABET, key)).upper()


def _vigenere(plain: str, key: str) -> str:
    shifts = [ALPHABET.index(letter) for letter in key]
    return "".join(
        ALPHABET[(ALPHABET.index(x) + shifts[i % len(shifts)]) % 26] for i, x in enumerate(plain)
    ).upper()


def _rail_fence(plain: str, key: str) -> str:
    period = 2 * int(key) - 2
    rails = [min(i % period, period - i % period) for i in range(len(plain))]
    order = sorted(range(len(plain)), key=lambda i: rails[i])  # sorted() keeps the order in a rail
    return "".join(plain[i] for i in order).upper()


def _columns(plain: str, key: str) -> str:
    order = sorted(range(len(key)), key=lambda i: key[i])
    return "".join(plain[i :: len(key)] for i in order).upper()


def pairs_of(plain: str) -> str:
    """Return letters as Playfair encrypts them: i for j, and x after a lone or double letter."""
    plain, found = plain.replace("j", "i"), ""
    at = 0
    while at < len(plain):
        pair = plain[at : at + 2]
        if len(pair) < 2 or pair[0] == pair[1]:
            pair = pair[0] + ("x" if pair[0] != "x" else "q")
            at += 1
        else:
            at += 2
        found += pair
    return found


def _playfair(plain: str, key: str) -> str:
    square = key + "".join(letter for letter in _SQUARE if letter not in key)
    pairs, found = pairs_of(plain), ""
    for one, other in zip(pairs[::2], pairs[1::2], strict=True):
        (r, c), (s, d) = divmod(square.index(one), 5), divmod(square.index(other), 5)
        if r == s:
            c, d = (c + 1) % 5, (d + 1) % 5
        elif c == d:
            r, s = (r + 1) % 5, (s + 1) % 5
        else:
            c, d = d, c
        found += square[5 * r + c] + square[5 * s + d]
    return found.upper()


def _draw_alphabet(rng: Rng, length: int) -> str:
    return "".join(ALPHABET[i] for i in rng.permutation(26).tolist())


@lru_cache(maxsize=1)
def _key_words() -> list[str]:
    return [word for word in all_words() if len(set(word)) == len(word) and "j" not in word]


def _draw_word(rng: Rng, length: int) -> str:
    """Draw a key word without a repeated letter and without j; two words joined if it is long."""
    while True:
        key = pick(rng, _key_words())
        if length > 7:
            key = "".join(dict.fromkeys(key + pick(rng, _key_words())))
        if len(key) == length:
            return key


CIPHERS = {
    "caesar": Cipher(
        "Caesar cipher",
        "Each letter is replaced by the letter a fixed number of places later in the alphabet; "
        "after Z comes A.",
        "The number of places is {}.",
        _caesar,
        lambda rng, length: str(integer(rng, 1, 25)),
        lambda length: 25,
    ),
    "affine": Cipher(
        "affine cipher",
        "The letters A to Z are numbered 0 to 25, and letter number x is replaced by letter number "
        "(a·x + b) mod 26, where a has no factor in common with 26.",
        "The numbers a and b are {}.",
        _affine,
        lambda rng, length: f"{pick(rng, _UNITS[1:])} {integer(rng, 0, 25)}",
        lambda length: 26 * len(_UNITS) - 1,
    ),
    "substitution": Cipher(
        "simple substitution cipher",
        "Each letter of the alphabet is always replaced by the same letter, and different letters "
        "by different ones.",
        "The letters A to Z are replaced, in this order, by {}.",
        _substitute,
        _draw_alphabet,
        lambda length: 10_000,
    ),
    "vigenere": Cipher(
        "Vigenère cipher",
        "A key word is written again and again under the text, and each letter moves on in the "
        "alphabet by the number of the key letter below it: A is 0, B is 1, …, Z is 25; after Z "
        "comes A. Only letters count.",
        "The key word is {}.",
        _vigenere,
        _draw_word,
        lambda length: 26 * length * 12,
    ),
    "rail_fence": Cipher(
        "rail fence cipher",
        "The letters are written in a zigzag down and up over a number of rails (rows), beginning "
        "on the top rail, and then read rail by rail from the top.",
        "There are {} rails.",
        _rail_fence,
        lambda rng, length: str(integer(rng, 2, _MOST_RAILS)),
        lambda length: _MOST_RAILS - 1,
        moves_letters=True,
    ),
    "columnar": Cipher(
        "columnar transposition",
        "The letters are written in rows under a key word, the last row being left incomplete if "
        "need be. Then the columns are read from top to bottom, in the alphabetical order of the "
        "letters of the key word.",
        "The key word is {}.",
        _columns,
        _draw_word,
        factorial,
        moves_letters=True,
    ),
    "playfair": Cipher(
        "Playfair cipher",
        "A key word and then the other letters fill a 5×5 square row by row; J is written as I. "
        "The text is divided into pairs of letters. Where both letters of a pair would be equal, "
        "an X (after an X, a Q) is put between them, and one is added at the end if a letter is "
        "left over. Two letters in one row are each replaced by the letter to the right, two in "
        "one column each by the letter below (past the edge it goes on at the other end), and "
        "others each by the letter in its own row and in the column of the other.",
        "The key word is {}.",
        _playfair,
        _draw_word,
        lambda length: 50_000,
    ),
}

REPLACING = tuple(name for name, cipher in CIPHERS.items() if not cipher.moves_letters)
MOVING = tuple(name for name, cipher in CIPHERS.items() if cipher.moves_letters)
