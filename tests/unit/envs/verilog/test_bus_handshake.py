"""BusHandshake: both sources against each other and a chain of lists, and wrong answers."""

import itertools
from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.bus_handshake import (
    KINDS,
    BusHandshakeConfig,
    BusHandshakeTask,
    HandshakeSources,
    Stage,
)
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge


def stage(kind, way=0, before=4):
    """Return a stage for words of some bits."""
    factor = 3 if kind == "join" else 2
    after = {"join": before * 3, "split": before // 2}.get(kind, before)
    return Stage(kind, before, after, factor, value=5, place=1, way=way)


def chain(*stages, last=True):
    clocking = Clocking("clk", "rst", 1, asynchronous=False)
    return HandshakeSources(clocking, stages, last=last, idle=1, sides=("in", "out"))


class Model:
    """A stage with lists: `offers` and `ready` within a cycle, `moves` at its end."""

    def __init__(self, stage):
        self.stage, self.kind = stage, stage.kind
        self.words, self.parts, self.pause, self.total = [], [], 0, 0

    def offers(self, coming):
        kind, way = self.kind, self.stage.way
        if kind in ("register", "half", "skid", "join", "split"):
            return self.words[0] if self.words else None
        if coming is None or (kind == "gap" and self.pause):
            return None
        word, last = coming
        if kind == "filter" and (word >> 1 & 1) == way and not last:
            return None
        if kind == "map":
            word = (word + 5) % 16 if way else word ^ 5
        return ((word + self.total) % 16 if kind == "sum" else word), last

    def ready(self, coming, behind):
        kept = len(self.words)
        if self.kind in ("half", "skid"):
            return kept < (1 if self.kind == "half" else 2)
        if self.kind in ("register", "join", "split"):
            return not kept or (kept == 1 and behind)
        if self.kind == "filter" and coming is not None and self.offers(coming) is None:
            return True
        return behind and not self.pause

    def moves(self, came, gone):
        self.pause = max(0, self.pause - 1)
        if self.kind == "gap" and gone is not None:
            self.pause = 2
        if self.words and gone is not None:
            self.words.pop(0)
        if came is None:
            return
        word, last = came
        if self.kind == "sum":
            self.total = 0 if last else (self.total + word) % 16
        elif self.kind == "join":
            self.parts.append(word)
            if last or len(self.parts) == 3:
                places = [2, 1, 0] if self.stage.way else [0, 1, 2]
                joined = sum(p << 4 * k for p, k in zip(self.parts, places, strict=False))
                self.words, self.parts = [(joined, last)], []
        elif self.kind == "split":
            halves = [word & 3, word >> 2]
            halves = halves[::-1] if self.stage.way else halves
            self.words += [(halves[0], 0), (halves[1], last)]
        elif self.kind in ("register", "half", "skid"):
            self.words.append(came)


def simulated(stages, rows):
    """Return the outputs in each cycle."""
    models, seen = [Model(stage) for stage in stages], []
    for row in rows:
        links = [(row["in_data"], row.get("in_last", 0)) if row["in_valid"] else None]
        for model in models:
            links.append(model.offers(links[-1]))
        ready = [bool(row["out_ready"])]
        for model, coming in zip(models[::-1], links[-2::-1], strict=True):
            ready.insert(0, model.ready(coming, ready[0]))
        out = links[-1]
        outputs = {"in_ready": int(ready[0]), "out_valid": int(out is not None)}
        outputs["out_data"] = 1 if out is None else out[0]
        if "in_last" in row:
            outputs["out_last"] = 0 if out is None else out[1]
        seen.append(outputs)
        passed = [link if go else None for link, go in zip(links, ready, strict=True)]
        for number, model in enumerate(models):
            model.moves(passed[number], passed[number + 1])
    return seen


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(3):
        task = BusHandshakeTask(BusHandshakeConfig.at(difficulty))
        design = task.design(stream("handshake", difficulty, seed))
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize(("kind", "way"), list(itertools.product(KINDS, (0, 1))))
def test_each_kind_follows_a_list(kind, way, run_design, random_rows):
    for stages in ([stage(kind, way)], [stage("skid"), stage(kind, way)]):
        for last in (False, True):
            design = chain(*stages, last=last).design()
            rows = random_rows(design, 200, seed=way)
            assert run_design(design, rows) == simulated(stages, rows)


def test_a_long_chain_follows_lists(run_design, random_rows):
    kinds = ["filter", "register", "sum", "half", "gap", "map", "skid", "join"]
    stages = [stage(kind, number % 2) for number, kind in enumerate(kinds)]
    design = chain(*stages).design()
    rows = random_rows(design, 600)
    assert run_design(design, rows) == simulated(stages, rows)


def test_kinds_are_told_from_each_other():
    same_ports = [kind for kind in KINDS if kind not in ("join", "split")]
    sources = {kind: chain(stage("skid"), stage(kind)).design() for kind in same_ports}
    for one, other in itertools.permutations(same_ports, 2):
        verdict = judge(sources[one].alternative, sources[other].reference)
        assert verdict.score == 0.0, (one, other)


@pytest.mark.parametrize("kind", ["join", "split", "filter", "map"])
def test_variants_are_told_from_each_other(kind):
    one, other = (chain(stage("register"), stage(kind, way)).design() for way in (0, 1))
    assert judge(one.alternative, other.reference).score == 0.0


def test_the_output_without_a_word_matters():
    one = chain(stage("register"))
    verdict = judge(replace(one, idle=0).design().alternative, one.design().reference)
    assert verdict.score == 0.0
    assert "differently" in verdict.detail


@pytest.mark.parametrize(
    "knobs", [{"width": 1}, {"width": 9}, {"stages": 0}, {"stages": 7}, {"kinds": 10}]
)
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        BusHandshakeConfig(**knobs)
