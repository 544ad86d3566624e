r"""Judge answers to rows, from the rows alone.

  rlvr verify rows.jsonl --answers answers.jsonl --out verdicts.jsonl
  rlvr verify my_dataset --split test --oracle

Rows are a JSONL or Parquet file or a dataset folder. Each line of the answers is an object with
"fingerprint" or "row" (the row's number from 0) and "response": the model's full response, or a
list of several. For an interactive task a response is the list of the episode's actions.

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
from rlvr_envs.core.errors import ConfigError, RowError
from rlvr_envs.core.instance import Row
from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.datasets.read import checked_rows
from rlvr_envs.datasets.score import Answers, Fault, Sample, judge, oracle_samples

HELP = "judge answers to the rows of a dataset"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("rows", type=Path, help="a JSONL or Parquet file or a dataset folder")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--answers", type=Path, metavar="FILE", help="the answers, JSONL")
    what.add_argument("--oracle", action="store_true", help="judge the rows' own answers")
    parser.add_argument("--split", metavar="NAME", help="of a dataset folder; all by default")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the verdicts go, JSONL")
    _text.add_executor(parser, "judge")
    parser.add_argument(
        "--skip-bad-rows", action="store_true", help="count bad lines rather than stop at them"
    )


def run(args: argparse.Namespace) -> int:
    """Judge the answers and print a table."""
    faults: list[Fault] = []
    if args.out and args.out.exists():
        for given in filter(None, (args.rows, args.answers)):
            if given.exists() and given.samefile(args.out):
                raise ConfigError(f"--out names {str(given)!r}, which is read: name another file")
    rows = _rows(args, faults)
    samples = list(oracle_samples(rows) if args.oracle else _samples(args, rows, faults))
    if not samples and not faults:
        raise ConfigError(f"{str(args.answers)!r} holds no answers")
    table = _Table()
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        partial = args.out and args.out.with_name(args.out.name + ".part")
        file = stack.enter_context(partial.open("w", encoding="utf-8")) if partial else None
        executor = stack.enter_context(_text.executor_of(args))
        for sample, verdict in judge(samples, executor=executor):
            table.add(sample, verdict)
            if file is not None:
                print(json.dumps(_record(sample, verdict)), file=file, flush=True)
            if args.oracle and verdict.score < 1.0:
                told = f"row {sample.index} of {sample.row['id']}: {verdict.status}"
                print(f"{told} ({verdict.score:g}) {verdict.detail}", file=sys.stderr)
    if partial:
        partial.replace(args.out)
    print(table.text())
    answered = len({sample.index for sample in samples})
    print(f"{answered} of {len(rows)} rows answered, {len(faults)} bad lines left out")
    return int(args.oracle and (table.imperfect > 0 or not samples))


def _rows(args: argparse.Namespace, faults: list[Fault]) -> list[Row | None]:
    rows: list[Row | None] = []
    for placed in checked_rows(args.rows, args.split):
        if placed.fault:
            _book(Fault(placed.place, placed.fault), faults, skip=args.skip_bad_rows)
        rows.append(None if placed.fault else placed.row)
    if not rows:
        raise ConfigError(f"{str(args.rows)!r} holds no rows")
    return rows


def _samples(
    args: argparse.Namespace, rows: list[Row | None], faults: list[Fault]
) -> Iterator[Sample]:
    for found in Answers(rows).read(args.answers):
        if isinstance(found, Fault):
            _book(found, faults, skip=args.skip_bad_rows)
        else:
            yield found


def _book(fault: Fault, faults: list[Fault], *, skip: bool) -> None:
    if not skip:
        raise RowError(f"{fault} (--skip-bad-rows goes on without such lines)")
    faults.append(fault)
    print(f"left out: {fault}", file=sys.stderr)


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

    def cells(self, name: str, seen: list[Status]) -> list[str]:
        scored = self.statuses.total() - self.statuses[Status.VERIFIER_ERROR]
        mean = f"{self.total / scored:.4f}" if scored else "–"
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

    def text(self) -> str:
        names = sorted(self._lines, key=lambda name: (name == "all", name))
        seen = [s for s in Status if any(line.statuses[s] for line in self._lines.values())]
        head = ["task", "answers", "mean", *(status.value for status in seen)]
        return _text.table(head, [self._lines[name].cells(name, seen) for name in names])
