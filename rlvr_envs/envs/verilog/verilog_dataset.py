"""Verilog problems from a file of yours: VerilogEval, RTLLM, ResBench and the like."""

from dataclasses import dataclass
from pathlib import Path

from rlvr_envs.core.errors import ConfigError, SandboxError, did_you_mean_path
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.tables import RowFile, RowFiles
from rlvr_envs.core.task import IndexedTask
from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.generators.hardware.sizes import writing_effort
from rlvr_envs.generators.hardware.task import LANGUAGE
from rlvr_envs.generators.published.verilog_files import load
from rlvr_envs.generators.published.verilog_references import Unusable, bench_of, reference_of
from rlvr_envs.generators.published.verilog_rows import VerilogRow
from rlvr_envs.verifiers.hdl.icarus import cosimulate, require
from rlvr_envs.verifiers.hdl.judge import REWARDS, judge, only_proved
from rlvr_envs.verifiers.hdl.simulate import Effort
from rlvr_envs.verifiers.hdl.source import silenced
from rlvr_envs.verifiers.hdl.testbench import judge_by_bench

SAMPLE = "sample"
_SAMPLE_FILE = Path(__file__).with_name("_sample_designs.jsonl")
# Without a proof, until a clock of hours has gone round: a few seconds.
PATIENT = Effort(60_000, 64, 60_000_000)

_files: RowFiles[VerilogRow] = RowFiles()
_REASON_CHARS = 300  # of a reason in a message: it may quote what a tool said
_TERMS = (
    "Answer with the complete module, named `{top}`, and every module that it contains, in "
    "synthesizable Verilog or SystemVerilog. Do not use delays, system tasks, user-defined "
    "primitives, the enum methods `next` and `prev`, `include` or assertions."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerilogDatasetConfig(TaskConfig):
    """The file, and how answers are judged."""

    path: str = knob(
        SAMPLE, "JSONL, JSON or Parquet file, or folder of VerilogEval or RTLLM problems"
    )
    descriptions: str = knob(
        "", "file of problem descriptions, if `path` does not contain them (VerilogEval 1)"
    )
    reward: str = knob(
        "equivalence",
        '"graded" gives a little for compiling and for the right ports',
        choices=REWARDS,
    )
    strict: bool = knob(False, "require that Icarus, a simulator with x and z, agrees")
    accept_bounded: bool = knob(
        True, "False refuses rows with only a testbench, and does not score unproved answers"
    )
    on_bad_row: str = knob(
        "error", '"skip" leaves out rows that cannot be used', choices=("error", "skip")
    )
    check_references: bool = knob(True, "elaborate all references first; 0.1 to 0.5 s per row")

    def check(self) -> None:
        if not isinstance(self.path, str) or not self.path:
            raise ConfigError(f"path must be the name of a file or a folder, got {self.path!r}")
        if not isinstance(self.descriptions, str):
            raise ConfigError(f"descriptions must be the name of a file, got {self.descriptions!r}")

    @classmethod
    def at(cls, difficulty: int) -> "VerilogDatasetConfig":
        """There are no difficulty levels: the problems come from a file."""
        raise ConfigError(
            f"VerilogDataset has no difficulty levels (got {difficulty!r}): its problems come from "
            "the file that 'path' names"
        )


@dataclass(frozen=True, slots=True)
class VerilogDatasetProblem:
    """A problem and all that judging an answer to it needs, so that a row needs no file."""

    statement: str
    top: str
    golden: str = hidden("")
    name: str = hidden("")
    index: int = hidden(0)
    reward: str = hidden("equivalence")
    strict: bool = hidden(False)
    header: str = hidden("")  # with a testbench, where no reference can be synthesised
    testbench: str = hidden("")
    accept_bounded: bool = hidden(True)


@register(
    "VerilogDataset-v0",
    domain="verilog",
    answer_format=LANGUAGE,
    weight=0.0,
    example={"path": SAMPLE},
)
class VerilogDatasetTask(IndexedTask[VerilogDatasetConfig, VerilogDatasetProblem]):
    """Write the Verilog module that a problem from a file of yours asks for.

    Description:
        ``gym.make("rlvr/VerilogDataset-v0", path="problems.jsonl")`` serves the rows of a file,
        drawn at random, or one by one with ``reset(options={"index": i})``. The layout of each row
        is recognised by its columns: VerilogEval 1 and 2, RTLLM, CodeV-R1, ResBench, CVDP with
        solutions, and rows of a text and a reference or a testbench; folders of VerilogEval 2 and
        of RTLLM are read as they are published. Without ``path``, a few problems of our own are
        served.

    Observation:
        The problem, as the file has it, the name of the module, and what an answer may not hold.

    Action:
        The module in Verilog or SystemVerilog.

    Reward:
        1 if the module is equivalent to the file's reference, or passes the testbench where there
        is no reference that can be synthesised, otherwise 0; ``reward="graded"``
        gives a little for compiling and for the right ports.

    Verification:
        By equivalence with the reference, as for the designs that this package draws, never by
        what a testbench prints: an answer could print the same. Clock and asynchronous reset are
        found in the reference's netlist, a synchronous reset by its name; the reset is active in
        the first cycle, where there is one. Wherever the reference shows an x, anything is right.
        Where no proof is found, up to 60,000 cycles are simulated.
        With ``strict=True`` Icarus has to agree as well. A reference that cannot be synthesised
        leaves the row's testbench, which has to let it pass; without one, the row is refused. A
        testbench judges by which of its own lines are printed when Icarus runs it on the netlist of
        the answer, and a row is refused where a wrong module would pass (see
        docs/verilog_datasets.md). Known gaps: a wrong reference or testbench is taken for right,
        and a testbench tries some inputs; a reset under an unknown name is an input like any other,
        so that nothing is compared until the reference's outputs are known.

    Difficulty:
        No difficulty levels: the problems come from a file.

    References:
        Liu et al. 2023, VerilogEval: Evaluating Large Language Models for Verilog Code Generation.
        Pinckney et al. 2024, Revisiting VerilogEval, arXiv:2408.11053.
        Lu et al. 2024, RTLLM: An Open-Source Benchmark for Design RTL Generation.
        Zhu et al. 2025, CodeV-R1: Reasoning-Enhanced Verilog Generation, arXiv:2505.24183.
        Guo and Zhao 2025, ResBench, arXiv:2503.08823.
        Pinckney et al. 2025, Comprehensive Verilog Design Problems, arXiv:2506.14074.
    """

    judged_in_sandbox = True

    def file(self) -> RowFile[VerilogRow]:
        """Return the rows of the file, and those that were refused.

        Raises:
            ConfigError: the file cannot be read, or has no row that can be used.
            DependencyError: references are to be checked, and the tools are not installed.
        """
        config = self.config
        if config.strict:
            require()
        path = _SAMPLE_FILE if config.path == SAMPLE else Path(self.outside("path"))
        descriptions = Path(self.outside("descriptions")) if config.descriptions else None
        # Our own problems are known to be sound.
        check = config.check_references and config.path != SAMPLE
        for file in filter(None, (path, descriptions)):
            if not file.exists():
                hint = did_you_mean_path(file)
                raise ConfigError(f"VerilogDataset: there is no file {str(file)!r}{hint}")
        state, bounded = path.stat(), config.accept_bounded
        return _files.find(
            self,
            (path, descriptions, check, bounded, state.st_mtime_ns, state.st_size),
            lambda: load(path, descriptions=descriptions, check=check, bounded=bounded),
            lenient=config.on_bad_row == "skip",
            reason_chars=_REASON_CHARS,
        )

    def __len__(self) -> int:
        return len(self.file().rows)

    def problem_at(self, index: int) -> VerilogDatasetProblem:
        rows = self.file().rows
        number = self.check_index(index, len(rows))
        row, config = rows[number], self.config
        return VerilogDatasetProblem(
            statement=row.statement.strip(),
            top=row.top,
            golden=row.reference,
            name=row.name,
            index=number,
            reward=config.reward,
            strict=config.strict,
            header=row.header,
            testbench=row.testbench,
            accept_bounded=config.accept_bounded,
        )

    def prompt(self, problem: VerilogDatasetProblem) -> str:
        return f"{problem.statement}\n\n{_TERMS.format(top=problem.top)}"

    def verify(self, problem: VerilogDatasetProblem, answer: str) -> Verdict:
        try:
            verdict = _judged(problem, answer)
        except (Unusable, SandboxError) as error:
            return Verdict.verifier_error(str(error))
        return verdict if problem.accept_bounded else only_proved(verdict)

    def solve(self, problem: VerilogDatasetProblem) -> str:
        """Return the reference; nothing where the file has a testbench alone."""
        return silenced(problem.golden)

    def effort(self, problem: VerilogDatasetProblem) -> float:
        """Return Halstead's effort of the reference, or of the testbench where there is none."""
        return writing_effort(problem.golden or problem.testbench)

    def baseline(self, rng: Rng, problem: VerilogDatasetProblem) -> str:
        """Return a module of the wanted name without ports."""
        return f"module {problem.top};\nendmodule\n"


def _judged(problem: VerilogDatasetProblem, answer: str) -> Verdict:
    try:
        reference = reference_of(problem.golden, problem.top) if problem.golden else None
    except Unusable:
        if not problem.testbench:
            raise
        reference = None
    if reference is None:
        bench, ports = bench_of(problem.testbench, problem.header, problem.top, problem.golden)
        return judge_by_bench(answer, bench, problem.top, ports, reward=problem.reward)
    verdict = judge(answer, reference, reward=problem.reward, deep=PATIENT)
    if not problem.strict or verdict.status is not Status.CORRECT:
        return verdict
    return cosimulate(answer, reference, verdict)
