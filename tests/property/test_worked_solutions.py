"""The arithmetic in worked solutions is right, wherever a step states an equality of numbers."""

import ast
import operator
import re
from fractions import Fraction
from itertools import pairwise

import pytest

from rlvr_envs.core import registry
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.task import IndexedTask, Task

# Tasks whose steps are identities in a symbol, and a number that stands for it: of x any, of i a
# root of -1 modulo the prime.
PRIME = 998_244_353
SYMBOLS = {
    "rlvr/ComplexArithmetic-v0": ("i", pow(3, (PRIME - 1) // 4, PRIME)),
    "rlvr/PolynomialDivision-v0": ("x", 123_456_789),
}
# These steps are rows of matrices, functions, tactics and rows of numbers; unit tests hold them.
WITHOUT = {
    "rlvr/DefiniteIntegral-v0",
    "rlvr/Derivative-v0",
    "rlvr/IndefiniteIntegral-v0",
    "rlvr/MatrixInverse-v0",
    "rlvr/ProofSteps-v0",
    "rlvr/RecurrenceDiscovery-v0",
}
LEVELS = (0, 1, 2, 3, 5, 8)
SEEDS = 12

# A run of arithmetic. A single letter beside it is an unknown, so that the equality is no identity;
# `mod` counts as an operator.
_RUN = re.compile(r"(?:[0-9+\-*/^().= ]|(?<![a-z])mod(?![a-z]))+")
_DECIMAL = re.compile(r"([0-9]+)\.([0-9]+)")
_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


def equalities(step, symbol=None):
    """Yield (left text, right text, whether they are equal) of each equality of numbers."""
    if symbol:
        name, number = symbol
        step = re.sub(rf"(?<=[0-9)]){name}(?![a-z])", f"*({number})", step)
        step = re.sub(rf"(?<![a-z]){name}(?![a-z])", f"({number})", step)
    for run in _RUN.finditer(step):
        before, after = step[: run.start()], step[run.end() :]
        if "=" not in run[0] or beside_a_symbol(before, after, run[0]):
            continue
        sides = run[0].strip().rstrip(".").split("=")
        for left, right in pairwise(sides):
            values = value(left), value(right)
            if None not in values:
                gap = (values[0] - values[1]).numerator
                yield left.strip(), right.strip(), gap % PRIME == 0 if symbol else gap == 0


def beside_a_symbol(before, after, run):
    """Whether a run goes on in something that is no number: a name, a call, an unknown."""
    word = re.search(r"[A-Za-z]+$", before)
    if before and (before[-1] in "_\\{" or (word and not run.startswith(" "))):
        return True
    if word and len(word[0]) == 1 and re.match(r" [-+*/^]", run):
        return True
    word = re.match(r"[A-Za-z]+", after)
    return bool(after) and (after[0] in "\\_{!" or (word and not run.endswith(" ")))


def value(text):
    """Return the value of a text of arithmetic, or None if it is none."""
    try:
        text = _DECIMAL.sub(
            lambda found: f"({int(found[1] + found[2])}/1{'0' * len(found[2])})", text
        )
        tree = ast.parse(text.replace("^", "**").replace("mod", "%").strip(), mode="eval")
        return evaluate(tree.body)
    except (SyntaxError, TypeError):
        return None


def evaluate(node):
    if isinstance(node, ast.Constant) and not isinstance(node.value, type(...)):
        return Fraction(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -evaluate(node.operand)
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](evaluate(node.left), evaluate(node.right))
    raise TypeError(ast.dump(node))


def explained_problems(task_id):
    for level in LEVELS:
        env = TextEnv(task_id, difficulty=level)
        for seed in range(SEEDS):
            env.reset(seed=seed)
            steps = env.instance.task.explain(env.instance.problem)
            if steps:
                yield f"{task_id} at difficulty {level}, seed {seed}", steps


EXPLAINED = [
    spec.id
    for spec in map(registry.find, registry.task_ids("math"))
    if spec.task_type.explain is not Task.explain and not issubclass(spec.task_type, IndexedTask)
]


@pytest.mark.parametrize("task_id", EXPLAINED)
def test_equalities_in_steps_hold(task_id):
    for where, steps in explained_problems(task_id):
        for step in steps:
            for left, right, equal in equalities(step, SYMBOLS.get(task_id)):
                assert equal, f"{where}: {left} is not {right} in {step!r}"


def test_the_steps_hold_many_equalities():
    counts = {
        task_id: sum(
            len(list(equalities(step, SYMBOLS.get(task_id))))
            for _, steps in explained_problems(task_id)
            for step in steps
        )
        for task_id in EXPLAINED
    }
    assert {task_id for task_id, count in counts.items() if count < SEEDS // 2} == WITHOUT


@pytest.mark.parametrize(
    ("step", "found"),
    [
        ("12 = 2 * 5 + 2, so 7 * (-3) mod 5 = 4.", [True, True]),
        ("1/2 + 1/3 = 3/6 + 2/6 = 5/6", [True, True]),
        ("Then 2 + 2 = 5.", [False]),
        ("2x + 3 = 7", []),
        ("x = 4 / 2 = 3", [False]),
        ("x - 4 = 10", []),
        ("6 = 3x", []),
        ("a_3 = 7", []),
        ("f(3) = 10", []),
        ("C(5, 2) = 10", []),
        ("3! = 6", []),
        ("2.5 * 4 = 10", [True]),
    ],
)
def test_reading_of_equalities(step, found):
    assert [equal for _, _, equal in equalities(step)] == found
