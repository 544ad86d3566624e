"""A task whose verdicts are what the action says, for wrappers that read verdicts."""

import json
from dataclasses import dataclass

import pytest

from rlvr_envs.core import registry
from rlvr_envs.core.gym_ids import register_ids
from rlvr_envs.core.registry import register
from rlvr_envs.core.task import InteractiveTask, Reply
from rlvr_envs.core.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedConfig:
    size: int = 1

    @classmethod
    def at(cls, difficulty):
        return cls(size=difficulty + 1)


@dataclass(frozen=True, slots=True)
class ScriptedProblem:
    number: int


class ScriptedSession:
    def reply(self, action):
        if action == "fault":
            return Reply("", Verdict.verifier_error("planted", em=1.0, f1=1.0, malformed=0.0))
        if not action.startswith("{"):
            return Reply("go on")
        parts = json.loads(action)
        return Reply("", Verdict.graded(parts.pop("score"), **parts))


class ScriptedTask(InteractiveTask[ScriptedConfig, ScriptedProblem]):
    """An action that is a JSON object is the verdict; any other goes on."""

    def generate(self, rng):
        return ScriptedProblem(int(rng.integers(10**9)))

    def prompt(self, problem):
        return f"problem {problem.number}"

    def begin(self, problem):
        return ScriptedSession()

    def play(self, problem):
        return ["hm", '{"score": 1.0}']


SCRIPTED = "rlvr/TestScripted-v0"


@pytest.fixture(autouse=True)
def scripted():
    """Register the scripted task for one test, and return its id."""
    register("TestScripted-v0", domain="search", answer_format="raw", weight=0.0, max_turns=6)(
        ScriptedTask
    )
    register_ids()
    yield SCRIPTED
    del registry._SPECS[SCRIPTED]


@pytest.fixture
def ending():
    """Make the action that ends a scripted episode: a right one unless told otherwise."""

    def action(score=1.0, **parts):
        told = {"em": float(score == 1.0), "f1": score, "malformed": 0.0, "calls": 3.0}
        told |= {"evidence_opened": 0.0, "declined": 0.0, "answered": 1.0, "result_chars": 100.0}
        return json.dumps(told | parts | {"score": score})

    return action
