"""Causal models and queries in words, and a reader of distributions."""

from collections.abc import Sequence
from fractions import Fraction

from rlvr_envs.generators.mathematics.causal_model import Distribution, Mechanism, Model
from rlvr_envs.generators.mathematics.latex import decimal
from rlvr_envs.generators.mathematics.plain_answers import squeeze
from rlvr_envs.generators.mathematics.words import listed
from rlvr_envs.verifiers import parse

_LETTERS = "ABCDEFGHIJKLMNOQRSTVWXYZ"  # P stands for probabilities and U for noise variables
_MAX_ITEMS = 16
_BRACKETS = {"[": "]", "(": ")", "{": "}"}

_PROBABILISTIC = (
    "Here is a causal Bayesian network. For each variable it gives the direct causes (parents) "
    "and the probability of each value, given the values of the parents."
)
_STRUCTURAL = (
    "Here is a structural causal model. Each variable is a function of its direct causes (parents) "
    "and of its own noise variable, whose name starts with U. The noise variables are hidden and "
    "independent of each other."
)


def name(variable: int) -> str:
    """Return the letter of a variable, with a number once the letters run out."""
    lap, letter = divmod(variable, len(_LETTERS))
    return _LETTERS[letter] + (str(lap + 1) if lap else "")


def describe(sizes: Sequence[int], mechanisms: Sequence[Mechanism], denominator: int) -> str:
    """Return the whole model in words, in the order of the mechanisms."""
    model = Model(sizes, mechanisms)
    structural = any(mechanism.noise for mechanism in mechanisms)
    lines = [_STRUCTURAL if structural else _PROBABILISTIC]
    for mechanism in mechanisms:
        lines.append("")
        lines.extend(_told(model, mechanism, denominator))
    return "\n".join(lines)


def question(
    level: str, target: int, variable: int, value: int, seen: tuple[int, ...] | None
) -> str:
    """Return the query in words; ``seen`` holds the observed values of a counterfactual query."""
    y, x = name(target), name(variable)
    if level == "association":
        return (
            f"You observe {x}={value}. What is the distribution of {y} given this observation, "
            f"P({y} | {x}={value})?"
        )
    if level == "intervention" or seen is None:
        return (
            f"An intervention sets {x} to {value} and changes nothing else. What is the "
            f"distribution of {y} under this intervention, P({y} | do({x}={value}))?"
        )
    return (
        f"You observe {x}={seen[0]} and {y}={seen[1]}. Suppose that an intervention had set {x} to "
        f"{value} instead, with all noise variables unchanged. What would the distribution of {y} "
        f"be? That is, find P({y}_{{{x}={value}}} | {x}={seen[0]}, {y}={seen[1]})."
    )


def read_distribution(answer: str) -> Distribution | None:
    """Return numbers in [0, 1] from a list such as ``[0.25, 3/4]`` in any brackets or none."""
    text = squeeze(answer)
    if not text:
        return None
    text = text.replace("\\{", "{").replace("\\}", "}")
    if text[0] in _BRACKETS and text[-1] == _BRACKETS[text[0]]:
        text = text[1:-1]
    pieces = text.replace(";", ",").split(",")
    if len(pieces) > _MAX_ITEMS:
        return None
    numbers = []
    for piece in pieces:
        number = parse.rational(piece, max_digits=100)
        if number is None or not 0 <= number <= 1:
            return None
        numbers.append(Fraction(number))
    return tuple(numbers)


def _told(model: Model, mechanism: Mechanism, denominator: int) -> list[str]:
    own, size = name(mechanism.variable), model.sizes[mechanism.variable]
    causes = [name(parent) for parent in mechanism.parents]
    origin = f"parent{'s' * (len(causes) > 1)} {listed(causes)}" if causes else "no parents"
    lines = [f"{own}: values {listed(list(map(str, range(size))))}; {origin}."]
    if mechanism.noise:
        lines.append(_probabilities(f"U_{own}", mechanism.noise, denominator))
    for assignment, row in zip(model.assignments(mechanism), mechanism.rows, strict=True):
        case = ", ".join(
            f"{name(parent)}={value}"
            for parent, value in zip(mechanism.parents, assignment, strict=True)
        )
        if mechanism.noise:
            states = ", ".join(map(str, range(len(row))))
            body = f"{own} = {', '.join(map(str, row))} for U_{own} = {states} respectively"
        else:
            body = _probabilities(own, row, denominator)
        lines.append(f"If {case}: {body}" if case else body)
    return lines


def _probabilities(symbol: str, weights: Sequence[int], denominator: int) -> str:
    return ", ".join(
        f"P({symbol}={value}) = {decimal(Fraction(weight, denominator))}"
        for value, weight in enumerate(weights)
    )
