"""Repairing a small package whose tests fail: read, edit, run the tests, submit."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rlvr_envs.core.errors import SandboxError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.task import InteractiveTask, Reply
from rlvr_envs.core.tools import BadCall, Tool
from rlvr_envs.core.typed_tools import TypedTool, read_call, tool, tools_of
from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.generators.code_length import code_length
from rlvr_envs.generators.repositories import runner
from rlvr_envs.generators.repositories.package import (
    Check,
    Repair,
    Repository,
    draw_repository,
)
from rlvr_envs.sandboxes.base import Job, Limits, RunStatus
from rlvr_envs.sandboxes.shared import shared_sandbox
from rlvr_envs.sandboxes.tool import block, report
from rlvr_envs.verifiers.program import Call
from rlvr_envs.verifiers.program_package import PackageCall, PackageFault, judge_package
from rlvr_envs.verifiers.program_values import read

LIMITS = Limits(cpu_s=2.0)
_RUNNER = Path(runner.__file__)
_MOST_TURNS = 256
_MOST_CHARACTERS = 50_000  # of a file
_MOST_FILES = 60
_MOST_LINES = 400  # shown at a time
_PATH = re.compile(r"(?:README\.md|(\w+)/(?:\w+\.py))")
_COMPARISON = re.compile(r" (>=|<=|>|<) (?=\w)")
_RELAXED = {">=": ">", ">": ">=", "<=": "<", "<": "<="}


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryRepairConfig(TaskConfig):
    """How large the package is, what is wrong with it, and what the prompt shows of it."""

    n_functions: int = knob(6, "functions of the package", low=2, high=200)
    n_modules: int = knob(2, "modules of the package", low=1, high=8)
    n_faults: int = knob(1, "functions with a fault", low=0, high=50)
    n_missing: int = knob(0, "functions that the README describes and that are missing", low=0)
    depth: int = knob(1, "calls between a tested function and a fault, where possible", low=0)
    shows_code: bool = knob(False, "whether the prompt holds the text of all files")

    @classmethod
    def at(cls, difficulty: int) -> "RepositoryRepairConfig":
        """Functions, modules, depth and faults grow; from level 6 functions are missing.

        Up to level 1 the prompt shows all files. From level 2 on only functions that no other one
        calls have tests, so that what fails is not what is wrong.
        """
        return cls(
            n_functions=min(2 + 2 * difficulty, 200),
            n_modules=min(1 + (difficulty + 1) // 2, 8),
            n_faults=min(1 + difficulty // 4, 50),
            n_missing=max(0, difficulty - 2) // 4,
            depth=difficulty // 2,
            shows_code=difficulty < 2,
        )

    def check(self) -> None:
        """Check that something is to be done, and that there are functions for it."""
        changed = self.n_faults + self.n_missing
        if not 1 <= changed <= self.n_functions:
            raise ValueError(
                f"n_faults + n_missing is from 1 to n_functions={self.n_functions}, got {changed}"
            )


@dataclass(frozen=True, slots=True)
class RepositoryRepairProblem:
    """A repository whose tests fail, and how many messages there are."""

    repository: Repository
    n_turns: int
    shows_code: bool
    repair: Repair = hidden()


class RepositoryTools:
    """The files of one episode, and what may be done with them.

    Attributes:
        files: text by path.
        submitted: whether the agent has said that it is done.
        test_runs: how often tests were run.
    """

    def __init__(self, repository: Repository) -> None:
        self._package = repository.package
        self.files = {file.path: file.text for file in repository.files}
        self.submitted = False
        self.test_runs = 0

    @tool
    def list_files(self) -> str:
        """List the files with their numbers of lines."""
        return "\n".join(f"{path} ({text.count(chr(10))})" for path, text in self.files.items())

    @tool
    def read_file(self, path: str, first: int = 1, last: int | None = None) -> str:
        """Read a file.

        Args:
            path: of the file, such as README.md.
            first: number of the first line to show, from 1.
            last: number of the last line to show.
        """
        lines = self._text(path).split("\n")
        if not 1 <= first <= len(lines):
            raise BadCall(f"first is from 1 to {len(lines)} for this file, got {first}")
        end = min(len(lines) if last is None else last, first - 1 + _MOST_LINES)
        if end < first:
            raise BadCall(f"last is {first} or more here, got {last}")
        shown = block("\n".join(lines[first - 1 : end]), "text")
        rest = f"\n(lines {first} to {end} of {len(lines)})"
        return shown if (first, end) == (1, len(lines)) else shown + rest

    @tool
    def write_file(self, path: str, text: str) -> str:
        """Write a whole file, new or instead of the old one.

        Args:
            path: of the file.
            text: all of it.
        """
        path = self._checked(path)
        if path not in self.files and len(self.files) >= _MOST_FILES:
            raise BadCall(f"there are at most {_MOST_FILES} files")
        self._put(path, text if text.endswith("\n") or not text else f"{text}\n")
        return f"Wrote {path}."

    @tool
    def replace_text(self, path: str, old: str, new: str) -> str:
        """Replace a text in a file by another one.

        Args:
            path: of the file.
            old: what stands there exactly once, with its indentation; several lines if need be.
            new: what shall stand there.
        """
        text = self._text(path)
        count = text.count(old) if old else 0
        if count != 1:
            raise BadCall(f"old stands {count} times in {path.strip()}, and has to stand once")
        self._put(self._checked(path), text.replace(old, new))
        return f"Changed {path.strip()}."

    @tool
    def run_tests(self, name: str = "") -> str:
        """Run the tests in the folder tests and see which fail.

        Args:
            name: a part of the names of the tests to run, such as test_total.
        """
        content = {path: text.encode("utf-8", "replace") for path, text in self.files.items()}
        files = {**content, "run_tests.py": _RUNNER.read_bytes()}
        wanted = name.strip().replace("\0", "")
        job = Job(script="run_tests.py", files=files, args=(wanted,), limits=LIMITS)
        result = shared_sandbox().run(job)
        if result.status is RunStatus.SANDBOX_ERROR:
            raise SandboxError(result.detail)
        self.test_runs += 1
        return block(report(result, LIMITS))

    @tool
    def submit(self) -> str:
        """End the task; the package is judged as it is."""
        self.submitted = True
        return ""

    def _checked(self, path: str) -> str:
        path = path.strip().removeprefix("./")
        found = _PATH.fullmatch(path)
        if not found or found[1] not in (None, self._package, "tests") or len(path) > 80:
            raise BadCall(
                f"a path is README.md, {self._package}/NAME.py or tests/NAME.py, got {path[:80]!r}"
            )
        return path

    def _text(self, path: str) -> str:
        path = self._checked(path)
        if path not in self.files:
            raise BadCall(f"there is no file {path} (list_files tells which there are)")
        return self.files[path]

    def _put(self, path: str, text: str) -> None:
        if len(text) > _MOST_CHARACTERS:
            raise BadCall(f"a file has at most {_MOST_CHARACTERS} characters")
        self.files[path] = text


class RepositoryRepairSession:
    """One episode; files live here, and each run of tests gets them in a sandbox of its own."""

    def __init__(self, problem: RepositoryRepairProblem) -> None:
        self._problem = problem
        self._tools = RepositoryTools(problem.repository)
        self._turns = 0

    def reply(self, action: str) -> Reply:
        """Run the call of a message; the last one ends in the verdict."""
        self._turns += 1
        void = False
        try:
            told = read_call(action, tools_of(self._tools)).run()
        except BadCall as error:
            told, void = f"Error: {error}.", True
        except SandboxError as error:
            return Reply("", Verdict.verifier_error(f"the sandbox failed: {error!s:.200}"))
        left = self._problem.n_turns - self._turns
        if self._tools.submitted or left < 1:
            over = not self._tools.submitted
            return Reply("", self._verdict(), void=void, out_of_turns=over)
        note = f"({left} more {'message' if left == 1 else 'messages'}.)"
        return Reply(f"{told}\n{note}", void=void)

    def _verdict(self) -> Verdict:
        repository = self._problem.repository
        repair = self._problem.repair
        checks = (*repair.failing, *repair.passing)
        own = {
            path: text
            for path, text in self._tools.files.items()
            if path.startswith(f"{repository.package}/")
        }
        try:
            passed = judge_package(own, [_call(repository.package, each) for each in checks])
        except PackageFault as error:
            return Verdict.verifier_error(f"the sandbox failed: {error!s:.200}")
        count = len(repair.failing)
        repaired, kept = sum(passed[:count]), sum(passed[count:])
        parts = {
            "fail_to_pass": repaired / count,
            "pass_to_pass": kept / len(repair.passing),
            "turns": float(self._turns),
            "test_runs": float(self._tools.test_runs),
        }
        if all(passed):
            return Verdict(1.0, Status.CORRECT, "", parts)
        told = (
            f"{repaired} of {count} hidden checks that failed hold now, and {kept} of "
            f"{len(repair.passing)} that held still do"
        )
        return Verdict.wrong(told, **parts)


def _call(package: str, check: Check) -> PackageCall:
    module, function = check.function.split(".")
    call = Call(tuple(read(check.args)), read(check.expected))
    return PackageCall(f"{package}.{module}", function, call)


@register("RepositoryRepair-v0", domain="code", answer_format="raw", max_turns=_MOST_TURNS)
class RepositoryRepairTask(InteractiveTask[RepositoryRepairConfig, RepositoryRepairProblem]):
    """Find and repair the faults of a small package whose tests fail.

    Description:
        A generated package of one to eight modules whose functions call each other. Some functions
        do not do what their docstrings say, and some are missing and described in the README. A
        fault often shows in the tests of another module than the one that it is in.

    Observation:
        The task, the list of files and how to call the tools; at low levels all files. Then what
        each call gives, and how many messages are left.

    Action:
        A message with one call, as JSON or in tags: list_files, read_file, write_file,
        replace_text, run_tests or submit. The first call of a message counts.

    Reward:
        1 if every hidden check holds, otherwise 0. The shares of the checks that failed before and
        hold now (`fail_to_pass`), and of those that have to go on holding (`pass_to_pass`), are
        parts of the verdict.

    Episode End:
        With submit, or with the last message allowed; the package is judged as it is then.

    Verification:
        The package's files, and nothing else, go into a sandbox; hidden calls of its functions are
        made there, each in a process of its own, and results are compared outside. The tests in
        the repository decide nothing, so that editing them earns nothing, and the hidden arguments
        are others. Every faulty function is checked directly. A repair that is right for the
        hidden arguments and wrong for others passes.

    Difficulty:
        Functions, modules, faults and the calls between a test and its fault grow. From level 2 on
        functions that others call have no tests of their own; from level 6 functions are missing;
        from level 4 faults may hide each other.

    References:
        Jimenez et al., "SWE-bench: Can Language Models Resolve Real-World GitHub Issues?", 2024,
        for tests that have to pass and tests that have to go on passing.
    """

    judged_in_sandbox: ClassVar[bool] = True

    def generate(self, rng: Rng) -> RepositoryRepairProblem:
        config = self.config
        repository, repair = draw_repository(
            rng,
            n_functions=config.n_functions,
            n_modules=config.n_modules,
            n_faults=config.n_faults,
            n_missing=config.n_missing,
            depth=config.depth,
        )
        turns = 12 + 3 * config.n_modules + 4 * (config.n_faults + config.n_missing)
        turns = min(turns, _MOST_TURNS)
        return RepositoryRepairProblem(repository, turns, config.shows_code, repair)

    def prompt(self, problem: RepositoryRepairProblem) -> str:
        repository = problem.repository
        tools = tools_of(RepositoryTools(repository))
        example = f"{repository.package}/__init__.py"
        shown = "\n".join(f"- {file.path}" for file in repository.files)
        if problem.shows_code:
            shown = "\n\n".join(
                f"{file.path}:\n\n{block(file.text.strip(), 'text')}" for file in repository.files
            )
        count = repository.n_faults
        many = "1 function does" if count == 1 else f"{count} functions do"
        return (
            f"Some tests of the Python package {repository.package} fail. In the folder "
            f"{repository.package}, {many} not do what the docstring (or, where the docstring "
            "says so, the README) says. The docstrings, the README and the tests are right. Repair "
            f"the package.\n\nThe files are:\n\n{shown}\n\nIn each message, make one call of a "
            "tool:\n\n"
            + "\n".join(each.usage() for each in tools)
            + "\n\nA call is a JSON object,\n\n"
            f'{{"name": "read_file", "arguments": {{"path": "{example}"}}}}\n\nor an element with '
            f"an element for each argument:\n\n<read_file><path>{example}</path></read_file>\n\n"
            "In JSON, line ends within texts are written as \\n; in elements, text stands as it "
            "is. If a message has several calls, only the first one is run.\n\n"
            "After submit, or after your last message, the functions of the package are called "
            "with other arguments than those in the tests, and every result has to be right. "
            "Changes to tests do not count. Only the standard library is available. You have "
            f"{problem.n_turns} messages."
        )

    def begin(self, problem: RepositoryRepairProblem) -> RepositoryRepairSession:
        return RepositoryRepairSession(problem)

    def play(self, problem: RepositoryRepairProblem) -> list[str]:
        tools = _tools(problem)
        edits = problem.repair.edits
        reads = [tools["read_file"].written(path=path) for path in {e.path: 0 for e in edits}]
        changes = [
            tools["replace_text"].written(path=edit.path, old=edit.old, new=edit.new)
            for edit in edits
        ]
        run = tools["run_tests"].written()
        room = problem.n_turns - len(changes) - 1
        return [*[run, *reads][: max(0, room - 1)], *changes, run, tools["submit"].written()]

    def effort(self, problem: RepositoryRepairProblem) -> int:
        """Count the words and signs of the package, once for each call down to a fault."""
        repository = problem.repository
        code = sum(code_length(f.text) for f in repository.files if f.path.endswith(".py"))
        return code * (repository.n_faults + repository.depth)

    def baseline(self, rng: Rng, problem: RepositoryRepairProblem) -> list[str]:
        """Change the first comparison of the package to its neighbour, and submit."""
        tools = _tools(problem)
        for file in problem.repository.files:
            found = _COMPARISON.search(file.text)
            if file.path.startswith(f"{problem.repository.package}/") and found:
                start, end = found.span(1)
                text = file.text[:start] + _RELAXED[found[1]] + file.text[end:]
                return [
                    tools["write_file"].written(path=file.path, text=text),
                    tools["submit"].written(),
                ]
        return [tools["submit"].written()]

    def tools(self, problem: RepositoryRepairProblem) -> tuple[Tool, ...]:
        return tuple(each.offered() for each in tools_of(RepositoryTools(problem.repository)))


def _tools(problem: RepositoryRepairProblem) -> Mapping[str, TypedTool]:
    return {each.name: each for each in tools_of(RepositoryTools(problem.repository))}
