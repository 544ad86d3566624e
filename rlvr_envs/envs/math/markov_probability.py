"""Probability with states: ruin, patterns, coupons, walks on graphs, optimal stopping."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.generators.mathematics.families import (
    Family,
    FamilyTask,
    Numbers,
    Question,
    window,
)


def _share(rng: Rng, most: int) -> tuple[int, int]:
    """Draw a fraction between 0 and 1 in lowest terms that is not one half."""
    while True:
        bottom = integer(rng, 3, most)
        share = Fraction(integer(rng, 1, bottom - 1), bottom)
        if share != Fraction(1, 2):
            return share.numerator, share.denominator


# A fair game until ruin or a goal; numbers: start, goal.


def _draw_ruin(rng: Rng, size: int) -> Numbers:
    goal = integer(rng, 8, 90 + size)
    return integer(rng, 2, goal - 2), goal


def _ruin(start: int, goal: int) -> Question:
    answer = start * (goal - start)
    return Question(
        f"A gambler has {start} dollars. Each round a fair coin is tossed: heads wins 1 dollar, "
        f"tails loses 1 dollar. The gambler stops at 0 or at {goal} dollars. What is the expected "
        "number of rounds played?",
        answer,
        [
            (
                "Let E(k) be the expected number of rounds from k dollars. The first round gives "
                "E(k) = 1 + (E(k - 1) + E(k + 1)) / 2."
            ),
            f"With E(0) = E({goal}) = 0 the solution is E(k) = k * ({goal} - k).",
            f"{start} * ({goal} - {start}) = {answer}",
        ],
        answer,
    )


# Wald: roll until a high face; numbers: faces, the smallest face that ends it.


def _draw_wald(rng: Rng, size: int) -> Numbers:
    faces = integer(rng, 6, 70 + size)
    return faces, integer(rng, 3, faces - 1)


def _wald(faces: int, stop: int) -> Question:
    ends = faces - stop + 1
    answer = Fraction(faces, ends) * Fraction(faces + 1, 2)
    return Question(
        f"A fair die has faces numbered from 1 to {faces}. You roll it until it shows {stop} or "
        "more, and add up all numbers rolled, the last one too. What is the expected sum?",
        answer,
        [
            (
                f"The expected number of rolls is {faces}/{ends}: {ends} of {faces} faces end the "
                "game."
            ),
            f"The mean of one roll is ({faces} + 1) / 2 = {Fraction(faces + 1, 2)}.",
            (
                "By Wald's identity the expected sum is the product of both, since whether a roll "
                "is made depends on earlier rolls alone."
            ),
            f"{Fraction(faces, ends)} * {Fraction(faces + 1, 2)} = {answer}",
        ],
        Fraction(faces * stop, 2 * ends) if ends % 2 else answer,
    )


# Press your luck; numbers: the chance of a good round as a fraction, and what it adds.


def _draw_luck(rng: Rng, size: int) -> Numbers:
    bottom = integer(rng, 4, 12 + size // 2)
    return integer(rng, bottom // 2 + 1, bottom - 1), bottom, integer(rng, 10, 200 + 10 * size)


def _luck(top: int, bottom: int, prize: int) -> Question:
    share = Fraction(top, bottom)
    rounds = -(-top // (bottom - top))  # the first n with share * (n + 1) <= n
    answer = share**rounds * rounds * prize
    return Question(
        f"In a game each round succeeds with probability {share}, independently. A round that "
        f"succeeds adds {prize} dollars to your pot; a round that fails takes the whole pot and "
        "ends the game. Before each round you may stop and keep the pot. The pot starts empty. "
        "What is the expected value of the game under the best strategy, in dollars?",
        answer,
        [
            (
                "The pot after n good rounds says everything, so a strategy is a number of rounds "
                f"n to aim for. It earns f(n) = ({share})^n * n * {prize}."
            ),
            (
                f"Going on from n pays as long as {share} * (n + 1) > n, that is n < "
                f"{share / (1 - share)}."
            ),
            f"So the best number of rounds is n = {rounds}.",
            f"({share})^{rounds} * {rounds} * {prize} = {answer}",
        ],
        share * prize,
    )


# Coupons; numbers: kinds, kinds owned, kinds wanted, and the chance of an empty box.


def _draw_coupons(rng: Rng, size: int) -> Numbers:
    kinds = integer(rng, 5, 9 + size // 2)
    owned = integer(rng, 0, kinds - 3)
    return kinds, owned, integer(rng, owned + 2, kinds), *_share(rng, 8)


def _coupons(kinds: int, owned: int, wanted: int, top: int, bottom: int) -> Question:
    full = 1 - Fraction(top, bottom)
    waits = [Fraction(kinds, kinds - have) for have in range(owned, wanted)]
    answer = sum(waits, Fraction(0)) / full
    return Question(
        f"Each box holds one of {kinds} different stickers, all equally likely, except that a box "
        f"is empty with probability {Fraction(top, bottom)}. Boxes are independent. You own "
        f"{owned or 'none'} of the {kinds} stickers. What is the expected number of boxes that you "
        f"open until you own {wanted} different stickers?",
        answer,
        [
            (
                "With k stickers a box that is not empty holds a new one with probability "
                f"({kinds} - k)/{kinds}."
            ),
            f"The expected full boxes for each new sticker: {', '.join(map(str, waits))}.",
            f"They add up to {sum(waits, Fraction(0))}.",
            (
                f"A box is full with probability {full}: {sum(waits, Fraction(0))} / ({full}) = "
                f"{answer}"
            ),
        ],
        sum(waits, Fraction(0)),
    )


# An unfair game; numbers: the chance to win a round as a fraction, start, goal.


def _draw_biased(rng: Rng, size: int) -> Numbers:
    goal = integer(rng, 4, 6 + size // 3)
    return *_share(rng, 7), integer(rng, 2, goal - 1), goal


def _biased(top: int, bottom: int, start: int, goal: int) -> Question:
    ratio = Fraction(bottom - top, top)
    answer = (1 - ratio**start) / (1 - ratio**goal)
    return Question(
        f"A gambler has {start} dollars and bets 1 dollar a round. A round is won with "
        f"probability {Fraction(top, bottom)}, otherwise lost. The gambler stops at 0 or at {goal} "
        f"dollars. What is the probability of reaching {goal} dollars?",
        answer,
        [
            (
                f"With r = (1 - p)/p = {ratio}, the value r^(dollars) has the same mean after a "
                "round as before it."
            ),
            f"So r^{start} = P * r^{goal} + (1 - P) * r^0.",
            f"P = (1 - ({ratio})^{start}) / (1 - ({ratio})^{goal}) = {answer}",
        ],
        Fraction(start, goal),
    )


# The time to visit all of a path; numbers: the last vertex, the start.


def _draw_path(rng: Rng, size: int) -> Numbers:
    last = integer(rng, 10, 80 + 2 * size)
    return last, integer(rng, 2, last - 2)


def _path(last: int, start: int) -> Question:
    first = start * (last - start)
    answer = first + last**2
    return Question(
        f"Lamps numbered from 0 to {last} stand in a row. A moth starts at lamp {start}. Each "
        "second it flies to one of the neighbouring lamps, each equally likely; from an end lamp "
        "it flies to the only neighbour. What is the expected number of seconds until it has been "
        "at every lamp?",
        answer,
        [
            "Every lamp has been visited as soon as both ends have.",
            (
                f"From {start} the first end is reached after {start} * ({last} - {start}) = "
                f"{first} seconds on average, as in the fair game of ruin."
            ),
            (
                f"From one end to the other it takes {last}^2 = {last**2}: a fold at the end makes "
                f"it a walk from the middle of a row of length 2 * {last}."
            ),
            f"{first} + {last**2} = {answer}",
        ],
        first + last * (last - start),
    )


# The ballot problem; numbers: votes of the first, votes of the second, how many times as many.


def _draw_ballot(rng: Rng, size: int) -> Numbers:
    times, second = integer(rng, 2, 4), integer(rng, 3, 12 + size)
    return times * second + integer(rng, 2, 25 + size), second, times


def _ballot(first: int, second: int, times: int) -> Question:
    answer = Fraction(first - times * second, first + second)
    return Question(
        f"In an election A gets {first} votes and B gets {second}. The votes are counted one by "
        "one in random order. What is the probability that after each vote counted, A has more "
        f"than {times} times as many votes as B?",
        answer,
        [
            (
                f"Give each vote for A the step +1 and each vote for B the step -{times}. All "
                "partial sums must be positive."
            ),
            (
                "Arrange the votes in a circle. By the cycle lemma exactly as many starting points "
                "are good as the total of the steps."
            ),
            (
                f"The total is {first} - {times} * {second} = {first - times * second}, out of "
                f"{first} + {second} = {first + second} starting points."
            ),
            f"The probability is {first - times * second}/{first + second} = {answer}.",
        ],
        Fraction(first - second, first + second),
    )


# The return time of a chess piece; numbers: rows, columns, row, column, piece.

_PIECES = ("king", "knight", "queen", "bishop")


def _moves(piece: int, rows: int, columns: int, row: int, column: int) -> int:
    """Return how many moves a piece has on an empty board."""
    return sum(
        _goes(_PIECES[piece], abs(r - row), abs(c - column))
        for r in range(rows)
        for c in range(columns)
    )


def _goes(piece: str, down: int, across: int) -> bool:
    if piece == "king":
        return max(down, across) == 1
    if piece == "knight":
        return {down, across} == {1, 2}
    along = (down == 0) != (across == 0)
    return down == across > 0 or (piece == "queen" and along)


def _draw_board(rng: Rng, size: int) -> Numbers:
    most = min(8 + size // 3, 16)
    rows, columns = integer(rng, 4, most), integer(rng, 4, most)
    return rows, columns, integer(rng, 1, rows), integer(rng, 1, columns), integer(rng, 0, 3)


def _board(rows: int, columns: int, row: int, column: int, piece: int) -> Question:
    squares = [(r, c) for r in range(rows) for c in range(columns)]
    own = (row - 1, column - 1)
    name = _PIECES[piece]
    if name == "bishop":  # it stays on the squares of one colour
        squares = [(r, c) for r, c in squares if (r + c - sum(own)) % 2 == 0]
    total = sum(_moves(piece, rows, columns, r, c) for r, c in squares)
    here = _moves(piece, rows, columns, *own)
    answer = Fraction(total, here)
    reach = "the squares of its colour" if name == "bishop" else "all squares"
    return Question(
        f"A {name} stands alone on a chessboard with {rows} rows and {columns} columns, in row "
        f"{row} and column {column}. Each turn it makes one of its legal chess moves, each equally "
        "likely. What is the expected number of turns until it first returns to its starting "
        "square?",
        answer,
        [
            (
                "A random walk on a connected graph spends a share of its time at each vertex that "
                "is proportional to its degree."
            ),
            f"The {name} can reach {reach}. Their numbers of moves add up to {total}.",
            f"It has {here} moves from its starting square, so the share is {here}/{total}.",
            f"The expected return time is one over this share: {total} / {here} = {answer}",
        ],
        rows * columns,
    )


# The wait for a pattern of a biased coin; numbers: the chance of heads, then 1 for each head.


def _draw_pattern(rng: Rng, size: int) -> Numbers:
    length = integer(rng, 3 + size // 10, 5 + size // 5)
    while True:
        flips = tuple(integer(rng, 0, 1) for _ in range(length))
        if any(flips[:k] == flips[-k:] for k in range(1, length)):
            return *_share(rng, 5), *flips


def _chance(share: Fraction, flips: Numbers) -> Fraction:
    heads = sum(flips)
    return share**heads * (1 - share) ** (len(flips) - heads)


def _named(flips: Numbers) -> str:
    return "".join("TH"[flip] for flip in flips)


def _pattern(top: int, bottom: int, *flips: int) -> Question:
    share = Fraction(top, bottom)
    ends = [k for k in range(1, len(flips) + 1) if flips[:k] == flips[-k:]]
    terms = [1 / _chance(share, flips[:k]) for k in ends]
    answer = sum(terms, Fraction(0))
    return Question(
        f"A coin shows heads (H) with probability {share} and tails (T) otherwise. It is tossed "
        f"until the last tosses read {_named(flips)}. What is the expected number of tosses?",
        answer,
        [
            (
                "Before each toss a new player bets 1 on the first letter of the pattern, and lets "
                "all winnings ride on the next letters. All bets are fair."
            ),
            (
                "At the end only those players own something who began at a part of the pattern's "
                f"end that is also its beginning: {', '.join(_named(flips[:k]) for k in ends)}."
            ),
            f"They own one over the probability of that part: {', '.join(map(str, terms))}.",
            f"What was paid in, the number of tosses, has the mean {answer}.",
        ],
        1 / _chance(share, flips),
    )


# Branching; numbers: the weights of 0, 1 and 2 children, and the ancestors.


def _draw_branching(rng: Rng, size: int) -> Numbers:
    none = integer(rng, 1, 12 + size)
    return none, integer(rng, 0, 15 + size), none + integer(rng, 1, 15 + size), integer(rng, 2, 4)


def _branching(none: int, one: int, two: int, ancestors: int) -> Question:
    total = none + one + two
    ratio = Fraction(none, two)
    answer = 1 - ratio**ancestors
    weights = [Fraction(each, total) for each in (none, one, two)]
    return Question(
        "Each cell of a culture dies after an hour and leaves 0, 1 or 2 new cells with the "
        f"probabilities {weights[0]}, {weights[1]} and {weights[2]}, independently of the others. "
        f"The culture starts with {ancestors} cells. What is the probability that it never dies "
        "out?",
        answer,
        [
            (
                "Let q be the probability that the line of one cell dies out: it is the smallest "
                f"solution of q = {weights[0]} + {weights[1]} q + {weights[2]} q^2 from 0 on."
            ),
            (
                f"One solution is 1, and the product of both is {weights[0]} / ({weights[2]}) = "
                f"{ratio}, so q = {ratio}."
            ),
            (
                f"All {ancestors} lines die out with probability ({ratio})^{ancestors} = "
                f"{ratio**ancestors}."
            ),
            f"1 - {ratio**ancestors} = {answer}",
        ],
        1 - weights[0] ** ancestors,
    )


# Optimal stopping with a fee; numbers: faces, most rolls, fee as a fraction of a dollar.


def _draw_stopping(rng: Rng, size: int) -> Numbers:
    return integer(rng, 6, 14 + size // 2), integer(rng, 3, 4), integer(rng, 1, 5)


def _stopping(faces: int, rolls: int, fee: int) -> Question:
    cost = Fraction(fee, 4)
    worth = Fraction(faces + 1, 2)
    steps = [f"With the last roll the mean is ({faces} + 1) / 2 = {worth}."]
    for left in range(2, rolls + 1):
        going = worth - cost
        kept = [face for face in range(1, faces + 1) if face > going]
        worth = (sum(kept) + (faces - len(kept)) * going) / faces
        steps.append(
            f"With {left} rolls left, going on after the next one is worth {going}, so keep "
            f"{kept[0]} or more. The mean is ({sum(kept)} + {faces - len(kept)} * {going}) / "
            f"{faces} = {worth}"
        )
    return Question(
        f"You roll a fair die with faces from 1 to {faces}, at most {rolls} times. After each roll "
        "you may stop and get as many dollars as the die shows, or pay "
        f"{cost} dollars and roll again. The first roll is free. After roll {rolls} you must stop. "
        "What is the expected gain, fees included, under the best strategy?",
        worth,
        steps,
        Fraction(faces + 1, 2),
    )


# Two tokens on a circle; numbers: seats, distance.


def _draw_tokens(rng: Rng, size: int) -> Numbers:
    seats = integer(rng, 9, 90 + 2 * size)
    away = integer(rng, 2, seats - 2)
    return seats, away if seats % 2 or away % 2 == 0 else away - 1 or 2


def _tokens(seats: int, away: int) -> Question:
    if seats % 2:
        half = away // 2 if away % 2 == 0 else (away + seats) // 2
        around = seats
        turn = (
            f"Since {seats} is odd, number the differences by halves modulo {seats}: the "
            f"difference {away} is place {half}, as 2 * {half} is {away} modulo {seats}."
        )
    else:
        half, around = away // 2, seats // 2
        turn = (
            f"Since {seats} is even, the difference stays even: it is place {half} on a circle of "
            f"{seats} / 2 = {around} places."
        )
    answer = 2 * half * (around - half)
    return Question(
        f"{seats} seats stand in a circle, numbered from 0 to {seats - 1}. Two tokens start on the "
        f"seats 0 and {away}. Each second both tokens move at the same time, each to one of its "
        "two neighbouring seats with equal chances, independently. What is the expected number "
        "of seconds until both are on the same seat after a move?",
        answer,
        [
            (
                "The difference of the positions changes by -2, 0 or 2 with the probabilities 1/4, "
                "1/2 and 1/4."
            ),
            turn,
            (
                "There it walks by -1 or +1 with equal chances, and stands still half of the time. "
                f"So it needs 2 * {half} * ({around} - {half}) = {answer} seconds on average."
            ),
        ],
        away * (seats - away),
    )


# Reflection; numbers: tosses, lead.


def _draw_reflection(rng: Rng, size: int) -> Numbers:
    tosses = integer(rng, 8, 14 + size)
    return tosses, integer(rng, 2, min(6, tosses // 2)), integer(rng, 0, 1)


def _reflection(tosses: int, lead: int, ends_even: int) -> Question:
    sums = {2 * heads - tosses: comb(tosses, heads) for heads in range(tosses + 1)}
    end = -(tosses % 2) if ends_even else 0
    if ends_even:
        ways = sums[2 * lead - end]
        event = f", and after all {tosses} tosses heads minus tails is {end}"
        lines = [
            (
                "Flip all tosses after the first time the lead is reached. This turns the "
                f"sequences that end at {end} into those that end at 2 * {lead} - ({end}) = "
                f"{2 * lead - end}."
            ),
            f"There are {ways} sequences that end there.",
        ]
    else:
        at, above = (
            sum(n for total, n in sums.items() if total >= lead),
            sum(n for total, n in sums.items() if total > lead),
        )
        ways = at + above
        event = ""
        lines = [
            f"{at} sequences end at {lead} or more. All of them reach the lead.",
            (
                "Flip all tosses after the first time the lead is reached. This turns those that "
                f"end below {lead} into those that end above it: {above} sequences."
            ),
            f"{at} + {above} = {ways}",
        ]
    answer = Fraction(ways, 2**tosses)
    return Question(
        f"A fair coin is tossed {tosses} times. What is the probability that at some time the "
        f"number of heads so far is exactly {lead} more than the number of tails so far{event}?",
        answer,
        [*lines, f"{ways} / {2**tosses} = {answer}"],
        Fraction(sum(n for total, n in sums.items() if total >= lead), 2**tosses),
    )


# Which pattern comes first; numbers: the chance of heads, the length, both patterns.


def _draw_penney(rng: Rng, size: int) -> Numbers:
    length = integer(rng, 3 + size // 10, 4 + size // 5)
    shares = _share(rng, 5) if integer(rng, 0, 3) else (1, 2)
    while True:
        flips, other = (tuple(integer(rng, 0, 1) for _ in range(length)) for _ in range(2))
        if flips != other and _penney(*shares, *flips, *other).answer != Fraction(1, 2):
            return *shares, *flips, *other


def _lead(share: Fraction, ending: Numbers, beginning: Numbers) -> Fraction:
    """Return Conway's leading number, in general for a biased coin."""
    return sum(
        (
            1 / _chance(share, beginning[:k])
            for k in range(1, len(ending) + 1)
            if ending[-k:] == beginning[:k]
        ),
        Fraction(0),
    )


def _penney(top: int, bottom: int, *flips: int) -> Question:
    share, length = Fraction(top, bottom), len(flips) // 2
    one, two = flips[:length], flips[length:]
    own, meets = _lead(share, one, one), _lead(share, one, two)
    back, other = _lead(share, two, one), _lead(share, two, two)
    for_one, for_two = other - back, own - meets
    answer = for_one / (for_one + for_two)
    coin = (
        "A fair coin"
        if (top, bottom) == (1, 2)
        else f"A coin that shows heads with probability {share}"
    )
    return Question(
        f"{coin} is tossed until the last tosses read {_named(one)} or {_named(two)} (H is heads, "
        f"T is tails). What is the probability that {_named(one)} comes first?",
        answer,
        [
            (
                "For patterns A and B let AB be the sum of one over the probability of each part "
                "that is an end of A and a beginning of B (Conway's leading number)."
            ),
            (
                f"With A = {_named(one)} and B = {_named(two)}: AA = {own}, AB = {meets}, BA = "
                f"{back}, BB = {other}."
            ),
            "Fair betting on each of the patterns gives odds (BB - BA) : (AA - AB) for A.",
            (
                f"That is {for_one} : {for_two}, so the probability is {for_one} / ({for_one} + "
                f"{for_two}) = {answer}"
            ),
        ],
        Fraction(1, 2),
    )


# A lazy walk on a cube; numbers: dimension, distance, the chance to stand still.


def _draw_cube(rng: Rng, size: int) -> Numbers:
    dimension = integer(rng, 3, 6 + size // 5)
    return dimension, integer(rng, 2, dimension), *_share(rng, 9)


def _cube(dimension: int, away: int, top: int, bottom: int) -> Question:
    still = Fraction(top, bottom)
    closer = []  # expected moves from distance k + 1 to distance k, from the far end
    wait = Fraction(1)
    for far in range(dimension, 0, -1):
        if far < dimension:
            wait = (dimension + (dimension - far) * wait) / far
        closer.append(wait)
    needed = closer[dimension - away :]
    moves = sum(needed, Fraction(0))
    answer = moves / (1 - still)
    return Question(
        f"A bug walks on the strings of {dimension} bits. Each minute it stays where it is with "
        f"probability {still}; otherwise it flips one of the {dimension} bits, each equally "
        f"likely. It starts at a string with exactly {away} ones. What is the expected number of "
        "minutes until it first reaches the string of zeros?",
        answer,
        [
            (
                "Only the number of ones counts. Let d(k) be the expected number of flips from k "
                "ones to k - 1 ones."
            ),
            f"d({dimension}) = 1, and d(k) = ({dimension} + ({dimension} - k) * d(k + 1)) / k.",
            f"From d({away}) down to d(1): {', '.join(map(str, needed))}.",
            f"They add up to {moves} flips.",
            f"A minute has a flip with probability {1 - still}: {moves} / ({1 - still}) = {answer}",
        ],
        Fraction(2**dimension) / (1 - still),
    )


# The length of a fair game that is won; numbers: start, goal.


def _won(start: int, goal: int) -> Question:
    answer = Fraction(goal**2 - start**2, 3)
    return Question(
        f"A gambler has {start} dollars. Each round a fair coin is tossed: heads wins 1 dollar, "
        f"tails loses 1 dollar. The gambler stops at 0 or at {goal} dollars. Given that the "
        f"gambler reaches {goal} dollars, what is the expected number of rounds played?",
        answer,
        [
            f"From k dollars the goal is reached with probability h(k) = k/{goal}.",
            (
                "Given success, the game goes from k to k + 1 with probability (1/2) h(k + 1) / "
                "h(k) = (k + 1)/(2k), and to k - 1 with probability (k - 1)/(2k)."
            ),
            (
                "So E(k) = 1 + ((k + 1) E(k + 1) + (k - 1) E(k - 1)) / (2k). With F(k) = k E(k) "
                "this says F(k + 1) - 2 F(k) + F(k - 1) = -2k."
            ),
            f"With F(0) = F({goal}) = 0: F(k) = k ({goal}^2 - k^2) / 3.",
            f"({goal}^2 - {start}^2) / 3 = {goal**2 - start**2} / 3 = {answer}",
        ],
        start * (goal - start),
    )


# Coupons of unequal chances; numbers: the weights, the weight of an empty box.


def _draw_unequal(rng: Rng, size: int) -> Numbers:
    count = 3 + min(size // 8, 3)
    return tuple(integer(rng, 1, 7 + size // 2) for _ in range(count + 1))


def _unequal(*weights: int) -> Question:
    *kinds, empty = weights
    total = sum(weights)
    answer = Fraction(0)
    terms = []
    for count in range(1, len(kinds) + 1):
        part = sum((Fraction(total, sum(some)) for some in combinations(kinds, count)), Fraction(0))
        answer += part if count % 2 else -part
        terms.append(f"{'plus' if count % 2 else 'minus'} {part} for {count} of them")
    names = "ABCDEF"[: len(kinds)]
    chances = ", ".join(
        f"{name} with probability {Fraction(weight, total)}"
        for name, weight in zip(names, kinds, strict=True)
    )
    return Question(
        f"A machine gives at each press one toy: {chances}; with the remaining probability "
        f"{Fraction(empty, total)} it gives nothing. Presses are independent. What is the expected "
        "number of presses until you have at least one of each toy?",
        answer,
        [
            (
                "The time until all toys are there is the largest of the waiting times of the "
                "toys. By inclusion and exclusion it is a signed sum of smallest waiting times of "
                "sets."
            ),
            "The first toy of a set takes one over the total probability of the set on average.",
            f"Over all sets: {', '.join(terms)}.",
            f"The sum is {answer}.",
        ],
        Fraction(total, min(kinds)),
    )


FAMILIES = {
    "ruin": Family(1, _draw_ruin, _ruin),
    "wald": Family(1, _draw_wald, _wald),
    "press_your_luck": Family(2, _draw_luck, _luck),
    "coupons": Family(2, _draw_coupons, _coupons),
    "path_cover": Family(2, _draw_path, _path),
    "biased_ruin": Family(2, _draw_biased, _biased),
    "chess_return": Family(3, _draw_board, _board),
    "branching": Family(3, _draw_branching, _branching),
    "ballot": Family(3, _draw_ballot, _ballot),
    "two_tokens": Family(3, _draw_tokens, _tokens),
    "pattern": Family(4, _draw_pattern, _pattern),
    "stopping": Family(4, _draw_stopping, _stopping),
    "reflection": Family(4, _draw_reflection, _reflection),
    "unequal_coupons": Family(5, _draw_unequal, _unequal),
    "cube": Family(5, _draw_cube, _cube),
    "won_game": Family(5, _draw_ruin, _won),
    "first_pattern": Family(5, _draw_penney, _penney),
}
KINDS = tuple(FAMILIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkovProbabilityConfig(TaskConfig):
    """Which questions are asked, and how large their numbers are."""

    kinds: tuple[str, ...] = knob(KINDS, "kinds of questions to draw from", choices=KINDS)
    size: int = knob(5, "size of the numbers, the boards and the patterns", low=0, high=1_000)

    @classmethod
    def at(cls, difficulty: int) -> "MarkovProbabilityConfig":
        """Each level drops the easiest of four kinds for a harder one, or grows the numbers.

        First steps come first; then fair games, stationary shares and cycles; then overlaps of
        patterns, reflection, conditioning and inclusion and exclusion over waiting times.
        """
        return cls(kinds=window(KINDS, difficulty), size=min(difficulty, 1_000))


@register("MarkovProbability-v0", domain="math")
class MarkovProbabilityTask(FamilyTask[MarkovProbabilityConfig]):
    """Find a probability or an expected time in a process with states, exactly.

    Description:
        Seventeen kinds: a fair or unfair game until ruin, its length, and its length given that it
        is won; sums of rolls until a stop; pressing one's luck and optimal stopping of a die;
        coupons of equal and unequal chances; the ballot problem; reflection; branching; walks on a
        path, a circle, a cube and a chessboard; the wait for a pattern, and which of two patterns
        comes first. Each has a short argument, and each level a few of them.

    Observation:
        One question in words.

    Action:
        One rational number: a fraction, lowest terms or not, or an exact decimal.

    Reward:
        1 for the exact value, otherwise 0.

    Verification:
        Exact, on fractions. A decimal counts only if it equals the value.

    Difficulty:
        The kinds take more ideas from level to level, and the numbers grow a little. Beyond level
        10 only numbers grow.

    References:
        Feller, An Introduction to Probability Theory and Its Applications, volume 1, chapters 3,
        12 and 14; Levin, Peres and Wilmer, Markov Chains and Mixing Times, chapters 1, 2 and 10;
        Graham, Knuth and Patashnik, Concrete Mathematics, section 8.4 (Penney's game).
    """

    Config = MarkovProbabilityConfig
    families = FAMILIES
