"""Ciphers: read an encrypted English message, with the key, a known word or nothing but it."""

from dataclasses import dataclass
from itertools import product
from math import prod

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.words.ciphers import ALPHABET, CIPHERS, MOVING, REPLACING, pairs_of
from rlvr_envs.generators.words.messages import draw_message, made_of_words
from rlvr_envs.verifiers.certificate import lines
from rlvr_envs.verifiers.parse import MAX_CHARACTERS

_CRIB_SHARE = 10  # a known word saves all but one in so many trials
_ROUND = ("caesar", "affine", "substitution", "vigenere", "rail_fence", "columnar")
_LAYERED = ("substitution", "vigenere", "rail_fence", "columnar")
_FIRST_KEYS = ("affine", "substitution", "vigenere", "rail_fence", "columnar")
_KEY_LENGTHS = (3, 14)


@dataclass(frozen=True, slots=True, kw_only=True)
class CipherConfig(TaskConfig):
    """Which ciphers there are, what is told about them, and how long the message is."""

    kinds: tuple[str, ...] = knob(_ROUND, "ciphers to draw from", choices=CIPHERS)
    n_layers: int = knob(1, "ciphers applied one after the other", low=1, high=3)
    given: str = knob("nothing", "what is told of the key", choices=("key", "crib", "nothing"))
    kind_told: bool = knob(True, "whether the kinds of cipher are told")
    n_words: int = knob(40, "words of the message, or a few more", low=3, high=200)
    key_length: int = knob(6, "letters of a key word", low=_KEY_LENGTHS[0], high=_KEY_LENGTHS[1])
    spaces_kept: bool = knob(True, "whether the spaces stay, where no letter changes its place")

    def check(self) -> None:
        layers = self.layers
        if len(layers) < self.n_layers or not all(layers):
            raise ConfigError(
                "kinds needs a cipher that replaces letters "
                f"({', '.join(REPLACING)}) for the first layer of several and one that moves "
                f"letters ({', '.join(MOVING)}) for the others, got {self.kinds}"
            )
        if self.given == "key" and not self.kind_told:
            raise ConfigError("kind_told must be true where given is 'key'")

    @property
    def layers(self) -> list[list[str]]:
        """The ciphers that each layer may be."""
        if self.n_layers == 1:
            return [list(self.kinds)]
        moving = [kind for kind in self.kinds if kind in MOVING]
        return [[kind for kind in self.kinds if kind in REPLACING], *[moving] * (self.n_layers - 1)]

    @classmethod
    def at(cls, difficulty: int) -> "CipherConfig":
        """The key is told at first, then a word of the message, then neither.

        The ciphers have more and more keys. From level 8 on their kind is not told, level 9 is
        Playfair, level 10 has two layers, and from level 12 on three, with longer key words.
        """
        levels = (
            cls(kinds=("caesar",), given="key", n_words=3),
            cls(kinds=_FIRST_KEYS, given="key", n_words=7, key_length=4),
            cls(kinds=("caesar",), n_words=8),
            cls(kinds=("affine", "rail_fence"), n_words=12),
            cls(kinds=("substitution",), given="crib", n_words=30),
            cls(kinds=("vigenere", "columnar"), n_words=35),
            cls(kinds=("substitution",), n_words=45),
            cls(kinds=("substitution",), n_words=60, spaces_kept=False),
            cls(kinds=_FIRST_KEYS, n_words=60, kind_told=False, spaces_kept=False),
            cls(kinds=("playfair",), n_words=60),
        )
        if difficulty < len(levels):
            return levels[difficulty]
        return cls(
            kinds=_LAYERED,
            n_layers=2 if difficulty < 12 else 3,
            kind_told=False,
            n_words=70,
            key_length=min(_KEY_LENGTHS[1], difficulty - 4),
        )


@dataclass(frozen=True, slots=True)
class CipherProblem:
    """The ciphertext, and what is told: ciphers and keys in the order of encryption, a word."""

    ciphertext: str
    kinds: tuple[str, ...]  # empty where they are not told
    keys: tuple[str, ...]  # empty where they are not told
    crib: str
    plaintext: str = hidden()
    layers: tuple[str, ...] = hidden()
    secrets: tuple[str, ...] = hidden()


@register("Cipher-v0", domain="puzzles", answer_format="tag")
class CipherTask(Task[CipherConfig, CipherProblem]):
    """Decrypt a message in English that classical ciphers have encrypted.

    Description:
        Sentences of common words, encrypted by one to three ciphers with random keys: Caesar,
        affine, simple substitution, Vigenère, rail fence, columnar transposition or Playfair.

    Observation:
        The ciphertext, how the ciphers work, and the key or a word of the message where it is told.

    Action:
        The message.

    Reward:
        1 for the message, otherwise 0.

    Verification:
        The letters count; case, spaces and punctuation do not. Where letters are replaced by fixed
        ones, another message is right too if a key turns it into the same ciphertext and it is made
        of known words: rare letters may be ambiguous. For the other ciphers the message has several
        times the letters that make the key unique; a second reading of words is not looked for.

    Difficulty:
        First the key is told, then a word of the message, then nothing; the ciphers go from 25 keys
        to those that only frequent letters, frequent pairs and probable words betray; then their
        kind is not told, and several are applied. Effort is the letters of the message times the
        decryptions that the usual attack makes: all keys, or the steps of a hill climb, as
        `rlvr_envs.generators.words.ciphers` states them.

    References:
        Shannon, "Communication Theory of Secrecy Systems", 1949, for the length that makes a key
        unique. Jakobsen, "A Fast Method for Cryptanalysis of Substitution Ciphers", 1995. Cowan,
        "Breaking Short Playfair Ciphers with the Simulated Annealing Algorithm", 2008.
    """

    def generate(self, rng: Rng) -> CipherProblem:
        config = self.config
        words = draw_message(rng, config.n_words)
        layers = tuple(pick(rng, kinds) for kinds in config.layers)
        keys = tuple(CIPHERS[kind].draw_key(rng, config.key_length) for kind in layers)
        letters = "".join(words)
        for kind, key in zip(layers, keys, strict=True):
            letters = CIPHERS[kind].encrypt(letters.lower(), key)
        spaced = config.spaces_kept and not {*MOVING, "playfair"} & set(layers)
        return CipherProblem(
            ciphertext=_spaced(letters, words) if spaced else _in_fives(letters),
            kinds=layers if config.kind_told else (),
            keys=keys if config.given == "key" else (),
            crib=_crib(rng, words) if config.given == "crib" else "",
            plaintext=" ".join(words),
            layers=layers,
            secrets=keys,
        )

    def prompt(self, problem: CipherProblem) -> str:
        told = []
        if problem.kinds:
            for number, kind in enumerate(problem.kinds):
                cipher = CIPHERS[kind]
                begin = f"It was encrypted with a {cipher.name}."
                if len(problem.kinds) > 1:
                    begin = f"Step {number + 1} of the encryption is a {cipher.name}."
                if cipher.name[0] in "aeiou":
                    begin = begin.replace(" a ", " an ", 1)
                key = problem.keys[number] if problem.keys else ""
                shown = f" {cipher.key.format(_shown(kind, key))}" if key else ""
                told.append(f"{begin} {cipher.rule}{shown}")
        else:
            told.append(self._kinds_by_rule())
        if not problem.keys:
            told.append("The key is not known.")
        if problem.crib:
            told.append(f"The message contains the word {problem.crib.upper()}.")
        spaces = (
            "The spaces between the words were kept."
            if self._keeps_words(problem)
            else "The spaces between the words were removed before the encryption; the ciphertext "
            "is written in groups of five letters."
        )
        return (
            "Decrypt this message. It is made of English sentences without punctuation, written "
            f"in the letters A to Z.\n\n{problem.ciphertext}\n\n"
            + "\n\n".join(told)
            + f"\n\n{spaces}\n\nAnswer with the whole decrypted message. Only its letters count: "
            "spaces, punctuation, upper and lower case do not matter."
        )

    def _keeps_words(self, problem: CipherProblem) -> bool:
        groups = problem.ciphertext.split(" ")
        return any(len(group) != 5 for group in groups[:-1])

    def _kinds_by_rule(self) -> str:
        """Return the ciphers that it may be, with their rules."""
        config = self.config
        number = {
            1: "It was encrypted with one of the ciphers below, but it is not known which.",
            2: "It was encrypted with two of the ciphers below, one after the other, but it is not "
            "known with which: the first replaces letters and the second moves them.",
            3: "It was encrypted with three of the ciphers below, one after the other, but it is "
            "not known with which: the first replaces letters, the others move them and may be of "
            "the same kind.",
        }[config.n_layers]
        rules = [f"- {CIPHERS[kind].name}: {CIPHERS[kind].rule}" for kind in config.kinds]
        return "\n".join([number, *rules])

    def verify(self, problem: CipherProblem, answer: str) -> Verdict:
        letters = read_letters(answer)
        if letters is None:
            return Verdict.unparsable("expected the decrypted message, in the letters A to Z")
        plain = problem.plaintext.replace(" ", "")
        playfair = problem.layers[0] == "playfair"
        if letters == plain or (playfair and pairs_of(letters) == pairs_of(plain)):
            return Verdict.correct()
        if len(letters) != len(plain):
            return Verdict.wrong("the message has another number of letters")
        open_letters = "substitution" in problem.layers and not problem.keys
        if not (open_letters and problem.crib in letters and _relabelled(plain, letters)):
            return Verdict.wrong("this is not the message")
        if not made_of_words(letters):
            return Verdict.wrong("a part of this message is no English word")
        return Verdict.correct("another message that some key encrypts in this way")

    def solve(self, problem: CipherProblem) -> str:
        return problem.plaintext

    def explain(self, problem: CipherProblem) -> list[str]:
        """Return the ciphers with their keys, and what undoing each, the last first, leaves."""
        letters, texts = problem.plaintext.replace(" ", ""), list[str]()
        for kind, key in zip(problem.layers, problem.secrets, strict=True):
            texts.append(letters)
            letters = CIPHERS[kind].encrypt(letters.lower(), key)
        steps = []
        for kind, key, before in reversed(
            list(zip(problem.layers, problem.secrets, texts, strict=True))
        ):
            cipher = CIPHERS[kind]
            steps.append(
                f"The {cipher.name} can be undone. {cipher.key.format(_shown(kind, key))} That "
                f"leaves {_in_fives(before.upper())}."
            )
        return steps

    def effort(self, problem: CipherProblem) -> float:
        """Return letters times decryptions: one where the key is told."""
        n_letters = len(problem.plaintext.replace(" ", ""))
        if problem.keys:
            return float(n_letters * len(problem.keys))
        length = self.config.key_length
        if problem.kinds:
            trials = prod(CIPHERS[kind].trials(length) for kind in problem.layers)
        else:
            trials = sum(
                prod(CIPHERS[kind].trials(length) for kind in kinds)
                for kinds in product(*self.config.layers)
            )
        return float(n_letters * trials) / (_CRIB_SHARE if problem.crib else 1)

    def baseline(self, rng: Rng, problem: CipherProblem) -> str:
        """Take the text for a Caesar cipher: with the key that is told, or with a random one."""
        key = problem.keys[0] if problem.kinds == ("caesar",) and problem.keys else ""
        shift = int(key or integer(rng, 1, 25))
        return CIPHERS["caesar"].encrypt(
            "".join(problem.ciphertext.lower().split()), str(26 - shift)
        )


def read_letters(text: str) -> str | None:
    """Return the letters of a message in lower case; None if it has none, or others or digits."""
    if len(text) > MAX_CHARACTERS:
        return None
    letters = [mark for mark in "".join(lines(text)) if mark.isalnum()]
    plain = "".join(letters).lower()
    return plain if plain and set(plain) <= set(ALPHABET) else None


def _relabelled(one: str, other: str) -> bool:
    """Whether exchanging letters for others, always in the same way, turns one into the other."""
    pairs = len(set(zip(one, other, strict=True)))
    return pairs == len(set(one)) == len(set(other))


def _shown(kind: str, key: str) -> str:
    """Return a key as it is told."""
    return " and ".join(key.split()) if kind == "affine" else key.upper()


def _crib(rng: Rng, words: list[str]) -> str:
    longest = max(map(len, words))
    return pick(rng, sorted({word for word in words if len(word) >= min(6, longest)}))


def _spaced(letters: str, words: list[str]) -> str:
    """Return letters divided like some words."""
    found, at = [], 0
    for word in words:
        found.append(letters[at : at + len(word)])
        at += len(word)
    return " ".join(found)


def _in_fives(letters: str) -> str:
    return " ".join(letters[i : i + 5] for i in range(0, len(letters), 5))
