"""InstructionConstraints: every kind of condition by hand, and that the conditions go together."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.puzzles.instruction_constraints import (
    InstructionConstraintsConfig,
    InstructionConstraintsProblem,
    InstructionConstraintsTask,
)
from rlvr_envs.generators.text_conditions.conditions import KINDS, Condition
from rlvr_envs.generators.text_conditions.details import Details
from rlvr_envs.generators.text_conditions.text_view import TextView, definitions

TASK = InstructionConstraintsTask(InstructionConstraintsConfig())

# Kind, details, a text that meets the condition, one that does not.
CASES = [
    ("words", Details(2, 3), "one, two-three", "one two-three's"),
    ("topic", Details(words=("cat", "dog")), "A DOG, a cat.", "dogs and a cat"),
    ("repetition", Details(1), "a cat", "A cat and a dog"),
    ("sentences", Details(2), "One! ... Two", "One! Two\nthree"),
    ("paragraphs", Details(2), "one\ntwo\n \n\n!\n\nthree", "one\ntwo"),
    ("first word", Details(words=("cat",)), '"Cat!" he said', "the cat"),
    ("last word", Details(words=("cat",)), "the cat's cat?", "the cat's"),
    ("word count", Details(2, words=("a",)), "a cat, a dog", "a cat"),
    ("missing letter", Details(words=("e",)), "a cat", "thE cat"),
    ("letter count", Details(2, words=("t",)), "The cat", "the cat that"),
    ("missing words", Details(words=("the", "a")), "atheist cats", "The cats"),
    ("sentence lengths", Details(2, 3), "The cat. The old cat!", "The cat. Sat"),
    ("sentence length", Details(2, 3), "Oh! The old cat.", "The old cat. Oh!"),
    ("sentence start", Details(2, words=("the",)), "Oh. 7 The cat", "The cat. Oh."),
    ("sentence end", Details(1, words=("cat",)), "Old cat; 7. Oh", "Old dog. Cat"),
    ("initials", Details(words=("ab",)), "a c. Be", "a b. c"),
    ("growing sentences", Details(), "One. Now two. Now there is more", "One. Two"),
    ("same ends", Details(), "The cat. Oh! THE, cat?", "The cat. Oh! The dog."),
    ("paragraph length", Details(2, 2), "One.\n\nTwo. Three", "One. Two\n\nThree"),
    ("paragraph start", Details(2, words=("cat",)), "one\n\n- Cat", "Cat\n\none"),
    ("lower case", Details(), "a cat, 7", "A cat"),
    ("upper case", Details(), "A CAT, 7", "A CaT"),
    ("sentence case", Details(), "A cat. 7 Cats", "A cat. the dog"),
    ("capitals", Details(1), "A CAT sat", "A cat sat"),
    ("question marks", Details(2), "Why? Who?", "Why?"),
    ("exclamation marks", Details(1), "Oh!", "Oh!!"),
    ("commas", Details(0), "no", "no, no"),
    ("semicolons", Details(1), "a;b", "a,b"),
    ("numbers", Details(2), "7 cats in 2001", "7 cats in 20.01"),
    ("number", Details(words=("12",)), "about 12.", "about 123"),
    ("list items", Details(2), "so\n- a\n - b", "- a\n-b"),
    ("title", Details(), "<<A cat>>\n\nIt sat", "A <<cat>>\n\nIt sat"),
    ("quotation", Details(), '"A cat."', 'A "cat"'),
    ("longest word", Details(3), "the old cat's", "the cats"),
    ("long words", Details(4, 1), "the cats sat", "the cat sat"),
    ("starting letter", Details(2, words=("c",)), "Cats and cats", "cats can catch"),
    ("order", Details(words=("b", "a")), "b a b", "a b a"),
    ("different words", Details(2), "a cat, a cat", "a cat, the cat"),
]


def test_the_cases_are_all_kinds():
    assert [case[0] for case in CASES] == list(KINDS)
    assert len(KINDS) >= 20


@pytest.mark.parametrize(("kind", "details", "good", "bad"), CASES, ids=[c[0] for c in CASES])
def test_a_condition_holds_and_fails(kind, details, good, bad):
    condition = Condition(kind, details)
    assert condition.holds(TextView(good))
    assert not condition.holds(TextView(bad))
    assert condition.holds(TextView(f" \r\n{good}\n"))
    assert condition.say().endswith(".")


@pytest.mark.parametrize("kind", KINDS)
def test_no_condition_stumbles_over_strange_texts(kind):
    details = next(details for name, details, _, _ in CASES if name == kind)
    for text in ("", "\ud800", "?", "\n\n", "İ ſ ß", "- ", "<<>>", '"', "1" * 500):
        assert Condition(kind, details).holds(TextView(text)) in (True, False)


@pytest.mark.parametrize("difficulty", [0, 2, 5, 9, 14])
def test_conditions_go_together_and_are_different(difficulty):
    config = InstructionConstraintsConfig.at(difficulty)
    task = InstructionConstraintsTask(config)
    for seed in range(25):
        problem = task.generate(stream("together", seed))
        verdict = task.verify(problem, problem.text)
        assert verdict.score == verdict.parts["share"] == 1.0
        assert len(set(problem.conditions)) == len(problem.conditions)
        assert len(problem.conditions) <= config.n_conditions
        sentences = [condition.say() for condition in problem.conditions]
        assert len(set(sentences)) == len(sentences)


def test_every_kind_is_asked_for():
    task = InstructionConstraintsTask(InstructionConstraintsConfig(n_conditions=25, n_sentences=6))
    problems = [task.generate(stream("kinds", seed)) for seed in range(150)]
    assert {c.kind for problem in problems for c in problem.conditions} == set(KINDS)


def test_whole_small_world():
    """At the lowest level the rules are those of three conditions, and any order will do."""
    task = InstructionConstraintsTask(InstructionConstraintsConfig.at(0))
    for seed in range(30):
        problem = task.generate(stream("small", seed))
        details = {c.kind: c.details for c in problem.conditions}
        low, high = details["words"].number, details["words"].other
        topic = details["topic"].words
        alphabet = (*topic, "zebra", "zinc")
        for length in range(1, 5):
            for words in itertools.product(alphabet, repeat=length):
                most = max(words.count(word) for word in words)
                right = low <= length <= high and set(topic) <= set(words) and most <= 1
                assert details["repetition"].number == 1
                assert task.verify(problem, " ".join(words)).score == right


SMALL = InstructionConstraintsProblem(
    (
        Condition("words", Details(3, 4)),
        Condition("topic", Details(words=("cat", "sat"))),
        Condition("repetition", Details(1)),
        Condition("first word", Details(words=("the",))),
    ),
    "The cat sat.",
)


@pytest.mark.parametrize(
    ("text", "score", "share"),
    [
        ("The cat sat.", 1.0, 1.0),
        ("the sat cat there", 1.0, 1.0),
        ("The cat sat. The cat sat.", 0.0, 0.5),
        ("The the cat sat", 0.0, 0.75),
        ("A cat sat", 0.0, 0.75),
        ("the dog", 0.0, 0.5),
        ("cat", 0.0, 0.25),
        ("cat sat " * 100, 0.0, 0.25),
    ],
)
def test_all_conditions_count_and_the_share_is_told(text, score, share):
    verdict = TASK.verify(SMALL, text)
    assert verdict.score == score
    assert verdict.parts["share"] == share


def test_unmet_conditions_are_named_and_nothing_is_no_answer():
    assert TASK.verify(SMALL, "A dog sat").detail == "not met: 2, 4"
    assert TASK.verify(SMALL, "?!").status is Status.UNPARSABLE
    assert TASK.verify(SMALL, "the cat sat" + " " * 20_001).score == 0.0


@pytest.mark.parametrize("knob", [{"n_conditions": 2}, {"n_sentences": 0}, {"n_sentences": 201}])
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        InstructionConstraintsConfig(**knob)


def test_look_alikes_of_letters_are_no_letters():
    kelvin, dotted = "\u212a", "\u0130"  # both have an ASCII letter in their lower case
    view = TextView(f"One. {kelvin}. {dotted}. Two")
    assert view.words == ["one", "two"]
    assert view.sentences == [["one"], ["two"]]
    for letter in "ki":
        assert Condition("missing letter", Details(words=(letter,))).holds(view)
        assert not Condition("letter count", Details(1, words=(letter,))).holds(view)


def test_the_longest_text_is_read():
    config = InstructionConstraintsConfig(n_conditions=100, n_sentences=200)
    task = InstructionConstraintsTask(config)
    for seed in range(5):
        problem = task.generate(stream("instructions", "long", seed))
        assert task.verify(problem, problem.text).score == 1.0


def test_only_the_terms_that_occur_are_defined():
    assert "sentence" not in definitions(["No word occurs more than once."])
    assert "run of the digits" in definitions(["The text has exactly 1 number written in digits."])
    both = definitions(["Paragraph 2 has exactly 1 sentence.", "Sentence 3 has exactly 2 words."])
    assert "- Sentences and paragraphs are numbered from 1." in both.splitlines()
    one = definitions(["Paragraph 2 has exactly 1 sentence."])
    assert "- Paragraphs are numbered from 1." in one.splitlines()
    assert "A sentence has at least one word." in one


def test_effort_counts_words_times_conditions():
    assert TASK.effort(SMALL) == 3 * 4


def test_the_baseline_writes_the_words_that_are_asked_for():
    text = TASK.baseline(stream("text"), SMALL)
    words = text.lower().rstrip(".").split()
    assert words[:2] == ["cat", "sat"]
    assert len(words) == 3
    assert TASK.verify(SMALL, text).parts["share"] >= 0.5
