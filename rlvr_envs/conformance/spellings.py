"""Other spellings of a certificate, and the check that each earns what the plain one earns."""

import re

from rlvr_envs.conformance.subject import NotApplicable, Subject, require

_DOMAINS = ("np_hard", "puzzles")  # whose answers are lists, grids and lines
_LIST = re.compile(r"[^,\n]+(?:, [^,\n]+)+")
_MATHEMATICAL = frozenset("()[]{}=+*/^\\|")
_WHOLE = re.compile(r"-?\d+")
_CELL = re.compile(r"\((\d+), (\d+)\)")
_CELLS = re.compile(rf"{_CELL.pattern}(?:, {_CELL.pattern})+")


def spellings_are_read(subject: Subject) -> None:
    """Arrows, "and", tables, labels and so on earn what the plain answer earns, right or wrong."""
    if subject.spec.domain not in _DOMAINS or subject.task_type.literal_answer:
        raise NotApplicable("its answers are no certificates, or text that counts as it stands")
    compared = 0
    for drawn in subject.draw_answered(subject.count(9), levels=(0, 3)):
        for answer in (str(drawn.reference), _changed(str(drawn.reference))):
            expected = drawn.judged(answer).score
            for name, text in spellings(answer).items():
                score = drawn.judged(text).score
                compared += 1
                require(
                    score == expected,
                    f"{name}: {text!r:.200} earns {score}, and {answer!r:.200} earns {expected}",
                )
    if not compared:
        raise NotApplicable("its answers have one spelling")


def spellings(answer: str) -> dict[str, str]:
    """Return other spellings of an answer by name; none where its form is not known."""
    found = {}
    if "\n" not in answer and not answer.endswith("."):
        found["a full stop"] = f"{answer}."
    if _LIST.fullmatch(answer) and not _MATHEMATICAL & set(answer):
        found |= _of_list(answer.split(", "))
    if _CELLS.fullmatch(answer):
        found |= _of_cells([f"{row}, {column}" for row, column in _CELL.findall(answer)])
    rows = [line.replace(",", " ").split() for line in answer.split("\n")]
    if len(rows) > 1 and len(rows[0]) > 1 and len({len(row) for row in rows}) == 1:
        found |= _of_grid(rows)
    return found


def _of_list(items: list[str]) -> dict[str, str]:
    plain, head, last = ", ".join(items), ", ".join(items[:-1]), items[-1]
    found = {
        "and": f"{head} and {last}",
        "a comma and and": f"{head}, and {last}",
        "arrows": " → ".join(items),
        "typed arrows": " -> ".join(items),
        "TeX's arrows": r" \to ".join(items),
        "square brackets": f"[{plain}]",
        "TeX's braces": rf"$\{{{plain}\}}$",
        "lines": "\n".join(items),
        "numbered lines": "\n".join(f"{i}. {item}" for i, item in enumerate(items, 1)),
        "bullets": "\n".join(f"- {item}" for item in items),
        "semicolons": "; ".join(items),
        "a code block": f"```\n{plain}\n```",
    }
    if all(map(_WHOLE.fullmatch, items)):
        found["quotients"] = ", ".join(f"{2 * int(item)}/2" for item in items)
        found["TeX's fractions"] = ", ".join(rf"\frac{{{3 * int(i)}}}{{3}}" for i in items)
    return found


def _of_cells(cells: list[str]) -> dict[str, str]:
    """Return other spellings of a list of cells, each told as its row and column."""
    named = [f"r{cell.replace(', ', 'c')}" for cell in cells]
    return {
        "named cells": ", ".join(named),
        "named cells and and": f"{', '.join(named[:-1])} and {named[-1]}",
        "numbered cells": "\n".join(f"{i}. ({cell})" for i, cell in enumerate(cells, 1)),
        "bracketed cells": f"[{', '.join(f'[{cell}]' for cell in cells)}]",
    }


def _of_grid(rows: list[list[str]]) -> dict[str, str]:
    width = len(rows[0])
    barred = [f"| {' | '.join(row)} |" for row in rows]
    header = [f"| {' | '.join(f'c{i}' for i in range(1, width + 1))} |", f"|{'---|' * width}"]
    cells = r" \\ ".join(" & ".join(row) for row in rows)
    return {
        "a table": "\n".join([*header, *barred]),
        "bars": "\n".join(barred),
        "a matrix": rf"\begin{{bmatrix}} {cells} \end{{bmatrix}}",
        "commas": "\n".join(", ".join(row) for row in rows),
        "labelled rows": "\n".join(f"Row {i}: {', '.join(r)}" for i, r in enumerate(rows, 1)),
    }


def _changed(answer: str) -> str:
    """Return an answer with its last two different words exchanged, or a word doubled."""
    words = re.findall(r"[\w#.:-]+", answer)
    for one in reversed(words[:-1]):
        if one != words[-1]:
            head, _, tail = answer.rpartition(words[-1])
            before, _, between = head.rpartition(one)
            return f"{before}{words[-1]}{between}{one}{tail}"
    return answer + answer
