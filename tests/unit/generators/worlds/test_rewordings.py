"""Other words for relations: complete, nesting, and none of them for two relations."""

from collections import defaultdict

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.worlds.dice import Dice
from rlvr_envs.generators.worlds.english import question_text
from rlvr_envs.generators.worlds.plan import Hop
from rlvr_envs.generators.worlds.rewordings import reworded, wordings
from rlvr_envs.generators.worlds.schema import RELATIONS

FIELDS = ("noun", "one", "several", "clause", "ask")


@pytest.mark.parametrize("relation", RELATIONS.values(), ids=list(RELATIONS))
def test_every_wording_fits_where_the_first_one_does(relation):
    first, *others = wordings(relation)
    assert first == relation
    assert len(others) >= 3
    for other in others:
        for field in FIELDS:
            old, new = getattr(first, field), getattr(other, field)
            assert new.count("{x}") == old.count("{x}"), (field, new)
            assert new.count("{year}") == old.count("{year}"), (field, new)
            if field != "ask" and new != old:
                assert new.endswith("{x}")
            if field == "ask":
                assert new[0].isupper()
                assert "?" in new
        for field in ("most", "least", "more", "less"):
            assert bool(getattr(other, field)) == relation.is_number
        assert (other.subject, other.value, other.timed) == (
            relation.subject,
            relation.value,
            relation.timed,
        )


def test_no_wording_says_two_relations_of_a_type():
    owners = defaultdict(set)
    for relation in RELATIONS.values():
        for wording in wordings(relation):
            for field in (*FIELDS, "most", "least", "more", "less"):
                told = getattr(wording, field)
                if told:
                    kinds = (field, relation.subject, relation.value, told)
                    owners[kinds].add(relation.name)
    assert [told for told, names in owners.items() if len(names) > 1] == []


def test_members_are_always_called_so():
    """The prompt explains what members are where a question speaks of them."""
    for wording in wordings(RELATIONS["member"]):
        assert all("member" in text for text in (wording.one, wording.several, wording.clause))


def test_questions_use_every_wording():
    plan = (Hop("name", entity="Vell"), Hop("back", (0,), "author"), Hop("count", (1,)))
    dice = Dice(stream("rewordings"))
    asked = {question_text(plan, dice, reworded(dice)) for _ in range(60)}
    assert asked == {
        "How many works were written by Vell?",
        "How many works are works of Vell?",
        "How many works are from the pen of Vell?",
    }
