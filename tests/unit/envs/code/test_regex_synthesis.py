"""RegexSynthesis: conditions and patterns against Python's own words and `re`."""

import itertools
import re

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.code.regex_synthesis import (
    RegexSynthesisConfig,
    RegexSynthesisTask,
    _automaton,
)
from rlvr_envs.generators.regular_languages.automata import Machine, explore
from rlvr_envs.generators.regular_languages.conditions import KINDS, draw_condition
from rlvr_envs.generators.regular_languages.dialect import PatternError, difference


def strings(letters, longest):
    for length in range(longest + 1):
        yield from map("".join, itertools.product(letters, repeat=length))


def cut(text, words):
    return not text or any(text.startswith(w) and cut(text[len(w) :], words) for w in words)


HOLDS = {
    "begins": lambda s, w, n: s.startswith(w[0]),
    "ends": lambda s, w, n: s.endswith(w[0]),
    "contains": lambda s, w, n: w[0] in s,
    "lacks": lambda s, w, n: w[0] not in s,
    "at_least": lambda s, w, n: s.count(w[0]) >= n[0],
    "at_most": lambda s, w, n: s.count(w[0]) <= n[0],
    "exactly": lambda s, w, n: s.count(w[0]) == n[0],
    "count_remainder": lambda s, w, n: s.count(w[0]) % n[0] == n[1],
    "length_remainder": lambda s, w, n: len(s) % n[0] == n[1],
    "from_start": lambda s, w, n: s[n[0] - 1 : n[0]] == w[0],
    "from_end": lambda s, w, n: len(s) >= n[0] and s[-n[0]] == w[0],
    "followed": lambda s, w, n: all(s[i + 1 : i + 2] == w[1] for i, c in enumerate(s) if c == w[0]),
    "ordered": lambda s, w, n: w[0] not in s[s.index(w[1]) :] if w[1] in s else True,
    "apart": lambda s, w, n: all(a != b for a, b in itertools.pairwise(s)),
    "ends_alike": lambda s, w, n: bool(s) and s[0] == s[-1],
    "runs": lambda s, w, n: all(
        len(list(group)) % n[0] == 0 for letter, group in itertools.groupby(s) if letter == w[0]
    ),
    "blocks": lambda s, w, n: cut(s, w),
    "value": lambda s, w, n: int(s or "0", 2) % n[0] == n[1],
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_condition_holds_as_its_words_say(kind):
    rng = stream("conditions", kind)
    letters = "01" if kind == "value" else "abc"
    for _ in range(6):
        condition = KINDS[kind].draw(rng, letters, 3)
        automaton = _automaton(letters, (condition,), 1000)
        seen = set()
        for text in strings(letters, 7 if len(letters) == 3 else 10):
            wanted = HOLDS[kind](text, condition.words, condition.numbers)
            assert automaton.accepts(text) == wanted, (condition, text)
            seen.add(wanted)
        assert seen == {True, False}


@pytest.mark.parametrize("difficulty", [0, 2, 4])
def test_oracle_patterns_match_the_same_strings_in_another_engine(difficulty):
    task = RegexSynthesisTask(RegexSynthesisConfig.at(difficulty))
    for seed in range(8):
        problem = task.generate(stream("oracle", difficulty, seed))
        if len(problem.fields) > 1:
            continue
        engine = re.compile(problem.pattern)
        for text in strings(problem.letters, 8 if len(problem.letters) == 2 else 6):
            wanted = all(HOLDS[c.kind](text, c.words, c.numbers) for c in problem.fields[0])
            assert bool(engine.fullmatch(text)) == wanted


def test_examples_of_several_fields_are_what_they_are_said_to_be():
    task = RegexSynthesisTask(RegexSynthesisConfig.at(7))
    for seed in range(5):
        problem = task.generate(stream("fields", seed))
        assert len(problem.fields) == 3
        assert len(problem.inside) >= 3
        for text in problem.inside + problem.outside:
            fields = text.split("-")
            meets = len(fields) == 3 and all(
                HOLDS[c.kind](field, c.words, c.numbers)
                for field, conditions in zip(fields, problem.fields, strict=True)
                for c in conditions
            )
            assert meets == (text in problem.inside)
            assert bool(re.fullmatch(problem.pattern, text)) == meets


PATTERNS = [
    *("a", "ab", "a|b", "(a|b)*", "a*b+", "(ab|ba)?", "[ab]c", "[^a]*", "[a-b]{2}", ".{2,3}"),
    *("a{0}", "(a?){3}", "(a*)*", "(a|)b", "((a|b)c){1,}", "a{,2}b", "(?:ab)*c?", "a{2,}|c"),
    *("(a*b*){2}c", "[^bc]|[a-c]{3}", "(a|b|c)(b|c)*", "(a{2}){2,3}", "()", "a()b", "^ab*$"),
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_means_what_it_means_to_another_engine(pattern):
    everything = _automaton("abc", (KINDS["at_least"].draw(stream("x"), "abc", 1),), 10)
    nothing = type(everything)("abc", ((0, 0, 0),), (False,))
    expected = next((s for s in strings("abc", 6) if re.fullmatch(pattern, s)), None)
    assert difference(pattern, nothing) == expected
    assert difference(pattern, type(everything)("abc", ((0, 0, 0),), (True,))) == next(
        (s for s in strings("abc", 6) if not re.fullmatch(pattern, s)), None
    )


@pytest.mark.parametrize(
    "pattern",
    [
        *("*a", "a**", "a++", "a*?", "(", ")", "a)", "[", "[]", "[^]", "a{", "a{x}", "a{3,2}"),
        *("a{1001}", "(?=a)", "(?P<n>a)", "(a)\\1", "\\d", "\\a", "a b", "A", "d", "a^b", "a$b"),
        *("a{}", "a{,}", "(" * 51 + ")" * 51, "a" * 20_001, "[b-a", "[a-d]", "\\", "[\\w]"),
    ],
)
def test_what_the_dialect_lacks_is_refused(pattern):
    wanted = _automaton("abc", (KINDS["apart"].draw(stream("x"), "abc", 1),), 10)
    with pytest.raises(PatternError):
        difference(pattern, wanted)


def test_different_ways_of_writing_are_accepted_and_near_misses_are_not():
    task = RegexSynthesisTask(RegexSynthesisConfig.at(4))
    for seed in range(10):
        problem = task.generate(stream("ways", seed))
        right = problem.pattern
        for other in (f"({right})", f"(?:{right})", f"{right}|{right}", f" {right}\n"):
            assert task.verify(problem, other).score == 1.0
        letter = problem.letters[0]
        for near in (f"({right}){letter}", f"{letter}({right})", f"({right})?({right})"):
            verdict = task.verify(problem, near)
            assert verdict.score == float(difference(near, _language_of(problem)) is None)
        for other in (".*", "", *problem.inside):
            assert task.verify(problem, other).score == 0.0


def _language_of(problem):
    from rlvr_envs.envs.code.regex_synthesis import _language

    return _language(problem.letters, problem.fields)


def test_the_counterexample_is_one():
    task = RegexSynthesisTask(RegexSynthesisConfig.at(1))
    problem = task.generate(stream("counterexample"))
    verdict = task.verify(problem, ".*")
    assert verdict.status is Status.WRONG
    text = re.search(r"string '(.*)'", verdict.detail)[1]
    assert not re.fullmatch(problem.pattern, text)


@pytest.mark.parametrize(
    "pattern",
    ["({0}{{1000}}){{1000}}", "(({0}?){{90}}){{90}}", "((()" * 1 + "{{1000}}){{1000}}){{1000}}"],
)
def test_exploding_patterns_are_given_up(pattern):
    task = RegexSynthesisTask(RegexSynthesisConfig.at(0))
    problem = task.generate(stream("explode"))
    verdict = task.verify(problem, pattern.format(problem.letters[0]))
    assert verdict.status is Status.TIMEOUT


def test_bad_knobs_are_errors():
    for knobs in ({"n_letters": 1}, {"n_fields": 0}, {"n_conditions": 7}, {"max_states": 3}):
        with pytest.raises(ConfigError):
            RegexSynthesisConfig(**knobs)


def test_value_conditions_are_drawn_for_digits_only():
    rng = stream("kinds")
    assert not any(draw_condition(rng, "ab", 3).kind == "value" for _ in range(400))
    assert any(draw_condition(rng, "01", 3).kind == "value" for _ in range(400))


def test_effort_and_baseline():
    task = RegexSynthesisTask(RegexSynthesisConfig.at(3))
    problem = task.generate(stream("regex", 0))
    assert task.effort(problem) == len(task.solve(problem))
    every = f"[{problem.letters}]*"
    assert task.baseline(stream("rng"), problem) == f"{every}-{every}"
    assert task.verify(problem, f"{every}-{every}").detail.startswith("it goes wrong")


@pytest.mark.parametrize("difficulty", [0, 1])
def test_prompts_of_the_first_levels_are_short(difficulty):
    task = RegexSynthesisTask(RegexSynthesisConfig.at(difficulty))
    assert all(len(task.prompt(task.generate(stream("short", s)))) < 760 for s in range(40))


def test_dots_and_negated_classes_match_hyphens_as_the_prompt_says():
    task = RegexSynthesisTask(RegexSynthesisConfig(n_fields=2))
    assert ". for any letter or hyphen" in task.prompt(task.generate(stream("fields", 0)))
    anything = explore("ab-", Machine(0, lambda state, letter: 0, lambda state: True), 10)
    assert difference(".*", anything) is None
    assert difference("(a|[^a])*", anything) is None
    assert difference("[ab]*", anything) == "-"
