"""Problems in many prompts: the text of the problem and of the instruction stay."""

import pickle
import re

import gymnasium as gym
import pytest

from rlvr_envs.core import registry
from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.verdict import Status
from rlvr_envs.wrappers import PromptAugmentation
from rlvr_envs.wrappers.augmentation import PLAIN, TEMPLATES, WORKED, filled

TASKS = [
    "rlvr/Gcd-v0",
    "rlvr/SubsetSum-v0",
    "rlvr/Countdown-v0",
    "rlvr/Knapsack-v0",
    "rlvr/FunctionSynthesis-v0",
    "rlvr/OutputPrediction-v0",
    "rlvr/RegexSynthesis-v0",
    "rlvr/KnightsAndKnaves-v0",
    "rlvr/Sudoku-v0",
    "rlvr/SqlQuery-v0",
]


def texts(instance):
    return instance.task.prompt(instance.problem), answer_format(
        instance.format_label
    ).instruction()


def test_there_are_many_and_all_are_different():
    assert len(TEMPLATES) >= 24
    assert len(set(TEMPLATES)) == len(TEMPLATES)
    first = sum(t.index("{question}") < t.index("{instruction}") for t in TEMPLATES)
    assert 6 <= first <= len(TEMPLATES) - 6


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_has_both_texts_and_no_answer_format_of_its_own(template):
    assert template.count("{question}") == template.count("{instruction}") == 1
    around = filled(template, question="", instruction="")
    assert not re.search(r"boxed|<|`|json|tag|alone|only the", around.casefold())
    assert "{" not in around


@pytest.mark.parametrize("template", PLAIN)
def test_plain_ones_ask_for_nothing_but_the_answer(template):
    around = filled(template, question="", instruction="").casefold()
    assert not re.search(r"step|reason|think|explain|show|work", around)


@pytest.mark.parametrize("task_id", TASKS)
def test_the_oracle_of_many_tasks(task_id):
    if task_id not in registry.task_ids():
        pytest.skip(f"there is no {task_id}")
    env = PromptAugmentation(gym.make(task_id, **registry.find(task_id).example))
    for seed in range(2):
        prompt, info = env.reset(seed=seed)
        instance = env.unwrapped.instance
        question, instruction = texts(instance)
        template = TEMPLATES[info["template"]]
        assert prompt == template.replace("{instruction}", instruction).replace(
            "{question}", question
        )
        _, reward, _, _, info = env.step(instance.solution())
        assert (reward, info["verdict"].status) == (1.0, Status.CORRECT)


def test_all_are_drawn_and_the_problem_decides():
    env = PromptAugmentation(gym.make("rlvr/Gcd-v0"))
    drawn = {}
    env.reset(seed=0)
    for problem in range(400):
        drawn[problem] = env.reset(options={"problem_seed": problem})[1]["template"]
    assert set(drawn.values()) == set(range(len(TEMPLATES)))
    again = PromptAugmentation(gym.make("rlvr/Gcd-v0"))
    for problem in (9, 3, 5):
        assert again.reset(options={"problem_seed": problem})[1]["template"] == drawn[problem]
    other = PromptAugmentation(gym.make("rlvr/Gcd-v0"), seed=1)
    assert any(
        other.reset(options={"problem_seed": n})[1]["template"] != drawn[n] for n in range(9)
    )


def test_a_reply_that_is_the_answer_alone_is_not_to_be_explained():
    env = PromptAugmentation(gym.make("rlvr/Gcd-v0", answer_format="raw"))
    drawn = {env.reset(options={"problem_seed": n})[1]["template"] for n in range(200)}
    assert drawn == set(range(len(PLAIN)))
    assert len(TEMPLATES) == len(PLAIN) + len(WORKED)


def test_interactive_tasks_keep_their_prompt(scripted):
    bare = gym.make(scripted)
    prompt, info = PromptAugmentation(gym.make(scripted)).reset(seed=4)
    assert (prompt, info["template"]) == (bare.reset(seed=4)[0], 0)


class Framed(gym.Wrapper):
    def reset(self, **options):
        prompt, info = super().reset(**options)
        return f"<<{prompt}>>", info


def test_what_was_added_inside_stays_around():
    env = PromptAugmentation(Framed(gym.make("rlvr/Gcd-v0")), ["{instruction}|{question}"])
    prompt, info = env.reset(seed=0)
    question, instruction = texts(env.unwrapped.instance)
    assert prompt == f"<<{instruction}|{question}>>"
    assert info["template"] == 1


def test_braces_in_a_problem_mean_nothing():
    assert filled("{instruction}: {question}", question="{instruction}{}", instruction="{0}") == (
        "{0}: {instruction}{}"
    )


@pytest.mark.parametrize("templates", [[], ["{question}"], ["{question}{question}{instruction}"]])
def test_templates_that_cannot_be(templates):
    with pytest.raises(ConfigError):
        PromptAugmentation(gym.make("rlvr/Gcd-v0"), templates)


def test_a_spec_and_a_pickle_make_the_same():
    env = PromptAugmentation(gym.make("rlvr/Gcd-v0"), seed=5)
    options = {"problem_seed": 8}
    for copy in (gym.make(env.spec), pickle.loads(pickle.dumps(env))):
        assert copy.reset(options=options)[0] == env.reset(options=options)[0]


def test_a_problem_that_comes_again_may_be_posed_otherwise():
    """Over epochs: by the seed of the reset, so that the episodes of a group share one prompt."""
    env = PromptAugmentation(gym.make("rlvr/Gcd-v0"), by="reset")
    again = PromptAugmentation(gym.make("rlvr/Gcd-v0"), by="reset")
    numbers = []
    for seed in range(30):
        prompt, info = env.reset(seed=seed, options={"problem_seed": 7})
        assert again.reset(seed=seed, options={"problem_seed": 7})[0] == prompt
        numbers.append(info["template"])
    assert len(set(numbers)) > 10
    unseeded = {env.reset(options={"problem_seed": 7})[1]["template"] for _ in range(30)}
    assert len(unseeded) > 10
    with pytest.raises(ConfigError, match="'problem' or 'reset'"):
        PromptAugmentation(gym.make("rlvr/Gcd-v0"), by="epoch")
