"""Negotiation: divide items with an opponent whose manner is known and whose wishes are not."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import product

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.games import OVER, TURNS_AT_MOST, Mover
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.games.bargaining import (
    ACCEPT,
    LETTERS,
    Bargainer,
    Bargaining,
    Counts,
    Stated,
    Talks,
    divisions,
    items,
    listed,
    vectors,
    worth,
)
from rlvr_envs.generators.games.matches import MatchConfig, MatchProblem, Rounds, StatedTask
from rlvr_envs.generators.games.offers import read_offer

_NAMES = ("ball", "book", "coin", "cup", "drum", "hat", "lamp", "map", "pen", "ring")
# Kinds, items, types, offers of the agent, loss, bluff, respect, own limits, whether the opponent
# has the last offer, games.
_LEVELS = (
    (3, 4, 1, 1, 0, 0, 0, False, False, 1), (3, 5, 2, 1, 0, 0, 0, False, False, 1),
    (3, 6, 3, 1, 0, 0, 0, False, False, 2), (3, 5, 2, 2, 0, 0, 0, False, False, 2),
    (3, 6, 3, 2, 5, 0, 0, False, False, 2), (3, 6, 3, 2, 5, 0, 0, False, True, 3),
    (3, 6, 3, 2, 5, 20, 0, False, True, 3), (3, 6, 3, 3, 5, 20, 3, False, False, 3),
    (3, 7, 4, 3, 5, 20, 3, False, True, 3), (3, 8, 5, 3, 5, 30, 3, True, True, 3),
    (4, 8, 5, 3, 5, 30, 3, True, True, 3),
)  # fmt: skip
_OWN = 2  # values among which the agent's are drawn, where it plays several games
_DRAWS = 8  # of a game in which hurried players are seldom right
_SHARE = 0.2  # of the games they may be right in


@dataclass(frozen=True, slots=True, kw_only=True)
class NegotiationConfig(MatchConfig):
    """What is divided, how long, and what the opponent hides."""

    n_rounds: int = knob(2, "games of the match", low=1, high=30)
    n_kinds: int = knob(3, "kinds of items", low=2, high=5)
    n_items: int = knob(6, "items in all", low=2, high=12)
    n_points: int = knob(10, "points that all items are worth to each player", low=6, high=20)
    n_types: int = knob(3, "types that the opponent may be of", low=1, high=6)
    n_offers: int = knob(2, "offers that the agent can make in a game", low=1, high=5)
    loss: int = knob(0, "per cent that a deal loses with each offer", low=0, high=50)
    bluff: int = knob(0, "per cent of the opponent's offers that hide its type", low=0, high=45)
    respect: int = knob(0, "points that an offer must give to lower the limit", low=0, high=6)
    own_limits: bool = knob(False, "whether each type has limits of its own")
    closes: bool = knob(False, "whether the opponent makes the last offer")

    @classmethod
    def at(cls, difficulty: int) -> "NegotiationConfig":
        """More to think of: hidden types, telling offers, lost points, bluffs, wary opponents.

        At first the agent makes one last offer to an opponent of a known type; level 1 hides the
        type; from level 3 offers in turn tell about it; from level 4 time costs; at level 5 the
        opponent has the last offer; from level 6 it bluffs; from level 7 only decent offers make
        it give way; from level 9 types differ in their limits too. Beyond level 10 there are more
        games, types, items and offers.
        """
        kinds, n_items, types, offers, loss, bluff, respect, own, closes, games = _LEVELS[
            min(difficulty, len(_LEVELS) - 1)
        ]
        more = max(0, difficulty - len(_LEVELS) + 1)
        return cls(
            seat=0 if offers == 1 else -1,
            n_kinds=kinds,
            n_items=min(10, n_items + more // 6),
            n_types=min(6, types + more // 4),
            n_offers=min(4, offers + more // 8),
            n_rounds=min(30, games + more),
            loss=loss,
            bluff=bluff,
            respect=respect,
            own_limits=own,
            closes=closes,
        )

    def check(self) -> None:
        if self.n_items < self.n_kinds:
            raise ConfigError(f"need n_items >= n_kinds, got {self}")


@dataclass(frozen=True, slots=True, kw_only=True)
class NegotiationProblem(MatchProblem):
    """The items, the types of the opponent, and its manner.

    ``own`` are the values among which the agent's are drawn in each game; the chances of the types
    are in per cent.
    """

    kinds: tuple[str, ...]
    counts: tuple[int, ...]
    own: tuple[tuple[int, ...], ...]
    types: tuple[tuple[int, ...], ...]
    chances: tuple[int, ...]
    limits: tuple[tuple[int, ...], ...]
    n_offers: int
    loss: int
    bluff: int
    respect: int


@lru_cache(maxsize=32)
def _bargainer(game: Bargaining, seat: int, stated: Stated) -> Bargainer:
    return Bargainer(game, seat, stated)


@register("Negotiation-v0", domain="puzzles", max_turns=TURNS_AT_MOST)
class NegotiationTask(StatedTask[NegotiationConfig, NegotiationProblem]):
    r"""Make the best offer each time in negotiations with an opponent of a hidden type.

    Description:
        Two players divide items that are worth something else to each, by offers in turn. The
        prompt states of which types the opponent may be, what it accepts and how it chooses its
        own offers; only its type is hidden. The agent plays several games.

    Observation:
        The rules and the opponent's rule; before each move the items, the agent's values and all
        offers of the game.

    Action:
        A message with `accept`, `refuse` or an offer, such as `keep 2 books, 0 hats, 1 ball`, in
        `\boxed{}`.

    Reward:
        1 if every move was a best one, otherwise 0. Luck pays nothing.

    Verification:
        Exact, in fractions: Bayes' rule over the opponent's types, and a dynamic program over
        beliefs for what each offer is worth on average. Moves of equal value are all best. No
        known gaps.

    Difficulty:
        At first the best division that a known opponent accepts; then expected values over types;
        offers that tell the type; points that are lost with time, so that an offer must be worth
        its risk; the last word of the opponent; bluffs; limits that only decent offers lower. The
        baseline takes the likeliest type for granted and gives away what it likes least.

    References:
        Lewis, Yarats, Dauphin, Parikh and Batra, "Deal or No Deal? End-to-End Learning for
        Negotiation Dialogues", 2017, arXiv:1706.05125, for the setting.
        Rubinstein, "Perfect Equilibrium in a Bargaining Model", 1982, for offers in turn.
    """

    def generate(self, rng: Rng) -> NegotiationProblem:
        seat = self.drawn_seat(rng)
        best = self._drawn(rng, seat)
        luck = self._luck(best, 1.0)
        for _ in range(_DRAWS):
            if luck <= _SHARE:
                break
            problem = self._drawn(rng, seat)
            if (found := self._luck(problem, luck)) < luck:
                best, luck = problem, found
        return replace(best, **self.begun(rng, best))

    def _drawn(self, rng: Rng, seat: int) -> NegotiationProblem:
        config = self.config
        counts, every = self._items(rng)
        n_own = min(_OWN, config.n_rounds)
        order = [int(i) for i in rng.permutation(len(every))]
        names = [int(i) for i in rng.permutation(len(_NAMES))[: config.n_kinds]]
        types = tuple(every[i] for i in order[: config.n_types])
        own = tuple(every[i] for i in order[-n_own:])
        n_limits = config.n_offers + config.closes
        limits = [self._limits(rng, n_limits)]
        while len(limits) < config.n_types:
            limits.append(self._limits(rng, n_limits) if config.own_limits else limits[0])
        return NegotiationProblem(
            n_rounds=config.n_rounds,
            seat=seat,
            kinds=tuple(_NAMES[i] for i in names),
            counts=counts,
            own=own,
            types=types,
            chances=tuple(10 * n for n in _parts(rng, 10, config.n_types)),
            limits=tuple(limits),
            n_offers=2 * config.n_offers - (seat == 0) + config.closes,
            loss=config.loss,
            bluff=config.bluff,
            respect=config.respect,
        )

    def _items(self, rng: Rng) -> tuple[Counts, tuple[Counts, ...]]:
        """Draw how many items of each kind there are; return also the values that add up."""
        config = self.config
        while True:
            counts = _parts(rng, config.n_items, config.n_kinds)
            every = vectors(counts, config.n_points)
            if len(every) >= config.n_types + min(_OWN, config.n_rounds):
                return counts, every

    def _limits(self, rng: Rng, n_limits: int) -> tuple[int, ...]:
        """Draw falling limits, the first of them most of all points."""
        most, slowly = self.config.n_points, self.config.own_limits
        limits = [integer(rng, 3 * most // 5, 9 * most // 10)]
        while len(limits) < n_limits:
            limits.append(max(1, limits[-1] - integer(rng, 0 if slowly else 1, 2)))
        return tuple(limits)

    def _luck(self, problem: NegotiationProblem, most: float) -> float:
        """Return in which share of games a player who does not look ahead makes only best moves.

        It is that of the luckier of two such players. Where it is ``most`` or more, it may be
        returned too low, but not lower than that.
        """
        if self.config.n_types == self.config.n_offers == 1:
            return 0.0
        game, best = self.one_round(problem), self.bargainer(problem)
        players = [lambda state: self._hurried(problem, state)]
        if self.config.n_offers > 1:
            players.append(lambda state: self._short_sighted(problem, state))
        luck, total = 0.0, len(problem.own) * 100
        for choose in players:
            right = 0
            for own, kind in product(range(len(problem.own)), range(len(problem.types))):
                letters = [LETTERS[own], LETTERS[kind]]
                state = Talks(tuple(letters if problem.seat == 0 else letters[::-1]))
                stays = self._stays_best(game, best, state, problem.seat, choose)
                right += problem.chances[kind] * stays
                if right >= most * total:
                    return most
            luck = max(luck, right / total)
        return luck

    def _stays_best(
        self,
        game: Bargaining,
        best: Bargainer,
        state: Talks,
        seat: int,
        choose: Callable[[Talks], str],
    ) -> bool:
        """Return whether a player makes only best moves against an opponent that never bluffs."""
        while (mover := game.mover(state)) != OVER:
            if mover == seat:
                move, values = choose(state), best.move_values(state)
                if values[move] < max(values.values()):
                    return False
            else:
                move = best.answer(state)
            state = game.after(state, move)
        return True

    def one_round(self, problem: NegotiationProblem) -> Bargaining:
        own = problem.own, (1,) * len(problem.own)
        other = problem.types, problem.chances
        one, two = (own, other) if problem.seat == 0 else (other, own)
        return Bargaining(
            kinds=tuple(problem.kinds),
            counts=tuple(problem.counts),
            values=(one[0], two[0]),
            weights=(one[1], two[1]),
            n_offers=problem.n_offers,
            loss=problem.loss,
        )

    def bargainer(self, problem: NegotiationProblem) -> Bargainer:
        """Return the best play against the opponent."""
        stated = Stated(problem.limits, problem.respect, problem.bluff)
        return _bargainer(self.one_round(problem), problem.seat, stated)

    def move_values(
        self, problem: NegotiationProblem, state: Rounds
    ) -> Mapping[str, float | Fraction]:
        return self.bargainer(problem).move_values(state.inner)

    def player(self, problem: NegotiationProblem, name: str) -> Mover | None:
        best = self.bargainer(problem)
        return lambda state, rng: best.answer(state.inner, rng.random())

    def effort(self, problem: NegotiationProblem) -> float:
        """Return how many offers the dynamic program weighs, from before the first move on."""
        stated = Stated(problem.limits, problem.respect, problem.bluff)
        best = Bargainer(self.one_round(problem), problem.seat, stated)
        for values in problem.own:
            best.worth(values)
        return best.nodes * problem.n_rounds / len(problem.own)

    def rules(self, problem: NegotiationProblem) -> str:
        return (
            f"{self._bargaining_rules(problem, problem.seat)} {self._opponent(problem)}\n"
            "What counts is not luck: you earn full marks if every move of yours is a best one, "
            "and nothing otherwise. A best move is one that gets you the most points on average, "
            "given your values and all moves of the game so far, if you make best moves afterwards "
            "too."
        )

    def seat_rules(self, problem: NegotiationProblem, seat: int) -> str:
        """Return the rules in words, with the aim; the game is not one of winning and losing."""
        return (
            f"{self._bargaining_rules(problem, seat)} The other player does not know your values, "
            "and you do not know those of the other player. You earn the share that you get of all "
            "points that there are for you, whatever the other player gets."
        )

    def seat_verdict(self, problem: NegotiationProblem, outcome: float) -> Verdict:
        total = problem.n_rounds * worth(problem.counts, problem.own[0])
        return Verdict.graded(outcome / total, f"it got {outcome:g} of {total}", outcome=outcome)

    def _bargaining_rules(self, problem: NegotiationProblem, seat: int) -> str:
        total = worth(problem.counts, problem.own[0])
        if problem.n_rounds == 1:
            games = "You play one game."
        else:
            games = (
                f"You play {problem.n_rounds} games with the same items. Your values may change "
                "from game to game and are shown to you."
            )
        return (
            f"Two players negotiate how to divide {items(problem.kinds, problem.counts)}. Each "
            "player has its own value for one item of each kind, and gets the sum over the items "
            f"that it keeps. All items together are worth {total} points to either player.\n"
            f"{_turns(problem, seat)}\n{games}"
        )

    def _opponent(self, problem: NegotiationProblem) -> str:
        """Return the opponent's types and its manner, in words."""
        if len(problem.types) == 1:
            head = f"The opponent's values of one item are: {self._type(problem, 0)}."
        else:
            rows = "\n".join(
                f"- type {LETTERS[i]}, with {chance}%: {self._type(problem, i)}"
                for i, chance in enumerate(problem.chances)
            )
            head = (
                "Anew for each game the opponent's type is drawn, which you are not told. These "
                f"are the types, with their values of one item:\n{rows}"
            )
        return (
            f"{head}\nThe opponent plays by this rule, whatever your values are:{_manner(problem)}"
        )

    def _type(self, problem: NegotiationProblem, number: int) -> str:
        values = listed(zip(problem.kinds, problem.types[number], strict=True))
        limits = problem.limits[number]
        if len(limits) == 1:
            return f"{values}; its limit is {limits[0]}"
        return f"{values}; its limits are {', '.join(map(str, limits))}"

    def move_help(self, problem: NegotiationProblem) -> str:
        told = (
            "an offer says what you would keep, with the number of each kind, in words such as "
            "keep 2 chairs, 0 tables, 1 desk"
        )
        if problem.n_offers == 1:
            return told
        return (
            f"{told}; in answer to an offer of the opponent, the word accept is a move too, and "
            "where no offer is left, the moves are accept and refuse"
        )

    def read(self, text: str, legal: tuple[str, ...]) -> str | None:
        """Read a move; an offer may be told by what is kept, by what is given, or by both."""
        return read_offer(text, legal)

    def baseline(self, rng: Rng, problem: NegotiationProblem) -> list[str]:
        """Take the likeliest type for granted, and give it what is liked least up to its limit."""
        return self.moves(problem, lambda state: self._hurried(problem, state.inner))

    def _hurried(self, problem: NegotiationProblem, state: Talks) -> str:
        game, best = self.one_round(problem), self.bargainer(problem)
        own, legal = game.own(state, problem.seat), game.actions(state)
        kind = max(range(len(problem.types)), key=lambda i: problem.chances[i])
        theirs, limit = problem.types[kind], best.limit(kind, best.step(state, kind))
        kept = game.counts
        for i in sorted(range(len(own)), key=lambda i: own[i]):
            while kept[i] and worth(theirs, game.rest(kept)) < limit:
                kept = (*kept[:i], kept[i] - 1, *kept[i + 1 :])
        if ACCEPT in legal:
            offered = worth(own, game.rest(game.kept(state.moves[-1])))
            if len(state.moves) == game.n_offers or offered >= worth(own, kept):
                return ACCEPT
        texts = divisions(game.kinds, game.counts)
        return next(text for text, each in texts.items() if each == kept)

    def _short_sighted(self, problem: NegotiationProblem, state: Talks) -> str:
        """Return the best move if the game ended with the next offer."""
        if len(state.moves) == problem.n_offers:
            return ACCEPT
        game = replace(self.one_round(problem), n_offers=len(state.moves) + 1)
        stated = Stated(problem.limits, problem.respect, problem.bluff)
        values = Bargainer(game, problem.seat, stated).move_values(state)
        return max(values, key=lambda move: values[move])


def _turns(problem: NegotiationProblem, seat: int) -> str:
    """Return in words who makes offers, and what a deal pays."""
    if problem.n_offers == 1 and seat == 0:
        return (
            "You make the only offer: it says what you would keep, and all else is for the "
            "opponent, who accepts or refuses it. If it refuses, both get 0."
        )
    first = "You make" if seat == 0 else "The opponent makes"
    told = (
        f"{first} the first offer. An offer says what its maker would keep; all else is for the "
        "other player, who accepts it, which ends the game with this deal, or makes the next "
        f"offer, and so on in turn. A game has at most {problem.n_offers} offers, those of both "
        "players counted; the last one is accepted or refused. Without a deal both get 0."
    )
    if not problem.loss:
        return told
    left = 100 - problem.loss
    return (
        f"{told} Time costs: on the first offer a deal pays both players their points in full; on "
        f"each later offer it pays {left}% of what it would have paid on the offer before, so "
        f"{left}% of the points on the second offer, and so on."
    )


def _manner(problem: NegotiationProblem) -> str:
    """Return how the opponent plays, in words."""
    told = ["To count an offer, it adds up its own values of the items that it would get."]
    if len(problem.limits[0]) > 1:
        steps = "It begins with the first of its limits. Each time it refuses an offer of yours"
        if problem.respect:
            steps += f" that gives it {problem.respect} points or more"
        steps += (
            ", it goes on to its next limit, with which it makes its next offer and judges your "
            "next one; after the last limit it stays with that."
        )
        if problem.respect:
            steps += " A worse offer leaves its limit as it is."
        told.append(steps)
    at_that_time = " at that time" if len(problem.limits[0]) > 1 else ""
    told.append(
        "It accepts an offer of yours that gives it at least as many points as its limit"
        f"{at_that_time}, and refuses any other."
        + (" Lost time does not matter to it." if problem.loss else "")
    )
    if problem.n_offers > 1:
        told.append(
            "When it makes an offer, it picks items for itself one at a time, each time one of the "
            "kind with the highest value to it of which any is left (of equal ones, the kind named "
            "first above), and stops as soon as they add up to its limit or more. It would keep "
            "those."
        )
        if problem.bluff:
            told.append(
                f"But each time it makes an offer, with {problem.bluff}% it bluffs: then it picks "
                "and adds up by the values of the next type in the list (after the last one, the "
                "first), up to its own limit."
            )
    return "".join(f"\n- {each}" for each in told)


def _parts(rng: Rng, total: int, n_parts: int) -> tuple[int, ...]:
    """Draw positive integers with a given sum, all ways alike."""
    cuts = sorted(int(i) for i in rng.choice(total - 1, n_parts - 1, replace=False) + 1)
    return tuple(b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True))
