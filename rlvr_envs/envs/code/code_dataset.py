"""Programming problems with tests from a file of yours: HumanEval, MBPP, APPS and the like."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import ConfigError, did_you_mean_path
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.tables import RowFile, RowFiles
from rlvr_envs.core.task import IndexedTask
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.code_length import code_length
from rlvr_envs.generators.mathematics.words import listed
from rlvr_envs.generators.programs.emit import emit_constant
from rlvr_envs.generators.published.code_files import load
from rlvr_envs.generators.published.code_rows import CodeRow, StoredTest
from rlvr_envs.sandboxes import languages
from rlvr_envs.sandboxes.base import Limits
from rlvr_envs.sandboxes.packages import check_packages
from rlvr_envs.verifiers.program import (
    Call,
    Match,
    StdioTest,
    floats,
    judge_function,
    judge_json,
    judge_stdio,
    tokens,
)
from rlvr_envs.verifiers.program_checker import CheckerFault, script_checker
from rlvr_envs.verifiers.program_values import read

SAMPLE = "sample"
_SAMPLE_FILE = Path(__file__).with_name("_sample_programs.jsonl")
_CPU_S, _MEMORY_MIB = 5.0, 512  # for each test, where neither knob nor row says more
_files: RowFiles[CodeRow] = RowFiles()


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeDatasetConfig(TaskConfig):
    """Which file, in which language, and how answers are judged."""

    path: str = knob(SAMPLE, 'a JSONL, JSON or Parquet file; "sample" is a few problems of our own')
    language: str = knob(
        "python", "language of answers; all but Python answer a function by a program over JSON"
    )
    packages: tuple[str, ...] = knob(
        (), "what answers in Python may import, such as numpy; the prompt says so"
    )
    reward: str = knob(
        "all", '"fraction" gives the share of tests passed', choices=("all", "fraction")
    )
    rel_tol: float | None = knob(
        None, "relative tolerance for decimals in outputs; None compares words exactly"
    )
    cpu_s: float | None = knob(None, "CPU seconds for each test; None takes the row's own, or 5")
    memory_mib: int | None = knob(None, "memory for each test; None takes the row's own, or 512")
    on_bad_row: str = knob(
        "error", '"skip" leaves out rows that cannot be used', choices=("error", "skip")
    )
    run_solutions: bool = knob(
        False, "whether the file's own solutions may compute missing results"
    )

    def check(self) -> None:
        if not isinstance(self.path, str) or not self.path:
            raise ConfigError(
                f"path is the name of a JSONL, JSON or Parquet file, got {self.path!r}"
            )
        languages.find(self.language)
        check_packages(self.packages)
        if self.packages and self.language != "python":
            raise ConfigError(f"packages are for Python, and the language is {self.language}")
        _limits(self)
        if self.rel_tol is not None:
            floats(rel=self.rel_tol)

    @classmethod
    def at(cls, difficulty: int) -> "CodeDatasetConfig":
        """There are no difficulty levels: a file has its own problems."""
        raise ConfigError(
            f"CodeDataset has no difficulty (got {difficulty!r}): its problems come from a file; "
            "set 'path' to choose it"
        )


@dataclass(frozen=True, slots=True)
class CodeDatasetProblem:
    """A problem and all that judging an answer to it needs, so that a row needs no file."""

    statement: str
    language: str
    function: str = hidden("")
    prelude: str = hidden("")
    epilogue: str = hidden("")
    tests: tuple[StoredTest, ...] = hidden(())
    solution: str = hidden("")
    index: int = hidden(0)
    reward: str = hidden("all")
    rel_tol: float | None = hidden(None)
    cpu_s: float = hidden(_CPU_S)
    memory_mib: int = hidden(_MEMORY_MIB)
    checker: str = hidden("")
    packages: tuple[str, ...] = hidden(())


@register(
    "CodeDataset-v0",
    domain="code",
    answer_format="fenced:{language}",
    weight=0.0,
    example={"path": SAMPLE},
)
class CodeDatasetTask(IndexedTask[CodeDatasetConfig, CodeDatasetProblem]):
    """Write the program that a problem from a file of problems with tests asks for.

    Description:
        ``gym.make("rlvr/CodeDataset-v0", path="HumanEval.jsonl")`` serves the rows of a JSONL,
        JSON or Parquet file, drawn at random, or one by one with ``reset(options={"index": i})``.
        The layout of each row is recognised by its columns: HumanEval, MBPP, EvalPlus, APPS,
        CodeContests, Codeforces (of open-r1), LiveCodeBench, and inputs with outputs
        (``test_cases``, as Agnostics has them). ``language`` is any registered language; with
        ``packages=("numpy", "pandas")`` answers in Python may import those as well, where the
        sandbox's Python has them. The file is read when its first problem is needed; judging a
        stored row does not need it. Without ``path``, a few problems of our own are served.

    Observation:
        The problem, as the file has it, and what the answer must define or do.

    Action:
        The code: a program in the language. For a row that asks for a Python function, that
        function in Python, or in another language a program that reads the arguments as one line
        of JSON and writes the result as one.

    Reward:
        1 if all tests are passed, otherwise 0; with ``reward="fraction"`` the share of them.

    Verification:
        By running the code in a sandbox on each test and comparing outside. Tests that the file
        holds as Python (``assert f(1) == 2``) are read as data and never run; those that are more
        than data are refused, unless ``run_solutions=True`` lets the file's own solution work out
        results in the sandbox, once, when the file is read. With ``on_bad_row="error"`` the error
        names the rows refused, with ``"skip"`` the others are numbered without them. Outputs are
        compared word by word, unless the row has a checker (a Python script in a column
        ``checker`` or ``generated_checker``), which then runs in the sandbox on each output,
        alone; where it fails on the right output too, the program is not scored. Results in JSON
        are compared as values. Known gaps: a wrong test or checker in the file is taken to be
        right; without a checker, one right output of several is taken to be the only one; computed
        results stand for whatever the tests would have allowed. In other languages than Python
        there is no reference answer.

    Difficulty:
        No levels: the problems of a file are as hard as they are.

    References:
        Chen et al. 2021, Evaluating Large Language Models Trained on Code (HumanEval).
        Austin et al. 2021, Program Synthesis with Large Language Models (MBPP).
        Liu et al. 2023, Is Your Code Generated by ChatGPT Really Correct? (EvalPlus).
        Hendrycks et al. 2021, Measuring Coding Challenge Competence With APPS.
        Li et al. 2022, Competition-Level Code Generation with AlphaCode (CodeContests).
        Jain et al. 2024, LiveCodeBench, arXiv:2403.07974.
        Penedo et al. 2025, Codeforces, https://huggingface.co/datasets/open-r1/codeforces.
        Boruch-Gruszecki et al. 2025, Agnostics, arXiv:2508.04865.
    """

    judged_in_sandbox = True

    def file(self) -> RowFile[CodeRow]:
        """Return the rows of the file, and those that were refused.

        Raises:
            ConfigError: the file cannot be read, or holds no row that can be used.
        """
        config = self.config
        path = _SAMPLE_FILE if config.path == SAMPLE else Path(self.outside("path"))
        python = config.language == "python"
        if not path.is_file():
            hint = did_you_mean_path(path)
            raise ConfigError(f"CodeDataset: there is no file {str(path)!r}{hint}")
        state = path.stat()
        solving, packages = config.run_solutions, config.packages if config.run_solutions else ()
        return _files.find(
            self,
            (path, solving, packages, python, state.st_mtime_ns, state.st_size),
            lambda: load(path, run_solutions=solving, programs=not python, packages=packages),
            lenient=config.on_bad_row == "skip" or config.path == SAMPLE,
        )

    def __len__(self) -> int:
        return len(self.file().rows)

    def problem_at(self, index: int) -> CodeDatasetProblem:
        rows = self.file().rows
        number = self.check_index(index, len(rows))
        row, config = rows[number], self.config
        limits = _limits(config, row)
        return CodeDatasetProblem(
            statement=_statement(row, config),
            language=config.language,
            function=row.function,
            prelude=row.prelude,
            epilogue=row.epilogue,
            tests=row.tests,
            solution=row.solution,
            index=number,
            reward=config.reward,
            rel_tol=config.rel_tol,
            cpu_s=limits.cpu_s,
            memory_mib=limits.memory_mib,
            checker=row.checker,
            packages=config.packages,
        )

    def prompt(self, problem: CodeDatasetProblem) -> str:
        return problem.statement

    def verify(self, problem: CodeDatasetProblem, answer: str) -> Verdict:
        try:
            return _judged(problem, answer)
        except CheckerFault as fault:
            return Verdict.verifier_error(str(fault))

    def solve(self, problem: CodeDatasetProblem) -> str:
        """Return the file's solution, or a table of the tests; nothing but in Python."""
        if problem.language != "python":
            return ""
        return problem.solution or _table(problem)

    def effort(self, problem: CodeDatasetProblem) -> int:
        """Count the words and signs of the file's solution, or of the statement without one."""
        return code_length(problem.solution or problem.statement)

    def baseline(self, rng: Rng, problem: CodeDatasetProblem) -> str:
        """Return the first argument of the function that the statement names; else print 0."""
        shown = re.search(r"\bdef (\w+)\(", problem.statement)
        if shown is not None and problem.language == "python":
            return f"def {shown[1]}(*args):\n    return args[0] if args else None"
        return emit_constant("0", problem.language)


def _limits(*asked: CodeDatasetConfig | CodeRow) -> Limits:
    """Return the first limits that are stated, or else the usual ones.

    Raises:
        ConfigError: one is no limit.
    """
    cpu_s = (one.cpu_s for one in asked if one.cpu_s is not None)
    memory_mib = (one.memory_mib for one in asked if one.memory_mib is not None)
    return Limits(cpu_s=next(cpu_s, _CPU_S), memory_mib=next(memory_mib, _MEMORY_MIB))


def _statement(row: CodeRow, config: CodeDatasetConfig) -> str:
    more = f" and {listed(config.packages)}" if config.packages else ""
    if config.language == "python" and row.function:
        return f"{row.statement}\n\nUse only the standard library{more}." if more else row.statement
    asked = languages.find(config.language).prompt
    asked = asked.replace("only the standard library", f"only the standard library{more}")
    if row.function:
        return f"{row.statement}\n\n{asked}"
    return (
        f"{row.statement.strip()}\n\nThe program reads the standard input and writes to the "
        f"standard output. {asked}"
    )


def _judged(problem: CodeDatasetProblem, answer: str) -> Verdict:
    limits = Limits(cpu_s=problem.cpu_s, memory_mib=problem.memory_mib)
    reward: Any = problem.reward
    language = problem.language
    if problem.function:
        calls = [_call(test) for test in problem.tests]
        if language != "python":
            return judge_json(answer, language, calls, reward=reward, limits=limits)
        source = _assembled(problem, answer)
        return judge_function(
            source,
            problem.function,
            calls,
            reward=reward,
            limits=limits,
            packages=problem.packages,
        )
    expected = {test.given: test.expected for test in problem.tests}
    return judge_stdio(
        answer,
        language,
        [StdioTest(test.given, test.expected) for test in problem.tests],
        compare=tokens if problem.rel_tol is None else floats(rel=problem.rel_tol),
        reward=reward,
        limits=limits,
        checker=script_checker(problem.checker, expected) if problem.checker else None,
        packages=problem.packages,
    )


def _assembled(problem: CodeDatasetProblem, answer: str) -> str:
    # A future import is only allowed at the very start of a file.
    prelude = "" if "from __future__" in answer else problem.prelude
    return f"{prelude}\n{answer}\n{problem.epilogue}"


def _call(test: StoredTest) -> Call:
    match = Match(
        rel_tol=test.rel_tol,
        abs_tol=test.abs_tol,
        as_python=not test.strict,
        sequences_alike=test.alike,
        truth=test.truth,
    )
    return Call(read(test.given), read(test.expected), match)


def _table(problem: CodeDatasetProblem) -> str:
    """Return a program that looks its tests up, for files that hold no solutions."""
    if not problem.function:
        table = {test.given: test.expected for test in problem.tests}
        return f"import sys\n\nprint({table!r}[sys.stdin.read()], end='')\n"
    known = {repr(read(test.given)): read(test.expected) for test in problem.tests}
    outer, _, method = problem.function.rpartition(".")
    body = f"return {known!r}[repr(args)]"
    names = "from math import inf, nan\n\n\n"
    if outer:
        return f"{names}class {outer}:\n    def {method}(self, *args):\n        {body}\n"
    called = method.rpartition("_as_")[0] if problem.epilogue else method
    return f"{names}def {called}(*args):\n    {body}\n"
