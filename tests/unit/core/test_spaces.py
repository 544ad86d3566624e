"""The text space, alone and batched by Gymnasium's vector environments."""

import copy
import json
import multiprocessing
import pickle

import gymnasium as gym
import pytest
from gymnasium.spaces.utils import flatdim, flatten, flatten_space, unflatten
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.vector.utils import (
    batch_differing_spaces,
    batch_space,
    concatenate,
    create_empty_array,
    create_shared_memory,
    iterate,
    read_from_shared_memory,
    write_to_shared_memory,
)
from gymnasium.wrappers.utils import create_zero_array
from hypothesis import given
from hypothesis import strategies as st

import rlvr_envs  # noqa: F401  (registers the ids)
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.spaces import UnicodeText

LIMIT = 1000
TROUBLE = [
    "",
    "plain words, with spaces\n",
    "\0nul\0 inside and at the end\0",
    "𝔘" * LIMIT,  # four bytes each: the longest that fits
    "\ud800 lone \udfff surrogates",
    "\N{FAMILY}\u200d\ufeff\u202e",
    "中" * LIMIT,
]


class Echo(gym.Env):
    """Returns each action as the next observation."""

    def __init__(self, limit=LIMIT):
        self.observation_space = UnicodeText(limit)
        self.action_space = UnicodeText(limit)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return "start", {}

    def step(self, action):
        return action, 0.0, False, False, {"said": action}


def make_sync():
    return SyncVectorEnv([Echo] * 3)


def make_async(**kwargs):
    return AsyncVectorEnv([Echo] * 3, **kwargs)


@pytest.fixture(
    params=["sync", "async shared", "async pipes", "async shared view"],
)
def envs(request):
    envs = {
        "sync": make_sync,
        "async shared": lambda: make_async(shared_memory=True),
        "async pipes": lambda: make_async(shared_memory=False),
        "async shared view": lambda: make_async(shared_memory=True, copy=False),
    }[request.param]()
    yield envs
    envs.close()


@pytest.mark.parametrize("text", TROUBLE)
def test_any_text_is_contained(text):
    assert text in UnicodeText(LIMIT)


@pytest.mark.parametrize("thing", [None, b"bytes", 3, ["a"], "a" * (LIMIT + 1)])
def test_other_things_are_not(thing):
    assert thing not in UnicodeText(LIMIT)


def test_samples_are_contained_varied_and_seeded():
    space = UnicodeText(8, seed=3)
    samples = [space.sample() for _ in range(300)]
    assert all(sample in space for sample in samples)
    assert {len(sample) for sample in samples} == set(range(9))
    assert any(not sample.isascii() for sample in samples)
    again = UnicodeText(8, seed=3)
    assert [again.sample() for _ in range(300)] == samples


def test_samples_take_no_mask():
    with pytest.raises(ConfigError, match="neither"):
        UnicodeText().sample(mask=(3, None))


@pytest.mark.parametrize("bad", [0, -1, 2.0, "9", None])
def test_a_bad_length_is_refused(bad):
    with pytest.raises(ConfigError, match="max_length"):
        UnicodeText(bad)


def test_equality_hash_and_repr():
    assert UnicodeText() == UnicodeText(65_536)
    assert UnicodeText(5) != UnicodeText(6)
    assert UnicodeText(5) != gym.spaces.Text(5)
    assert len({UnicodeText(5), UnicodeText(5), UnicodeText(6)}) == 2
    assert repr(UnicodeText(5)) == "UnicodeText(5)"


def test_it_is_not_flattenable():
    assert UnicodeText().is_np_flattenable is False


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_copies_are_equal_and_go_on_sampling_alike(clone):
    space = UnicodeText(40, seed=1)
    space.sample()
    twin = clone(space)
    assert twin == space
    assert [twin.sample() for _ in range(5)] == [space.sample() for _ in range(5)]


def test_samples_survive_json():
    space = UnicodeText(LIMIT)
    assert space.from_jsonable(json.loads(json.dumps(space.to_jsonable(TROUBLE)))) == TROUBLE


@given(st.lists(st.text(st.characters(), max_size=20), min_size=1, max_size=4))
def test_a_shared_buffer_holds_any_texts(texts):
    space = UnicodeText(20)
    memory = create_shared_memory(space, n=len(texts), ctx=multiprocessing)
    view = read_from_shared_memory(space, memory, n=len(texts))
    assert view == ("",) * len(texts)
    for index, text in enumerate(texts):
        write_to_shared_memory(space, index, text, memory)
    assert view == tuple(texts)
    assert view[-1] == texts[-1]
    assert view[:1] == (texts[0],)
    assert view != (*texts, "")
    for clone in (copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))):
        assert data_equivalence(clone(view), tuple(texts))


def test_a_copy_of_a_shared_buffer_does_not_change():
    space = UnicodeText(9)
    memory = create_shared_memory(space, n=2)
    view = read_from_shared_memory(space, memory, n=2)
    write_to_shared_memory(space, 0, "before", memory)
    copied = copy.deepcopy(view)
    write_to_shared_memory(space, 0, "now", memory)
    assert (copied, view) == (("before", ""), ("now", ""))


@pytest.mark.parametrize("bad", ["x" * 10, None])
def test_a_text_too_long_for_the_buffer_is_refused(bad):
    space = UnicodeText(9)
    memory = create_shared_memory(space, n=2)
    with pytest.raises(ValueError, match=r"not in UnicodeText\(9\)"):
        write_to_shared_memory(space, 0, bad, memory)
    assert read_from_shared_memory(space, memory, n=2) == ("", "")


def test_gymnasium_batches_the_space_as_a_tuple():
    space = UnicodeText(30)
    batched = batch_space(space, 3)
    assert isinstance(batched, gym.spaces.Tuple)
    assert batched.sample() in batched
    assert batch_differing_spaces([UnicodeText(3), UnicodeText(4)]).spaces == (
        UnicodeText(3),
        UnicodeText(4),
    )


def test_vector_environments_carry_any_text(envs):
    observations, _ = envs.reset(seed=5)
    assert observations == ("start",) * 3
    for turn in range(len(TROUBLE)):
        actions = tuple(TROUBLE[(turn + i) % len(TROUBLE)] for i in range(3))
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        assert observations == actions
        assert observations in envs.observation_space
        assert tuple(infos["said"]) == actions
        assert rewards.tolist() == [0.0] * 3
        assert not (terminations | truncations).any()


def test_vector_environments_step_with_sampled_actions(envs):
    envs.action_space.seed(4)
    envs.reset(seed=4)
    actions = envs.action_space.sample()
    assert envs.step(actions)[0] == actions


def test_sync_and_async_agree():
    results = []
    for make in (make_sync, make_async):
        envs = make()
        results.append([envs.reset(seed=1)[0], *(envs.step((t,) * 3)[0] for t in TROUBLE)])
        envs.close()
    assert data_equivalence(*results)


def test_environments_of_other_limits_are_told_apart():
    with pytest.raises(RuntimeError, match="observation"):
        SyncVectorEnv([lambda: Echo(5), lambda: Echo(6)], observation_mode="different")


def test_the_zero_of_the_space_is_the_empty_text():
    space = UnicodeText(5)
    assert create_zero_array(space) == ""
    both = gym.spaces.Dict(text=space, flag=gym.spaces.Discrete(2))
    assert create_zero_array(both) == {"text": "", "flag": 0}


def test_a_batch_is_made_joined_and_taken_apart():
    space = UnicodeText(5)
    batch = batch_space(space, 2)
    assert create_empty_array(space, 2) == ("", "")
    joined = concatenate(space, ["a", "b"], create_empty_array(space, 2))
    assert joined == ("a", "b")
    assert joined in batch
    assert list(iterate(batch, joined)) == ["a", "b"]


def test_a_text_flattens_to_itself():
    space = UnicodeText(5)
    assert flatten_space(space) == space
    assert unflatten(space, flatten(space, "é\ud800")) == "é\ud800"
    with pytest.raises(ValueError, match="texts differ in length"):
        flatdim(space)


def test_what_stands_beside_a_text_is_flattened():
    space = gym.spaces.Dict(grid=gym.spaces.Box(0, 1, (2, 2)), text=UnicodeText(5), seed=2)
    point = space.sample()
    flat = flatten(space, point)
    assert flat in flatten_space(space)
    assert flat["text"] == point["text"]
    assert flat["grid"].shape == (4,)
    assert data_equivalence(unflatten(space, flat), point)


def test_gymnasium_checks_an_environment_of_texts():
    check_env(gym.make("rlvr/Gcd-v0", difficulty=0).unwrapped, skip_render_check=True)
