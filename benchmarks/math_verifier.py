"""The math verifier beside math-verify: accuracy, speed, tails and hostile mixes, in one run.

Both graders judge the same rows in the same process, one after the other, so that the ratios hold
although the machine's speed drifts. Speeds are per second of CPU time of this process; the rare
second reader works in another. math-verify is called as its own tests call it: gold in dollars,
prediction in dollars or as the full response, default configuration, timeouts on.

    python benchmarks/math_verifier.py --data ../shared/data/math
"""

import json
import random
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import math_verify
import results_file

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.verifiers.symbolic import compile_gold, judge_math, verify_math

ROOT = Path(__file__).resolve().parents[1]
MEASURED = (
    "verdicts of this package and of math-verify on the same rows: right and wrong ones accepted "
    "or refused (TP, FN, TN, FP), rates and milliseconds"
)
GOLD_SETS = ("math500", "aime24", "amc23", "minerva_math", "olympiadbench", "gsm8k")
TOWERS = ("9^{9^{9}}", "5^{5^{5^5}}", r"\binom{10^9}{5*10^8}")
REWRITES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("spaces and a period", lambda gold: f" {gold} ."),
    (r"\dfrac for \frac", lambda gold: gold.replace(r"\frac", r"\dfrac")),
    (r"no \left, \right", lambda gold: gold.replace(r"\left", "").replace(r"\right", "")),
    ("spaces around signs", lambda gold: re.sub(r"(?<![\\{,!eE])([+=])", r" \1 ", gold)),
    ("power of ten for e", lambda gold: re.sub(r"^([\d.]+)e(-?\d+)$", r"\1 \\times 10^{\2}", gold)),
    ("x = before a number", lambda gold: f"x = {gold}" if re.fullmatch(r"-?\d+", gold) else gold),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison; ``answer`` is a full response where ``is_response``."""

    gold: str
    answer: str
    label: bool
    is_response: bool = False


Grader = Callable[[Row], bool]


def ours(row: Row) -> bool:
    """Judge with this package."""
    judge = verify_math if row.is_response else judge_math
    return judge(row.gold, row.answer).score == 1.0


def in_dollars(text: str) -> str:
    """Delimit a formula the way math-verify expects it."""
    return text if "$" in text or "\\boxed" in text else f"${text}$"


def theirs(row: Row) -> bool:
    """Judge with math-verify."""
    answer = row.answer if row.is_response else in_dollars(row.answer)
    gold = math_verify.parse(in_dollars(row.gold))
    return bool(math_verify.verify(gold, math_verify.parse(answer)))


def measure(rows: list[Row], grader: Grader) -> dict[str, Any]:
    """Return counts and times of a grader on labelled rows."""
    counts: Counter[str] = Counter()
    latencies = []
    started = time.process_time()
    for row in rows:
        before = time.perf_counter()
        try:
            said = grader(row)
        except Exception as error:  # noqa: BLE001 - a crash of either grader is a result
            counts[f"crash {type(error).__name__}"] += 1
            said = False
        latencies.append(time.perf_counter() - before)
        counts[f"{'T' if said == row.label else 'F'}{'P' if said else 'N'}"] += 1
    cpu_s = time.process_time() - started
    ordered = sorted(latencies)
    return {
        **{name: counts.pop(name, 0) for name in ("TP", "FN", "TN", "FP")},
        **counts,
        "per_cpu_second": round(len(rows) / max(cpu_s, 1e-9)),
        "per_wall_second": round(len(rows) / sum(latencies)),
        "samples": [round(1e3 * each, 4) for each in latencies],
        "p50_ms": round(1e3 * statistics.median(ordered), 4),
        "p99_ms": round(1e3 * ordered[int(0.99 * (len(ordered) - 1))], 4),
        "max_ms": round(1e3 * ordered[-1], 3),
    }


def compare(rows: list[Row]) -> dict[str, Any]:
    """Measure both graders on the same rows; golds are compiled first, as a data set's are."""
    for row in rows:
        compile_gold(row.gold)
    judge_math(r"\sqrt{2}", "1.41421356")  # imports mpmath, once a process
    return {
        "rows": len(rows),
        "rlvr_envs": measure(rows, ours),
        "math_verify": measure(rows, theirs),
    }


def load(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a JSON-lines file."""
    with path.open() as lines:
        return [json.loads(line) for line in lines]


def rewritten_golds(data: Path) -> Iterator[tuple[str, list[Row]]]:
    """Yield each way to rewrite a gold with all golds that it changes."""
    golds = [row["gold"] for name in GOLD_SETS for row in load(data / "gold" / f"{name}.jsonl")]
    golds = [gold for gold in dict.fromkeys(golds) if compile_gold(gold).verifiable]
    for name, rewrite in REWRITES:
        pairs = [(gold, rewrite(gold.strip("$"))) for gold in golds]
        yield name, [Row(gold, new, True) for gold, new in pairs if new != gold.strip("$")][:400]


def is_mislabelled(row: dict[str, Any]) -> bool:
    """Whether this is the response that the data's README calls wrongly labelled."""
    return bool(row["id"] == 72 and row["gold"] == "10{,}000" and row["qwen_pred"] == "10000")


def responses(data: Path) -> dict[str, list[Row]]:
    """Return full model responses; GSM8K's final lines are put into a box."""
    qwen = [
        Row(row["gold"], row["response"], row["label"] or is_mislabelled(row), is_response=True)
        for row in load(data / "responses" / "qwen_math_cot_100.jsonl")
    ]
    school = []
    for row in load(data / "responses" / "gsm8k_openai.jsonl")[::4]:
        lines = row["response"].strip().split("\n")
        if lines[-1].startswith("A: "):
            boxed = "\n".join([*lines[:-1], f"\\boxed{{{lines[-1].removeprefix('A: ')}}}"])
            school.append(Row(row["gold"], boxed, row["label"], is_response=True))
    return {"qwen_math_responses": qwen, "gsm8k_openai_responses": school}


_SEGMENT = re.compile(r"\$\$(.+?)\$\$|\$(.+?)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_TEXT = re.compile(r"\\(?:text|mbox|textbf|textnormal|mathrm)\s*\{[^{}]*\}|\\[A-Za-z]+")
_TWO_DIGITS = re.compile(r"0\.33\\|2\.6667\]")  # lighteval's copies do not say so
_BROKEN = re.compile(r"\\\\(?:left|le|boxed|frac|text)|\x0c|zzz|\t")


def formula_of(text: str) -> str | None:
    """Return the one answer that a text holds, or None where finding it is the actual test."""
    if "\\boxed" in text:
        return answer_format("boxed").extract(text).answer
    segments = list(_SEGMENT.finditer(text))
    outside = _TEXT.sub(" ", _SEGMENT.sub(" ", text))
    words = re.findall(r"[A-Za-z]{3,}", outside)
    if words and re.search(r"[0-9]|\\$", outside):
        return None
    if len(segments) == 1 and words:
        return next(group for group in segments[0].groups() if group)
    listed = words in (["and"], ["and", "and"])
    plain = not segments and len(words) <= 1 and "\n" not in text.strip()
    return text if plain or listed or (segments and not words) else None


def exclusion(row: dict[str, Any]) -> str:
    """Return why a pair is left out, or an empty text."""
    extra = row.get("extra") or {}
    answer = formula_of(row["pred"]) or ""
    sets = "a set relation that math-verify makes asymmetric on purpose"
    reasons = {
        "a choice letter to be found in prose": "extraction_abc" in row["fn"],
        "rounding to two digits": bool(_TWO_DIGITS.search(answer)),
        "variables matched by position": extra.get("strict") is False,
        sets: extra.get("allow_set_relation_comp") is False,
        "a gold with doubled backslashes or broken escapes": bool(_BROKEN.search(row["gold"])),
        "an answer to be found in prose": not answer or formula_of(row["gold"]) is None,
        "sides that contradict each other": bool(re.search(r"=[^=,;]*(?:=|approx)", answer)),
        "a line break inside dollars": row["pred"].endswith(("\n $", "\n \\)")),
        "a label that is wrong": "mathrm{e}" in row["gold"] and "1 +" in row["pred"],
    }
    return next((reason for reason, applies in reasons.items() if applies), "")


def pairs(data: Path) -> tuple[list[Row], dict[str, int]]:
    """Return math-verify's and lighteval's own labelled pairs, and what is left out and why."""
    excluded: Counter[str] = Counter()
    found: dict[tuple[str, str], Row] = {}
    for name in ("mathverify_tests", "lighteval_tests"):
        for row in load(data / "pairs" / f"{name}.jsonl"):
            why = exclusion(row)
            gold, answer = formula_of(row["gold"]), formula_of(row["pred"])
            if why or gold is None or answer is None:
                excluded[why or "no answer"] += 1
                continue
            found[row["gold"], row["pred"]] = Row(gold, answer, row["label"])
    return list(found.values()), dict(excluded)


def mismatches(data: Path, count: int) -> list[Row]:
    """Return golds of different problems and of different values, which no grader may equate."""
    golds = sorted(
        {r["gold"].strip("$") for n in GOLD_SETS for r in load(data / "gold" / f"{n}.jsonl")}
    )
    formulas = [gold for gold in golds if not re.fullmatch(r"[\d.]+", gold) and len(gold) > 2]
    chance = random.Random(0)  # noqa: S311 - a sample, not a secret
    drawn = [chance.sample(formulas, 2) for _ in range(count)]
    return [Row(gold, answer, label=False) for gold, answer in drawn]


def hostile_mix(data: Path) -> list[Row]:
    """Return 300 ordinary answers and three towers, one per hundred."""
    ordinary = responses(data)["qwen_math_responses"][:300]
    rows = list(ordinary)
    for place, tower in enumerate(TOWERS):
        rows.insert(
            100 * place + 50, Row("42", f"So \\boxed{{{tower}}}", label=False, is_response=True)
        )
    return rows


def spell(answer: str | dict[str, Any]) -> str:
    """Write out an answer that the corpus stores as a repetition."""
    if isinstance(answer, str):
        return answer
    prefix, middle, suffix = (str(answer[name]) for name in ("prefix", "middle", "suffix"))
    return prefix * int(answer["times"]) + middle + suffix * int(answer["times"])


def hostile() -> dict[str, Any]:
    """Judge the hostile corpus with ours alone: math-verify needs minutes and gigabytes for it."""
    corpus = json.loads((ROOT / "tests" / "adversarial" / "math_answers.json").read_text())
    answers = [spell(answer) for group in corpus for answer in group["answers"]]
    times, rewarded, statuses = [], 0, Counter[str]()
    for answer in answers:
        for gold in ("42", r"\sqrt{2}+40", "x^2+1"):
            before = time.perf_counter()
            verdict = judge_math(gold, answer)
            times.append(time.perf_counter() - before)
            rewarded += verdict.score > 0
            statuses[verdict.status.value] += 1
    return {
        "judgements": len(times),
        "rewarded": rewarded,
        "statuses": dict(statuses),
        "total_s": round(sum(times), 3),
        "max_s": round(max(times), 3),
    }


def decided_alone(data: Path) -> dict[str, float]:
    """Return the share of MATH-shaped answers that are decided without sympy."""
    rows = list(responses(data)["qwen_math_responses"])
    for name in ("math500", "olympiadbench"):
        golds = [row["gold"] for row in load(data / "gold" / f"{name}.jsonl")]
        rows += [Row(gold, other, label=False) for gold, other in pairwise(golds)]
    alone = 0
    for row in rows:
        verdict = (verify_math if row.is_response else judge_math)(row.gold, row.answer)
        alone += is_decided_here(verdict)
    return {"rows": len(rows), "share": round(alone / len(rows), 5)}


def is_decided_here(verdict: Verdict) -> bool:
    """Whether the verdict came from this package's own reader."""
    undecided = "undecided" in verdict.parts or verdict.parts.get("stage") == 4.0
    return not undecided and verdict.status is not Status.TIMEOUT


def summary(raw: dict[str, Any]) -> dict[str, Any]:
    """Return a line for each grader on each set of rows."""
    rows = {
        f"{name}, {grader}": {k: v for k, v in found[grader].items() if k != "samples"}
        for name, found in (raw | raw["golds_rewritten"]).items()
        for grader in ("rlvr_envs", "math_verify")
        if grader in found
    }
    return {
        "graders": results_file.table(rows),
        "pairs left out": raw["labelled_pairs"]["excluded"],
        **{name: raw[name] for name in ("hostile_corpus", "decided_without_sympy")},
    }


def main() -> None:
    """Run everything and store the results."""
    parser = results_file.parser(__doc__, "math_verifier")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data" / "math")
    args = parser.parse_args()
    data = args.data
    own_pairs, excluded = pairs(data)
    raw: dict[str, Any] = {
        **{name: compare(rows) for name, rows in responses(data).items()},
        "golds_rewritten": {name: compare(rows) for name, rows in rewritten_golds(data)},
        "labelled_pairs": {**compare(own_pairs), "excluded": excluded},
        "random_mismatches": compare(mismatches(data, 1_000)),
        "one_percent_hostile": compare(hostile_mix(data)),
        "hostile_corpus": hostile(),
        "decided_without_sympy": decided_alone(data),
    }
    figures = summary(raw)
    print(results_file.as_text(figures))
    head = results_file.head(MEASURED, "math-verify", "sympy", "mpmath")
    results_file.store(args, head, figures, raw)


if __name__ == "__main__":
    main()
