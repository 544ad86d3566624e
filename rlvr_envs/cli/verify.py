r"""Judge answers to rows, from the rows alone.

  rlvr verify rows.jsonl --answers answers.jsonl --out verdicts.jsonl
  rlvr verify my_dataset --split test --oracle

Rows are a JSONL or Parquet file or a dataset folder. Each line of the answers is an object with
"fingerprint" or "row" (the row's number from 0) and "response": the model's full response, or a
list of several. For an interactive task a response is the list of the episode's actions.

Rows and answers may be anybody's: they are judged in processes with limits of CPU time and memory,
and a row that would open a file, a folder or a server that it names is refused, unless you say
--trust-rows.

The exit status is 0 when everything was judged, whatever the scores, and 2 on a bad line; with
--oracle it is 1 if one of the rows' own answers does not earn full marks.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from rlvr_envs.cli import _text
from rlvr_envs.cli._text import say
from rlvr_envs.core.errors import ConfigError, RowError
from rlvr_envs.core.files import replaced
from rlvr_envs.core.instance import Row
from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.datasets.read import checked_rows
from rlvr_envs.datasets.score import Answers, Fault, Sample, judge, oracle_samples
from rlvr_envs.executors import Executor

HELP = "judge answers to the rows of a dataset"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("rows", type=Path, help="a JSONL or Parquet file or a dataset folder")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--answers", type=Path, metavar="FILE", help="the answers, JSONL")
    what.add_argument("--oracle", action="store_true", help="judge the rows' own answers")
    parser.add_argument("--split", metavar="NAME", help="of a dataset folder; all by default")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the verdicts go, JSONL")
    _text.add_judging(parser, "rows", "judge or solve a row")
    parser.add_argument(
        "--skip-bad-rows", action="store_true", help="count bad lines rather than stop at them"
    )
    _text.add_json(
        parser,
        "{rows, answered, bad_lines, tasks: {id or all: {answers, mean, statuses: {status: n}}}}",
    )


def run(args: argparse.Namespace) -> int:
    """Judge the answers and print a table."""
    faults: list[Fault] = []
    _check_out(args)
    args.executor = args.executor or "processes"
    with ExitStack() as stack:
        executor = stack.enter_context(_text.executor_of(args))
        rows = _rows(args, executor, faults)
        samples = list(_samples(args, rows, executor, faults))
        if not samples and not faults:
            raise ConfigError(f"{str(args.answers)!r} holds no answers")
        if args.out:
            args.out.parent.mkdir(parents=True, exist_ok=True)
        file = stack.enter_context(replaced(args.out)) if args.out else None
        table, answered = _Table(), set[int]()
        for sample, verdict in judge(samples, executor=executor, cpu_s=args.cpu_s):
            if isinstance(verdict, Fault):
                _book(verdict, faults, skip=args.skip_bad_rows)
                continue
            table.add(sample, verdict)
            answered.add(sample.index)
            if file is not None:
                file.write(json.dumps(_record(sample, verdict)).encode() + b"\n")
            if args.oracle and verdict.score < 1.0:
                told = f"row {sample.index} of {sample.row['id']}: {verdict.status}"
                say(f"{told} ({verdict.score:g}) {verdict.detail}", file=sys.stderr)
    if args.json:
        counts = {"rows": len(rows), "answered": len(answered), "bad_lines": len(faults)}
        _text.say_json(counts | {"tasks": table.to_json()})
    else:
        say(table.text())
        say(f"{len(answered)} of {len(rows)} rows answered, {len(faults)} bad lines left out")
    return int(args.oracle and (table.imperfect > 0 or not answered))


def _check_out(args: argparse.Namespace) -> None:
    if args.out and args.out.exists():
        for given in filter(None, (args.rows, args.answers)):
            if given.exists() and given.samefile(args.out):
                raise ConfigError(f"--out names {str(given)!r}, which is read: name another file")


def _rows(args: argparse.Namespace, executor: Executor, faults: list[Fault]) -> list[Row | None]:
    rows: list[Row | None] = []
    for placed in checked_rows(
        args.rows, args.split, trusted=args.trust_rows, executor=executor, cpu_s=args.cpu_s
    ):
        if placed.fault:
            _book(Fault(placed.place, placed.fault), faults, skip=args.skip_bad_rows)
        rows.append(None if placed.fault else placed.row)
    if not rows:
        raise ConfigError(f"{str(args.rows)!r} holds no rows")
    return rows


def _samples(
    args: argparse.Namespace, rows: list[Row | None], executor: Executor, faults: list[Fault]
) -> Iterator[Sample]:
    own = oracle_samples(rows, executor=executor, cpu_s=args.cpu_s) if args.oracle else None
    for found in own or Answers(rows).read(args.answers):
        if isinstance(found, Fault):
            _book(found, faults, skip=args.skip_bad_rows)
        else:
            yield found


def _book(fault: Fault, faults: list[Fault], *, skip: bool) -> None:
    if not skip:
        raise RowError(f"{fault} (--skip-bad-rows goes on without such lines)")
    faults.append(fault)
    say(f"left out: {fault}", file=sys.stderr)


def _record(sample: Sample, verdict: Verdict) -> dict[str, object]:
    return {
        "row": sample.index,
        "sample": sample.sample,
        "id": sample.row["id"],
        "fingerprint": sample.row.get("fingerprint"),
        "difficulty": sample.row.get("difficulty"),
        **verdict.to_json(),
    }


@dataclass(slots=True)
class _Line:
    """The verdicts on one task."""

    statuses: Counter[Status] = field(default_factory=Counter)
    total: float = 0.0

    def add(self, verdict: Verdict) -> None:
        self.statuses[verdict.status] += 1
        self.total += verdict.score

    def mean(self) -> float | None:
        """Return the mean score, None where nothing could be scored."""
        scored = self.statuses.total() - self.statuses[Status.VERIFIER_ERROR]
        return self.total / scored if scored else None

    def cells(self, name: str, seen: list[Status]) -> list[str]:
        found = self.mean()
        mean = "–" if found is None else f"{found:.4f}"
        counts = [str(self.statuses[status]) for status in seen]
        return [name, str(self.statuses.total()), mean, *counts]


class _Table:
    """Verdicts counted by task and in all; what could not be scored is not in the mean."""

    def __init__(self) -> None:
        self.imperfect = 0
        self._lines: dict[str, _Line] = {}

    def add(self, sample: Sample, verdict: Verdict) -> None:
        self.imperfect += verdict.score < 1.0
        for name in (sample.row["id"], "all"):
            self._lines.setdefault(name, _Line()).add(verdict)

    def to_json(self) -> dict[str, dict[str, object]]:
        return {
            name: {
                "answers": line.statuses.total(),
                "mean": line.mean(),
                "statuses": {status.value: n for status, n in sorted(line.statuses.items())},
            }
            for name, line in self._lines.items()
        }

    def text(self) -> str:
        names = sorted(self._lines, key=lambda name: (name == "all", name))
        seen = [s for s in Status if any(line.statuses[s] for line in self._lines.values())]
        head = ["task", "answers", "mean", *(status.value for status in seen)]
        return _text.table(head, [self._lines[name].cells(name, seen) for name in names])
