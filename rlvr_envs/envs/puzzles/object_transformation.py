"""Object transformation: find the rule on coloured objects behind examples, and apply it."""

from dataclasses import dataclass
from itertools import chain

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.examples import Example, Grid, judge_output, show_examples
from rlvr_envs.generators.grids.objects import (
    ACTIONS,
    SELECTIONS,
    Fits,
    Rule,
    apply,
    board_of,
    described,
    draw_pattern,
    draw_place,
    draw_words,
    fits,
    kind_of,
)
from rlvr_envs.verifiers.grids import show_grid

# What `held_out` is about, by kind of word.
HELD_OUT = frozenset({"ring", "twin", "symmetric", "wide", "slide", "mirror", "frame"})
MAX_STEPS = 3
MAX_SIDE = 16
MAX_COLOURS = 6
_MOST_RULES = 10**5  # of the greatest length: all of them are tried
_MOST_EXAMPLES = 6
_REDRAWS = 60

# Steps, selections, actions, colours and objects of the first levels.
_LEVELS = (
    *((1, 2, 4, 2, 3), (1, 4, 5, 3, 3), (1, 6, 8, 3, 4), (1, 10, 12, 4, 4)),
    *((2, 3, 4, 3, 4), (2, 4, 5, 4, 4), (2, 5, 6, 4, 5), (2, 6, 8, 4, 5)),
    *((3, 3, 5, 4, 5), (3, 4, 5, 4, 5), (3, 4, 6, 5, 5)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectTransformationConfig(TaskConfig):
    """The length of the rule, the words that it may use, and what the grids look like."""

    n_steps: int = knob(2, "steps of the rule", low=1, high=MAX_STEPS)
    n_selections: int = knob(4, "ways to select objects in the list", low=1, high=16)
    n_actions: int = knob(5, "actions on objects in the list", low=2, high=16)
    n_colours: int = knob(4, "colours", low=2, high=MAX_COLOURS)
    n_objects: int = knob(4, "objects of a grid, or one more", low=2, high=9)
    side: int = knob(8, "rows and columns of a grid, or one more", low=6, high=MAX_SIDE - 1)
    n_examples: int = knob(3, "examples, or more where these leave a doubt", low=2, high=5)
    held_out: bool | None = knob(
        None,
        "False: rules without some selections and actions; True: rules that need one of those",
        choices=(None, False, True),
    )

    def check(self) -> None:
        if (self.n_selections * self.n_actions) ** self.n_steps > _MOST_RULES:
            raise ConfigError(
                f"(n_selections * n_actions) ** n_steps rules are at most {_MOST_RULES:,}, since "
                f"all of them are tried, got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "ObjectTransformationConfig":
        """A longer list for rules of one step; rules of two from level 4, of three from 8."""
        known = min(difficulty, len(_LEVELS) - 1)
        n_steps, n_selections, n_actions, n_colours, n_objects = _LEVELS[known]
        beyond = difficulty - known
        return cls(
            n_steps=n_steps,
            n_selections=n_selections,
            n_actions=min(11, n_actions + (beyond + 1) // 2),
            n_colours=n_colours,
            n_objects=min(9, n_objects + beyond // 8),
            side=min(MAX_SIDE - 1, 7 + difficulty // 4),
        )


@dataclass(frozen=True, slots=True)
class ObjectTransformationProblem:
    """Examples of a rule of at most ``n_steps`` steps from two lists, and another grid."""

    n_steps: int
    selections: tuple[str, ...]
    actions: tuple[str, ...]
    examples: tuple[Example, ...]
    test: Grid
    rule: tuple[tuple[str, str], ...] = hidden()


@register("ObjectTransformation-v0", domain="puzzles", answer_format="tag")
class ObjectTransformationTask(Task[ObjectTransformationConfig, ObjectTransformationProblem]):
    """Infer a rule on the objects of grids from examples, and apply it to another grid.

    Description:
        A step of the rule selects objects, such as the largest ones or those that touch the edge,
        and does something with them: moves, mirrors, recolours, fills or removes them, or crops
        the grid. The rule composes up to three steps, and a step sees what the step before it
        left. No shorter rule of the two lists fits the examples, and all that fit agree on the
        test grid. With ``held_out`` a model can be trained on rules without some selections and
        actions, and tested on rules that need them.

    Observation:
        The selections and actions that the rule may use, the examples, and the test grid.

    Action:
        The output grid for the test grid.

    Reward:
        1 if every cell is right, otherwise 0.

    Verification:
        The rule is applied. That the examples leave no other output is proven by trying all rules
        of the lists up to the stated length. No known gaps.

    Difficulty:
        The lists get longer, then the rule gets a second and a third step. A later step selects
        objects by what an earlier one changed, so that no step can be read off the examples alone.

    References:
        Chollet, "On the Measure of Intelligence", 2019 (arXiv:1911.01547), for objects and the
        form of such problems.
    """

    def generate(self, rng: Rng) -> ObjectTransformationProblem:
        for _ in range(_REDRAWS):
            problem = self._draw(rng)
            if problem is not None:
                return problem
        # A test grid that is an example leaves no doubt, whatever the rule.
        while True:
            selections, actions = self._words(rng)
            rule = ((pick(rng, selections), pick(rng, actions)),)
            given = self._grid(rng)
            made = apply(rule, given)
            if made != given and self._is_wanted(rule):
                examples = (Example(given, made),) * self.config.n_examples
                return ObjectTransformationProblem(
                    self.config.n_steps, selections, actions, examples, given, rule
                )

    def _draw(self, rng: Rng) -> ObjectTransformationProblem | None:
        """Draw a rule, and examples until one output is left; None if doubts remain."""
        config = self.config
        selections, actions = self._words(rng)
        rule = tuple((pick(rng, selections), pick(rng, actions)) for _ in range(config.n_steps))
        test = self._grid(rng)
        answer = apply(rule, test)
        if answer == test or not self._is_wanted(rule) or not "".join(answer).strip("0"):
            return None
        given = [self._grid(rng) for _ in range(_MOST_EXAMPLES)]
        examples = tuple(Example(grid, apply(rule, grid)) for grid in given)
        examples = tuple(each for each in examples if each.made != each.given)
        shorter = [rule[:i] + rule[i + 1 :] for i in range(len(rule))]
        if any(all(apply(less, e.given) == e.made for e in examples) for less in shorter):
            return None  # a step does nothing
        for count in range(config.n_examples, len(examples) + 1):
            problem = ObjectTransformationProblem(
                config.n_steps, selections, actions, examples[:count], test, rule
            )
            found = _fits(problem)
            if found.outputs == {answer: config.n_steps}:
                return problem
            if found.outputs.get(answer) != config.n_steps:
                return None  # a shorter rule does the same
        return None

    def _is_wanted(self, rule: Rule) -> bool:
        """Return whether a rule needs a word that is held out, if it has to."""
        words = map(kind_of, chain.from_iterable(rule))
        return not self.config.held_out or any(word in HELD_OUT for word in words)

    def _words(self, rng: Rng) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Draw the selections and actions of the two lists, with their colours and directions."""
        config = self.config
        left_out = HELD_OUT if config.held_out is False else frozenset()
        return (
            draw_words(rng, SELECTIONS, config.n_selections, config.n_colours, left_out),
            draw_words(rng, ACTIONS, config.n_actions, config.n_colours, left_out),
        )

    def _grid(self, rng: Rng) -> Grid:
        """Draw a grid of separate objects of different shapes."""
        config = self.config
        n_rows, n_columns = (config.side + integer(rng, 0, 1) for _ in range(2))
        board = board_of(n_rows, n_columns)
        masks = [0] * (config.n_colours + 1)
        taken = 0
        pattern = draw_pattern(rng)
        for number in range(config.n_objects + integer(rng, 0, 1)):
            pattern = draw_pattern(rng) if integer(rng, 0, 3) else pattern  # some shapes twice
            cells = draw_place(rng, pattern, board, taken)
            if cells:
                # The first objects have a colour each, so that most colours occur.
                colour = number + 1 if number < 2 else integer(rng, 1, config.n_colours)
                masks[colour] |= cells
                taken |= cells | board.around(cells)
        return board.show(masks)

    def prompt(self, problem: ObjectTransformationProblem) -> str:
        selections = "\n".join(f"- {described(word)}" for word in problem.selections)
        actions = "\n".join(f"- {described(word)}" for word in problem.actions)
        examples = show_examples(problem.examples)
        length = "one step" if problem.n_steps == 1 else f"at most {problem.n_steps} steps"
        after = (
            ""
            if problem.n_steps == 1
            else " Each step works on the grid that the last one left, and on its objects."
        )
        return (
            "A hidden rule turns each input grid into its output grid. Find the rule from the "
            "examples and apply it to the test input. In the grids, 0 is the background and other "
            "digits are colours. An object is a set of cells of one colour that are connected "
            "through shared sides; it is as large as possible.\n\n"
            f"The rule has {length}. A step selects objects and applies one action to them.{after} "
            "If no object is selected, the step changes nothing. A step selects one of these:\n"
            f"{selections}\n\nIt applies one of these actions:\n{actions}\n\n"
            "Actions never change objects that are not selected, unless the action says so. Cells "
            "that would leave the grid or cover an object that is not selected disappear. Where "
            "two selected objects would cover the same cell, it gets the smaller digit.\n\n"
            f"{examples}\n\nTest input:\n{show_grid(problem.test)}\n\nWhat is the output for the "
            "test input? Only one output agrees with the examples. Answer with the output grid in "
            "the same form."
        )

    def verify(self, problem: ObjectTransformationProblem, answer: str) -> Verdict:
        return judge_output(apply(problem.rule, problem.test), answer)

    def solve(self, problem: ObjectTransformationProblem) -> str:
        return show_grid(apply(problem.rule, problem.test))

    def explain(self, problem: ObjectTransformationProblem) -> list[str]:
        """Return what each step makes of the first input, and then of the test input."""
        steps = []
        for name, start in (("Input 1", problem.examples[0].given), ("Test input", problem.test)):
            for i, (selection, action) in enumerate(problem.rule, 1):
                made = show_grid(apply(problem.rule[:i], start))
                what = f"select {described(selection)}, then {described(action)}"
                steps.append(f"{name}, step {i}, {what}:\n{made}")
        return steps

    def effort(self, problem: ObjectTransformationProblem) -> int:
        """Count the steps tried out by a search through all rules."""
        return _fits(problem).tried

    def baseline(self, rng: Rng, problem: ObjectTransformationProblem) -> str:
        """Apply one step at random."""
        step = pick(rng, problem.selections), pick(rng, problem.actions)
        return show_grid(apply((step,), problem.test))


def _fits(problem: ObjectTransformationProblem) -> Fits:
    """Return what the rules that fit the examples make of the test grid."""
    given = tuple(example.given for example in problem.examples)
    made = tuple(example.made for example in problem.examples)
    steps = [(s, a) for s in problem.selections for a in problem.actions]
    return fits(given, made, problem.test, steps, problem.n_steps)
