"""Games in which one agent has both seats: what each seat is told, and what it gets."""

import gymnasium
import pytest

import rlvr_envs  # noqa: F401 - registers the games
from rlvr_envs.core.both_seats import BothSeats, SharedSession
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError, UsageError
from rlvr_envs.core.games import CHANCE, OVER, GameTask
from rlvr_envs.core.registry import find, task_ids
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.source import open_source

GAMES = [each for each in task_ids() if issubclass(find(each).task_type, GameTask)]
FOR_TWO = [each for each in GAMES if each != "rlvr/Game2048-v0"]


def session(task, seed, **knobs):
    """Return a game, its task and problem."""
    posed = open_source(task, difficulty=0, knobs=knobs).draw(seed)
    return SharedSession(posed.task, posed.problem), posed.task, posed.problem


def played(game, rng):
    """Play legal moves at random; return who was told what, and the moves."""
    told, moves = [(game.seat, game.address())], []
    while game.verdicts is None:
        legal = game._game.actions(game._state)
        moves.append((game.seat, legal[int(rng.integers(len(legal)))]))
        reply = game.reply(rf"\boxed{{{moves[-1][1]}}}")
        if game.verdicts is None:
            told.append((game.seat, reply.text))
    return told, moves


def test_there_are_games_for_two():
    assert len(FOR_TWO) >= 8


@pytest.mark.parametrize("task", FOR_TWO)
def test_both_seats_play_to_the_end_and_share_one_point(task):
    for seed in range(6):
        game, rules, problem = session(task, seed)
        assert game.seat == problem.seat
        told, moves = played(game, stream("test", task, seed))
        assert [seat for seat, _ in told] == [seat for seat, _ in moves]
        first, second = game.verdicts
        outcome = first.parts["outcome"]
        if task == "rlvr/Negotiation-v0":  # both may gain, up to all the points that there are
            assert 0 <= first.score <= 1
            assert first.score * 10 * problem.n_rounds == pytest.approx(outcome)
            continue
        assert first.score + second.score == 1
        assert first.parts["outcome"] == -second.parts["outcome"]
        assert first.score == (1.0 if outcome > 0 else 0.0 if outcome < 0 else 0.5)
        # The moves lead to the same end under the rules themselves.
        state, rest = rules.state(problem), list(moves)
        if not problem_has_chance(task):
            while rules.game(problem).mover(state) != OVER:
                state = rules.game(problem).after(state, rest.pop(0)[1])
            assert rules.game(problem).returns(state)[0] == outcome
            assert not rest


def problem_has_chance(task):
    return task.split("/")[1] in (
        "KuhnPoker-v0",
        "LeducPoker-v0",
        "LiarsDice-v0",
        "Negotiation-v0",
        "Pig-v0",
    )


@pytest.mark.parametrize("task", FOR_TWO)
def test_a_seat_sees_its_own_view_and_the_moves_since_its_last(task):
    game, rules, problem = session(task, 3)
    rng, since = stream("test", task), {}
    text = game.address()
    while game.verdicts is None:
        seat, view = game.seat, game._view()
        assert view in text
        if seat in since:
            assert text == f"{' '.join(since[seat])}\n\n{view}\n\nIt is your move."
        else:
            assert text == rules.seat_prompt(problem, game._state, seat)
        since[seat] = []
        legal = game._game.actions(game._state)
        move = legal[int(rng.integers(len(legal)))]
        text = game.reply(rf"\boxed{{{move}}}").text
        for each, told in since.items():
            told.append(f"{'You' if each == seat else 'Opponent'}: {move}.")


@pytest.mark.parametrize("task", FOR_TWO)
def test_prompts_say_nothing_of_how_the_other_seat_plays(task):
    game, rules, problem = session(task, 5)
    for seat in (0, 1):
        prompt = rules.seat_prompt(problem, game._state, seat)
        shares = "You earn the share that you get of all points that there are for you"
        won = "A win earns full marks, a draw half of them, and a loss nothing."
        assert (shares if task == "rlvr/Negotiation-v0" else won) in prompt
        for word in ("%", "force a win", "best one", "perfect", "by chance", "greatest chance"):
            assert word not in prompt
    assert rules.seat_rules(problem, problem.seat) != rules.rules(problem)


@pytest.mark.parametrize("task", ["rlvr/KuhnPoker-v0", "rlvr/LeducPoker-v0", "rlvr/LiarsDice-v0"])
@pytest.mark.parametrize("seat", [0, 1])
def test_a_seat_is_told_the_same_whatever_the_other_holds(task, seat):
    """Two deals that a seat cannot tell apart: up to the end of the game it hears the same."""
    compared = 0
    for seed in range(60):
        game, rules, problem = session(task, seed, n_rounds=1)
        hidden = other_deal(rules, problem, game._state, seat)
        if hidden is None:
            continue
        twin = SharedSession(rules, problem)
        twin._state = hidden
        pairs = [(game.address(), twin.address())]
        while game.verdicts is None and twin.verdicts is None and game.seat == twin.seat:
            if "Board: " in pairs[-1][0]:
                break  # which cards may come depends on the hidden one
            if game.seat == seat:
                assert pairs[-1][0] == pairs[-1][1]
                compared += 1
            legal = game._game.actions(game._state)
            move = legal[(seed + compared) % len(legal)]
            pairs.append([each.reply(rf"\boxed{{{move}}}").text for each in (game, twin)])
    assert compared > 40


def other_deal(rules, problem, state, seat):
    """Return a state that the seat cannot tell from this one and the other seat can, or None.

    It is made by other outcomes of chance before the first move.
    """
    game = rules.game(problem)
    states = [game.start()]
    for move in problem.opening:
        if game.mover(states[0]) != CHANCE:
            states = [game.after(each, move) for each in states]
        else:
            states = [
                game.after(each, outcome) for each in states for outcome, _ in game.chances(each)
            ]
    for each in states:
        same = game.view(each, seat) == game.view(state, seat)
        if same and game.view(each, 1 - seat) != game.view(state, 1 - seat):
            return each
    return None


def test_the_same_problem_has_the_same_deals():
    """Two games of a match whose moves are equal: the cards are too, in all of its rounds."""
    heard = []
    for _ in range(2):
        game, _, _ = session("rlvr/KuhnPoker-v0", 4)
        heard.append(played(game, stream("test", "deals")))
    assert heard[0] == heard[1]
    different, _, _ = session("rlvr/KuhnPoker-v0", 5)
    assert played(different, stream("test", "deals"))[0] != heard[0][0]


def env(task="rlvr/TicTacToe-v0", **knobs):
    return BothSeats(gymnasium.make(task, difficulty=0, **knobs))


def test_a_message_without_a_move_is_refused_to_the_seat_that_gave_it():
    one = env()
    _, info = one.reset(seed=0)
    seat = info["agent"]
    assert info["seats"] == 2
    text, reward, terminated, truncated, info = one.step("no move")
    assert (reward, terminated, truncated, info["agent"], info["void_turn"]) == (
        *(0.0, False, False),
        *(seat, True),
    )
    assert text.startswith("Your message contains no move. Give one legal move")
    text, *_, info = one.step(r"\boxed{9 9}")
    assert (info["agent"], info["void_turn"]) == (seat, False)
    assert text.startswith("That is not a legal move.")
    _, reward, terminated, truncated, info = one.step(r"\boxed{9 9}")
    assert (reward, terminated, truncated, info["out_of_turns"]) == (0.0, True, False, True)
    assert info["verdicts"][seat].status == "wrong"
    assert info["verdicts"][1 - seat].score == 1.0
    assert info["verdict"] is info["verdicts"][seat]
    with pytest.raises(UsageError, match="reset"):
        one.step("more")


def test_refusals_are_counted_by_seat():
    one = env("rlvr/Nim-v0")
    _, info = one.reset(seed=1)
    first = info["agent"]
    for _ in range(2):
        *_, info = one.step("?")
    sizes = one._session._game.actions(one._session._state)
    *_, info = one.step(rf"\boxed{{{sizes[0]}}}")
    assert info["agent"] == 1 - first
    for _ in range(2):
        _, _, terminated, _, info = one.step("?")
        assert not terminated
    _, _, terminated, _, info = one.step("?")
    assert terminated
    assert info["verdicts"][first].score == 1.0


def test_the_turn_limit_is_lost_for_both():
    one = env("rlvr/Nim-v0", max_turns=2)
    one.reset(seed=1)
    one.step("?")
    _, reward, terminated, truncated, info = one.step("?")
    assert (reward, terminated, truncated, info["out_of_turns"]) == (0.0, False, True, True)
    assert [each.score for each in info["verdicts"]] == [0.0, 0.0]


def test_the_reward_is_of_who_moved_last():
    one = env("rlvr/Nim-v0", family="nim", n_heaps=1, smallest=3, largest=4)
    _, info = one.reset(seed=0)
    seat = info["agent"]
    *_, info = one.step(r"\boxed{1: 0}")
    assert info["verdicts"][seat].score == 1.0
    assert info["verdicts"][1 - seat].score == 0.0


def test_what_has_no_two_seats_says_so():
    with pytest.raises(ConfigError, match="Gcd-v0 is no game for two"):
        env("rlvr/Gcd-v0").reset(seed=0)
    with pytest.raises(ConfigError, match="Game2048-v0 is no game for two"):
        env("rlvr/Game2048-v0").reset(seed=0)
    with pytest.raises(ConfigError, match="environments of this package"):
        BothSeats(gymnasium.make("CartPole-v1"))
    with pytest.raises(UsageError, match="reset"):
        BothSeats(TextEnv("Nim-v0")).step("?")


def test_a_game_without_rules_for_both_says_what_to_define():
    _, task, problem = session("rlvr/Nim-v0", 0)
    with pytest.raises(ConfigError, match="NimTask has no rules for both seats: define seat_rules"):
        GameTask.seat_rules(task, problem, 0)
