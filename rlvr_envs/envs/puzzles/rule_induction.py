"""Rule induction: which things are accepted, judging by examples."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.words.names import draw_some
from rlvr_envs.verifiers.grids import read_grid

Thing = tuple[str, ...]  # a value for each attribute


@dataclass(frozen=True, slots=True)
class Attribute:
    """A property of things, and the values that it may have."""

    name: str
    values: tuple[str, ...]


MAX_TESTS = 3  # what `fitting_rules` puts together
_N_POOL = 60  # things that the examples are taken from
_REDRAWS = 40
_ANSWERS = {"y": "Y", "n": "N", "yes": "Y", "no": "N"}

_VALUES = {
    "colour": "red blue green white black yellow",
    "shape": "round square oval flat pointed curved",
    "size": "tiny small medium large huge gigantic",
    "material": "wooden iron glass paper leather stone",
    "pattern": "plain striped dotted chequered wavy speckled",
    "state": "new used broken dusty wet frozen",
    "price": "free cheap fair costly precious priceless",
}
VALUES = {name: tuple(words.split()) for name, words in _VALUES.items()}

# Tests, attributes and values of the first levels.
_LEVELS = (
    *((1, 3, 3), (1, 4, 3), (1, 4, 4), (2, 3, 3), (2, 4, 3), (2, 4, 4)),
    *((3, 4, 3), (3, 4, 4), (3, 5, 4), (3, 5, 5), (3, 6, 5), (3, 6, 6), (3, 7, 6)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleInductionConfig(TaskConfig):
    """How long the rule is, and what the things are like."""

    n_tests: int = knob(2, "most tests in a rule", low=1, high=MAX_TESTS)
    n_attributes: int = knob(3, "attributes of a thing", low=3, high=len(VALUES))
    n_values: int = knob(3, "values of each attribute", low=3, high=6)
    n_questions: int = knob(5, "things to judge", low=2, high=100)

    def check(self) -> None:
        if 4 * self.n_questions > self.n_values**self.n_attributes:
            raise ConfigError(
                "n_questions is at most a quarter of the n_values**n_attributes things, got "
                f"n_questions={self.n_questions} of {self.n_values**self.n_attributes}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "RuleInductionConfig":
        """The rule gets a second test at level 3 and a third at 6; in between things get richer.

        Attributes, values and things to judge are added, up to 7 attributes of 6 values.
        """
        n_tests, n_attributes, n_values = _LEVELS[min(difficulty, len(_LEVELS) - 1)]
        return cls(
            n_tests=n_tests,
            n_attributes=n_attributes,
            n_values=n_values,
            n_questions=min(5 + difficulty // 2, 100),
        )


@dataclass(frozen=True, slots=True)
class Example:
    """A thing, as its values, and whether it is accepted."""

    thing: Thing
    accepted: bool


@dataclass(frozen=True, slots=True)
class RuleInductionProblem:
    """Examples of a rule of at most ``n_tests`` tests, and things to judge."""

    n_tests: int
    attributes: tuple[Attribute, ...]
    examples: tuple[Example, ...]
    questions: tuple[Thing, ...]
    answer: str = hidden()


@register("RuleInduction-v0", domain="puzzles")
class RuleInductionTask(Task[RuleInductionConfig, RuleInductionProblem]):
    """Infer from examples which things a rule accepts, and judge other things by it.

    Description:
        Things have a few attributes. The rule joins tests, "is red" or "is not red", by "and" and
        "or". No rule of fewer tests fits the examples, and all rules that fit them agree on the
        things to judge, of which at least one is not judged like the example most like it.

    Observation:
        The attributes and their values, what a rule may look like, things that are accepted and
        things that are not, and the things to judge.

    Action:
        A Y or an N for each thing to judge, in order.

    Reward:
        1 if all are judged as the rule does, otherwise 0.

    Verification:
        That the examples leave no other answer is proven by trying all rules up to the stated
        number of tests. No known gaps.

    Difficulty:
        The rule gets more tests, up to three, so that no single value tells; attributes, values
        and things to judge are added.

    References:
        Bruner, Goodnow and Austin, "A Study of Thinking", 1956. Bongard, "Pattern Recognition",
        1970.
    """

    def generate(self, rng: Rng) -> RuleInductionProblem:
        for _ in range(_REDRAWS):
            problem = self._draw(rng)
            if problem is not None:
                return problem
        # Things to judge that are among the examples leave no doubt whatever the rule.
        attributes = self._attributes(rng)
        things = _draw_things(rng, attributes, self.config.n_questions)
        wanted = attributes[0].values[0]
        examples = tuple(Example(thing, thing[0] == wanted) for thing in things)
        answer = "".join("NY"[example.accepted] for example in examples)
        return RuleInductionProblem(self.config.n_tests, attributes, examples, things, answer)

    def _attributes(self, rng: Rng) -> tuple[Attribute, ...]:
        names = draw_some(rng, tuple(VALUES), self.config.n_attributes)
        return tuple(
            Attribute(name, draw_some(rng, VALUES[name], self.config.n_values)) for name in names
        )

    def _draw(self, rng: Rng) -> RuleInductionProblem | None:
        """Draw a rule and things; None if the examples cannot settle what is asked."""
        config = self.config
        attributes = self._attributes(rng)
        things = _draw_things(rng, attributes, _N_POOL + 3 * config.n_questions)
        n_pool = min(_N_POOL, len(things) - 2 * config.n_questions)
        tests = test_tables(attributes, things)
        rule = _draw_rule(rng, tests, config.n_tests)
        accepted = [bool(rule >> i & 1) for i in range(len(things))]
        asked = _balanced(rng, range(n_pool, len(things)), accepted, config.n_questions)
        first = _balanced(rng, range(n_pool), accepted, 2 + 2 * config.n_tests)
        if not 0.2 < sum(accepted[:n_pool]) / n_pool < 0.8:
            return None
        shown = self._telling(rng, tests, rule, (n_pool, asked, first))
        if shown is None:
            return None
        problem = RuleInductionProblem(
            n_tests=config.n_tests,
            attributes=attributes,
            examples=tuple(Example(things[i], accepted[i]) for i in shown),
            questions=tuple(things[i] for i in asked),
            answer="".join("NY"[accepted[i]] for i in asked),
        )
        return None if _by_likeness(problem) == problem.answer else problem

    def _telling(
        self,
        rng: Rng,
        tests: Sequence[int],
        rule: int,
        chosen: tuple[int, Sequence[int], Sequence[int]],
    ) -> list[int] | None:
        """Add things to the first examples until all rules that fit agree on what is asked."""
        n_pool, asked, first = chosen
        shown = list(first)
        seen = sum(1 << i for i in shown)
        asked_bits = sum(1 << i for i in asked)
        found = fitting_rules(tests, self.config.n_tests, seen, rule & seen)
        # A rule of fewer tests is a rival even where it gives the same answer.
        rivals = [r for r in found.by_length[-1] if (r ^ rule) & asked_bits]
        rivals += [r for shorter in found.by_length[:-1] for r in shorter]
        while rivals:
            telling = pick(rng, rivals) ^ rule
            places = [i for i in range(n_pool) if telling >> i & 1]
            if not places:
                return None
            place = pick(rng, places)
            shown.append(place)
            rivals = [r for r in rivals if not (r ^ rule) >> place & 1]
        return shown

    def prompt(self, problem: RuleInductionProblem) -> str:
        lists = "\n".join(f"- {a.name}: {', '.join(a.values)}" for a in problem.attributes)
        examples = "\n".join(
            f"- {', '.join(example.thing)}: {'accepted' if example.accepted else 'not accepted'}"
            for example in problem.examples
        )
        questions = "\n".join(f"{i}. {', '.join(q)}" for i, q in enumerate(problem.questions, 1))
        value = problem.attributes[0].values[0]
        tests = f"such as “is {value}” or “is not {value}”"
        brackets = " and grouped by brackets in any way" if problem.n_tests > 2 else ""
        form = (
            f"It is a single test, {tests}."
            if problem.n_tests == 1
            else f"It consists of at most {problem.n_tests} tests, {tests}, joined by “and” or "
            f"“or”{brackets}."
        )
        return (
            f"Each thing has one value of each of these properties:\n\n{lists}\n\nA hidden rule "
            f"decides which things are accepted. {form} These things have been judged by the rule:"
            f"\n\n{examples}\n\nJudge these things by the same rule:\n\n{questions}\n\nAll rules "
            "of this form that fit the examples give the same answer. Answer with one letter for "
            "each thing, in order: Y if it is accepted, N if it is not."
        )

    def verify(self, problem: RuleInductionProblem, answer: str) -> Verdict:
        count = len(problem.questions)
        grid = read_grid(answer.lower(), 1, count, _ANSWERS)
        if grid is None:
            return Verdict.unparsable(f"expected {count} letters, each Y or N")
        if "".join(_ANSWERS[cell] for cell in grid[0]) != problem.answer:
            return Verdict.wrong("not all things are judged as the rule judges them")
        return Verdict.correct()

    def solve(self, problem: RuleInductionProblem) -> str:
        return problem.answer

    def explain(self, problem: RuleInductionProblem) -> list[str]:
        """Return a rule that fits, what it says of the examples, and what of the questions."""
        shown = [example.thing for example in problem.examples]
        accepted = sum(example.accepted << i for i, example in enumerate(problem.examples))
        rule = fitting_rule(problem.attributes, shown, problem.n_tests, accepted)
        if rule is None:
            return []
        kept = [", ".join(example.thing) for example in problem.examples if example.accepted]
        other = [", ".join(example.thing) for example in problem.examples if not example.accepted]
        steps = [f"Try the rule “{rule.text}”."]
        steps += [f"It accepts, as it should: {'; '.join(kept)}."] if kept else []
        steps += [f"It does not accept, as it should: {'; '.join(other)}."] if other else []
        for number, (thing, letter) in enumerate(
            zip(problem.questions, problem.answer, strict=True), 1
        ):
            steps.append(
                f"{number}. {', '.join(thing)}: {'accepted' if letter == 'Y' else 'not accepted'}"
            )
        return steps

    def effort(self, problem: RuleInductionProblem) -> int:
        """Count the rules that are put together in a search for all that fit."""
        things = (*(example.thing for example in problem.examples), *problem.questions)
        seen = (1 << len(problem.examples)) - 1
        accepted = sum(example.accepted << i for i, example in enumerate(problem.examples))
        tests = test_tables(problem.attributes, things)
        return fitting_rules(tests, problem.n_tests, seen, accepted).tried

    def baseline(self, rng: Rng, problem: RuleInductionProblem) -> str:
        """Judge each thing like the example that it has most in common with."""
        return _by_likeness(problem)


def _by_likeness(problem: RuleInductionProblem) -> str:
    letters = []
    for thing in problem.questions:
        alike = [sum(map(str.__eq__, thing, e.thing)) for e in problem.examples]
        letters.append("NY"[problem.examples[alike.index(max(alike))].accepted])
    return "".join(letters)


def _draw_things(rng: Rng, attributes: Sequence[Attribute], count: int) -> tuple[Thing, ...]:
    """Draw different things, fewer where there are not so many."""
    space = list(itertools.product(*(attribute.values for attribute in attributes)))
    return tuple(space[i] for i in rng.permutation(len(space))[:count].tolist())


def _draw_rule(rng: Rng, tests: Sequence[int], n_tests: int) -> int:
    """Join different tests at random."""
    order = rng.permutation(len(tests))[:n_tests].tolist()
    rule: int = tests[order[0]]
    for k in order[1:]:
        rule = rule & tests[k] if integer(rng, 0, 1) else rule | tests[k]
    return rule


def _balanced(rng: Rng, places: Sequence[int], accepted: Sequence[bool], count: int) -> list[int]:
    """Draw places, each as likely accepted as not while there are both; fewer if they run out."""
    pools = {side: [i for i in places if accepted[i] == side] for side in (False, True)}
    found: list[int] = []
    while len(found) < count and any(pools.values()):
        side = bool(integer(rng, 0, 1))
        pool = pools[side] or pools[not side]
        found.append(pool.pop())
    return found


# Rules that accept some things and not others, and an exhaustive search for those that fit.


@dataclass(frozen=True, slots=True)
class Found:
    """Rules that fit, as the things that they accept, by the number of their tests."""

    by_length: list[list[int]]
    tried: int


def fitting_rules(tests: Sequence[int], n_tests: int, seen: int, accepted: int) -> Found:
    """Return all rules of up to ``n_tests`` tests that accept just ``accepted`` of the seen things.

    A rule of one to three tests is a shorter rule joined with a test, whatever its brackets; rules
    that accept the same things are one.
    """
    rules = sorted(set(tests))
    by_length = []
    tried = len(rules)
    for length in range(1, n_tests + 1):
        by_length.append([rule for rule in rules if rule & seen == accepted])
        if length == n_tests:
            break
        tried += 2 * len(rules) * len(tests)
        if length + 1 < n_tests:
            longer = {r & t for r in rules for t in tests} | {r | t for r in rules for t in tests}
            rules = sorted(longer)
            continue
        # Of the longest rules only those that can still fit are put together.
        wide = [rule for rule in rules if not accepted & ~rule]
        narrow = [rule for rule in rules if not rule & seen & ~accepted]
        last = {r & t for r in wide for t in tests} | {r | t for r in narrow for t in tests}
        rules = sorted(last)
    return Found(by_length, tried)


def test_tables(attributes: Sequence[Attribute], things: Sequence[Thing]) -> list[int]:
    """Return the things that each test accepts, as the bits of an integer."""
    everything = (1 << len(things)) - 1
    found = []
    for k, attribute in enumerate(attributes):
        for value in attribute.values:
            table = sum(1 << i for i, thing in enumerate(things) if thing[k] == value)
            found += [table, everything ^ table]
    return found


@dataclass(frozen=True, slots=True)
class WordedRule:
    """A rule in words, and the things that it accepts, as bits."""

    text: str
    accepts: int


def fitting_rule(
    attributes: Sequence[Attribute], things: Sequence[Thing], n_tests: int, accepted: int
) -> WordedRule | None:
    """Return a rule of as few tests as possible that accepts just these of the things, if any."""
    words = [w for a in attributes for v in a.values for w in (f"is {v}", f"is not {v}")]
    tables = test_tables(attributes, things)
    tests = [WordedRule(word, table) for word, table in zip(words, tables, strict=True)]
    known = {test.accepts: test for test in reversed(tests)}
    for length in range(1, n_tests + 1):
        if accepted in known:
            return known[accepted]
        rules = list(known.values())
        for rule in rules if length < n_tests else ():
            text = rule.text if length == 1 else f"({rule.text})"
            for test in tests:
                both, either = rule.accepts & test.accepts, rule.accepts | test.accepts
                known.setdefault(both, WordedRule(f"{text} and {test.text}", both))
                known.setdefault(either, WordedRule(f"{text} or {test.text}", either))
    return None
