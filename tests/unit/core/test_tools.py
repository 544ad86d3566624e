"""Tools: their schema, and the actions that calls of them mean."""

import pytest

import rlvr_envs
from rlvr_envs.core import registry
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.task import InteractiveTask
from rlvr_envs.core.tools import ACT, BadCall, Tool

OPEN = Tool(
    "open",
    "Opens a page.",
    {"page": "Its id.", "section": "A heading."},
    lambda arguments: "#".join(arguments.values()),
    optional=("section",),
)
INTERACTIVE = [
    task_id
    for task_id in registry.task_ids()
    if issubclass(registry.find(task_id).task_type, InteractiveTask)
]
# Their problems come from files and have no levels.
FROM_FILES = {"rlvr/SearchCorpus-v0", "rlvr/CorpusProposer-v0"}


def test_the_schema_says_which_arguments_there_must_be():
    assert OPEN.parameters == {
        "type": "object",
        "properties": {
            "page": {"type": "string", "description": "Its id."},
            "section": {"type": "string", "description": "A heading."},
        },
        "required": ["page"],
    }


@pytest.mark.parametrize(
    ("arguments", "action"),
    [
        ({"page": "a"}, "a"),
        ({"page": "a", "section": None}, "a"),
        ({"section": "b", "page": "a"}, "a#b"),
        ({"page": 7}, "7"),
        ({"page": 1.5}, "1.5"),
    ],
)
def test_arguments_reach_the_action_in_the_order_of_the_schema(arguments, action):
    assert OPEN.action(arguments) == action


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "open lacks the argument 'page'; it takes 'page', 'section'"),
        ({"page": None}, "open lacks the argument 'page'"),
        ({"page": "a", "pages": "b"}, "open has no argument 'pages'"),
        ({"page": ["a"]}, "the argument 'page' of open has to be a text"),
        ({"page": True}, "the argument 'page' of open has to be a text"),
    ],
)
def test_bad_arguments_are_said(arguments, told):
    with pytest.raises(BadCall) as bad:
        OPEN.action(arguments)
    assert told in str(bad.value)


@pytest.mark.parametrize("task_id", sorted(set(INTERACTIVE) - FROM_FILES))
def test_every_interactive_task_has_tools_with_names_that_endpoints_take(task_id):
    row = rlvr_envs.make_problem(task_id, seed=0, difficulty=0)
    instance = Instance.from_row(row)
    tools = instance.task.tools(instance.problem)
    names = [tool.name for tool in tools]
    assert len(set(names)) == len(names) > 0
    assert all(name.isidentifier() and len(name) <= 64 for name in names)
    for tool in tools:
        assert tool.description
        assert set(tool.optional) <= set(tool.arguments)


def test_a_task_without_tools_of_its_own_takes_any_action_by_one():
    assert ACT.action({"text": "\\boxed{7}"}) == "\\boxed{7}"
    assert ACT.action({"text": ""}) == ""
