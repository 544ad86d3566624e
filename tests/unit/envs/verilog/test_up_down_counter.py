"""UpDownCounter: both sources against each other and a model in Python, and wrong answers."""

from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.up_down_counter import (
    FEATURES,
    Counter,
    UpDownCounterConfig,
    UpDownCounterTask,
)
from rlvr_envs.verifiers.hdl.judge import judge


def drawn(difficulty, seed):
    task = UpDownCounterTask(UpDownCounterConfig.at(difficulty))
    return task.design(stream("counter", difficulty, seed))


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 3, 6, 7, 8, 9, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        design = drawn(difficulty, seed)
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail


class Model:
    """A counter as its rules say it, written from them alone; the modulus is 11."""

    def __init__(self, start, divider):
        self.count = self.earlier = self.start = start
        self.limit = self.waiting = 10
        self.divider, self.seen = divider, 0

    def edge(self, row):
        old = self.count
        if row["load"]:
            self.count, self.seen = min(row["value"], self.limit), 0
        elif row["undo"]:
            self.count, self.seen = min(self.earlier, self.limit), 0
        elif row["enable"]:
            self.seen += 1
            if self.seen == self.divider:
                self.seen = 0
                self.move(row)
        if row["set_limit"]:
            self.waiting = 2 if row["value"] < 2 else 10 if row["value"] > 10 else row["value"]
        if old != self.count:
            self.earlier = old

    def move(self, row):
        amount = 2 if row["step"] else 1
        target = self.count - amount if row["down"] else self.count + amount
        if 0 <= target <= self.limit:
            self.count = target
            return
        old, self.limit, mode = self.limit, self.waiting, row["mode"]
        excess = max(-target, target - old)
        if mode == 0:
            self.count = self.limit + 1 - excess if row["down"] else excess - 1
        elif mode == 1:
            self.count = 0 if row["down"] else self.limit
        elif mode == 2:
            self.count = excess if row["down"] else self.limit - excess
        else:
            self.count = min(self.start, self.limit)


@pytest.mark.parametrize("divider", [2, 3, 4, 5])
def test_all_controls_do_as_the_rules_say(divider, run_design, random_rows):
    made = Counter(4, 11, 6, FEATURES, divider)
    design = made.design(stream("counter", divider))
    rows = random_rows(design, 1500, seed=divider)
    model, seen = Model(6, divider), []
    for row in rows:
        last = model.count == (0 if row["down"] else model.limit)
        seen.append({"count": model.count, "last": int(last)})
        model.edge(row)
    assert run_design(design, rows) == seen
    assert run_design(replace(design, golden=design.alternative), rows) == seen
    assert design.behaviour(rows) == seen
    assert len({row["count"] for row in seen}) == 11


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("value > limit ? limit : value", "value"),  # a load beyond the limit
        ("2'd2: next = pending -", "2'd2: next = limit -"),  # mirrored at the old limit
        ("if (past) limit <= pending", "if (set_limit) limit <= pending"),  # taken too early
        ("if (next != count) earlier", "if (enable) earlier"),  # an undo that forgets
    ],
)
def test_a_slip_is_refused(right, wrong):
    design = Counter(3, 7, 2, FEATURES, 2).design(stream("slip"))
    assert design.golden.count(right) == 1
    verdict = judge(design.golden.replace(right, wrong), design.reference)
    assert verdict.score == 0.0
    assert "differently" in verdict.detail


def test_every_level_adds_a_control():
    assert [UpDownCounterConfig.at(level).features for level in range(12)] == [*range(11), 10]
    with pytest.raises(ConfigError, match="features"):
        UpDownCounterConfig(features=11)
