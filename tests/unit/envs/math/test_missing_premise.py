"""MissingPremise: both halves proved by search, the phrases, what guessing earns, configuration."""

import re
from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
import sympy

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.math.missing_premise import (
    UNDETERMINED,
    MissingPremiseConfig,
    MissingPremiseProblem,
    MissingPremiseTask,
)
from rlvr_envs.generators.mathematics.premises import FORMS, KINDS, Premise

# What each sentence says about the quantities of a story, as (quantities, test).
READINGS = [
    (r"(\w+) has (\d+) stamps\.", lambda a, n: ([a], lambda x: x == n)),
    (
        r"(\w+) has (\d+) more stamps than (\w+)\.",
        lambda a, n, b: ([a, b], lambda x, y: x == y + n),
    ),
    (
        r"(\w+) has (\d+) times as many stamps as (\w+)\.",
        lambda a, n, b: ([a, b], lambda x, y: x == y * n),
    ),
    (r"(\w+) is (\d+) years older than (\w+)\.", lambda a, n, b: ([a, b], lambda x, y: x == y + n)),
    (
        r"In (\d+) years, the ages of (\w+) and (\w+) will add up to (\d+)\.",
        lambda n, a, b, s: ([a, b], lambda x, y: x + n + y + n == s),
    ),
    (r"On day (\d+), the bus travels at (\d+) km/h\.", lambda d, n: ([f"v{d}"], lambda x: x == n)),
    (
        r"On day (\d+), the bus travels for (\d+) hours\.",
        lambda d, n: ([f"t{d}"], lambda x: x == n),
    ),
    (
        r"The perimeter of plot (\d+) is (\d+) metres\.",
        lambda d, n: ([f"l{d}", f"w{d}"], lambda x, y: 2 * x + 2 * y == n),
    ),
    (
        r"Plot (\d+) is (\d+) metres longer than it is wide\.",
        lambda d, n: ([f"l{d}", f"w{d}"], lambda x, y: x == y + n),
    ),
    (r"Jar (\d+) contains (\d+) ml of syrup\.", lambda d, n: ([f"h{d}"], lambda x: 10 * x == n)),
    (
        r"The syrup in jar (\d+) is (\d+)% sugar by volume\.",
        lambda d, n: ([f"s{d}"], lambda x: 5 * x == n),
    ),
    (r"On day \d+, the bus carries \d+ people\.", lambda: ([], lambda: True)),
    (r"There are \d+ trees on plot \d+\.", lambda: ([], lambda: True)),
    (r"The syrup in jar \d+ costs \d+ cents\.", lambda: ([], lambda: True)),
]
DOMAIN = range(1, 71)


def constraints(text):
    found = []
    for sentence in re.findall(r"[^.?]+\.", text):
        for pattern, reading in READINGS:
            match = re.fullmatch(pattern, sentence.strip())
            if match:
                parts = [int(p) if i and p.isdigit() else p for i, p in enumerate(match.groups())]
                if sentence.strip().startswith("In "):
                    parts = [int(p) if p.isdigit() else p for p in match.groups()]
                found.append(reading(*parts))
    return found


def goal(problem):
    """Return the quantities in the question, and the answer that they give."""
    if problem.kind in PEOPLE:
        return [problem.asked[0]], lambda v: v[problem.asked[0]]
    steps = re.findall(r"\d+", problem.asked[0])
    first, second = {"journey": "vt", "plots": "lw", "mixture": "hs"}[problem.kind]
    names = [letter + k for k in steps for letter in (first, second)]
    if problem.kind == "mixture":
        return names, lambda v: Fraction(
            sum(v[f"h{k}"] * 5 * v[f"s{k}"] for k in steps), sum(v[f"h{k}"] for k in steps)
        )
    return names, lambda v: sum(v[first + k] * v[second + k] for k in steps)


PEOPLE = ("stamps", "ages")


def completions(problem, prompt):
    """Return the answers that assignments of small values give: one, or two of several."""
    facts = constraints(prompt.split(" Answer with the exact number")[0])
    assert len(facts) == len(problem.premises)
    asked, answer = goal(problem)
    left = list(dict.fromkeys([*asked, *(name for scope, _ in facts for name in scope)]))
    names: list[str] = []
    while left:  # a name with a number of its own first, then those that share a fact with others
        known = [
            sum(name in scope and {*scope} <= {name, *names} for scope, _ in facts) for name in left
        ]
        names.append(left.pop(known.index(max(known))))
    answers = set()

    def extend(values):
        if len(values) == len(names):
            answers.add(answer(values))
            return
        name = names[len(values)]
        for value in DOMAIN:
            if len(answers) > 1:
                return
            values[name] = value
            if all(
                test(*(values[n] for n in scope))
                for scope, test in facts
                if name in scope and values.keys() >= set(scope)
            ):
                extend(values)
            del values[name]

    extend({})
    return answers


def task_of(kind, share, **knobs):
    config = {"n_steps": 1, "n_distractors": 2, "max_number": 4, **knobs}
    return MissingPremiseTask(MissingPremiseConfig(kinds=(kind,), ill_posed_share=share, **config))


STORIES = [(kind, 1) for kind in KINDS if kind != "equations"] + [("stamps", 2), ("ages", 2)]


@pytest.mark.parametrize(("kind", "n_steps"), STORIES)
@pytest.mark.parametrize("seed", range(4))
def test_missing_premise_leaves_several_answers(kind, n_steps, seed):
    task = task_of(kind, 1.0, n_steps=n_steps)
    problem = task.generate(stream("MissingPremise", kind, seed))
    assert len(completions(problem, task.prompt(problem))) == 2
    assert task.solve(problem) == UNDETERMINED


@pytest.mark.parametrize(("kind", "n_steps"), STORIES)
@pytest.mark.parametrize("seed", range(4))
def test_full_premises_leave_one_answer(kind, n_steps, seed):
    task = task_of(kind, 0.0, n_steps=n_steps)
    problem = task.generate(stream("MissingPremise", kind, seed))
    assert completions(problem, task.prompt(problem)) == {problem.answer}


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("n_steps", [1, 2, 4])
def test_equations_agree_with_elimination(share, n_steps):
    task = task_of("equations", share, n_steps=n_steps, max_number=9)
    for seed in range(8):
        problem = task.generate(stream("MissingPremise", "equations", n_steps, seed))
        names = problem.premises[0].names
        rows = sympy.Matrix([premise.numbers for premise in problem.premises])
        matrix, right = rows[:, :-1], rows[:, -1]
        unit = sympy.Matrix([[int(name == problem.asked[0]) for name in names]])
        determined = matrix.col_join(unit).rank() == matrix.rank()
        assert determined == (share == 0.0)
        assert rows.rank() == matrix.rank()  # the premises do not contradict each other
        if determined:
            solution = matrix.gauss_jordan_solve(right)[0]
            assert solution[names.index(problem.asked[0])] == problem.answer


@pytest.mark.parametrize("seed", range(20))
def test_whole_small_world(seed):
    task = MissingPremiseTask(MissingPremiseConfig.at(0))
    problem = task.generate(stream("MissingPremise", "small", seed))
    accepted = [v for v in range(-2, 900) if task.verify(problem, str(v)).score == 1.0]
    says_so = task.verify(problem, UNDETERMINED).score == 1.0
    if problem.answer is None:
        assert says_so
        assert accepted == []
    else:
        assert not says_so
        assert accepted == ([problem.answer] if problem.answer.denominator == 1 else [])


TASK = MissingPremiseTask(MissingPremiseConfig())
PREMISES = (Premise("more", ("Ana", "Ben"), (3,)),)
ILL = MissingPremiseProblem("stamps", PREMISES, ("Ana",), None)
WELL = MissingPremiseProblem("stamps", PREMISES, ("Ana",), Fraction(7, 2))


@pytest.mark.parametrize(
    "phrase",
    [
        "cannot be determined",
        "Cannot be determined.",
        r"\text{cannot be determined}",
        r"\textbf{Undetermined}",
        '"not enough information"',
        "It cannot be determined",
        "The answer is: insufficient information!",
        "impossible to determine",
        "can't be determined",
    ],
)
def test_phrases_pass_on_the_ill_posed_half_only(phrase):
    assert TASK.verify(ILL, phrase).score == 1.0
    assert TASK.verify(WELL, phrase).score == 0.0


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "7/2",
        "maybe",
        "cannot be determined or 7/2",
        "7/2 cannot be determined",
        "determined",
        "cannot be determined cannot be determined",
        "unknown",
        "x",
    ],
)
def test_other_answers_fail_on_the_ill_posed_half(answer):
    assert TASK.verify(ILL, answer).score == 0.0


@pytest.mark.parametrize("answer", ["7/2", "3.5", r"\frac{7}{2}", "$3.5$"])
def test_numbers_pass_on_the_well_posed_half_only(answer):
    assert TASK.verify(WELL, answer).score == 1.0
    assert TASK.verify(ILL, answer).score == 0.0


def test_wrong_answers_do_not_tell_the_halves_apart():
    details = {TASK.verify(ILL, "3").detail, TASK.verify(WELL, "3").detail}
    details |= {TASK.verify(WELL, UNDETERMINED).detail}
    assert len(details) == 1
    assert TASK.verify(WELL, UNDETERMINED).status is Status.WRONG


def test_constant_answers_earn_no_more_than_documented():
    task = MissingPremiseTask(MissingPremiseConfig.at(1))
    answers = Counter(task.solve(task.generate(stream("MissingPremise", s))) for s in range(600))
    ranked = answers.most_common(2)
    assert ranked[0][0] == UNDETERMINED
    assert 0.42 < ranked[0][1] / 600 < 0.58
    assert ranked[1][1] / 600 < 0.1


def surface(task, problem):
    """Return what can be counted in a problem without following any premise, and ratios of it."""
    text = task.prompt(problem)
    forms = Counter(premise.form for premise in problem.premises)
    counts = [
        len(text),
        len(text.split()),
        len(re.findall(r"\d+", text)),
        len(re.findall(r"[.?]", text)),
        len(set(re.findall(r"\b[A-Z][a-z]+\b", text))),
        len(re.findall(r"\b[A-Z][a-z]+\b", text)),
        *(forms[form] for form in sorted([*FORMS, "equation"])),
        *(problem.kind == kind for kind in KINDS),
    ]
    ratios = [a / (1 + b) for a, b in permutations(counts[1:6], 2)]
    pairs = [("hours", "speed"), ("longer", "perimeter"), ("strength", "volume"), ("more", "has")]
    ratios += [forms[a] - forms[b] for a, b in pairs]
    return [1.0, *counts, *ratios]


@pytest.mark.parametrize("level", [0, 2, 5, 8])
def test_counting_does_not_tell_the_halves_apart(level):
    task = MissingPremiseTask(MissingPremiseConfig.at(level))
    problems = [task.generate(stream("surface", level, seed)) for seed in range(800)]
    features = np.array([surface(task, problem) for problem in problems])
    labels = np.array([problem.answer is None for problem in problems])
    features = (features - features[:400].mean(0)) / (features[:400].std(0) + 1e-9)
    features[:, 0] = 1.0
    weights, *_ = np.linalg.lstsq(features[:400], labels[:400] - 0.5, rcond=1e-6)
    said, right = features[400:] @ weights > 0, labels[400:]
    assert (said[right].mean() + (~said)[~right].mean()) <= 2 * 0.6


@pytest.mark.parametrize("kind", KINDS)
def test_premises_do_not_depend_on_which_question_is_asked(kind):
    for seed in range(8):
        rows = [
            task_of(kind, share, n_steps=5, max_number=20).generate(stream("same", kind, seed))
            for share in (0.0, 1.0)
        ]
        assert rows[0].premises == rows[1].premises
        assert rows[0].asked != rows[1].asked


def test_effort_counts_the_digits_of_premises_and_steps():
    premises = (Premise("has", ("Ana",), (12,)), Premise("more", ("Ben", "Ana"), (3,)))
    problem = MissingPremiseProblem("stamps", premises, ("Ben",), Fraction(15))
    assert TASK.explain(problem) == ["Ana: 12", "Ben: 12 + 3 = 15"]
    assert TASK.effort(problem) == 3 + 2 + 5


def test_a_sum_fixes_the_chain_that_holds_both_people():
    premises = (
        Premise("older", ("Ben", "Ana"), (4,)),
        Premise("sum_later", ("Ana", "Ben"), (5, 34)),
    )
    problem = MissingPremiseProblem("ages", premises, ("Ben",), Fraction(14))
    assert TASK.explain(problem)[-1] == "Ben: 10 + 4 = 14"


def test_baseline_adds_up_the_premises():
    assert TASK.baseline(stream("b"), ILL) == "3"


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"kinds": ("riddle",)}, "kinds"),
        ({"n_steps": 0}, "n_steps"),
        ({"n_steps": 101}, "n_steps"),
        ({"n_distractors": -1}, "n_distractors"),
        ({"max_number": 3}, "max_number"),
        ({"ill_posed_share": 1.2}, "ill_posed_share"),
    ],
)
def test_config_is_checked(knobs, message):
    with pytest.raises(ConfigError, match=message):
        MissingPremiseConfig(**knobs)
