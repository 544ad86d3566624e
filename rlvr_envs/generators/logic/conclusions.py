"""Lists of conclusions of which some follow: choosing them, and judging the chosen numbers."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TypeVar

from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.candidates import Network
from rlvr_envs.generators.grids.deductions import Words, contradiction
from rlvr_envs.verifiers import parse

T = TypeVar("T")


def draw_conclusions(
    rng: Rng, following: Sequence[T], others: Sequence[T], count: int
) -> tuple[tuple[T, ...], tuple[int, ...]]:
    """Draw conclusions in random order, and return them and the numbers of those that follow.

    At least one follows and at least one does not; each number of them in between is equally
    likely, as far as the two sequences go, neither of which may be empty.
    """
    n_following = integer(rng, 1, count - 1)
    n_following = max(min(n_following, len(following)), min(count - len(others), len(following)))
    chosen = [following[i] for i in rng.permutation(len(following))[:n_following].tolist()]
    chosen += [others[i] for i in rng.permutation(len(others))[: count - n_following].tolist()]
    order = rng.permutation(len(chosen)).tolist()
    numbers = tuple(i for i, which in enumerate(order, 1) if which < n_following)
    return tuple(chosen[which] for which in order), numbers


def demanding(
    following: Sequence[T],
    entailing: Callable[[Sequence[int]], Callable[[T], bool]],
    n_premises: int,
    n_needed: int,
    enough: int,
) -> list[T]:
    """Return the conclusions that no ``n_needed - 1`` premises entail.

    If these are fewer than ``enough``, the number of premises is lowered until they are not.

    Args:
        following: conclusions that all premises together entail.
        entailing: given the indices of some premises, returns what tells whether they entail one.
        n_premises: how many premises there are.
        n_needed: how many premises a conclusion should take.
        enough: how many conclusions are enough.
    """
    for size in range(n_needed - 1, 0, -1):
        groups = [entailing(chosen) for chosen in combinations(range(n_premises), size)]
        found = [one for one in following if not any(entails(one) for entails in groups)]
        if len(found) >= enough:
            return found
    return list(following)


def proven(
    number: int, supposed: str, network: Network, masks: Sequence[int], words: Words
) -> list[str]:
    """Return the proof that a conclusion follows, as its opposite leads to a contradiction."""
    steps = contradiction(network, masks, words) or ["But no case agrees with all the statements."]
    last = f"{steps[-1][:-1]}: conclusion {number} must be true."
    return [f"Conclusion {number}: {supposed}.", *steps[:-1], last]


def disproven(number: int, case: str) -> str:
    """Return that a conclusion does not follow, as it is false in a case."""
    return f"Conclusion {number} need not be true: the statements hold and it is false if {case}."


def judge_numbers(following: Sequence[int], count: int, answer: str) -> Verdict:
    """Judge an answer that lists the numbers, from 1 to ``count``, of what follows."""
    numbers = parse.naturals(answer, max_items=count, max_digits=4)
    if numbers is None:
        return Verdict.unparsable(f"expected at most {count} numbers separated by commas")
    if len(set(numbers)) < len(numbers) or not set(numbers) <= set(range(1, count + 1)):
        return Verdict.wrong(f"the numbers must be different and from 1 to {count}")
    if set(numbers) == set(following):
        return Verdict.correct()
    return Verdict.wrong("these are not exactly the conclusions that follow")
