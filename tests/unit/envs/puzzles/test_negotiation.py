"""Negotiation: values against a search over the words of the prompt, spellings, and a red team."""

from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.negotiation import (
    NegotiationConfig,
    NegotiationProblem,
    NegotiationTask,
)
from rlvr_envs.generators.games.bargaining import Talks
from rlvr_envs.generators.games.matches import Rounds

TASK = NegotiationTask(NegotiationConfig(n_rounds=1))
# Both want the books; the opponent needs 6 points, and a book with both balls gives them.
EASY = NegotiationProblem(
    opening=("A", "A"),
    seat=0,
    n_rounds=1,
    shown="shown",
    kinds=("book", "hat", "ball"),
    counts=(2, 1, 2),
    own=((3, 2, 1),),
    types=((4, 0, 1),),
    chances=(100,),
    limits=((6,),),
    n_offers=1,
    loss=0,
    bluff=0,
    respect=0,
)
# Each type first asks for what it likes; the opponent is a B, and then one book is enough for it.
TELLING = replace(
    EASY,
    opening=("A", "B"),
    own=((1, 4, 2),),
    types=((0, 2, 4), (4, 0, 1)),
    chances=(50, 50),
    limits=((6, 4), (6, 4)),
    n_offers=3,
)
SPELLINGS = [
    "keep 1 book, 1 hat, 0 balls",
    "Keep 1 book, 1 hat, 0 balls.",
    "KEEP 1 BOOK, 1 HAT",
    "keep 1 hat and 1 book",
    "keep one book and one hat",
    "keep a book, a hat, no balls",
    "I keep 1 book and 1 hat",
    "1 book, 1 hat, 0 balls",
    "1 book and 1 hat",
    "book: 1, hat: 1, ball: 0",
    "books = 1, hats = 1, balls = 0",
    "1, 1, 0",
    "(1, 1, 0)",
    "[1 1 0]",
    "keep 1, 1, 0",
    "give 1 book, 2 balls",
    "give you 1 book and both balls",
    "I give you 1 book, 0 hats, 2 balls",
    "you get 1 book and all balls",
    "give 1 book, 0 hats, 2 balls to you",
    "I keep 1 book and 1 hat, and you get 1 book and 2 balls",
    "I keep 1 book and 1 hat; you get the rest",
    "you get 1 book and 2 balls, I get 1 book, 1 hat",
    "offer: keep 1 book, 1 hat",
    r"\text{keep 1 book, 1 hat, 0 balls}",
    r"keep 1 book,\ 1 hat",
    "`keep 1 book, 1 hat`",
    "01 book, 1 hat",
]
NO_MOVES = [
    "",
    "keep",
    "nothing",
    "all",
    "accept",
    "refuse",
    "no deal",
    "best offer",
    "keep 1 book, 1 hat or keep 2 books",
    "keep 1 book, 1 hat or 1 ball",
    "not keep 1 book, 1 hat",
    "keep 1 book, 1 hat, 0 pens",
    "keep 1 book, 1 book, 1 hat",
    "keep 3 books, 1 hat",
    "keep -1 book, 1 hat",
    "keep 1.5 books, 1 hat",
    "keep 1/2 books, 1 hat",
    "keep 99999999999999999999 books",
    "keep the book and the hat",
    "keep 1 book, hat 1",
    "keep both hats",
    "1, 1",
    "1, 1, 0, 0",
    "110",
    "1 book for me, 1 hat for you",
    "1 book and 2 balls for you, 1 book and 1 hat for me",
    "keep 1 book, 1 hat for you",
    "I keep 1 book and 1 hat, you get 2 books",
    "I keep 1 book and 1 hat, you get 1 book",
    "keep all but 1 book",
    "keep 6 points",
    "keep the rest",
    "kеep 1 book, 1 hat",
    "keep ١ book, 1 hat",
    "I win",
    "None",
    "keep 2 chairs, 0 tables, 1 desk",
    "keep 1 book, 1 hat" + " " * 200 + "x",
]


def kept(offer):
    """The numbers of an offer, read from its own words."""
    return tuple(int(part.split()[0]) for part in offer.removeprefix("keep ").split(", "))


class Search:
    """What moves are worth, by the words of the prompt: a list of worlds, and no sharing of work.

    A world is its probability, the opponent's type, and how many limits it has left behind.
    """

    def __init__(self, problem, own):
        self.p, self.own = problem, own
        self.all = list(product(*(range(n + 1) for n in problem.counts)))

    def points(self, values, share):
        return sum(v * n for v, n in zip(values, share, strict=True))

    def others(self, share):
        return tuple(n - k for n, k in zip(self.p.counts, share, strict=True))

    def pay(self, number):
        return Fraction(100 - self.p.loss, 100) ** (number - 1)

    def now(self, world):
        limits = self.p.limits[world[1]]
        return limits[min(world[2], len(limits) - 1)]

    def takes(self, values, limit):
        """One item at a time, of the kind worth most of which any is left."""
        got = [0] * len(values)
        while self.points(values, got) < limit:
            left = [i for i in range(len(got)) if got[i] < self.p.counts[i]]
            best = max(values[i] for i in left)
            got[next(i for i in left if values[i] == best)] += 1
        return tuple(got)

    def countered(self, worlds):
        """Every world split by what the opponent would keep in its next offer."""
        found = {}
        for world in worlds:
            share, n_types = Fraction(self.p.bluff, 100), len(self.p.types)
            for chance, kind in ((1 - share, world[1]), (share, (world[1] + 1) % n_types)):
                if chance:
                    asked = self.takes(self.p.types[kind], self.now(world))
                    found.setdefault(asked, []).append((world[0] * chance, *world[1:]))
        return found

    def after(self, worlds, share):
        """The worlds in which an offer is accepted, and those in which it is not."""
        yes, no = [], []
        for world in worlds:
            theirs = self.points(self.p.types[world[1]], self.others(share))
            if theirs >= self.now(world):
                yes.append(world)
            else:
                no.append((*world[:2], world[2] + (theirs >= self.p.respect)))
        return yes, no

    def offer(self, worlds, number, share):
        yes, no = self.after(worlds, share)
        value = sum(w for w, *_ in yes) * self.points(self.own, share) * self.pay(number)
        if number == self.p.n_offers:
            return value
        return value + sum(
            max(self.moves(after, number + 1, asked).values())
            for asked, after in self.countered(no).items()
        )

    def moves(self, worlds, n_made, asked):
        """What each answer is worth, times the probability of the worlds."""
        found = {}
        if n_made:
            points = self.points(self.own, self.others(asked)) * self.pay(n_made)
            found["accept"] = sum(w for w, *_ in worlds) * points
        if n_made == self.p.n_offers:
            return found | {"refuse": 0}
        return found | {share: self.offer(worlds, n_made + 1, share) for share in self.all}

    def values(self, moves):
        worlds = [(Fraction(c, 100), i, 0) for i, c in enumerate(self.p.chances)]
        asked = None
        for i, move in enumerate(moves):
            if i % 2 == self.p.seat:
                worlds = self.after(worlds, kept(move))[1]
            else:
                asked = kept(move)
                worlds = self.countered(worlds)[asked]
        total = sum(w for w, *_ in worlds)
        return {m: v / total for m, v in self.moves(worlds, len(moves), asked).items()}


KNOBS = [
    {"n_types": 1, "n_offers": 1, "seat": 0},
    {"n_types": 3, "n_offers": 1, "seat": 0},
    {"n_types": 3, "n_offers": 1, "seat": 1, "n_items": 6},
    {"n_types": 2, "n_offers": 2, "n_items": 4},
    {"n_types": 3, "n_offers": 2, "loss": 10, "bluff": 20, "n_items": 4},
    {"n_types": 3, "n_offers": 2, "loss": 5, "bluff": 30, "n_items": 4, "closes": True},
    {"n_types": 4, "n_offers": 2, "respect": 3, "own_limits": True, "n_items": 4, "bluff": 45},
    {"n_types": 2, "n_offers": 3, "respect": 4, "n_kinds": 2, "n_items": 4, "n_points": 12},
    {"n_types": 3, "n_offers": 3, "respect": 3, "n_kinds": 2, "n_items": 4, "bluff": 25, "loss": 7}
    | {"own_limits": True, "closes": True, "n_points": 12},
]


@pytest.mark.parametrize("knobs", KNOBS)
@pytest.mark.parametrize("seed", range(3))
def test_the_values_of_all_moves_are_those_of_a_search_over_worlds(knobs, seed):
    task = NegotiationTask(NegotiationConfig(n_rounds=2, **knobs))
    problem = task.generate(stream("worlds", str(knobs), seed))
    session, rng, compared = task.begin(problem), stream("moves", seed), 0
    while True:
        state = session.state.inner
        own = problem.own["AB".index(state.types[problem.seat])]
        found = task.move_values(problem, session.state)
        assert all(isinstance(value, Fraction) for value in found.values())
        expected = Search(problem, own).values(state.moves)
        assert {m if m in ("accept", "refuse") else kept(m): v for m, v in found.items()} == (
            expected
        )
        compared += 1
        legal = list(found)
        move = legal[int(rng.integers(len(legal)))] if compared % 2 else max(found, key=found.get)
        if session.reply(rf"\boxed{{{move}}}").verdict is not None:
            break
    assert compared >= 2


def test_every_last_offer_of_a_small_world_is_judged_as_by_hand():
    judged = 0
    for own, other in product(((0, 5), (1, 4), (2, 3), (5, 0)), repeat=2):
        for limit in range(1, 11):
            problem = replace(
                EASY,
                kinds=("book", "hat"),
                counts=(2, 2),
                own=(own,),
                types=(other,),
                limits=((limit,),),
            )
            paid = {}
            for books, hats in product(range(3), repeat=2):
                theirs = other[0] * (2 - books) + other[1] * (2 - hats)
                paid[books, hats] = (own[0] * books + own[1] * hats) * (theirs >= limit)
            for (books, hats), points in paid.items():
                verdict = TASK.begin(problem).reply(rf"\boxed{{{books}, {hats}}}").verdict
                assert verdict.score == (points == max(paid.values()))
                assert verdict.parts["outcome"] == points
                judged += 1
    assert judged == 16 * 10 * 9


@pytest.mark.parametrize("level", [1, 3, 5])
def test_the_value_before_the_first_move_is_the_mean_of_what_the_oracle_gets(level):
    task = NegotiationTask(replace(NegotiationConfig.at(level), n_rounds=1))
    for seed in range(6):
        problem = task.generate(stream("mean", level, seed))
        mean = Fraction(0)
        for kind, chance in enumerate(problem.chances):
            letters = ["A", "ABCDEF"[kind]]
            state = Rounds(Talks(tuple(letters[:: 1 if problem.seat == 0 else -1])))
            game = task.game(problem)
            opponent = task.opponent(problem)
            while (mover := game.mover(state)) >= 0:
                mine = mover == problem.seat
                move = task.best(problem, state) if mine else opponent(state, stream("none"))
                state = game.after(state, move)
            mean += Fraction(chance, 100) * Fraction(game.returns(state)[problem.seat])
        assert float(mean) == pytest.approx(float(task.bargainer(problem).worth(problem.own[0])))


@pytest.mark.parametrize("answer", SPELLINGS)
def test_the_spellings_of_the_best_offer(answer):
    verdict = TASK.begin(EASY).reply(rf"\boxed{{{answer}}}").verdict
    assert verdict is not None
    assert verdict.score == 1.0
    assert verdict.parts["outcome"] == 5.0


@pytest.mark.parametrize("answer", NO_MOVES)
def test_what_is_no_legal_move_is_refused(answer):
    session = TASK.begin(EASY)
    for _ in range(2):
        assert session.reply(rf"\boxed{{{answer}}}").verdict is None
    assert session.reply(rf"\boxed{{{answer}}}").verdict.score == 0.0


@pytest.mark.parametrize(
    "answer",
    [
        "keep 2 books, 1 hat, 2 balls",
        "keep everything",
        "keep nothing",
        "keep 1 book",
        "keep 1 book, 1 hat, 1 ball",
        "keep 2 books",
        "0 0 0",
        "keep all books",
        "give nothing",
        "give 2 books",
        "give 1 book, 1 hat, 2 balls",
        "keep 1 hat, 2 balls",
        "you get 1 book and 1 hat",
    ],
)
def test_an_offer_that_loses_value_is_wrong(answer):
    verdict = TASK.begin(EASY).reply(rf"\boxed{{{answer}}}").verdict
    assert verdict.score == 0.0
    assert verdict.parts["regret"] > 0


@pytest.mark.parametrize("answer", ["accept", "I accept", "Accept.", "accept the offer", "deal"])
def test_the_spellings_of_a_deal(answer):
    session = TASK.begin(TELLING)
    assert session.reply(r"\boxed{keep everything}").verdict is None
    reply = session.reply(rf"\boxed{{{answer}}}")
    # B picks one book, 4 points, and leaves a book, the hat and both balls
    assert reply.verdict.parts["outcome"] == 9.0
    assert reply.verdict.score == 1.0


def test_an_offer_tells_the_type_and_luck_does_not_pay():
    session = TASK.begin(TELLING)
    text = session.reply(r"\boxed{keep everything}").text
    assert "Opponent: keep 1 book, 0 hats, 0 balls." in text
    assert "you get 1 book, 1 hat, 2 balls, and the opponent gets 1 book" in text
    assert "Offers left: 1." in text
    lucky = replace(EASY, types=((4, 0, 1), (0, 2, 4)), chances=(10, 90), limits=((6,), (6,)))
    verdict = TASK.begin(lucky).reply(r"\boxed{keep 1 book, 1 hat}").verdict
    assert verdict.parts["outcome"] == 5.0  # the opponent is of the rare type that takes it
    assert verdict.score == 0.0


def test_a_poor_offer_leaves_the_limit_where_it_is():
    wary = replace(TELLING, respect=3)
    poor, decent = r"\boxed{keep everything}", r"\boxed{give 1 ball, 1 hat}"
    assert "Opponent: keep 2 books, 0 hats, 0 balls." in TASK.begin(wary).reply(poor).text
    kind_a = replace(wary, opening=("A", "A"), limits=((8, 4), (8, 4)))
    assert "Opponent: keep 0 books, 0 hats, 2 balls." in TASK.begin(kind_a).reply(poor).text
    assert "Opponent: keep 0 books, 0 hats, 1 ball." in TASK.begin(kind_a).reply(decent).text


def test_the_last_offer_of_the_opponent_is_accepted_or_refused():
    closing = replace(TELLING, n_offers=2)
    session = TASK.begin(closing)
    assert (
        "That was the last offer: accept or refuse."
        in session.reply(r"\boxed{keep everything}").text
    )
    assert "not a legal move" in session.reply(r"\boxed{keep 1 book}").text
    verdict = session.reply(r"\boxed{refuse}").verdict
    assert verdict.score == 0.0
    assert verdict.parts["outcome"] == 0.0
    assert verdict.parts["regret"] == 9.0


def test_time_costs_a_share_of_the_points():
    slow = replace(TELLING, loss=10)
    session = TASK.begin(slow)
    session.reply(r"\boxed{keep everything}")
    verdict = session.reply(r"\boxed{accept}").verdict
    assert verdict.parts["outcome"] == pytest.approx(9 * 0.9)
    assert "90% of what it would have paid on the offer before" in TASK.rules(slow)
    assert "Time costs" not in TASK.rules(TELLING)


@pytest.mark.parametrize("level", [0, 3, 6, 10])
def test_the_oracle_is_right_whatever_is_drawn(level):
    task = NegotiationTask(NegotiationConfig.at(level))
    outcomes = []
    for seed in range(8):
        problem = task.generate(stream("deals", level, seed))
        verdict = task.replay(problem, task.play(problem))
        assert verdict.score == 1.0
        outcomes.append(verdict.parts["outcome"])
    assert len(set(outcomes)) > 2


@pytest.mark.parametrize("level", range(11))
def test_both_can_get_the_same_from_all_items_and_types_differ(level):
    task = NegotiationTask(NegotiationConfig.at(level))
    for seed in range(5):
        problem = task.generate(stream("totals", level, seed))
        for values in (*problem.own, *problem.types):
            assert sum(v * n for v, n in zip(values, problem.counts, strict=True)) == 10
        assert all(one != two for one, two in permutations(problem.types, 2))
        assert sum(problem.chances) == 100
        assert all(list(each) == sorted(each, reverse=True) for each in problem.limits)


@pytest.mark.parametrize(("level", "most"), [(1, 0), (2, 2), (4, 2), (6, 2), (8, 2)])
def test_players_who_do_not_look_ahead_are_seldom_right(level, most):
    task, right = NegotiationTask(NegotiationConfig.at(level)), 0.0
    for seed in range(20):
        problem = task.generate(stream("hurried", level, seed))
        right += task.replay(problem, task.baseline(stream("b", seed), problem)).score
    assert right <= most


def test_to_take_what_is_enough_and_else_to_ask_as_if_for_the_last_time_is_seldom_right():
    task, right = NegotiationTask(NegotiationConfig.at(5)), 0.0
    for seed in range(20):
        problem = task.generate(stream("content", seed))

        def choose(state, problem=problem):
            game, inner = task.one_round(problem), state.inner
            search = Search(problem, game.own(inner, problem.seat))
            search.p = replace(problem, n_offers=min(problem.n_offers, len(inner.moves) + 1))
            values = search.values(inner.moves)
            best = max(values, key=values.get)
            offers = {kept(m): m for m in game.actions(inner) if m.startswith("keep")}
            return "accept" if values.get("accept", 0) >= 6 else offers.get(best, best)

        right += task.replay(problem, task.moves(problem, choose)).score
    assert right <= 2


def test_the_hidden_type_is_nowhere_in_what_the_agent_sees():
    task = NegotiationTask(NegotiationConfig.at(4))
    for seed in range(5):
        problem = replace(task.generate(stream("hidden", seed)), seat=0, n_offers=3)
        game = task.game(problem)
        seen = {game.view(Rounds(Talks(("A", letter))), 0) for letter in "ABC"}
        assert len(seen) == 1


def test_what_is_out_of_range_is_refused():
    with pytest.raises(ConfigError, match="n_items >= n_kinds"):
        NegotiationConfig(n_kinds=5, n_items=4)
    with pytest.raises(ConfigError, match="opponent"):
        NegotiationConfig(opponent="optimal")
