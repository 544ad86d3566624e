"""Function synthesis: write a Python function from a specification in numbered steps."""

import json
from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.code_length import code_length
from rlvr_envs.generators.specified_functions.pipelines import (
    BRANCH,
    PLAIN,
    REFERENCE,
    RULE,
    Pipeline,
)
from rlvr_envs.generators.specified_functions.specifications import KINDS, STARTS, draw_value
from rlvr_envs.verifiers.program import Call, judge_function

_EXAMPLES = 3  # shown
_TESTS = 12  # hidden; the last one is empty
_EMPTY = {"ints": [], "words": [], "text": "", "counts": {}}


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSynthesisConfig(TaskConfig):
    """How many steps there are, of which forms, and how large the inputs are."""

    n_steps: int = knob(3, "steps in total", low=1)
    n_branches: int = knob(0, "steps that depend on a condition")
    n_references: int = knob(0, "steps that use the result of an earlier one")
    n_rules: int = knob(0, "steps that apply a rule known only from some of its values")
    input_size: int = knob(7, "largest number of parts of an input", low=2)

    def check(self) -> None:
        special = self.n_branches, self.n_references, self.n_rules
        if min(special) < 0 or sum(special) > self.n_steps:
            raise ConfigError(
                "n_branches, n_references and n_rules are at least 0 and together at most "
                f"n_steps, got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "FunctionSynthesisConfig":
        """The steps grow, the conditions, references and unexplained rules, and the inputs."""
        return cls(
            n_steps=1 + difficulty,
            n_branches=(difficulty + 1) // 3,
            n_references=difficulty // 3,
            n_rules=difficulty // 4,
            input_size=5 + difficulty // 2,
        )


@dataclass(frozen=True, slots=True)
class FunctionSynthesisProblem:
    """The steps and examples; hidden tests and a solution. Values are JSON texts."""

    takes: str
    gives: str
    steps: tuple[str, ...]
    examples: tuple[tuple[str, str], ...]
    tests: tuple[tuple[str, str], ...] = hidden()
    source: str = hidden()


@register("FunctionSynthesis-v0", domain="code", answer_format="fenced:python")
class FunctionSynthesisTask(Task[FunctionSynthesisConfig, FunctionSynthesisProblem]):
    """Write the Python function that a list of steps in words describes.

    Description:
        The steps are drawn from some seventy operations on lists of integers or words, on strings
        and on dicts: filters, maps, folds, sorts with keys, windows, blocks, groups. Further on
        come steps that depend on a condition, that use an earlier result, or that apply a rule of
        which only some values are known.

    Observation:
        The signature, the steps, and three examples.

    Action:
        Python source that defines `transform`.

    Reward:
        1 if the function returns the right value on every hidden test, otherwise 0.

    Verification:
        The code runs in a sandbox on twelve hidden inputs, an empty one among them; the values and
        their types are compared outside. Where a rule is known from values alone, another rule
        could share those values; the hidden inputs decide.

    Difficulty:
        The steps, and the conditions, references and rules among them, grow, and so do the
        inputs.

    References:
        Chen et al., Evaluating Large Language Models Trained on Code, arXiv:2107.03374, section 6
        (chains of building blocks described in words).
    """

    judged_in_sandbox = True

    def generate(self, rng: Rng) -> FunctionSynthesisProblem:
        config = self.config
        start = pick(rng, STARTS)
        inputs = [draw_value(rng, start, config.input_size) for _ in range(_EXAMPLES + _TESTS - 1)]
        chain = Pipeline([start], [(*inputs, _EMPTY[start])])
        forms = [BRANCH] * config.n_branches + [REFERENCE] * config.n_references
        forms += [RULE] * config.n_rules
        forms += [PLAIN] * (config.n_steps - len(forms))
        order = rng.permutation(len(forms)).tolist()
        for place, index in enumerate(order, start=1):
            chain.extend(rng, forms[index], last=place == config.n_steps)
        written = tuple(
            (json.dumps(x), json.dumps(y))
            for x, y in zip(chain.values[0], chain.values[-1], strict=True)
        )
        return FunctionSynthesisProblem(
            chain.kinds[0],
            chain.kinds[-1],
            tuple(step.words for step in chain.steps),
            written[:_EXAMPLES],
            written[_EXAMPLES:],
            chain.source("transform"),
        )

    def prompt(self, problem: FunctionSynthesisProblem) -> str:
        takes, gives = KINDS[problem.takes], KINDS[problem.gives]
        steps = "\n".join(
            f"{i}. {words[0].upper()}{words[1:]}." for i, words in enumerate(problem.steps, 1)
        )
        examples = "\n".join(
            f"transform({json.loads(x)!r}) == {json.loads(y)!r}" for x, y in problem.examples
        )
        applies = (
            "applies this step and returns the result:"
            if len(problem.steps) == 1
            else "applies these steps in order, each to the result of the step before it, and "
            "returns the last result:"
        )
        return (
            f"Write a Python function `transform(value: {takes[0]}) -> {gives[0]}`. It takes a "
            f"{takes[1]}, {applies}\n\n{steps}\n\nExamples:\n\n```\n{examples}\n```\n\nThe "
            "function is tested on other inputs of this kind; one of them is empty."
        )

    def verify(self, problem: FunctionSynthesisProblem, answer: str) -> Verdict:
        calls = [Call((json.loads(x),), json.loads(y)) for x, y in problem.tests]
        return judge_function(answer, "transform", calls)

    def solve(self, problem: FunctionSynthesisProblem) -> str:
        return problem.source

    def effort(self, problem: FunctionSynthesisProblem) -> int:
        """Count the words and signs of the reference solution."""
        return code_length(problem.source)

    def baseline(self, rng: Rng, problem: FunctionSynthesisProblem) -> str:
        """Return a function that returns its argument unchanged."""
        return "def transform(value):\n    return value"
