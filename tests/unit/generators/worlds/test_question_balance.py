"""Balance: nobody gets far by giving the same answer to every question of a kind."""

from collections import Counter

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.worlds.questions import KINDS, UNANSWERABLE, QuestionSpec, draw_question
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.generators.worlds.world import build_world

DIFFICULTIES = (0, 3, 6, 10)


@pytest.mark.parametrize("kind", KINDS)
def test_no_answer_is_right_in_more_than_a_fifth_of_300_questions(kind):
    answers, first = Counter(), Counter()
    for i in range(300):
        difficulty = DIFFICULTIES[i % 4]
        world = build_world(WorldSpec.at(difficulty), 100 + i // 60)
        question = draw_question(world, kind, QuestionSpec.at(difficulty), stream("bal", kind, i))
        answers[question.answers] += 1
        if kind == "comparison":
            sides = question.plan[-1].inputs
            best = set(question.answers[0])
            facts_first = side_value(world, question.plan, sides[0])
            first[facts_first in best] += 1
    assert answers.most_common(1)[0][1] <= 60, answers.most_common(3)
    if kind == "comparison":
        assert 0.4 < first[True] / 300 < 0.6
    if kind == "count":
        assert len(answers) >= 8
    if kind == "unanswerable":
        assert answers[((UNANSWERABLE,),)] >= 24


def side_value(world, plan, at):
    """The label that one side of a comparison leads to, found fact by fact."""
    hop = plan[at]
    if hop.op == "name":
        return world.entities[world.numbers[hop.entity]].label
    subject = side_value(world, plan, hop.inputs[0])
    (value,) = [
        f.value
        for f in world.facts
        if f.relation == hop.relation and world.entities[f.subject].label == subject
    ]
    return world.entities[value].label
