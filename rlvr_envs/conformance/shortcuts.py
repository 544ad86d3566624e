"""Rules that answer from the look of a prompt: what a model would learn if one of them paid."""

import re
from collections import Counter
from fractions import Fraction

_FORMULA = re.compile(r"\$\$([^$]+)\$\$|\$([^$]+)\$")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*\d)")
_NAME = re.compile(r"(?<![.!?:\n] )(?<!^)(?<!\n)\b[A-Z][a-z]+\b")
_OPTION = re.compile(r"^\s*(?:\(?([A-Z]|\d+)[).:]|[-*])\s+(.+)$", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z]+")


def rules(prompt: str) -> dict[str, str]:
    """Return the answer of each rule that finds one in a prompt, by the rule's name.

    The prompt stands without the sentence about the form of the answer.
    """
    found = {"whole prompt": prompt}
    if formulas := [a or b for a, b in _FORMULA.findall(prompt)]:
        found |= {
            "first formula": formulas[0],
            "last formula": formulas[-1],
            "longest formula": max(formulas, key=len),
            "right-hand side": formulas[-1].split("=")[-1],
        }
    if numbers := _NUMBER.findall(prompt):
        found |= _of_numbers(numbers)
    if names := _NAME.findall(prompt):
        found |= {"first name": names[0], "last name": names[-1], "commonest name": _mode(names)}
    if options := _OPTION.findall(prompt):
        labelled = [option for option in options if option[0]]
        label, text = max(labelled or options, key=lambda option: len(option[1]))
        found |= {"first option": options[0][1], "last option": options[-1][1]}
        found["longest option"] = text
        if labelled:
            found |= {
                "label of the first option": labelled[0][0],
                "label of the last option": labelled[-1][0],
                "label of the longest option": label,
                "labels of all options": ", ".join(each for each, _ in labelled),
            }
    if words := _WORD.findall(prompt):
        found |= {"last word": words[-1], "longest word": max(words, key=len)}
    return found


def _of_numbers(numbers: list[str]) -> dict[str, str]:
    values = sorted(numbers, key=Fraction)
    return {
        "smallest number": values[0],
        "largest number": values[-1],
        "median number": values[len(values) // 2],
        "commonest number": _mode(numbers),
        "first number": numbers[0],
        "last number": numbers[-1],
        "count of the numbers": str(len(numbers)),
        "list of the numbers": ", ".join(numbers),
    }


def _mode(texts: list[str]) -> str:
    return Counter(texts).most_common(1)[0][0]
