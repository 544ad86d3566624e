"""DigitRules: numbers spelled out one by one against its solutions, and wrong programs."""

import contest_programs as contests
import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.code.digit_rules import EDITS, RULES, DigitRulesTask
from rlvr_envs.generators.program_tasks.contest import ContestConfig
from rlvr_envs.generators.program_tasks.program_task import scale_at

CONTEST = DigitRulesTask.contest
FREE = dict.fromkeys((*RULES, "left", "banned_first", "banned_last", "asked"), 0)


def spelled_out(most, base):
    """Return the numbers up to a largest one with their digits, counting as an odometer does."""
    digits, found = [0], []
    for number in range(most + 1):
        found.append((number, "".join(map(chr, (65 + digit for digit in digits)))))
        place = len(digits) - 1
        while place >= 0 and digits[place] == base - 1:
            digits[place] = 0
            place -= 1
        if place < 0:
            digits.insert(0, 1)
        else:
            digits[place] += 1
    return found


def keeps(number, word, rules):
    """Judge a number by its digits, which are written as letters."""
    values = [ord(letter) - 65 for letter in word]
    if sum(values) % rules["modulus"] != rules["rest"]:
        return False
    if rules["divisor"] and number % rules["divisor"] != rules["left"]:
        return False
    steps = [abs(values[at] - values[at - 1]) for at in range(1, len(values))]
    if rules["jump"] and steps and min(steps) < rules["jump"]:
        return False
    if rules["kinds"] and len(set(word)) != rules["kinds"]:
        return False
    if rules["run"] and any(letter * (rules["run"] + 1) in word for letter in set(word)):
        return False
    if rules["banned"] and chr(65 + rules["banned_first"]) + chr(65 + rules["banned_last"]) in word:
        return False
    swing = 0
    for place, value in enumerate(values):
        swing += -value if place % 2 else value
        if rules["balance"] and not -rules["balance"] <= swing <= rules["balance"]:
            return False
    return True


def answered(top, queries, rules):
    """Answer queries from the list of all numbers that keep the rules."""
    fine = [
        number for number, word in spelled_out(top, rules["base"]) if keeps(number, word, rules)
    ]
    answers = []
    for low, high in queries:
        if rules["asked"] == 2:
            later = [number for number in fine if number >= low]
            answers.append(later[high - 1] if high <= len(later) else -1)
            continue
        within = [number for number in fine if low <= number <= high]
        answers.append(sum(within) % 10007 if rules["asked"] else len(within))
    return answers


def test_the_solutions_find_what_spelling_all_numbers_out_finds():
    outputs = set()
    for seed in range(60):
        rng = stream("spelled", seed)
        rules = CONTEST.constants(rng, {**scale_at(CONTEST, 4), "rules": seed % 5})
        inputs = CONTEST.inputs(rng, scale_at(CONTEST, seed % 3), rules)
        wanted = answered(inputs["top"], inputs["queries"], rules)
        assert [each(**inputs, **rules) for each in CONTEST.solutions] == [wanted] * 2, seed
        outputs.add(tuple(wanted))
    assert len(outputs) > 30


@pytest.mark.parametrize(
    ("rules", "query", "wanted"),
    [
        ({}, (0, 20), 11),  # 0 2 4 6 8 11 13 15 17 19 20
        ({}, (0, 90), 11),  # nothing is beyond the largest number
        ({"asked": 1}, (11, 17), 56),
        ({"asked": 2}, (3, 4), 11),
        ({"asked": 2}, (17, 4), -1),
        ({"divisor": 5, "left": 3}, (0, 20), 2),  # 8 and 13
        ({"run": 1}, (10, 20), 5),  # 11 has a run
        ({"kinds": 1}, (0, 20), 6),  # single digits and 11
        ({"jump": 3}, (10, 20), 3),  # 15 17 19
        ({"banned": 1, "banned_first": 1, "banned_last": 9}, (10, 20), 5),
        ({"balance": 5}, (10, 20), 4),  # 1 - 9 and 1 - 7 are too low for 19 and 17
    ],
)
def test_small_cases_by_hand(rules, query, wanted):
    given = {**FREE, "base": 10, "modulus": 2, "rest": 0, **rules}
    assert [each(top=20, queries=[query], **given) for each in CONTEST.solutions] == [[wanted]] * 2


def test_enough_numbers_keep_the_rules_of_every_problem():
    for seed in range(40):
        rules = CONTEST.constants(stream("enough", seed), {**scale_at(CONTEST, 20), "rules": 4})
        fine = [
            number for number, word in spelled_out(999, rules["base"]) if keeps(number, word, rules)
        ]
        assert len(fine) >= 5, seed


def test_the_solutions_agree():
    contests.check_solutions_agree(DigitRulesTask, level=4)


@pytest.mark.parametrize("edit", EDITS)
def test_mistakes_earn_nothing(edit):
    contests.check_edit(DigitRulesTask, edit)


def test_near_misses_fail():
    wrong, passed = contests.survivors(DigitRulesTask)
    assert wrong > 150
    assert len(passed) <= wrong // 50, passed


def test_rules_come_in_and_matter():
    contests.check_rules(DigitRulesTask, most_at_ten=4)


@pytest.mark.parametrize("source", contests.JUNK)
def test_junk_earns_nothing(source):
    task, problem = contests.make(DigitRulesTask, 2)
    assert task.verify(problem, source).score == 0.0


def test_examples_and_prompts_say_something():
    contests.check_examples(DigitRulesTask)
    contests.check_prompt(DigitRulesTask)


def test_looking_at_every_number_is_right_and_too_slow():
    task, problem = contests.make(DigitRulesTask, 0)
    assert task.verify(problem, task.program_of(problem, CONTEST.solutions[1])).score == 1.0
    task, problem = contests.make(DigitRulesTask, 8)
    verdict = task.verify(problem, task.program_of(problem, CONTEST.solutions[1]))
    assert verdict.score == 0.0
    assert "too long" in verdict.detail


def test_effort_and_baseline():
    task, problem = contests.make(DigitRulesTask, 0)
    harder, later = contests.make(DigitRulesTask, 9)
    assert 0 < task.effort(problem) < harder.effort(later)
    assert task.verify(problem, task.baseline(stream("b"), problem)).score == 0.0
    assert ContestConfig.at(9).level == 18
