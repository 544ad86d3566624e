"""Deterministic automata over a few letters: building, minimising, sampling, writing as a pattern.

Own code rather than a library: every step has to stop at a bound, because one side of each
comparison is written by a model (see `dialect`).
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import Rng, integer


class Machine(NamedTuple):
    """An automaton as functions of a state, which may be any hashable value."""

    start: Hashable
    step: Callable[[Any, str], Hashable]
    accepts: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Automaton:
    """A complete deterministic automaton whose states are numbered from its start, 0."""

    letters: str  # the alphabet
    moves: tuple[tuple[int, ...], ...]  # for each state, the next state on each letter
    accepting: tuple[bool, ...]  # for each state, whether a string may end there

    def accepts(self, text: str) -> bool:
        """Return whether a string over the alphabet is in the language."""
        state = 0
        for letter in text:
            state = self.moves[state][self.letters.index(letter)]
        return self.accepting[state]


def explore(letters: str, machine: Machine, limit: int) -> Automaton | None:
    """Return the automaton of the states that can be reached, or None if they are too many."""
    numbers: dict[Hashable, int] = {machine.start: 0}
    order: list[Hashable] = [machine.start]
    moves: list[tuple[int, ...]] = []
    for state in order:  # grows while it is walked
        row = []
        for letter in letters:
            after = machine.step(state, letter)
            if after not in numbers:
                if len(numbers) >= limit:
                    return None
                numbers[after] = len(order)
                order.append(after)
            row.append(numbers[after])
        moves.append(tuple(row))
    return Automaton(letters, tuple(moves), tuple(machine.accepts(state) for state in order))


def both(machines: Sequence[Machine]) -> Machine:
    """Return the machine of the strings that all of the machines accept."""
    return Machine(
        tuple(machine.start for machine in machines),
        lambda states, letter: tuple(
            machine.step(state, letter) for machine, state in zip(machines, states, strict=True)
        ),
        lambda states: all(
            machine.accepts(state) for machine, state in zip(machines, states, strict=True)
        ),
    )


def minimise(automaton: Automaton) -> Automaton:
    """Return the smallest automaton of the same language (Moore's refinement)."""
    moves = automaton.moves
    block = [int(accepting) for accepting in automaton.accepting]
    count = len(set(block))
    while True:
        keys: dict[tuple[int, ...], int] = {}
        refined = [
            keys.setdefault((block[state], *(block[after] for after in row)), len(keys))
            for state, row in enumerate(moves)
        ]
        block = refined
        if len(keys) == count:
            break
        count = len(keys)
    sample = {number: state for state, number in reversed(list(enumerate(block)))}
    merged = Machine(
        block[0],
        lambda number, letter: block[moves[sample[number]][automaton.letters.index(letter)]],
        lambda number: automaton.accepting[sample[number]],
    )
    smallest = explore(automaton.letters, merged, count)
    if smallest is None:
        raise ConfigError("an automaton grew while it was minimised")
    return smallest


def live_states(automaton: Automaton) -> frozenset[int]:
    """Return the states from which some string is accepted."""
    live = {state for state, accepting in enumerate(automaton.accepting) if accepting}
    grew = True
    while grew:
        more = {s for s, row in enumerate(automaton.moves) if s not in live and live & set(row)}
        live |= more
        grew = bool(more)
    return frozenset(live)


def joined(parts: Sequence[Automaton], separator: str) -> Automaton:
    """Return the automaton of one string of each part, in order, with separators between them.

    The separator is a letter that no part has.
    """
    last = len(parts) - 1

    def step(at: tuple[int, int] | None, letter: str) -> tuple[int, int] | None:
        if at is None:
            return None
        part, state = at
        if letter != separator:
            return part, parts[part].moves[state][parts[part].letters.index(letter)]
        return (part + 1, 0) if part < last and parts[part].accepting[state] else None

    def accepts(at: tuple[int, int] | None) -> bool:
        return at is not None and at[0] == last and parts[last].accepting[at[1]]

    states = 1 + sum(len(part.moves) for part in parts)
    whole = explore(parts[0].letters + separator, Machine((0, 0), step, accepts), states)
    if whole is None:
        raise ConfigError("joining automata made more states than they have")
    return minimise(whole)


def sample(rng: Rng, automaton: Automaton, length: int) -> str | None:
    """Draw one of the accepted strings of a length, each equally likely; None if there is none."""
    counts = [[int(accepting) for accepting in automaton.accepting]]
    for _ in range(length):
        below = counts[-1]
        counts.append([sum(below[after] for after in row) for row in automaton.moves])
    if not counts[length][0]:
        return None
    state, text = 0, []
    for left in range(length, 0, -1):
        ticket = integer(rng, 1, counts[left][state])
        for letter, after in zip(automaton.letters, automaton.moves[state], strict=True):
            ticket -= counts[left - 1][after]
            if ticket <= 0:
                text.append(letter)
                state = after
                break
    return "".join(text)


class Piece(NamedTuple):
    """A pattern and how tightly it binds: 0 a choice, 1 a sequence, 2 an atom."""

    text: str
    binding: int


_NOTHING = Piece("", 1)  # the empty string


def _tight(piece: Piece, binding: int) -> str:
    return piece.text if piece.binding >= binding else f"({piece.text})"


def _star(piece: Piece | None) -> Piece:
    if piece is None or piece == _NOTHING:
        return _NOTHING
    body = piece.text[:-1] if piece.binding == 1 and _is_optional(piece) else _tight(piece, 2)
    return Piece(f"{body}*", 1)


def _is_optional(piece: Piece) -> bool:
    """Whether the piece is one atom and a question mark."""
    text = piece.text
    return len(text) == 2 and text[1] == "?"


def _chain(*pieces: Piece) -> Piece:
    parts = [piece for piece in pieces if piece != _NOTHING]
    if len(parts) == 1:
        return parts[0]
    return Piece("".join(_tight(piece, 1) for piece in parts), 1)


def _either(left: Piece | None, right: Piece | None) -> Piece | None:
    if left is None or right is None or left == right:
        return right if left is None else left
    if _NOTHING in (left, right):
        other = right if left == _NOTHING else left
        if other.text.endswith("*") and other.binding == 1 and len(other.text) == 2:
            return other
        return Piece(f"{_tight(other, 2)}?", 1)
    return Piece(f"{left.text}|{right.text}", 0)


def _letters_piece(letters: str, alphabet: str) -> Piece:
    if len(letters) == 1:
        return Piece(letters, 2)
    return Piece("." if letters == alphabet else f"[{letters}]", 2)


def to_pattern(automaton: Automaton, alphabet: str, limit: int) -> str | None:
    """Return a pattern of the language, by eliminating states; None if it gets too long.

    Uses letters, ``.`` (any letter of the alphabet, which may be larger than the automaton's),
    classes, groups, ``|``, ``*`` and ``?``. The language must have a string.
    """
    live = live_states(automaton)
    start, end = -1, -2
    edges: dict[tuple[int, int], Piece] = {}
    for state in sorted(live):
        by_target: dict[int, str] = {}
        for letter, after in zip(automaton.letters, automaton.moves[state], strict=True):
            if after in live:
                by_target[after] = by_target.get(after, "") + letter
        for after, letters in by_target.items():
            edges[state, after] = _letters_piece(letters, alphabet)
        if automaton.accepting[state]:
            edges[state, end] = _NOTHING
    edges[start, 0] = _NOTHING
    remaining = set(live)
    while remaining:
        state = min(remaining, key=lambda s: (_cost(edges, s), s))
        remaining.remove(state)
        if not _eliminate(edges, state, limit):
            return None
    return edges[start, end].text


def _cost(edges: dict[tuple[int, int], Piece], state: int) -> int:
    """Return roughly how much longer the pieces get when the state is eliminated."""
    into = [len(p.text) for (a, b), p in edges.items() if b == state != a]
    out = [len(p.text) for (a, b), p in edges.items() if a == state != b]
    loop = edges.get((state, state))
    own = len(loop.text) if loop else 0
    return sum(into) * len(out) + sum(out) * len(into) + own * len(into) * len(out)


def _eliminate(edges: dict[tuple[int, int], Piece], state: int, limit: int) -> bool:
    into = [(a, p) for (a, b), p in edges.items() if b == state != a]
    out = [(b, p) for (a, b), p in edges.items() if a == state != b]
    loop = _star(edges.get((state, state)))
    for key in [key for key in edges if state in key]:
        del edges[key]
    for before, first in into:
        for after, second in out:
            made = _either(edges.get((before, after)), _chain(first, loop, second))
            if made is None or len(made.text) > limit:
                return False
            edges[before, after] = made
    return True
