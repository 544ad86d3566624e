"""WordProblem: the text alone gives the answer, the small world, the trace, configuration."""

import re
from dataclasses import replace
from fractions import Fraction

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.word_problem import (
    CONTEXTS,
    Fact,
    Quantity,
    WordProblem,
    WordProblemConfig,
    WordProblemTask,
    needed,
    trace,
)

NAME = r"[a-z]+(?: [a-z]+)? in the \w+(?: \d+)? [a-z]+"
X, Y, Z = (rf"(?P<{letter}>{NAME})" for letter in "xyz")
N = r"(?P<n>[0-9/]+)"
WORDED = {"half": Fraction(1, 2), "one third": Fraction(1, 3), "one quarter": Fraction(1, 4)}
# What each English sentence means, written down apart from the generator's own tables.
MEANINGS = [
    (rf"There are {N} {X}", lambda n, y, z: n),
    (rf"The number of {X} is {N}", lambda n, y, z: n),
    (rf"There are {N} more {X} than {Y}", lambda n, y, z: y + n),
    (rf"The number of {X} is {N} more than the number of {Y}", lambda n, y, z: y + n),
    (rf"There are {N} fewer {X} than {Y}", lambda n, y, z: y - n),
    (rf"The number of {X} is {N} less than the number of {Y}", lambda n, y, z: y - n),
    (rf"There are {N} times as many {X} as {Y}", lambda n, y, z: y * n),
    (rf"The number of {X} is {N} times the number of {Y}", lambda n, y, z: y * n),
    (
        rf"There are (?P<n>half|one third|one quarter|1/\d+) as many {X} as {Y}",
        lambda n, y, z: y * n,
    ),
    (
        rf"The number of {X} is the number of {Y} divided by {N}",
        lambda n, y, z: y / n,
    ),
    (rf"There are {N}% as many {X} as {Y}", lambda n, y, z: y * n / 100),
    (rf"The number of {X} is {N}% of the number of {Y}", lambda n, y, z: y * n / 100),
    (rf"There are {N} as many {X} as {Y}", lambda n, y, z: y * n),
    (rf"The number of {X} is {N} of the number of {Y}", lambda n, y, z: y * n),
    (rf"There are as many {X} as {Y} and {Z} together", lambda n, y, z: y + z),
    (rf"The number of {X} is the number of {Y} plus the number of {Z}", lambda n, y, z: y + z),
    (
        rf"Subtract the number of {Z} from the number of {Y} to get the number of {X}",
        lambda n, y, z: y - z,
    ),
    (rf"The number of {X} is the number of {Y} minus the number of {Z}", lambda n, y, z: y - z),
]


def read(prompt):
    """Return the value of every quantity that the text names, and the one asked for."""
    opening, *sentences = re.split(r"(?<=[.?]) ", prompt)
    question = re.fullmatch(r"How many ([a-z ]+) are there (in .+)\?", sentences.pop())
    pending = [meaning(sentence.removesuffix(".")) for sentence in sentences]
    values = {}
    while pending:
        ready = [(x, rule) for x, sources, rule in pending if sources <= set(values)]
        assert ready, f"nothing follows any more after {opening!r}"
        values.update({x: rule(values) for x, rule in ready})
        pending = [item for item in pending if item[0] not in values]
    return values, values[f"{question[1]} {question[2]}"]


def meaning(sentence):
    found = []
    for pattern, rule in MEANINGS:
        match = re.fullmatch(pattern, sentence)
        if match:
            parts = match.groupdict()
            word = parts.get("n")
            n = None if word is None else WORDED[word] if word in WORDED else Fraction(word)
            y, z = parts.get("y"), parts.get("z")
            sources = {name for name in (y, z) if name}
            found.append(
                (parts["x"], sources, lambda v, r=rule, n=n, y=y, z=z: r(n, v.get(y), v.get(z)))
            )
    assert found, f"no meaning: {sentence}"
    return found[0]


@pytest.mark.parametrize("difficulty", [0, 1, 3, 6, 12])
def test_the_text_alone_gives_the_answer(difficulty):
    config = replace(WordProblemConfig.at(difficulty), backward_share=0.0)
    task = WordProblemTask(config)
    for seed in range(25):
        problem = task.generate(stream("WordProblem", difficulty, seed))
        values, asked = read(task.prompt(problem))
        assert len(values) == len(problem.quantities)
        assert all(value.denominator == 1 and value >= 1 for value in values.values())
        assert task.solve(problem) == str(asked)


@pytest.mark.parametrize("seed", range(20))
def test_whole_small_world(seed):
    task = WordProblemTask(WordProblemConfig.at(0))
    problem = task.generate(stream("WordProblem", "small", seed))
    expected = read(task.prompt(problem))[1]
    accepted = [v for v in range(-5, 260) if task.verify(problem, str(v)).score == 1.0]
    assert accepted == [expected]


@pytest.mark.parametrize("n_operations", [1, 4, 9])
def test_one_number_alone_makes_a_backward_story_true(n_operations):
    """The last number comes out of the story for the answer, and for its neighbours it does not."""
    task = WordProblemTask(WordProblemConfig(n_operations=n_operations, backward_share=1.0))
    for seed in range(25):
        problem = task.generate(stream("WordProblem", "backward", seed))
        opening, *sentences = re.split(r"(?<=[.?]) ", task.prompt(problem))
        facts = [meaning(sentence.removesuffix(".")) for sentence in sentences[:-1]]
        names = [x for x, _, _ in facts]
        last = next(x for x in names if names.count(x) == 2)
        stated = next(rule({}) for x, sources, rule in facts if x == last and not sources)
        derived = [sentences[i] for i, (x, sources, _) in enumerate(facts) if x != last or sources]
        asked = sentences[-1].removeprefix("How many ").removesuffix("?").replace(" are there", "")
        for shift in (-1, 0, 1):
            story = [opening, *derived, f"There are {problem.answer + shift} {asked}."]
            values, _ = read(" ".join([*story, sentences[-1]]))
            assert (values[last] == stated) == (shift == 0)


def test_a_backward_story_is_solved_by_an_equation():
    task = WordProblemTask(WordProblemConfig())
    quantities = tuple(Quantity(item, "in the Nova zoo") for item in ("lemurs", "otters"))
    facts = (Fact(1, "times", (0,), 3), Fact(1, "given", (), 12))
    problem = WordProblem("zoo", quantities, facts, 0, 4)
    steps = task.explain(problem)
    assert steps[:3] == [
        "Let k be the number of lemurs in the Nova zoo.",
        "The number of otters in the Nova zoo is 3k.",
        "The last one is 12, so k is (12 - 0) / 3 = 4.",
    ]
    assert steps[-1] == "otters in the Nova zoo: 3 * 4 = 12"
    assert task.step_credit(problem, "\n".join(steps)) == 1.0
    # the digits, and a quotient and a product of single digits
    assert task.effort(problem) == sum(c.isdigit() for c in "".join(steps)) + 2
    assert task.baseline(stream("b"), problem) == "15"


def test_every_operation_is_needed_and_no_distractor_is():
    task = WordProblemTask(WordProblemConfig(n_operations=9, n_distractors=5))
    for seed in range(30):
        problem = task.generate(stream("WordProblem", "needed", seed))
        used = needed(problem.facts, problem.asked)
        assert sum(fact.relation != "given" for fact in used) == 9
        assert len(problem.facts) - len(used) >= 5


def test_trace_ends_in_the_answer_and_every_line_holds():
    task = WordProblemTask(WordProblemConfig(n_operations=12))
    for seed in range(30):
        problem = task.generate(stream("WordProblem", "trace", seed))
        steps = trace(problem.facts, problem.asked)
        for step in steps:
            tokens = step.calculation.replace("\\cdot", "*").split()
            total = Fraction(tokens[0])
            for sign, number in zip(tokens[1::2], map(Fraction, tokens[2::2]), strict=True):
                total = {"+": total + number, "-": total - number}.get(
                    sign, total * number if sign == "*" else total / number
                )
            assert total == step.value
        assert steps[-1].value == problem.answer


def test_credit_for_steps():
    task = WordProblemTask(WordProblemConfig(n_operations=6))
    for seed in range(20):
        problem = task.generate(stream("WordProblem", "credit", seed))
        lines = task.explain(problem)
        assert lines[-1].endswith(f"= {problem.answer}")
        almost = (len(lines) - 1) / len(lines)
        assert task.step_credit(problem, "\n".join(reversed(lines))) == 1.0
        assert task.step_credit(problem, "\n".join(lines[1:])) == almost
        assert task.step_credit(problem, "\n".join([*lines, lines[0] + "1"])) == almost


@pytest.mark.parametrize(
    "text", ["", "7", "= 7", "a: b = 7", "a: 7", ":=1\n" * 2_000, ":" * 50_000]
)
def test_other_solutions_earn_no_credit(text):
    task = WordProblemTask(WordProblemConfig())
    assert task.step_credit(task.generate(stream("WordProblem", "none")), text) == 0.0


@pytest.mark.parametrize("context", CONTEXTS)
def test_context_is_kept(context):
    task = WordProblemTask(WordProblemConfig(context=context))
    assert {task.generate(stream("WordProblem", s)).context for s in range(5)} == {context}


def test_facts_are_told_in_order_unless_shuffled():
    plain = WordProblemTask(WordProblemConfig(shuffle=False))
    mixed = WordProblemTask(WordProblemConfig(shuffle=True))
    for seed in range(5):
        subjects = [f.subject for f in plain.generate(stream("WordProblem", seed)).facts]
        assert subjects == sorted(subjects)
    assert any(
        [f.subject for f in problem.facts] != sorted(f.subject for f in problem.facts)
        for problem in (mixed.generate(stream("WordProblem", seed)) for seed in range(5))
    )


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"n_operations": 0}, "n_operations"),
        ({"n_distractors": -1}, "n_distractors"),
        ({"max_addend": 3}, "max_addend"),
        ({"max_value": 100}, "max_value"),
        ({"max_factor": 1}, "max_factor"),
        ({"context": "circus"}, "context"),
    ],
)
def test_config_is_checked(knobs, message):
    with pytest.raises(ConfigError, match=message):
        WordProblemConfig(**knobs)
