"""Tests of plans are chosen by the wrong programs that fail them."""

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.algorithms.plan import FAMILIES, Plan, Stage, answer, draw_plan
from rlvr_envs.generators.algorithms.telling_tests import examples, telling_tests


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_has_some(name):
    rng = stream("telling", name)
    plan = draw_plan(rng, [name], 1, 2)
    tests = telling_tests(rng, plan)
    assert tests
    assert all(test.expected == answer(plan, test.inputs) for test in tests)
    shown = examples(rng, plan, [test.inputs for test in tests])
    assert len(shown) == 2
    assert not [test for test in shown if test.inputs in [hidden.inputs for hidden in tests]]


def test_they_tell_numbers_stages_and_ways_to_put_together():
    plan = Plan("best_segment", (40,), (Stage("running_sums", (97,)),), 2, "largest")
    tests = telling_tests(stream("telling", 1), plan)
    for other in (
        Plan("best_segment", (41,), plan.stages, 2, "largest"),
        Plan("best_segment", (40,), (Stage("running_sums", (96,)),), 2, "largest"),
        Plan("best_segment", (40,), (), 2, "largest"),
        Plan("best_segment", (40,), plan.stages, 3, "largest"),
        Plan("best_segment", (40,), plan.stages, 2, "sum"),
    ):
        assert any(answer(other, test.inputs) != test.expected for test in tests), other
