"""Puzzles from a specification: a YAML file that z3 turns into any number of them."""

import string
from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.puzzle_specs.draw import draw
from rlvr_envs.generators.puzzle_specs.spec import load, shipped
from rlvr_envs.verifiers.markup import unmarked
from rlvr_envs.verifiers.parse import integer, words

ALL = "all"
_HIGHEST = 100  # level
_LAST_LEVEL = 30  # up to here every shipped specification finds puzzles


@dataclass(frozen=True, slots=True, kw_only=True)
class PuzzleSpecConfig(TaskConfig):
    """Which specification, and the level that its formulas see."""

    path: str = knob(ALL, 'a YAML file, the name of a shipped specification, or "all" of those')
    level: int = knob(
        3, "level of difficulty, which sets the parameters of the file", low=0, high=_HIGHEST
    )

    def check(self) -> None:
        if not isinstance(self.path, str) or not self.path:
            raise ConfigError(
                f"path is a YAML file, 'all', or one of {', '.join(shipped())}; got {self.path!r}"
            )
        whole = isinstance(self.level, int) and not isinstance(self.level, bool)
        if not whole:
            raise ConfigError(f"level is an integer from 0 to {_HIGHEST}, got {self.level!r}")

    @classmethod
    def at(cls, difficulty: int) -> "PuzzleSpecConfig":
        """The level is the difficulty, at most 30; the specification decides what grows with it."""
        return cls(level=min(difficulty, _LAST_LEVEL))


@dataclass(frozen=True, slots=True)
class PuzzleSpecProblem:
    """One puzzle, in words, and what an answer to it looks like."""

    spec: str
    story: str
    said: tuple[str, ...]
    question: str
    options: tuple[str, ...]  # none where the question is open
    several: bool  # whether any number of options may be right
    n_values: int  # of an open answer
    form: str
    answer: tuple[str, ...] = hidden()
    work: int = hidden()


@register("PuzzleSpec-v0", domain="puzzles")
class PuzzleSpecTask(Task[PuzzleSpecConfig, PuzzleSpecProblem]):
    """Solve a puzzle that was drawn from a written specification.

    Description:
        A specification names parameters, typed unknowns, rules, templates of statements and a
        query; `docs/puzzle_specs.md` describes the format. z3 draws a world that obeys the rules
        and chooses statements that determine the answer, none of them needless. Six specifications
        come with the package; ``path`` names one of them or a file of your own.

    Observation:
        The story, the numbered statements and the question; for a choice also the options.

    Action:
        An integer, a name, several of these in the requested order, or letters of options.

    Reward:
        1 for the answer that the statements determine, otherwise 0.

    Verification:
        z3 has proven that every world that agrees with the rules and the statements has this
        answer; for a choice, that each option fits or does not fit in all of them. The verdict
        compares with the stored answer and needs no solver. No known gaps.

    Difficulty:
        The level, which the formulas of a specification may use for anything. In the shipped ones
        it adds people, goods, talks or products, so that more statements must be combined.

    References:
        Xiong et al., "PuzzleClone: An SMT-Powered Framework for Synthesizing Verifiable Data",
        2025 (arXiv:2508.15180). de Moura and Bjørner, "Z3: An Efficient SMT Solver", 2008.
    """

    def generate(self, rng: Rng) -> PuzzleSpecProblem:
        name = pick(rng, shipped()) if self.config.path == ALL else self.config.path
        spec = load(name if name in shipped() else self.outside("path"))
        drawn = draw(spec, self.config.level, rng)
        return PuzzleSpecProblem(
            spec=spec.name,
            story=drawn.story,
            said=drawn.said,
            question=drawn.question,
            options=drawn.options,
            several=spec.query.several,
            n_values=len(drawn.answer) if not drawn.options else 0,
            form=drawn.form,
            answer=drawn.answer,
            work=drawn.effort,
        )

    def prompt(self, problem: PuzzleSpecProblem) -> str:
        parts = [problem.story]
        if problem.said:
            parts.append("\n".join(f"{i}. {line}" for i, line in enumerate(problem.said, start=1)))
        parts.append(problem.question)
        if problem.options:
            letters = string.ascii_uppercase
            listed = zip(letters, problem.options, strict=False)
            parts.append("\n".join(f"({letter}) {option}" for letter, option in listed))
            parts.append(
                "At least one option is right, and several may be. Answer with the letters of all "
                "right options, separated by commas."
                if problem.several
                else "Exactly one option is right. Answer with its letter."
            )
        elif problem.form:
            parts.append(problem.form)
        return "\n\n".join(parts)

    def verify(self, problem: PuzzleSpecProblem, answer: str) -> Verdict:
        given = self._read(problem, answer)
        if given is None:
            expected = "letters of options" if problem.options else f"{problem.n_values} value(s)"
            return Verdict.unparsable(f"expected {expected}, separated by commas")
        if given == [part.casefold() for part in problem.answer]:
            return Verdict.correct()
        return Verdict.wrong("the statements lead to another answer")

    def _read(self, problem: PuzzleSpecProblem, answer: str) -> list[str] | None:
        """Return the values of an answer in a plain form, those of options in order."""
        pieces = words(answer)
        if problem.n_values == 1:  # one value may be of several words
            plain = " ".join(unmarked(answer).split()) if pieces else ""
            pieces = [plain.removesuffix(".")] if plain else None
        if not pieces or len(pieces) > max(len(problem.options), problem.n_values):
            return None
        if not problem.options:
            return [_plain(piece) for piece in pieces] if len(pieces) == problem.n_values else None
        known = string.ascii_uppercase[: len(problem.options)]
        letters = [piece.strip("()").upper() for piece in pieces]
        fine = len(set(letters)) == len(letters) and all(
            len(letter) == 1 and letter in known for letter in letters
        )
        return sorted(letter.casefold() for letter in letters) if fine else None

    def solve(self, problem: PuzzleSpecProblem) -> str:
        return ", ".join(problem.answer)

    def effort(self, problem: PuzzleSpecProblem) -> int:
        """Return the work that z3 did to draw the puzzle and prove its answer, in its own units."""
        return problem.work

    def baseline(self, rng: Rng, problem: PuzzleSpecProblem) -> str:
        """Return an option, or words or numbers of the statements, as many as there are values."""
        if problem.options:
            return pick(rng, string.ascii_uppercase[: len(problem.options)])
        seen = [
            word.strip(".,") for line in (*problem.said, problem.story) for word in line.split()
        ]
        wants_numbers = "number" in problem.form or any(map(str.isdecimal, problem.form))
        fitting = [word for word in seen if word.isdecimal() == wants_numbers]
        return ", ".join(pick(rng, fitting or seen) for _ in range(problem.n_values))


def _plain(word: str) -> str:
    value = integer(word)
    return str(value) if value is not None else word.casefold()
