"""Laws of proposed questions, on questions written at random from the facts of random worlds."""

import dataclasses
import random

import pytest

from rlvr_envs.core import registry
from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.proposals import wordings as words
from rlvr_envs.generators.proposals.check import meaning
from rlvr_envs.generators.proposals.episode import posed
from rlvr_envs.generators.proposals.reader import read
from rlvr_envs.generators.worlds.plan import evaluate
from rlvr_envs.generators.worlds.schema import RELATIONS

TASK = registry.find("SearchProposer-v0").task_type
_UNTRUE = ("nothing in the world answers", "the answer to the question is not", "do not form")


class Writer:
    """Writes what names an entity, from facts that are true of it."""

    def __init__(self, world, seed):
        self.world = world
        self.rng = random.Random(seed)

    def facts(self, entity):
        """Facts with this entity as the value, and facts with it as the subject."""
        world = self.world
        into = [world.facts[i] for (_, v), found in world.to.items() if v == entity for i in found]
        out = [world.facts[i] for (s, _), found in world.of.items() if s == entity for i in found]
        return [
            [fact for fact in found if not RELATIONS[fact.relation].is_number]
            for found in (into, out)
        ]

    def worded(self, known, fact, other, hops):
        wording = self.rng.choice([w for w in known if w.relation == fact.relation])
        inner = self.thing(other, hops)
        if inner is None or (wording.dated and fact.end - fact.start < 2):
            return None
        told = " ".join([*wording.before, inner, *wording.after])
        year = self.rng.randint(fact.start + 1, fact.end - 1) if wording.dated else 0
        return f"{told} in {year}" if year else told

    def thing(self, entity, hops):
        """Return words for an entity over so many facts, None where the draw leads nowhere."""
        if hops == 0:
            return self.world.entities[entity].label
        into, out = self.facts(entity)
        out = [fact for fact in out if not RELATIONS[fact.relation].timed]
        kind = self.world.kind(entity)
        u = self.rng.random()
        if u < 0.5 and into:
            fact = self.rng.choice(into)
            return self.worded(words.values(), fact, fact.subject, hops - 1)
        if u < 0.8 and out:
            fact = self.rng.choice(out)
            told = self.worded(words.predicates(several=False), fact, fact.value, hops - 1)
            return told and f"the {kind} that {told}"
        if hops < 2 or len(out) < 2:
            return None
        share = self.rng.randint(1, hops - 1)
        told = [
            self.worded(words.predicates(several=False), fact, fact.value, part - 1)
            for fact, part in zip(self.rng.sample(out, 2), (share, hops - share), strict=True)
        ]
        return None if None in told else f"the {kind} that {told[0]} and {told[1]}"


def questions(difficulty, seed, count):
    """Yield a problem with a question about its world, the entity meant, and the hops."""
    task = TASK(TASK.Config.at(difficulty))
    problem = task.generate(stream("test.property", difficulty, seed))
    world, writer = problem.built, Writer(problem.built, seed)
    made = 0
    while made < count:
        entity, hops = writer.rng.randrange(len(world.entities)), writer.rng.randint(2, 5)
        told = writer.thing(entity, hops)
        if told is not None:
            made += 1
            yield problem, f"Which {world.kind(entity)} is {told}?", entity, hops


@pytest.mark.parametrize("difficulty", [0, 4, 10])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_written_from_facts_is_read_as_true(difficulty, seed):
    """No question is unread, and what it was written about is among the answers."""
    for problem, text, entity, hops in questions(difficulty, seed, 60):
        world = problem.built
        reading = read(world, text)
        answers = {v for plan in reading.plans for v in evaluate(world, plan)[-1].values}
        assert entity in answers, (text, reading)
        fault = meaning(world, text, entity, hops).fault
        assert not any(told in fault for told in _UNTRUE), (text, fault)


@pytest.mark.parametrize("difficulty", [0, 4, 10])
def test_what_the_facts_accept_is_answered_through_the_tools(difficulty):
    valid = 0
    for seed in range(4):
        for problem, text, entity, hops in questions(difficulty, seed, 60):
            meant = meaning(problem.built, text, entity, hops)
            if not meant.fault:
                gold = problem.built.entities[entity].label
                wanted = dataclasses.replace(problem, gold=gold, hops=hops)
                assert posed(wanted, text, meant) is not None, text
                valid += 1
    assert valid > 8


@pytest.mark.parametrize("seed", range(3))
def test_case_and_punctuation_change_nothing(seed):
    for problem, text, _, _ in questions(5, seed, 30):
        plans = read(problem.built, text).plans
        for other in (text.upper(), text.lower(), text.rstrip("?"), text.replace(" ", "  \n")):
            assert read(problem.built, other).plans == plans


@pytest.mark.parametrize("seed", range(3))
def test_a_word_without_a_part_is_never_read_over(seed):
    rng = random.Random(seed)
    for problem, text, _, _ in questions(2, seed, 60):
        plans = read(problem.built, text).plans
        spoken = text.rstrip("?").split()
        at = rng.randrange(len(spoken) + 1)
        more = [*spoken[:at], rng.choice(["the", "of", "born", "not", "1890"]), *spoken[at:]]
        assert read(problem.built, " ".join(more)).plans != plans or not plans, (text, more)
