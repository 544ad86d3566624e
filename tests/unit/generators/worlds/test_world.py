"""Worlds: deterministic, consistent in time, with names that cannot be mistaken."""

import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import asdict, replace
from itertools import pairwise

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.generators.worlds.schema import RELATIONS
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.generators.worlds.world import build_world

WORLDS = [build_world(WorldSpec.at(d), seed) for d in (0, 4, 10) for seed in (1, 2)]


def values(world, relation):
    return {f.subject: f.value for f in world.facts if f.relation == relation}


def test_a_spec_survives_json_and_gives_the_number_of_articles():
    for d in range(12):
        spec = WorldSpec.at(d)
        assert WorldSpec(**json.loads(json.dumps(asdict(spec)))) == spec
        assert len(build_world(spec, 3).entities) == spec.n_articles == 44 + 13 * d


def test_the_same_world_in_a_fresh_process_under_another_hash_seed():
    code = (
        "import hashlib;from rlvr_envs.generators.worlds.spec import WorldSpec;"
        "from rlvr_envs.generators.worlds.world import build_world;"
        "from rlvr_envs.generators.worlds.articles import articles;"
        "w=build_world(WorldSpec.at(6),5);"
        "print(hashlib.sha256(repr((w,articles(w))).encode()).hexdigest())"
    )
    seen = set()
    for hash_seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, check=True
        )
        seen.add(done.stdout)
    assert len(seen) == 1


def test_neighbouring_seeds_and_specs_share_no_names():
    first = build_world(WorldSpec.at(3), 1)
    for other in (build_world(WorldSpec.at(3), 2), build_world(WorldSpec.at(4), 1)):
        shared = {e.name for e in first.entities} & {e.name for e in other.entities}
        assert len(shared) <= 1


@pytest.mark.parametrize("world", WORLDS, ids=lambda w: f"{len(w.entities)}-{w.seed}")
def test_no_name_is_inside_another_but_for_homonyms(world):
    assert len({e.id for e in world.entities}) == len({e.label for e in world.entities})
    assert len({e.id for e in world.entities}) == len(world.entities)
    names = sorted({e.name for e in world.entities} | {e.alias for e in world.entities if e.alias})
    for name in names:
        assert [other for other in names if name.lower() in other.lower()] == [name]
    for name, count in Counter(e.name for e in world.entities).items():
        sharing = [e for e in world.entities if e.name == name]
        assert count <= 2
        assert len({e.noun for e in sharing}) == count
        if count == 2:
            assert all(e.label == f"{name} ({e.noun})" for e in sharing)
        else:
            assert sharing[0].label == name
    aliases = [e.alias for e in world.entities if e.alias]
    assert len(aliases) == len(set(aliases))


def test_people_share_last_names():
    spec = replace(WorldSpec.at(0), n_people=60, family_rate=1.0, homonym_rate=0.0)
    names = [e.name for e in build_world(spec, 3).entities if e.kind == "person"]
    last = Counter(name.split()[1] for name in names)
    assert len(set(names)) == len(names)
    assert len(last) < 30
    alone = replace(spec, family_rate=0.0)
    names = [e.name for e in build_world(alone, 3).entities if e.kind == "person"]
    assert len({name.split()[1] for name in names}) == 60


@pytest.mark.parametrize("world", WORLDS, ids=lambda w: f"{len(w.entities)}-{w.seed}")
def test_facts_have_the_types_and_numbers_that_their_relations_say(world):
    per_subject = Counter()
    for fact in world.facts:
        relation = RELATIONS[fact.relation]
        assert world.kind(fact.subject) == relation.subject
        if not relation.is_number:
            assert world.kind(fact.value) == relation.value
            assert fact.value != fact.subject
        assert (fact.start < fact.end) == relation.timed
        if relation.functional:
            per_subject[fact.subject, fact.relation] += 1
    assert max(per_subject.values()) == 1
    assert len(set(world.facts)) == len(world.facts)


@pytest.mark.parametrize("world", WORLDS, ids=lambda w: f"{len(w.entities)}-{w.seed}")
def test_facts_agree_in_time(world):
    born, founded = values(world, "born"), values(world, "founded")
    published, held = values(world, "published"), values(world, "held")
    teacher, author = values(world, "teacher"), values(world, "author")
    for person, other in teacher.items():
        if person in born and other in born:
            assert born[other] + 12 <= born[person]
    for work, person in author.items():
        if work in published and person in born:
            assert 22 <= published[work] - born[person] <= 60
    for event, organiser in values(world, "organiser").items():
        if event in held and organiser in founded:
            assert founded[organiser] <= held[event]
    for event, work in values(world, "opening").items():
        if event in held and work in published:
            assert published[work] <= held[event]


@pytest.mark.parametrize("world", WORLDS, ids=lambda w: f"{len(w.entities)}-{w.seed}")
def test_an_office_passes_from_one_holder_to_the_next(world):
    terms = defaultdict(list)
    for fact in world.facts:
        if fact.start:
            terms[fact.subject, fact.relation].append((fact.start, fact.end, fact.value))
    for office in terms.values():
        for (_, end, one), (start, _, two) in pairwise(office):
            assert end == start
            assert one != two


def test_every_conflict_is_decided_by_the_stated_rule():
    order = ["civil register", "chronicle", "newspaper"]
    rules = set()
    for world in WORLDS + [build_world(WorldSpec.at(d), 9) for d in (7, 9)]:
        rules.add(world.rule)
        for index, conflict in world.conflicts.items():
            assert conflict.value != world.facts[index].value
            if world.spec.rule == "latest":
                assert conflict.true.year > conflict.false.year
            else:
                assert order.index(conflict.true.source) < order.index(conflict.false.source)
    assert len(rules) == 2


def test_rates_are_kept_over_many_worlds():
    spec = replace(WorldSpec.at(5), alias_rate=0.4, homonym_rate=0.2, conflict_rate=0.3)
    worlds = [build_world(spec, seed) for seed in range(12)]
    entities = [e for w in worlds for e in w.entities]
    aliased = sum(e.alias is not None for e in entities) / len(entities)
    assert 0.35 < aliased < 0.45
    shared = [e for e in entities if e.kind in ("person", "place", "work")]
    doubles = sum(e.label != e.name for e in shared) / 2 / len(shared)
    assert 0.12 < doubles < 0.22
    functional = [f for w in worlds for f in w.facts if RELATIONS[f.relation].functional]
    conflicts = sum(len(w.conflicts) for w in worlds) / len(functional)
    assert 0.24 < conflicts < 0.32


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("n_people", 3, "at least 9"),
        ("alias_rate", 1.5, r"share in \[0, 1\]"),
        ("gap_rate", 0.8, "at most 0.5"),
        ("rule", "loudest", "authority, latest"),
        ("elsewhere", 0.9, "at most 1"),
        ("fillers", -1, "fillers >= 0"),
    ],
)
def test_an_impossible_spec_says_what_is_allowed(field, value, told):
    with pytest.raises(ConfigError, match=told):
        WorldSpec(**{field: value})
