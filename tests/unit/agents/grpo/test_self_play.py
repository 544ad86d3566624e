"""Both seats of a game: two episodes of each, compared by seat, in rollouts and whole runs."""

import json
import math
from dataclasses import replace

import pytest
from fakes.letters import Letters, Scripted

from rlvr_envs.agents.grpo.rollout import Rollout
from rlvr_envs.core.both_seats import BothSeats
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError, SandboxError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.source import open_source
from rlvr_envs.curricula import Proposal

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from rlvr_envs.agents.grpo import plugins, preflight  # noqa: E402  (as above)
from rlvr_envs.agents.grpo.credit import Groups, credit  # noqa: E402
from rlvr_envs.agents.grpo.episode import Episode, Group, Segment  # noqa: E402
from rlvr_envs.agents.grpo.model import checkpoint  # noqa: E402
from rlvr_envs.agents.grpo.presets import preset  # noqa: E402
from rlvr_envs.agents.grpo.sampling.sampler import Completion  # noqa: E402
from rlvr_envs.agents.grpo.tracking.metrics import summarise  # noqa: E402

NIM, KUHN, LINES = "rlvr/Nim-v0", "rlvr/KuhnPoker-v0", "rlvr/TicTacToe-v0"
SMALL = {"family": "nim", "n_heaps": 2, "smallest": 1, "largest": 3}


def legal(prompt, rng):
    """Return a legal move of what was told last, at random."""
    now = prompt.rpartition("It is your move")[0]
    if "Your card" in now:
        return r"\boxed{call}" if rng.random() < 0.5 else r"\boxed{raise}"
    if "heap 1 has" in now:
        heaps = now.rpartition("Heaps: ")[2].partition(".")[0].split(", ")
        sizes = {each.split()[1]: int(each.split()[3]) for each in heaps}
        heap = sorted(each for each in sizes if sizes[each])[0]
        return rf"\boxed{{{heap}: {int(rng.integers(sizes[heap]))}}}"
    rows = now.rstrip().splitlines()
    n_rows = next(n for n in range(1, 99) if rows[-n - 1].split()[-1:][0] not in (".", "X", "O"))
    board = [row.split()[1:] for row in rows[-n_rows:]]
    free = [
        (r, c) for r, row in enumerate(board, 1) for c, cell in enumerate(row, 1) if cell == "."
    ]
    row, column = free[int(rng.integers(len(free)))]
    return rf"\boxed{{{row} {column}}}"


def player(seed=0):
    rng = stream("test self-play", seed)
    return lambda prompt: legal(prompt, rng)


def roll(answer, *, knobs=None, **given):
    sampler = answer if isinstance(answer, Scripted) else Scripted(answer)
    sizes = {"max_tokens": 64, "context": 9000, "temperature": 1.0, **given}

    def make(task, difficulty):
        return BothSeats(TextEnv(task, difficulty=difficulty, **(knobs or {})))

    return Rollout(make, sampler, Letters(), **sizes)


def groups_of(task, seeds, size, answer, **given):
    proposals = [Proposal(task=task, difficulty=0, problem_seed=seed) for seed in seeds]
    return roll(answer, **given).play(proposals, size, seed=0)


# Rollouts


@pytest.mark.parametrize("task", [NIM, KUHN, LINES])
def test_each_game_makes_an_episode_of_each_seat(task):
    knobs = SMALL if task == NIM else {}
    source = open_source(task, difficulty=0, knobs=knobs)
    for group in groups_of(task, [1, 2], 3, player(), knobs=knobs):
        problem = source.draw(group.proposal.problem_seed).problem
        firsts = [each for each in group.episodes if each.seat == problem.seat]
        others = [each for each in group.episodes if each.seat != problem.seat]
        assert len(firsts) == 3
        assert 1 <= len(others) <= 3
        assert len({each.heard[0] for each in firsts}) == 1  # the same first state
        assert group.episodes[0].seat == problem.seat
        for each in group.episodes:
            assert each.task == task
            assert each.problem_seed == group.proposal.problem_seed
            assert each.agents == [each.seat] * len(each.actions)
            assert each.info["seat"] == each.seat
            assert len(each.turn_rewards) == len(each.actions) >= 1
            assert each.reward == each.score == each.turn_rewards[-1]
            assert set(each.turn_rewards[:-1]) <= {0.0}
            assert [segment.logps is None for segment in each.segments] == (
                [True, False] * len(each.actions)
            )


def test_a_seats_tokens_are_its_own_prompt_observations_and_answers():
    """Every token is of what that seat was told or said; every request is one seat's alone."""
    sampler = Scripted(player(3))
    groups = groups_of(KUHN, [1, 4, 5], 2, sampler)
    asked = [request.prompt for call in sampler.calls for request in call]
    wholes = []
    for group in groups:
        cards = {}
        for each in group.episodes:
            text = Letters().opening(each.heard[0])
            spoken = [text]
            for said, heard in zip(each.actions[:-1], each.heard[1:], strict=True):
                spoken += [said.tokens, Letters().observation(heard, finished=True)]
            spoken.append(each.actions[-1].tokens)
            whole = sum(spoken, ())
            assert whole == sum((segment.tokens for segment in each.segments), ())
            assert f"You are player {each.seat + 1}." in each.heard[0]
            assert all(f"You are player {2 - each.seat}" not in heard for heard in each.heard)
            cards[each.seat] = each.heard[0].partition("Your card: ")[2][0]
            wholes.append(whole)
        # The first deal is the same for all games of a group, and its cards differ.
        assert len(set(cards.values())) == len(cards)
    assert all(any(whole[: len(prompt)] == prompt for whole in wholes) for prompt in asked)


def test_returns_are_one_for_a_win_and_half_for_a_draw():
    seen = set()
    for group in groups_of(KUHN, range(12), 2, player(1)):
        pairs = {}
        for place, each in enumerate(group.episodes):
            if each.seat == group.episodes[0].seat:
                game = place
            pairs.setdefault(game, []).append(each)
        for pair in pairs.values():
            assert len(pair) <= 2
            if len(pair) == 2:
                assert sum(each.reward for each in pair) == 1.0
                seen |= {(each.reward, each.status) for each in pair}
    assert seen == {(1.0, "correct"), (0.0, "wrong"), (0.5, "partial")}


def test_who_gives_no_move_loses_and_the_other_wins():
    """Who moves first gives a move once, and no move when it hears of the opponent."""
    rng = stream("x")
    [group] = groups_of(
        KUHN, [1], 1, lambda prompt: "?" if "Opponent:" in prompt else legal(prompt, rng)
    )
    lost, won = group.episodes
    assert (lost.reward, lost.turn_rewards, lost.status) == (0.0, [0.0] * 4, "wrong")
    assert (won.reward, won.turn_rewards, won.status) == (1.0, [1.0], "correct")
    assert (lost.info["over_turn"], won.info["over_turn"]) == (1.0, 0.0)
    assert (lost.info["void_turn"], "void_turn" in won.info) == (1.0, False)
    assert "without a legal move" in won.texts[-1]


def test_a_seat_that_never_moves_has_no_episode():
    [group] = groups_of(LINES, [0], 3, lambda prompt: "?")
    assert len(group.episodes) == 3
    assert len({each.seat for each in group.episodes}) == 1
    assert group.scores == [0.0, 0.0, 0.0]


def test_a_cut_off_answer_is_judged_and_closed_for_its_own_seat():
    """The limit cuts behind the move: it counts, and only the seat's next message closes it."""
    [group] = groups_of(KUHN, [1], 1, lambda prompt: r"\boxed{call} and so on", max_tokens=12)
    for each in group.episodes:
        assert not each.finished
        assert all(action.tokens[-1] != 0 for action in each.actions)
        assert all(segment.tokens[0] == 0 for segment in each.segments[2::2])


def test_a_full_context_loses_for_its_seat_and_decides_nothing_for_the_other():
    """The longer conversation is the first seat's: it is one observation ahead."""
    [group] = groups_of(LINES, [0], 1, player(5))
    first = group.episodes[0]
    room = sum(len(segment.tokens) for segment in first.segments[:3])
    [group] = groups_of(LINES, [0], 1, player(5), context=room)
    first, other = group.episodes
    assert (first.status, first.reward, first.score, first.finished) == ("context", 0, 0, False)
    assert other.status == "context"
    assert math.isnan(other.reward)
    assert math.isnan(other.score)
    assert other.texts[-1] == "[context] the other seat's context is full"
    assert max(first.n_tokens, other.n_tokens) <= room


def test_a_prompt_of_the_second_seat_that_does_not_fit_says_what_to_do():
    prompt = open_source(LINES, difficulty=0).draw(0)
    env = BothSeats(TextEnv(LINES, difficulty=0))
    opening, _ = env.reset(options={"problem_seed": prompt.problem_seed})
    with pytest.raises(ConfigError, match=r"TicTacToe-v0 has .* raise `context`"):
        groups_of(LINES, [0], 1, player(), context=len(Letters().opening(opening)))


@pytest.mark.parametrize("where", ["sampler", "step"])
def test_what_breaks_in_a_game_is_scored_for_neither_seat(where, monkeypatch):
    turns = []

    class Broken(Scripted):
        def generate(self, requests, **given):
            turns.append(len(requests))
            if where == "sampler" and len(turns) == 2:
                raise SandboxError("away")
            return super().generate(requests, **given)

    if where == "step":
        plain = BothSeats.step

        def step(self, action):
            if self._turn == 1:
                raise RuntimeError("broken")
            return plain(self, action)

        monkeypatch.setattr(BothSeats, "step", step)
    [group] = groups_of(LINES, [0], 1, Broken(player()))
    assert len(group.episodes) == 2
    assert [each.status for each in group.episodes] == ["verifier_error"] * 2
    assert all(math.isnan(each.reward) for each in group.episodes)


def test_a_horizon_is_of_the_game():
    [group] = roll(player(2), knobs=SMALL | {"smallest": 2}).play(
        [Proposal(task=NIM, difficulty=0, problem_seed=3, horizon=2)], 1, seed=0
    )
    assert sum(len(each.actions) for each in group.episodes) <= 2
    assert [each.info["over_turn"] for each in group.episodes] == [1.0, 1.0]
    assert [each.reward for each in group.episodes] == [0.0, 0.0]


# Advantages


def pair(group, *rewards, first=0):
    """Return the episodes of a group's games, of which the first seat got these rewards."""
    episodes = []
    for reward in rewards:
        for seat, paid in ((first, reward), (1 - first, 1 - reward)):
            episode = Episode(group=group, task="a/Game-v0", difficulty=0, problem_seed=group)
            episode.segments = [Segment((1, 2)), Segment((3, 4), (-0.5, -0.5))]
            episode.reward = episode.score = paid
            episode.seat, episode.turn_rewards, episode.finished = seat, [paid], True
            episode.status = "correct" if paid == 1 else "wrong"
            episodes.append(episode)
    return episodes


@pytest.mark.parametrize("estimator", ["dr_grpo", "grpo", "rloo", "ngrpo", "dr_mas", "trloo"])
def test_every_group_estimator_compares_a_seat_with_itself(estimator):
    """The first mover wins 3 of 4 games: that is a signal within its seat alone."""
    config = preset(estimator=estimator, group_size=4)
    episodes = pair(0, 1.0, 1.0, 1.0, 0.0) + pair(1, 1.0, 0.0, 0.0, 0.0, first=1)
    together, kept, _ = credit(Groups(episodes, config))
    assert kept.all()
    for group in (0, 1):
        for seat in (0, 1):
            mine = [i for i, e in enumerate(episodes) if (e.group, e.seat) == (group, seat)]
            alone = [replace(episodes[i], seat=0, group=0) for i in mine]
            wanted, _, _ = credit(Groups(alone, config))
            torch.testing.assert_close(together[mine], wanted)
            if estimator != "ngrpo":
                assert together[mine].sum().abs() < 1e-5


def test_a_first_mover_that_always_wins_has_no_signal():
    config = preset(estimator="dr_grpo", group_size=3)
    always = pair(0, 1.0, 1.0, 1.0)
    advantages, _, _ = credit(Groups(always, config))
    assert not advantages.any()
    group = Group(Proposal(), always)
    assert not group.informative
    assert group.scores == [1.0, 1.0, 1.0]
    found = summarise([group])
    assert (found["zero_variance"], found["score/mean"]) == (1.0, 0.5)
    assert (found["score/first"], found["score/second"]) == (1.0, 0.0)
    assert Group(Proposal(), pair(0, 1.0, 0.0)).informative


def test_without_two_seats_nothing_is_said_of_them():
    assert (
        not {"score/first", "score/second"}
        & summarise([Group(Proposal(), pair(0, 1.0)[:1])]).keys()
    )


def test_aggregations_tell_seats_apart(monkeypatch):
    from rlvr_envs.agents.grpo.objective import weights_of

    seen = []

    @plugins.aggregation(name="groups_for_tests")
    def look(lengths, groups):
        seen.append(groups.tolist())
        return torch.ones_like(lengths)

    config = preset(aggregation="groups_for_tests")
    episodes = pair(0, 1.0, 0.0) + pair(1, 1.0)
    weights_of(config, episodes, range(len(episodes)), torch.zeros(len(episodes), 1))
    [groups] = seen[-1:]
    assert [groups.index(each) for each in groups] == [0, 1, 0, 1, 4, 5]


# Whole runs


@pytest.fixture(scope="module", autouse=True)
def legal_sampler():
    """Register a sampler that plays legal moves at random, in each of its calls by their seed."""

    @plugins.sampler(name="legal_moves_for_tests")
    class Legal:
        concurrent = False

        def __init__(self, chat):
            self.chat = chat

        def generate(self, requests, *, temperature=1.0, seed=0):
            rng = stream("legal", seed)
            found = []
            for request in requests:
                said = self.chat.action(legal(self.chat.text(request.prompt), rng))
                found.append(Completion(said, (-1.0,) * len(said), True))
            return found

        def update(self, weights, version):
            """Nothing is kept."""


PLAYED = {
    "sampler": "legal_moves_for_tests",
    "self_play": True,
    "max_tokens": 32,
    "context": 4000,
    "tasks": ("KuhnPoker-v0(n_rounds=2)", LINES),
}


def test_a_run_learns_from_both_seats_by_seat(tmp_path, watched):
    notes = watched(tmp_path, group_size=4, groups=2, **PLAYED)
    config = preset(group_size=4, max_tokens=32)
    tasks = set()
    for batch in notes.batches:
        assert {each.seat for each in batch} == {0, 1}
        advantages, kept, _ = credit(Groups(batch, config))
        assert kept.all()
        assert advantages.any()
        rows = {}
        for each, advantage in zip(batch, advantages[:, 0].tolist(), strict=True):
            rows.setdefault((each.group, each.seat), []).append((each.reward, advantage))
            tasks.add(each.task)
        for found in rows.values():
            mean = sum(reward for reward, _ in found) / len(found)
            assert sum(advantage for _, advantage in found) == pytest.approx(0, abs=1e-5)
            assert [a for _, a in found] == pytest.approx([r - mean for r, _ in found], abs=1e-6)
    assert tasks == {KUHN, LINES}
    for row in notes.metrics:
        assert row["reward/mean"] == pytest.approx(0.5, abs=0.1)  # but for seats without a move
        assert row["updates/skipped"] == 0
        assert 0 <= row["score/first"] <= 1


def test_spiral_learns_from_a_running_mean_of_each_role(tmp_path, watched):
    """The advantages in a run are those of the formula, game after game."""
    setting = {**PLAYED, "callbacks": ("role_baseline(decay=0.8)",), "group_size": 1}
    notes = watched(tmp_path, estimator="role_conditioned", steps=3, **setting)
    config = preset("spiral")
    means = {}
    for groups, batch in zip(notes.groups, notes.batches, strict=True):
        for group in groups:
            first = group.episodes[0].seat
            for each in group.episodes:
                role = (each.task, each.difficulty, each.seat, each.seat == first)
                before = means.get(role, 0.5)
                assert each.info["baseline"] == pytest.approx(before)
                means[role] = 0.8 * before + 0.2 * each.reward
        advantages, _, _ = credit(Groups(batch, config))
        wanted = [each.reward - each.info["baseline"] for each in batch]
        assert advantages[:, 0].tolist() == pytest.approx(wanted)
    assert len(means) > 4
    assert len(set(means.values())) > 2
    logged = {name: each for name, each in notes.metrics[-1].items() if "baseline/" in name}
    assert sorted(logged.values()) == pytest.approx(sorted(means.values()))
    assert "baseline/KuhnPoker-v0/0/seat_0_moves_first" in logged


def test_unscored_games_do_not_move_a_baseline():
    made = plugins.callback.choose("role_baseline")({})
    unscored = pair(0, math.nan)
    made.on_group(None, Group(Proposal(), unscored))
    assert made.state_dict() == {"means": {}}
    assert "baseline" not in unscored[0].info
    with pytest.raises(ConfigError, match="decay is from 0 and below 1, got 1"):
        plugins.callback.choose("role_baseline(decay=1.0)")({})


@pytest.mark.parametrize("name", ["default", "spiral"])
def test_a_tiny_model_that_plays_itself_goes_on_exactly(name, tmp_path):
    """Trained in pieces or in one go: the same weights, means and numbers."""
    from rlvr_envs.agents.grpo.train import train

    def run(folder, **more):
        config = preset(
            name,
            tasks=("Nim-v0",),
            knobs=tuple(f"{key}={value}" for key, value in SMALL.items()),
            self_play=True,
            warm_start=1,
            warm_start_batch=4,
            steps=3,
            groups=2,
            group_size=1 if name == "spiral" else 2,
            max_tokens=12,
            context=700,
            learning_rate=1e-3,
            warmup=0,
            evaluate_every=4,
            evaluate_problems=2,
            save_every=2,
            device="cpu",
            threads=1,
            out=str(tmp_path / folder),
        )
        return train(config.replace(**more), quiet=True)

    whole = run("whole")
    for piece in range(2):
        parts = run("parts", stop_after=2, resume=piece > 0)
    states = [checkpoint.load_state(each) for each in (whole, parts)]
    assert states[0]["step"] == states[1]["step"] == 4
    assert states[0]["callbacks"] == states[1]["callbacks"]
    if name == "spiral":
        assert states[0]["callbacks"][0]["means"]
    models = [(each / "model.safetensors").read_bytes() for each in (whole, parts)]
    assert models[0] == models[1]
    rows = [
        [
            {k: v for k, v in json.loads(line).items() if "time/" not in k and k != "tokens/s"}
            for line in (tmp_path / folder / "metrics.jsonl").read_text().splitlines()
        ]
        for folder in ("whole", "parts")
    ]
    assert rows[0] == rows[1]
    assert "held_out/score" in rows[0][-1]  # against the task's own opponent
    # What the sampler kept of one seat's tokens is not used for the other's: it computes what the
    # trainer does for each conversation alone.
    apart = [row["mismatch/max"] for row in rows[0] if row.get("mismatch/max") is not None]
    assert all(each < 1e-4 for each in apart)
    if name == "spiral":
        assert len(apart) == 3


# What cannot work


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"tasks": ("Gcd-v0",)}, "self_play takes games for two, and rlvr/Gcd-v0 is none"),
        ({"tasks": ("Nim-v0", "Game2048-v0")}, "rlvr/Game2048-v0 is none"),
        ({"wrappers": ("UnaryRetry(attempts=2)",)}, r"leave out wrappers=UnaryRetry\(attempts=2\)"),
        ({"estimator": "igpo"}, "the estimator igpo asks for the oracle's solution"),
        ({"curriculum": "adaptive_group"}, "the curriculum adaptive_group goes by the answers"),
        (
            {"estimator": "role_conditioned"},
            'takes what the callback role_baseline notes: give callbacks="role_baseline"',
        ),
    ],
)
def test_what_self_play_cannot_do_is_said_before_anything_is_loaded(settings, told, tmp_path):
    given = {"tasks": ("Nim-v0",), "out": str(tmp_path / "run"), "device": "cpu"}
    with pytest.raises(ConfigError, match=told):
        preflight.check(preset(self_play=True, **given | settings))


def test_self_play_with_a_game_passes(tmp_path):
    preflight.check(preset("spiral", tasks=(NIM, KUHN), out=str(tmp_path / "run"), device="cpu"))
