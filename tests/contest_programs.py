"""What the tests of contest tasks share: wrong programs, and how a task must treat them."""

import itertools
from dataclasses import replace

from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.program_tasks.contest import (
    ContestConfig,
    ContestProblem,
    Drawn,
    Form,
    fault,
    fault_of,
)
from rlvr_envs.generators.program_tasks.program_task import (
    near_misses,
    output_text,
    run_solution,
    scale_at,
)
from rlvr_envs.generators.wrong_functions import edited_function

JUNK = (
    "",
    "print(",
    "3",
    "print(0)",
    "print(-1)",
    "print(input())",
    "raise SystemExit",
    "import os; os._exit(0)",
    "while True: pass",
    "print('nan')",
    "print('٣')",
    "print(10**5000)",
)


def make(task_type, difficulty, seed=0):
    """Return a task and a problem."""
    task = task_type(ContestConfig.at(difficulty))
    return task, task.generate(stream("contest test", difficulty, seed))


def trials(task, constants, count=40, level=5):
    """Return inputs that are not among the tests, with the reference's results."""
    contest = task.contest
    drawn = [
        contest.inputs(stream("trial", n), scale_at(contest, n % (level + 1)), constants)
        for n in range(count)
    ]
    return [(each, run_solution(contest.solutions[0], each, constants)) for each in drawn]


def differs(task, constants, function, given=None, least=1):
    """Whether a function is wrong on as many of the 40 trials."""
    given = constants if given is None else given
    wrong = (
        bool(fault_of(task.contest, function, inputs, constants, result, given))
        for inputs, result in trials(task, constants)
    )
    return any(found >= least for found in itertools.accumulate(wrong))


def verdict_on_large(task_type, constants, level, function, seed=0):
    """Return the verdict on a function of ours, as a program, for one input of a level of scale."""
    task = task_type(ContestConfig(level=level))
    contest = task.contest
    places = tuple(tuple(range(len(contest.columns.get(name, ())))) for name in contest.reads)
    drawn = (Drawn(seed, level),)
    problem = ContestProblem(
        constants=tuple(constants.items()),
        story=min(contest.stories),
        form=Form(tuple(contest.reads), places),
        shown=(),
        tests=drawn,
        timed=drawn,
    )
    return task.verify(problem, task.program_of(problem, function))


def check_edit(task_type, edit, difficulties=(7, 3, 10), least=1):
    """See that an edited oracle earns 0 on problems for which it is wrong, and that there are some."""
    old, new = edit[:2]
    function = edited_function(task_type.contest.solutions[0], old, new)
    judged = 0
    for difficulty in difficulties:
        for seed in range(12):
            task, problem = make(task_type, difficulty, seed)
            if not differs(task, dict(problem.constants), function, least=least):
                continue
            wrong = task.solve(problem).replace(old, new)
            assert task.verify(problem, wrong).score == 0.0, (difficulty, seed)
            judged += 1
            if judged == 2:
                return
    assert judged, f"no problem tells {edit}"


def check_mistake(task_type, mistake, difficulties=(7, 3, 10)):
    """See that a mistaken solution earns 0 on problems for which it is wrong."""
    judged = 0
    for difficulty in difficulties:
        for seed in range(12):
            task, problem = make(task_type, difficulty, seed)
            if not differs(task, dict(problem.constants), mistake):
                continue
            assert task.verify(problem, task.program_of(problem, mistake)).score == 0.0
            judged += 1
            if judged == 2:
                return
    assert judged, f"no problem tells {mistake.__name__}"


def survivors(task_type, difficulties=(2, 5, 9), highest=1000):
    """Return how many near misses are wrong, and those of them that pass the tests.

    Only tests of up to a level of scale are looked at: on long inputs, wrong functions with `while`
    loops are taken to hang, which says nothing.
    """
    wrong, passed = 0, []
    for difficulty in difficulties:
        task, problem = make(task_type, difficulty)
        problem = replace(problem, tests=tuple(t for t in problem.tests if t.level <= highest))
        constants = dict(problem.constants)
        known = trials(task, constants, 30)
        for number, (function, given) in enumerate(
            near_misses([task.contest.solutions[0]], constants)
        ):
            if any(
                fault_of(task.contest, function, inputs, constants, result, given)
                for inputs, result in known
            ):
                wrong += 1
                changed = {name: given[name] for name in given if given[name] != constants[name]}
                if task.passes(problem, function, **changed):
                    passed.append((difficulty, number, changed))
    return wrong, passed


def check_rules(task_type, most_at_ten):
    """See that rules come in level by level, and that leaving one out earns 0."""
    contest = task_type.contest
    counts = []
    left_out = 0
    for difficulty in (0, 3, 7, 10):
        task, problem = make(task_type, difficulty)
        constants = dict(problem.constants)
        on = [rule for rule in contest.rules if constants[rule]]
        counts.append(len(on))
        for rule in on:
            without = {**constants, rule: 0}
            if differs(task, constants, contest.solutions[0], without):
                assert not task.passes(problem, contest.solutions[0], **{rule: 0})
                left_out += 1
    assert counts == sorted(counts), counts
    assert counts[0] < counts[-1] <= most_at_ten
    assert left_out > 3


def check_solutions_agree(task_type, draws=60, level=6):
    """See that the solutions agree with each other, by the judge where there is one."""
    contest = task_type.contest
    outputs = set()
    for seed in range(draws):
        rng = stream("agree", seed)
        constants = contest.constants(rng, {**scale_at(contest, seed % 13), "rules": seed % 6})
        inputs = contest.inputs(rng, scale_at(contest, seed % (level + 1)), constants)
        first, *others = [run_solution(each, inputs, constants) for each in contest.solutions]
        for other in others:
            assert fault(contest, output_text(other), inputs, constants, first) == "", seed
        outputs.add(output_text(first))
    assert len(outputs) > draws // 3


def check_examples(task_type):
    """See that both examples print something that is not dull, and differ."""
    for difficulty in (0, 4, 9):
        for seed in range(5):
            _, problem = make(task_type, difficulty, seed)
            outputs = [example.stdout for example in problem.shown]
            assert len(set(outputs)) == 2
            assert not set(outputs) & set(task_type.contest.dull)


def check_prompt(task_type):
    """See that a prompt has the limits, the examples and no gap, and that stories differ."""
    prompts = []
    for seed in range(12):
        task, problem = make(task_type, 5, seed)
        prompt = task.prompt(problem)
        for text in ("2 s of CPU time", "standard input", *(e.stdin for e in problem.shown)):
            assert text in prompt
        assert "{" not in prompt
        assert "}" not in prompt
        prompts.append(prompt[:40])
    assert len(set(prompts)) > 1
