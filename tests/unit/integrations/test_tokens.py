"""Episodes as tokens: the mask says what the model wrote."""

import json

import pytest

import rlvr_envs
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.integrations.episodes import RowEpisodes
from rlvr_envs.integrations.rows import open_rows

pytest.importorskip("transformers")
from rlvr_envs.agents.grpo.chat import Chat
from rlvr_envs.agents.grpo.model.tiny import tiny_model
from rlvr_envs.integrations.tokens import TokenEpisode

(ROW,) = open_rows("GuessNumber-v0", count=1, difficulty=1)
ROW_TEXT = json.dumps(ROW)


@pytest.fixture(scope="module")
def tokenizer():
    return tiny_model([ROW["prompt"], "The number is larger than 3.", r"\boxed{12}"], seed=0)[1]


def begin(tokenizer, context=2000, env=None):
    return TokenEpisode(RowEpisodes(env), Chat(tokenizer), ROW_TEXT, context=context)


def spoken(tokenizer, text):
    return [*tokenizer(text, add_special_tokens=False).input_ids, tokenizer.eos_token_id]


def test_the_oracle_earns_all_and_only_its_words_are_marked(tokenizer):
    episode = begin(tokenizer)
    wrong = rf"\boxed{{{ROW['problem']['low'] - 1}}}"
    said = [wrong, *rlvr_envs.solve(ROW)]
    for text in said:
        assert not episode.over
        ids = spoken(tokenizer, text)
        episode.take(ids, [-0.5] * len(ids))
    assert episode.over
    assert episode.reward == 1.0
    assert episode.turns == len(said)
    assert len(episode.ids) == len(episode.mask) == len(episode.logps)
    written = [token for token, mark in zip(episode.ids, episode.mask, strict=True) if mark]
    assert written == [token for text in said for token in spoken(tokenizer, text)]
    assert [logp for logp, mark in zip(episode.logps, episode.mask, strict=True) if not mark] == [
        0.0
    ] * episode.mask.count(0)
    assert episode.mask[-1] == 1
    assert ROW["prompt"] in tokenizer.decode(episode.prompt_ids)
    assert episode.tokens == episode.prompt_ids + episode.ids


def test_an_episode_that_outgrows_the_context_ends_without_credit(tokenizer):
    room = 12
    context = len(begin(tokenizer).prompt_ids) + room
    episode = begin(tokenizer, context=context)
    episode.take(spoken(tokenizer, "a b c " * room))
    assert episode.over
    assert episode.reward == 0.0
    assert episode.mask == [1] * room
    with pytest.raises(ConfigError, match="leaves no room"):
        begin(tokenizer, context=context - room)


def test_a_broken_environment_has_a_token_that_is_not_trained_on(tokenizer):
    def away():
        raise ConnectionError("refused")

    episode = begin(tokenizer, env=away)
    assert episode.over
    assert episode.reward is None
    assert episode.mask == [0]
    assert len(episode.ids) == 1
    assert episode.prompt_ids
