"""What must hold of every registered task; each check is one function of a `Subject`.

A check raises `ConformanceError` with what it saw and what to do, or `NotApplicable` with the
reason why the task has nothing to check.
"""

import copy
import json
import pickle
import random
import warnings
from typing import Any

import gymnasium
import gymnasium.utils.env_checker
import numpy as np

from rlvr_envs.conformance.cheats import (
    buried_oracle_earns_nothing,
    details_keep_the_answer,
    prompt_shows_nothing_hidden,
    shortcuts_do_not_pay,
    trouble_earns_nothing,
)
from rlvr_envs.conformance.digests import digest, digests_in_child
from rlvr_envs.conformance.extraction import answers_are_found, last_answer_counts
from rlvr_envs.conformance.levels import (
    baseline_gains_nothing,
    baseline_is_fair,
    effort_grows,
    level_zero_is_wide,
    levels_differ,
)
from rlvr_envs.conformance.side_effects import record_side_effects
from rlvr_envs.conformance.spellings import spellings_are_read
from rlvr_envs.conformance.subject import (
    Check,
    ConformanceError,
    Drawn,
    NotApplicable,
    Subject,
    require,
)
from rlvr_envs.core.documentation import SECTIONS, sections
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import UsageError
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.problem import canonical, from_json, to_json
from rlvr_envs.core.verdict import Verdict

DIFFICULTIES = tuple(range(11))
MAX_EXPLANATION = 5_000  # characters of a worked solution, up to difficulty 3


def gymnasium_checker(subject: Subject) -> None:
    """Gymnasium's own `check_env` passes without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(subject.id, render_mode="ansi", **dict(subject.spec.example))
        gymnasium.utils.env_checker.check_env(env.unwrapped)


def oracle_earns_full_marks(subject: Subject) -> None:
    """The oracle's answer is correct at the difficulties from 0 to 10."""
    few = subject.task_type.judged_in_sandbox and not subject.thorough
    levels = (0, 3, 5, 8, 10) if few else DIFFICULTIES
    for drawn in subject.draw(subject.count(12), levels=levels):
        require(
            drawn.verdict.score == 1.0,
            f"difficulty {drawn.instance.difficulty}, problem_seed {drawn.instance.problem_seed}: "
            f"the oracle's {drawn.solution!r:.300} got {drawn.verdict}",
        )


def explanation_holds(subject: Subject) -> None:
    """A worked solution is lines made from the problem alone; with the answer it is correct."""
    few = subject.task_type.judged_in_sandbox and not subject.thorough
    levels = (0, 3, 5, 8, 10) if few else DIFFICULTIES
    explained = [_explained(drawn) for drawn in subject.draw(subject.count(12), levels=levels)]
    if not any(explained):
        raise NotApplicable("its problems have no worked solutions")


def _explained(drawn: Drawn) -> bool:
    """Check the worked solution of a problem, and return whether there is one."""
    task, problem = drawn.instance.task, drawn.instance.problem
    steps = task.explain(problem)
    if not steps:
        return False
    level = drawn.instance.difficulty or 0
    where = f"difficulty {level}, problem_seed {drawn.instance.problem_seed}:"
    good = isinstance(steps, list) and all(isinstance(s, str) and s.strip("\n") for s in steps)
    require(good and all(s == s.strip("\n") for s in steps), f"{where} no list of lines: {steps!r}")
    size = sum(map(len, steps))
    most = MAX_EXPLANATION
    require(level > 3 or size <= most, f"{where} the steps have {size} characters, not {most}")
    # Neither the drawing nor an earlier call may have left anything behind that the steps need.
    clone = pickle.loads(pickle.dumps(task))  # noqa: S301
    again = from_json(type(problem), json.loads(json.dumps(to_json(problem))))
    require(clone.explain(again) == steps, f"{where} the same problem has other steps")
    if isinstance(drawn.solution, str):
        text = "\n".join(steps)
        found = drawn.form.extract(text).answer
        require(found is None, f"{where} the steps alone are read as the answer {found!r:.80}")
        verdict = drawn.instance.judge(f"{text}\n{drawn.solution}")
        require(verdict.score == 1.0, f"{where} {text!r:.300} and the answer got {verdict}")
    return True


def padded_oracle_earns_full_marks(subject: Subject) -> None:
    """Reasoning before the answer, and white space around it, change nothing."""
    for drawn in subject.draw(subject.count(12), levels=(0, 3)):
        if drawn.instance.interactive or drawn.instance.format_label == "raw":
            raise NotApplicable("the whole response is the answer")
        wrap, reference = drawn.form.wrap, str(drawn.reference)
        padded = f"<think>Perhaps {wrap('7')}?</think>\nSo it is\n\n{wrap(reference)}\n"
        verdict = drawn.instance.judge(padded)
        require(verdict.score == 1.0, f"{padded!r:.300} got {verdict}")


def neighbouring_seeds_share_nothing(subject: Subject) -> None:
    """Many seeds give different problems; later problems of a seed are no other seed's first."""
    subject.needs_generator()
    count = subject.count(180)
    first = {drawn.instance.fingerprint() for drawn in subject.draw(count, levels=(3,))}
    require(len(first) > 0.75 * count, f"{count} seeds gave only {len(first)} different problems")
    env = subject.make_env(3)
    env.reset(seed=0)
    later = set()
    for _ in range(count):
        env.reset()
        later.add(env.instance.fingerprint())
    shared = len(first & later)
    # a small world shares a third by chance, and seeds that are added to an index share all
    require(
        shared < count / 2,
        f"{count} problems of seed 0 and the first ones of {count} seeds share {shared}",
    )


def same_problem_in_a_fresh_process(subject: Subject) -> None:
    """Another process under another hash seed makes the same problems and verdicts."""
    here = digest(subject.id)
    for hash_seed in ("0", "4242"):
        there = digests_in_child([subject.id], hash_seed)[subject.id]
        require(there == here, f"PYTHONHASHSEED={hash_seed} makes other problems")


def global_randomness_is_untouched(subject: Subject) -> None:
    """Neither the generators of `random` nor of `numpy.random` advance."""
    before = random.getstate(), canonical(np.random.get_state()[1].tolist())  # type: ignore[index]  # noqa: NPY002
    for level in (0,) if subject.indexed else (0, 3):
        env = subject.make_env(None if subject.indexed else level)
        env.reset(seed=0)
        env.instance.judge(env.instance.demonstration())
    after = random.getstate(), canonical(np.random.get_state()[1].tolist())  # type: ignore[index]  # noqa: NPY002
    require(before == after, "a global random generator was used: draw from the rng passed in")


def data_survives_json_and_pickle(subject: Subject) -> None:
    """Configuration, problem, row, task and verdict come back equal from JSON and pickle."""
    for drawn in subject.draw(subject.count(6), levels=(0, 3)):
        task, problem = drawn.instance.task, drawn.instance.problem
        for value in (task.config, problem):
            through = from_json(type(value), json.loads(json.dumps(to_json(value))))
            require(through == value, f"JSON turns {value!r:.200} into {through!r:.200}")
            require(pickle.loads(pickle.dumps(value)) == value, f"pickle changes {value!r:.200}")  # noqa: S301
        row = drawn.instance.to_row()
        again = Instance.from_row(json.loads(json.dumps(row)))
        require(again.to_row() == row, "a row read from JSON is not the row written")
        verdict = again.judge(drawn.solution)
        same = (verdict.score, verdict.status) == (drawn.verdict.score, drawn.verdict.status)
        require(same, f"a row's verdict is {verdict}, not {drawn.verdict}")
        require(Verdict.from_json(json.loads(json.dumps(verdict.to_json()))) == verdict, "verdict")
        for clone in (pickle.loads(pickle.dumps(task)), copy.deepcopy(task)):  # noqa: S301
            require(clone.prompt(problem) == task.prompt(problem), "a copied task words otherwise")


def every_entry_point_gives_the_same(subject: Subject) -> None:
    """`gym.make`, `make_vec`, a row and a problem seed pose and judge the same problem."""
    knobs = dict(subject.spec.example)
    env = gymnasium.make(subject.id, **knobs)
    prompt, info = env.reset(seed=11)
    row = _base(env).instance.to_row()
    again, _ = env.reset(options={"problem": row})
    require(again == prompt == row["prompt"], "a replayed row has another prompt")
    if info["problem_seed"] is not None:
        again, _ = env.reset(options={"problem_seed": info["problem_seed"]})
        require(again == prompt, "the problem seed does not bring the problem back")
    vector = gymnasium.make_vec(subject.id, num_envs=2, group_size=2, **knobs)
    observations, _ = vector.reset(seed=11)
    require(tuple(observations) == (prompt, prompt), "make_vec poses another problem")
    instance = Instance.from_row(row)
    if not instance.interactive:
        solution = instance.solution()
        rewards = [env.step(solution)[1], *vector.step((solution, "?"))[1].tolist()]
        require(rewards == [1.0, 1.0, 0.0], f"the entry points' rewards differ: {rewards}")
    vector.close()


def _base(env: gymnasium.Env[Any, Any]) -> TextEnv:
    base = env.unwrapped
    if not isinstance(base, TextEnv):
        raise ConformanceError(f"{base!r} is no TextEnv")
    return base


def calls_out_of_order_are_errors(subject: Subject) -> None:
    """A step before the reset or after the end raises `UsageError`."""
    env = subject.make_env()
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


def problems_grow_with_the_level(subject: Subject) -> None:
    """Problems grow with the difficulty level, which has no upper end."""
    subject.needs_generator()
    config_type = subject.task_type.Config
    configs = [config_type.at(d) for d in (*DIFFICULTIES, 15, 30)]
    require(len(set(configs[::2])) == len(configs[::2]), "levels two steps apart are the same")
    sizes = [_description_length(subject, level) for level in (0, 5, 10)]
    require(
        sizes[0] < sizes[1] < sizes[2],
        f"problems at difficulties 0, 5 and 10 take {sizes} characters: they must grow",
    )
    require("at" in vars(config_type) and bool(config_type.at.__doc__), "at() says what grows")


def _description_length(subject: Subject, level: int) -> float:
    drawn = subject.draw(subject.count(48), levels=(level,))
    sizes = [len(canonical(to_json(one.instance.problem))) for one in drawn]
    return round(sum(sizes) / len(sizes), 1)


def nothing_is_written(subject: Subject) -> None:
    """Generating and judging open no file for writing and no connection."""
    events: list[str] = []
    env = subject.make_env(None if subject.indexed else 0)
    with record_side_effects(events):
        for seed in range(subject.count(6)):
            env.reset(seed=seed)
            env.instance.judge(env.instance.demonstration())
            env.instance.judge("[open('leak', 'w')]")
    require(not events, f"side effects: {events}")


def documentation_is_complete(subject: Subject) -> None:
    """The docstring of the task, or of a base class, has every headed section."""
    found = sections(subject.task_type)
    for section in SECTIONS:
        require(section in found, f"the docstring lacks the section {section!r}")


CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        gymnasium_checker,
        oracle_earns_full_marks,
        explanation_holds,
        padded_oracle_earns_full_marks,
        answers_are_found,
        last_answer_counts,
        spellings_are_read,
        trouble_earns_nothing,
        buried_oracle_earns_nothing,
        prompt_shows_nothing_hidden,
        details_keep_the_answer,
        neighbouring_seeds_share_nothing,
        same_problem_in_a_fresh_process,
        global_randomness_is_untouched,
        data_survives_json_and_pickle,
        every_entry_point_gives_the_same,
        calls_out_of_order_are_errors,
        problems_grow_with_the_level,
        levels_differ,
        level_zero_is_wide,
        effort_grows,
        baseline_is_fair,
        baseline_gains_nothing,
        shortcuts_do_not_pay,
        nothing_is_written,
        documentation_is_complete,
    )
}
"""The checks by name; each is called with a `Subject` and raises where the task breaks it.

Examples:
    >>> from rlvr_envs.conformance import CHECKS, Subject
    >>> CHECKS["oracle_earns_full_marks"](Subject("rlvr/Gcd-v0"))
"""
