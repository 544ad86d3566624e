"""What must hold of every registered task; each check is one function of an id.

A check raises `ConformanceError` with what it saw and what to do, or `NotApplicable` with the
reason why the task has nothing to check.
"""

import copy
import dataclasses
import itertools
import json
import pickle
import random
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import gymnasium.utils.env_checker
import numpy as np

from rlvr_envs.conformance.digests import digest, digests_in_child
from rlvr_envs.conformance.side_effects import record_side_effects
from rlvr_envs.conformance.trouble import TROUBLE
from rlvr_envs.core import registry
from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import RlvrEnvsError, UsageError
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.problem import canonical, from_json, public_view, to_json
from rlvr_envs.core.task import IndexedTask
from rlvr_envs.core.verdict import Verdict

DIFFICULTIES = tuple(range(11))
SECTIONS = (
    "Description",
    "Observation",
    "Action",
    "Reward",
    "Episode End",
    "Verification",
    "Difficulty",
    "References",
    "Version History",
)


_FORMULA = re.compile(r"\$\$([^$]+)\$\$|\$([^$]+)\$")


class ConformanceError(RlvrEnvsError):
    """A task breaks a promise; the message says which and what was seen."""


class NotApplicable(RlvrEnvsError):
    """The task has nothing that this check could look at; the message says why."""


Check = Callable[[str], None]


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ConformanceError(message)


def _env(task_id: str, difficulty: object = None) -> TextEnv:
    spec = registry.find(task_id)
    return TextEnv(task_id, difficulty=difficulty, **dict(spec.example))


def _generated(task_id: str) -> None:
    if issubclass(registry.find(task_id).task_type, IndexedTask):
        raise NotApplicable("its problems are the rows of a file")


def _instances(task_id: str, count: int, *, rungs: tuple[int, ...]) -> Iterator[Instance]:
    """Yield ``count`` instances at each rung, or at the defaults where there is no ladder."""
    indexed = issubclass(registry.find(task_id).task_type, IndexedTask)
    for rung in (None,) if indexed else rungs:
        env = _env(task_id, rung)
        for seed in range(count):
            env.reset(seed=seed)
            yield env.instance


def _count(task_id: str, count: int) -> int:
    """Return how many instances to look at: a third where each starts programs of its own."""
    return -(-count // 3) if registry.find(task_id).task_type.judged_in_sandbox else count


def gymnasium_checker(task_id: str) -> None:
    """Gymnasium's own `check_env` passes without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(task_id, render_mode="ansi", **dict(registry.find(task_id).example))
        gymnasium.utils.env_checker.check_env(env.unwrapped)


def oracle_earns_full_marks(task_id: str) -> None:
    """The oracle's answer is correct at every difficulty from 0 to 10."""
    for instance in _instances(task_id, _count(task_id, 6), rungs=DIFFICULTIES):
        solution = instance.solution()
        verdict = instance.judge(solution)
        _require(
            verdict.score == 1.0,
            f"difficulty {instance.difficulty}, problem_seed {instance.problem_seed}: the oracle's "
            f"{solution!r:.300} got {verdict}",
        )


def padded_oracle_earns_full_marks(task_id: str) -> None:
    """Reasoning before the answer, and white space around it, change nothing."""
    for instance in _instances(task_id, 4, rungs=(0, 4)):
        if instance.interactive or instance.format_label == "raw":
            raise NotApplicable("the whole response is the answer")
        form = answer_format(instance.format_label)
        reference = str(instance.reference())
        padded = f"<think>Perhaps {form.wrap('7')}?</think>\nSo it is\n\n{form.wrap(reference)}\n"
        verdict = instance.judge(padded)
        _require(verdict.score == 1.0, f"{padded!r:.300} got {verdict}")


def trouble_earns_nothing(task_id: str) -> None:
    """Answers that have broken graders never raise, never hang and never score."""
    for instance in _instances(task_id, _count(task_id, 2), rungs=(0, 5)):
        form = answer_format(instance.format_label)
        for name, text in TROUBLE.items():
            for response in (text, form.wrap(text)):
                verdict = instance.judge(response)
                _require(
                    isinstance(verdict, Verdict) and verdict.score == 0.0 and verdict.scored,
                    f"the answer {name!r} got {verdict}",
                )


def buried_oracle_earns_nothing(task_id: str) -> None:
    """The right text inside a longer answer, or without its format, earns nothing."""
    for instance in _instances(task_id, 4, rungs=(0, 3)):
        if instance.interactive:
            raise NotApplicable("an episode is judged by its actions")
        form = answer_format(instance.format_label)
        reference = str(instance.reference())
        sprayed = f"no idea, {reference}, 0, 1, 2"
        attempts = {
            "a guess list": form.wrap(sprayed),
            "a changed mind": f"{form.wrap(reference)} but then {form.wrap(sprayed)}",
            "an answer in the thoughts": f"<think>{form.wrap(reference)}</think> I give up.",
            "an alternative": form.wrap(f"{reference} or {reference}0 or 7"),
        }
        if instance.format_label != "raw":
            attempts["an answer without its format"] = reference
        for name, response in attempts.items():
            verdict = instance.judge(response)
            _require(verdict.score == 0.0, f"{name} {response!r:.200} got {verdict}")


def prompt_shows_nothing_hidden(task_id: str) -> None:
    """The prompt depends on public fields alone: another problem's secrets leave it unchanged."""
    seen = list(_instances(task_id, 6, rungs=(0, 4)))
    secret = [
        field.name
        for field in dataclasses.fields(seen[0].problem)
        if field.name not in public_view(seen[0].problem)
    ]
    _require(bool(secret), "no field is hidden: declare the answer or witness with hidden()")
    for one, other in itertools.pairwise(seen):
        swapped = {name: getattr(other.problem, name) for name in secret}
        changed = dataclasses.replace(one.problem, **swapped)
        _require(
            one.task.prompt(changed) == one.task.prompt(one.problem),
            f"the prompt of problem_seed {one.problem_seed} changes with {secret}",
        )


def neighbouring_seeds_share_nothing(task_id: str) -> None:
    """Many seeds give different problems, and the second problem of a seed is new too."""
    _generated(task_id)
    env = _env(task_id)
    count = _count(task_id, 100)
    first, second = [], []
    for seed in range(count):
        env.reset(seed=seed)
        first.append(env.instance.fingerprint())
        env.reset()
        second.append(env.instance.fingerprint())
    different = len(set(first))
    _require(different > 0.75 * count, f"{count} seeds gave only {different} different problems")
    shared = len(set(first) & set(second))
    _require(shared < count / 8, f"first and second problems of {count} seeds share {shared}")


def same_problem_in_a_fresh_process(task_id: str) -> None:
    """Another process under another hash seed makes the same problems and verdicts."""
    for hash_seed in ("0", "4242"):
        there = digests_in_child([task_id], hash_seed)[task_id]
        _require(there == digest(task_id), f"PYTHONHASHSEED={hash_seed} makes other problems")


def global_randomness_is_untouched(task_id: str) -> None:
    """Neither the generators of `random` nor of `numpy.random` advance."""
    before = random.getstate(), canonical(np.random.get_state()[1].tolist())  # type: ignore[index]  # noqa: NPY002
    for instance in _instances(task_id, 2, rungs=(0, 4)):
        instance.judge(instance.solution())
    after = random.getstate(), canonical(np.random.get_state()[1].tolist())  # type: ignore[index]  # noqa: NPY002
    _require(before == after, "a global random generator was used: draw from the rng passed in")


def data_survives_json_and_pickle(task_id: str) -> None:
    """Configuration, problem, row, task and verdict come back equal from JSON and pickle."""
    for instance in _instances(task_id, 2, rungs=(0, 4)):
        task, problem = instance.task, instance.problem
        for value in (task.config, problem):
            through = from_json(type(value), json.loads(json.dumps(to_json(value))))
            _require(through == value, f"JSON turns {value!r:.200} into {through!r:.200}")
            _require(pickle.loads(pickle.dumps(value)) == value, f"pickle changes {value!r:.200}")  # noqa: S301
        row = instance.to_row()
        again = Instance.from_row(json.loads(json.dumps(row)))
        _require(again.to_row() == row, "a row read from JSON is not the row written")
        verdict = again.judge(again.solution())
        _require(Verdict.from_json(json.loads(json.dumps(verdict.to_json()))) == verdict, "verdict")
        for clone in (pickle.loads(pickle.dumps(task)), copy.deepcopy(task)):  # noqa: S301
            _require(clone.prompt(problem) == task.prompt(problem), "a copied task words otherwise")


def every_door_gives_the_same(task_id: str) -> None:
    """`gym.make`, `make_vec`, a row and a problem seed pose and judge the same problem."""
    knobs = dict(registry.find(task_id).example)
    env = gymnasium.make(task_id, **knobs)
    prompt, info = env.reset(seed=11)
    row = _base(env).instance.to_row()
    again, _ = env.reset(options={"problem": row})
    _require(again == prompt == row["prompt"], "a replayed row has another prompt")
    if info["problem_seed"] is not None:
        again, _ = env.reset(options={"problem_seed": info["problem_seed"]})
        _require(again == prompt, "the problem seed does not bring the problem back")
    vector = gymnasium.make_vec(task_id, num_envs=2, group_size=2, **knobs)
    observations, _ = vector.reset(seed=11)
    _require(tuple(observations) == (prompt, prompt), "make_vec poses another problem")
    instance = Instance.from_row(row)
    if not instance.interactive:
        solution = instance.solution()
        rewards = [env.step(solution)[1], *vector.step((solution, "?"))[1].tolist()]
        _require(rewards == [1.0, 1.0, 0.0], f"the doors' rewards differ: {rewards}")
    vector.close()


def _base(env: gymnasium.Env[Any, Any]) -> TextEnv:
    base = env.unwrapped
    if not isinstance(base, TextEnv):
        raise ConformanceError(f"{base!r} is no TextEnv")
    return base


def calls_out_of_order_are_errors(task_id: str) -> None:
    """A step before the reset or after the end raises `UsageError`."""
    env = _env(task_id)
    _raises_usage_error(env, "before reset()")
    env.reset(seed=0)
    actions = env.instance.solution()
    for action in [actions] if isinstance(actions, str) else actions:
        env.step(action)
    _raises_usage_error(env, "after the end")
    env.reset(seed=0)
    _raises_usage_error(env, "with a number", action=3)


def _raises_usage_error(env: TextEnv, when: str, action: Any = "x") -> None:
    try:
        env.step(action)
    except UsageError:
        return
    raise ConformanceError(f"step() {when} did not raise UsageError")


def ladder_grows(task_id: str) -> None:
    """Problems grow along the ladder, which has no end."""
    _generated(task_id)
    config_type = registry.find(task_id).task_type.Config
    configs = [config_type.at(d) for d in (*DIFFICULTIES, 15, 30)]
    _require(len(set(configs[::2])) == len(configs[::2]), "two rungs two steps apart are the same")
    sizes = [_description_length(task_id, rung) for rung in (0, 5, 10)]
    _require(
        sizes[0] < sizes[1] < sizes[2],
        f"problems at difficulties 0, 5 and 10 take {sizes} characters: they must grow",
    )
    _require("at" in vars(config_type) and bool(config_type.at.__doc__), "at() says what grows")


def _description_length(task_id: str, rung: int) -> float:
    count = _count(task_id, 16)
    texts = [canonical(to_json(i.problem)) for i in _instances(task_id, count, rungs=(rung,))]
    return round(sum(map(len, texts)) / len(texts), 1)


def guessing_does_not_pay(task_id: str) -> None:
    """The best constant answer, chosen on some problems, earns little on others."""
    count = _count(task_id, 120)
    instances = [i for i in _instances(task_id, count, rungs=(3,)) if not i.interactive]
    if not instances or issubclass(registry.find(task_id).task_type, IndexedTask):
        raise NotApplicable("it is interactive, or its problems are the rows of a file")
    chosen, judged = instances[: count // 2], instances[count // 2 :]
    constant = Counter(str(i.reference()) for i in chosen).most_common(1)[0][0]
    wrapped = answer_format(instances[0].format_label).wrap(constant)
    mean = sum(i.judge(wrapped).score for i in judged) / len(judged)
    bound = registry.find(task_id).task_type.guess_bound
    _require(
        mean <= bound,
        f"always answering {constant!r} earns {mean:.2f}, more than {bound} on average",
    )


def echoing_does_not_pay(task_id: str) -> None:
    """Pieces of the prompt, handed back as the answer, earn no more than guessing."""
    _generated(task_id)
    earned: dict[str, list[float]] = {}
    for instance in _instances(task_id, 30, rungs=(0, 3)):
        if instance.interactive:
            raise NotApplicable("an episode is judged by its actions")
        form = answer_format(instance.format_label)
        text = instance.task.prompt(instance.problem)
        formulas = [a or b for a, b in _FORMULA.findall(text)] or [text]
        echoes = {
            "whole prompt": text,
            "first formula": formulas[0],
            "last formula": formulas[-1],
            "longest formula": max(formulas, key=len),
            "right-hand side": formulas[-1].split("=")[-1],
        }
        for name, echo in echoes.items():
            earned.setdefault(name, []).append(instance.judge(form.wrap(echo)).score)
    bound = registry.find(task_id).task_type.guess_bound
    for name, scores in earned.items():
        mean = sum(scores) / len(scores)
        _require(mean <= bound, f"answering with the {name} earns {mean:.2f} on average")


def nothing_is_written(task_id: str) -> None:
    """Generating and judging open no file for writing and no connection."""
    events: list[str] = []
    with record_side_effects(events):
        for instance in _instances(task_id, 2, rungs=(0,)):
            instance.judge(instance.solution())
            instance.judge("[open('leak', 'w')]")
    _require(not events, f"side effects: {events}")


def documentation_is_complete(task_id: str) -> None:
    """The docstring of the task has every headed section, and each says something."""
    doc = registry.find(task_id).task_type.__doc__ or ""
    for section in SECTIONS:
        found = re.search(rf"^\s*{section}:\n\s+\S", doc, re.MULTILINE)
        _require(found is not None, f"the docstring lacks the section {section!r}")


CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        gymnasium_checker,
        oracle_earns_full_marks,
        padded_oracle_earns_full_marks,
        trouble_earns_nothing,
        buried_oracle_earns_nothing,
        prompt_shows_nothing_hidden,
        neighbouring_seeds_share_nothing,
        same_problem_in_a_fresh_process,
        global_randomness_is_untouched,
        data_survives_json_and_pickle,
        every_door_gives_the_same,
        calls_out_of_order_are_errors,
        ladder_grows,
        guessing_does_not_pay,
        echoing_does_not_pay,
        nothing_is_written,
        documentation_is_complete,
    )
}
