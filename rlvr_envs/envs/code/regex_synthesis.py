"""Regular expressions for languages described in words."""

from dataclasses import dataclass
from functools import lru_cache

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.regular_languages.automata import (
    Automaton,
    both,
    explore,
    joined,
    live_states,
    minimise,
    sample,
    to_pattern,
)
from rlvr_envs.generators.regular_languages.conditions import (
    Condition,
    draw_condition,
    machine,
    say,
)
from rlvr_envs.generators.regular_languages.dialect import (
    MAX_COUNT,
    MAX_LENGTH,
    PatternError,
    TooLarge,
    difference,
)

_ALPHABETS = {2: ("ab", "01", "xy", "pq"), 3: ("abc", "xyz", "012"), 4: ("abcd", "wxyz")}
_SEPARATOR = "-"
_DRAWS = 400  # of a field, before the conditions are made easier


@dataclass(frozen=True, slots=True, kw_only=True)
class RegexSynthesisConfig(TaskConfig):
    """How many conditions there are, and how large the automata behind them."""

    n_letters: int = knob(2, "letters that strings are made of", choices=_ALPHABETS)
    n_fields: int = knob(1, "a string has this many fields, joined by hyphens", low=1)
    n_conditions: int = knob(2, "conditions on each field, all of which must hold", low=1, high=6)
    size: int = knob(
        2, "the numbers in conditions, and the lengths of words, go up to about this", low=2
    )
    max_states: int = knob(8, "of the smallest automaton of a field", low=4, high=40)
    n_examples: int = knob(4, "strings shown of each sort", low=0, high=100)

    @classmethod
    def at(cls, difficulty: int) -> "RegexSynthesisConfig":
        """Fields are added for ever; their conditions and automata grow up to a bound."""
        return cls(
            n_letters=min(4, 2 + difficulty // 4),
            n_fields=1 + difficulty // 3,
            n_conditions=min(3, 1 + difficulty // 2),
            size=2 + difficulty // 3,
            max_states=min(16, 4 + difficulty),
            n_examples=3 + difficulty // 2,
        )


@dataclass(frozen=True, slots=True)
class RegexSynthesisProblem:
    """The alphabet, the conditions on each field, some strings, and a pattern that is right."""

    letters: str
    fields: tuple[tuple[Condition, ...], ...]
    inside: tuple[str, ...]
    outside: tuple[str, ...]
    pattern: str = hidden()


@register("RegexSynthesis-v0", domain="code", answer_format="tag")
class RegexSynthesisTask(Task[RegexSynthesisConfig, RegexSynthesisProblem]):
    """Write a regular expression for exactly the strings that a description admits.

    Description:
        Each field of a string has to meet all of a few random conditions (a forbidden word, a
        remainder of a count, a letter at a place from the end, ...). Regular expressions have no
        "and" and no "not", so the conditions have to be worked into one another. A draw is taken
        if the smallest automaton of a field has a size within bounds.

    Observation:
        The alphabet, the conditions in words, some strings of either sort, and the dialect.

    Action:
        A regular expression: letters, ``.``, classes, groups, ``|`` and counts. No look-around,
        no back references.

    Reward:
        1 if the expression matches exactly the described strings, otherwise 0.

    Verification:
        Exact: the expression is read by a parser of the dialect into an automaton, which is
        walked side by side with the automaton of the conditions; the detail of a wrong answer
        names a shortest string on which they differ. No regular-expression engine sees the
        answer. An expression that needs more than a fixed number of steps to compare (huge
        counts, exploding subsets) is a timeout.

    Difficulty:
        Fields, letters, conditions per field, the numbers in them and the automata behind them.

    References:
        V. M. Glushkov, The abstract theory of automata, Russian Mathematical Surveys 16 (1961).
    """

    def generate(self, rng: Rng) -> RegexSynthesisProblem:
        letters = pick(rng, _ALPHABETS[self.config.n_letters])
        drawn = [self._field(rng, letters) for _ in range(self.config.n_fields)]
        fields = tuple(conditions for conditions, _ in drawn)
        pattern = _SEPARATOR.join(text if len(drawn) == 1 else f"({text})" for _, text in drawn)
        inside, outside = _examples(rng, letters, fields, self.config.n_examples)
        return RegexSynthesisProblem(letters, fields, inside, outside, pattern)

    def _field(self, rng: Rng, letters: str) -> tuple[tuple[Condition, ...], str]:
        """Draw the conditions of a field, with a pattern of them."""
        config = self.config
        least, longest = 2 + config.max_states // 4, 40 * config.max_states
        for attempt in range(2 * _DRAWS):
            easier = attempt >= _DRAWS
            count = 1 if easier else config.n_conditions
            size = 2 if easier else config.size
            conditions = tuple(draw_condition(rng, letters, size) for _ in range(count))
            if len({condition.kind for condition in conditions}) < count:
                continue
            automaton = _automaton(letters, conditions, 40 * config.max_states)
            if automaton is None or not least <= len(automaton.moves) <= config.max_states:
                continue
            if not _endless(automaton) or _idle(letters, conditions, automaton):
                continue
            pattern = to_pattern(automaton, letters + _SEPARATOR * (config.n_fields > 1), longest)
            if pattern is not None:
                return conditions, pattern
        raise ConfigError(f"no conditions were found that fit {config}; allow more states")

    def prompt(self, problem: RegexSynthesisProblem) -> str:
        parts = (
            "Write a regular expression that matches exactly the strings described here.",
            _description(problem),
            _listed("Match", problem.inside),
            _listed("Do not match", problem.outside),
            _dialect(problem.letters, len(problem.fields)),
        )
        return "\n\n".join(filter(None, parts))

    def verify(self, problem: RegexSynthesisProblem, answer: str) -> Verdict:
        text = answer.strip()
        if not text:
            return Verdict.unparsable("the answer is empty")
        try:
            counterexample = difference(text, _language(problem.letters, problem.fields))
        except PatternError as error:
            return Verdict.unparsable(str(error))
        except TooLarge:
            return Verdict.timeout("the expression is too large to compare: fewer counts, please")
        if counterexample is None:
            return Verdict.correct()
        return Verdict.wrong(f"it goes wrong on the string {counterexample!r:.200}")

    def solve(self, problem: RegexSynthesisProblem) -> str:
        return problem.pattern

    def effort(self, problem: RegexSynthesisProblem) -> int:
        """Count the characters of the expression that eliminating states gives."""
        return len(problem.pattern)

    def baseline(self, rng: Rng, problem: RegexSynthesisProblem) -> str:
        """Return an expression for all strings of the letters, whatever the conditions."""
        return _SEPARATOR.join([f"[{problem.letters}]*"] * len(problem.fields))


def _dialect(letters: str, n_fields: int) -> str:
    any_letter, hyphen = ("any letter", "") if n_fields == 1 else ("any letter or hyphen", " and -")
    return (
        f"Your expression must match the whole string. You may use these letters{hyphen}, . for "
        f"{any_letter}, classes such as [{letters[:2]}] and [^{letters[0]}], groups (...), "
        "alternatives |, and the repetitions *, +, ?, {n}, {n,} and {n,m} with numbers up to "
        f"{MAX_COUNT}. Use nothing else: no spaces, anchors, look-around or back references. The "
        f"expression may have at most {MAX_LENGTH} characters."
    )


def _automaton(letters: str, conditions: tuple[Condition, ...], limit: int) -> Automaton | None:
    found = explore(letters, both([machine(each, letters) for each in conditions]), limit)
    return None if found is None else minimise(found)


def _endless(automaton: Automaton) -> bool:
    """Whether strings of several neighbouring lengths are accepted, and some are not."""
    live = live_states(automaton)
    if 0 not in live or all(automaton.accepting):
        return False
    reached = frozenset({0})
    for _ in range(2 * len(automaton.moves)):  # by then, a finite language is used up
        reached = frozenset(after for state in reached for after in automaton.moves[state]) & live
    return bool(reached)


def _idle(letters: str, conditions: tuple[Condition, ...], whole: Automaton) -> bool:
    """Whether a condition follows from the others."""
    if len(conditions) == 1:
        return False
    for index in range(len(conditions)):
        rest = conditions[:index] + conditions[index + 1 :]
        if _automaton(letters, rest, 1000) == whole:
            return True
    return False


@lru_cache(maxsize=256)
def _language(letters: str, fields: tuple[tuple[Condition, ...], ...]) -> Automaton:
    parts = []
    for conditions in fields:
        part = _automaton(letters, conditions, 100_000)
        if part is None:
            raise ConfigError("the conditions of this problem need too large an automaton")
        parts.append(part)
    return parts[0] if len(parts) == 1 else joined(parts, _SEPARATOR)


def _examples(
    rng: Rng, letters: str, fields: tuple[tuple[Condition, ...], ...], count: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Draw strings that belong, and strings that do not but look as if they might."""
    whole = _language(letters, fields)
    parts = [_language(letters, (conditions,)) for conditions in fields]
    inside: list[str] = []
    outside: list[str] = []
    for _ in range(40 * count):
        pieces = [_member(rng, part) for part in parts]
        text = _SEPARATOR.join(pieces)
        if len(inside) < count and text not in inside:
            inside.append(text)
        near = _changed(rng, text, letters)
        if len(outside) < count and near not in outside and not whole.accepts(near):
            outside.append(near)
    order = lambda text: (len(text), text)  # noqa: E731  # two uses on the next line
    return tuple(sorted(inside, key=order)), tuple(sorted(outside, key=order))


def _member(rng: Rng, part: Automaton) -> str:
    """Draw a string of an endless language, of a length that some string has."""
    length = integer(rng, 0, 8)
    while (text := sample(rng, part, length)) is None:
        length += 1
    return text


def _changed(rng: Rng, text: str, letters: str) -> str:
    """Change, add or leave out one letter."""
    at = integer(rng, 0, len(text))
    letter = pick(rng, letters)
    if text[at : at + 1] == _SEPARATOR:
        return text[:at] + letter + text[at:]
    return text[:at] + pick(rng, (letter, "", letter + text[at : at + 1])) + text[at + 1 :]


def _description(problem: RegexSynthesisProblem) -> str:
    letters = ", ".join(problem.letters[:-1]) + f" and {problem.letters[-1]}"
    if len(problem.fields) == 1:
        several = "all of these conditions hold" if len(problem.fields[0]) > 1 else "this holds"
        return (
            f"A string consists of the letters {letters} and may be empty. Match a string if "
            f"and only if {several}:\n{_clauses(problem.fields[0])}"
        )
    head = (
        f"A string consists of {len(problem.fields)} fields with a hyphen (-) between neighbouring "
        f"ones. Each field consists of the letters {letters} and may be empty. Match a string if "
        "and only if all of these conditions hold for its fields:"
    )
    lines = [head]
    for number, conditions in enumerate(problem.fields, 1):
        lines.append(f"Field {number}:\n{_clauses(conditions)}")
    return "\n".join(lines)


def _clauses(conditions: tuple[Condition, ...]) -> str:
    return "\n".join(f"- {say(condition)}" for condition in conditions)


def _listed(title: str, strings: tuple[str, ...]) -> str:
    return f"{title}: {', '.join(f'{chr(34)}{text}{chr(34)}' for text in strings)}." * bool(strings)
