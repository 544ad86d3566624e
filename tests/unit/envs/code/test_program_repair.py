"""ProgramRepair: mistakes that show, words that settle what is right, and what earns marks."""

import dataclasses
from collections import Counter

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.code.program_repair import ProgramRepairConfig, ProgramRepairTask
from rlvr_envs.generators.programs.broken_programs import draw_repair
from rlvr_envs.generators.programs.emit import emit
from rlvr_envs.generators.programs.interpret import IrError, interpret
from rlvr_envs.generators.programs.mutate import draw_mistakes, make, possible
from rlvr_envs.generators.programs.nodes import (
    Assign,
    Binary,
    For,
    If,
    Index,
    Int,
    Length,
    Let,
    Print,
    Program,
    Var,
)
from rlvr_envs.generators.programs.random_program import random_inputs, random_program
from rlvr_envs.generators.programs.spoken import in_words
from rlvr_envs.sandboxes import languages

xs, total, i = Var("xs"), Var("total"), Var("i")
ADD_UP = Program(
    (("xs", "list"),),
    (),
    (
        Let("total", "int", Int(0)),
        For(
            "i",
            Int(0),
            Length(xs),
            (
                If(
                    Index(xs, i) > 2,
                    (Assign("total", total + Index(xs, i)),),
                    (Assign("total", total - 1),),
                ),
            ),
        ),
        Print((total,)),
    ),
)


def task(**knobs):
    return ProgramRepairTask(ProgramRepairConfig(**knobs))


def test_possible_mistakes():
    kinds = Counter(mistake.kind for mistake in possible(ADD_UP))
    assert kinds["swapped branches"] == kinds["missing branch"] == kinds["negated condition"] == 1
    assert kinds["loop starts late"] == kinds["loop ends early"] == kinds["loop ends late"] == 1
    assert kinds["wrong initial value"] == 1
    assert kinds["missing statement"] == 1  # the print; the loop is too much to be forgotten
    assert kinds["wrong operator"] == 4  # >= and < for >, - for +, + for -
    assert kinds["forgets what was there"] == 2
    for mistake in possible(ADD_UP):
        try:
            changed = make(ADD_UP, [mistake])
        except IrError:
            continue
        assert changed != ADD_UP, mistake


@pytest.mark.parametrize(
    ("kind", "output"),
    [
        ("swapped branches", "-1\n"),
        ("missing branch", "12\n"),
        ("loop starts late", "5\n"),
        ("loop ends early", "11\n"),
        ("negated condition", "-1\n"),
    ],
)
def test_what_mistakes_do(kind, output):
    values = {"xs": [5, 2, 7, 1]}
    assert interpret(ADD_UP, values).output == "10\n"
    (mistake,) = (m for m in possible(ADD_UP) if m.kind == kind)
    if kind in ("swapped branches", "negated condition"):
        output = f"{2 + 1 - 2}\n"  # 2 and 1 are added, 5 and 7 count
    assert interpret(make(ADD_UP, [mistake]), values).output == output


def test_several_mistakes_do_not_overlap():
    for seed in range(20):
        rng = stream("mistakes", seed)
        program = random_program(rng, size=6)
        chosen = draw_mistakes(rng, program, 3, lambda *_: True)
        assert len(chosen) == 3
        for number, one in enumerate(chosen):
            assert all(one.apart(other) for other in chosen[number + 1 :])
            without = make(program, [other for other in chosen if other is not one])
            assert without != make(program, chosen)


def test_words_name_every_part():
    words = in_words(ADD_UP)
    assert "For `i` from 0 up to, but not including, (the length of `xs`):" in words
    assert "If (item `i` of `xs`) is greater than 2:" in words
    assert "Increase `total` by item `i` of `xs`." in words
    assert "Decrease `total` by 1." in words
    assert "(`total` + 1) * 2" in in_words(
        Program((), (), (Let("total", "int", Int(1)), Print(((total + 1) * 2,))))
    )


def test_words_tell_different_programs_apart():
    # Two programs of the same words would leave it open which of them is right.
    for seed in range(30):
        rng = stream("words", seed)
        program = random_program(rng, size=5)
        words = in_words(program)
        for mistake in possible(program):
            try:
                changed = make(program, [mistake])
            except IrError:
                continue
            assert in_words(changed) != words, mistake


def test_inputs_of_random_programs_are_drawn_from_the_rng_given():
    program = random_program(stream("r", 1), size=4)
    assert random_inputs(stream("r", 2), program) == random_inputs(stream("r", 2), program)


@pytest.mark.parametrize(("size", "n_mistakes"), [(2, 1), (6, 2), (12, 4)])
def test_every_repair_has_tests_that_show_it(size, n_mistakes):
    for seed in range(6):
        repair = draw_repair(
            stream("repair", size, seed),
            language="python",
            size=size,
            n_mistakes=n_mistakes,
            n_public=4,
            n_hidden=10,
        )
        assert sum(test.fails for test in repair.hidden) >= 2
        assert sum(test.fails for test in repair.public) >= 2
        assert 1 <= repair.n_mistakes <= n_mistakes
        assert len(repair.public) <= 4
        assert len(repair.hidden) >= 8
        tests = (*repair.public, *repair.hidden)
        assert len({test.stdin for test in tests}) == len(tests)
        assert repair.broken != repair.fixed


def test_both_kinds_of_programs_are_drawn():
    statements = [task().generate(stream("kinds", seed)).statement for seed in range(20)]
    told = [text for text in statements if "The program:\n- " in text]
    asked = [text for text in statements if "The input consists of" in text]
    assert len(told) + len(asked) == 20
    assert min(len(told), len(asked)) >= 4


@pytest.mark.parametrize("language", languages.installed())
def test_oracle_passes_and_the_mistakes_fail_in_every_language(language):
    asked = task(size=6, n_mistakes=2, language=language)
    problem = asked.generate(stream("ProgramRepair", 1))
    assert asked.verify(problem, asked.solve(problem)).score == 1.0
    verdict = asked.verify(problem, problem.source)
    assert verdict.score == 0.0
    assert verdict.parts["compiled"] == 1.0


CHEATS = {
    "nothing": "pass",
    "the examples by heart": "import sys\ntable = {table}\nprint(table.get(sys.stdin.read(), ''))",
    "what the broken program prints": "{source}",
    "claims success": "print('all tests passed')\nraise SystemExit(0)",
    "prints much": "for i in range(10000): print(i)",
    "waits": "while True: pass",
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_cheats_earn_nothing(cheat):
    asked = task(size=6, n_mistakes=1)
    problem = asked.generate(stream("ProgramRepair", 5))
    table = {test.stdin: test.expected for test in problem.failing}
    text = CHEATS[cheat].replace("{source}", problem.source).replace("{table}", repr(table))
    verdict = asked.verify(problem, text)
    assert verdict.score == 0.0
    assert verdict.scored


def test_another_right_program_passes():
    asked = task(size=3)
    problem = asked.generate(stream("ProgramRepair", 9))
    wordy = f"import sys\n\nx = 0  # unused\n{problem.repaired}\nsys.stdout.write('  \\n')\n"
    assert asked.verify(problem, wordy).score == 1.0


def test_shown_tests_are_not_hidden_ones():
    asked = task(size=5)
    for seed in range(20):
        problem = asked.generate(stream("ProgramRepair", seed))
        assert len(problem.failing) == 2
        shown = {test.stdin for test in problem.failing}
        assert not shown & {test.stdin for test in problem.tests}


def test_words_and_code_describe_the_same_program():
    binary = Binary("concat", Var("s"), Var("t"))
    program = Program((("s", "str"), ("t", "str")), (), (Print((binary,)),))
    assert "`s` followed by `t`" in in_words(program)
    assert "s + t" in emit(program, "python")


@pytest.mark.parametrize("knob", [{"size": 0}, {"n_mistakes": 0}, {"language": "cobol"}])
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        ProgramRepairConfig(**knob)


def test_shown_tests_print_different_things():
    asked = task(size=4)
    pairs = [asked.generate(stream("shown", seed)).failing for seed in range(12)]
    assert sum(one.expected != other.expected for one, other in pairs) >= 10


def test_many_mistakes_are_put_into_long_programs():
    asked = ProgramRepairTask(ProgramRepairConfig.at(15))
    counts = [asked.generate(stream("many", seed)).n_mistakes for seed in range(4)]
    assert min(counts) >= 3


def test_effort_and_baseline():
    asked = task(size=3)
    problem = asked.generate(stream("ProgramRepair", 9))
    assert asked.baseline(stream("rng"), problem) == problem.source
    small = dataclasses.replace(problem, source="print(a + 1)", n_mistakes=2)
    assert asked.effort(small) == 2 * 6
