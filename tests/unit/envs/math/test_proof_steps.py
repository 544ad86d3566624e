"""ProofSteps: whole episodes, hidden proofs against truth tables and small models, cheats."""

import itertools
import re
import shutil

import pytest

from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.math.proof_steps import (
    ProofStepsConfig,
    ProofStepsProblem,
    ProofStepsTask,
)
from rlvr_envs.generators.proofs.library import (
    GROUP_AXIOMS,
    GROUP_LEMMAS,
    NUMBER_LEMMAS,
)
from rlvr_envs.generators.proofs.statements import checked
from rlvr_envs.verifiers.proofs.backend import NUMBERS, Statement

TASK = ProofStepsTask(ProofStepsConfig())
SWAP = ProofStepsProblem(
    Statement("q ∧ p", (("h", "p ∧ q"),), atoms=("p", "q")), 4, ("exact ⟨h.2, h.1⟩",)
)
INVALID = ProofStepsProblem(Statement("p", (("h", "p ∨ q"),), atoms=("p", "q")), 4)
NUMBER = ProofStepsProblem(Statement("∀ n, 0 + n = n", functions=NUMBERS, sort="ℕ"), 6)
WRONG = ProofStepsProblem(Statement("∀ n, n + n = n", functions=NUMBERS, sort="ℕ"), 6)


def block(text):
    return f"```lean\n{text}\n```"


def problems(topic, level, count):
    task = ProofStepsTask(ProofStepsConfig.at(level))
    task = ProofStepsTask(ProofStepsConfig(**{**_knobs(task.config), "topics": (topic,)}))
    return [task.generate(stream("proofs", topic, level, i)) for i in range(count)]


def _knobs(config):
    return {name: getattr(config, name) for name in config.__slots__}


@pytest.mark.parametrize(
    "messages",
    [
        ["constructor\nexact h.2\nexact h.1"],
        ["constructor", "exact h.2", "exact h.1"],
        ["rcases h with ⟨a, b⟩", "constructor; exact b; exact a"],
        ["theorem swap (h : p ∧ q) : q ∧ p := by\n  exact ⟨h.right, h.left⟩"],
        ["obtain ⟨a, b⟩ := h\nconstructor\n· exact b\n· exact a"],
        ["cases h with\n| intro a b => exact ⟨b, a⟩"],
        ["constructor\nexact h", "exact h.2", "assumption", "exact h.1"],
    ],
)
def test_right_proofs_in_one_message_or_in_several(messages):
    assert TASK.replay(SWAP, [block(each) for each in messages]).score == 1.0


def test_what_is_said_after_each_message():
    session = TASK.begin(SWAP)
    reply = session.reply("Let me see.\n" + block("constructor\nexact h\nexact h.1"))
    assert reply.text == (
        "Error: `exact h`: what is given is (p ∧ q), and (q) is wanted.\n\n"
        "2 goals\n\nh : p ∧ q\n⊢ q\n\nh : p ∧ q\n⊢ p\n\n(3 messages left.)"
    )
    assert session.reply(block("undo")).text == "h : p ∧ q\n⊢ q ∧ p\n\n(2 messages left.)"
    reply = session.reply("I think that it is clear.")
    assert reply.void
    assert reply.text.startswith("Your message has no code block.")
    last = session.reply(block("undo"))
    assert last.out_of_turns
    assert last.verdict.score == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "sorry",
        "admit",
        "exact sorry",
        "exact h",
        "exact h.1",
        "exact h.2",
        "left",
        "cases h with a b\nexact a\nexact a",
        "rcases h with a | a\nexact a\nexact a",
        "rcases h with ⟨a, b⟩\nexact a",
        "have k : p\nexact k",
        "have p : p := h\nexact p",
        "have h : p := by assumption\nexact h",
        "axiom k : p\nexact k",
        "theorem t : p := by trivial",
        "example : True := by\n  constructor",
        "by_cases k : p\nexact k\nexact k",
        "by_contra k\ncontradiction",
        "exfalso\nexact h",
        "simp at h\nexact h",
        "tauto",
        "decide",
        "omega",
        "undo\nexact h",
        "exact Classical.byContradiction",
        "No goals.",
        "⊢ p",
        "exact (fun x => x)",
        "apply h",
        "intro p",
        "-- exact h",
        "#eval 1",
        'run_tac do IO.println "p"',
        "macro_rules | `(tactic| rfl) => `(tactic| sorry)",
        "exact p",
        "",
        "p",
        "9" * 5000,
        "(" * 9000,
        "exact h;" * 2000,
        "\u0440",
    ],
)
def test_what_does_not_follow_is_never_proved(text):
    session = TASK.begin(INVALID)
    for message in (block(text), text, block(f"{text}\n{text}"), block(f"· {text}")):
        reply = session.reply(message)
    assert reply.verdict.status is Status.WRONG
    assert reply.verdict.score == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "intro n\nrfl",
        "intro n\ninduction n with k ih\nrfl\nexact ih",
        "intro n\ninduction n with k ih\nrw [add_zero]\nrw [ih]",
        "intro n\ninduction n with\n| succ k ih => exact ih\n| zero => rw [add_zero]",
        "intro n\nrw [add_zero]",
        "intro n\ncases n with\n| zero => rw [add_zero]\n| succ k => rw [add_succ]",
        "intro n\nring",
        "have k : ∀ n, n = 0\nintro n\nrw [k n, add_zero]",
    ],
)
def test_false_and_unfinished_inductions_prove_nothing(text):
    assert TASK.replay(WRONG, [block(text)] * 6).score == 0.0


def test_a_true_induction_proves_it():
    proof = "intro n\ninduction n with\n| zero => rw [add_zero]\n| succ k ih => rw [add_succ, ih]"
    assert TASK.replay(NUMBER, [block(proof)]).score == 1.0


@pytest.mark.parametrize("level", [0, 3, 6, 9])
def test_propositional_theorems_hold_in_every_row_of_a_truth_table(level):
    for problem in problems("propositional", level, 12):
        statement = problem.statement
        for row in itertools.product((False, True), repeat=len(statement.atoms)):
            at = dict(zip(statement.atoms, row, strict=True))
            if all(_true(text, at) for _, text in statement.hypotheses):
                assert _true(statement.goal, at), statement


def _true(text, at):
    """Evaluate a formula by splitting its text at the connective that binds least."""
    text = text.strip()
    for connective in "↔→∨∧":
        depth, places = 0, []
        for i, sign in enumerate(text):
            depth += (sign == "(") - (sign == ")")
            if sign == connective and depth == 0:
                places.append(i)
        if places:
            place = places[0]
            left, right = _true(text[:place], at), _true(text[place + 1 :], at)
            return {
                "↔": left == right,
                "→": not left or right,
                "∨": left or right,
                "∧": left and right,
            }[connective]
    if text.startswith("¬"):
        return not _true(text[1:], at)
    if text.startswith("("):
        return _true(text[1:-1], at)
    return at[text]


@pytest.mark.parametrize("level", [2, 4, 6, 9])
def test_equations_of_numbers_hold_for_small_ones(level):
    seen = 0
    for problem in problems("numbers", level, 20):
        goal = problem.statement.goal
        if len(problem.statement.functions) > len(NUMBERS):
            continue
        seen += 1
        names, _, body = goal.removeprefix("∀ ").partition(",")
        if not goal.startswith("∀"):
            names, body = "", goal
        left, right = (_python(side) for side in body.split("="))
        for values in itertools.product(range(3), repeat=len(names.split())):
            at = dict(zip(names.split(), values, strict=True))
            sides = [eval(side, {"S": lambda n: n + 1}, at) for side in (left, right)]
            assert sides[0] == sides[1], goal
    assert seen > 2


def _python(term):
    """Return a term as Python: S before its argument becomes a call."""
    pieces, text = re.findall(r"\w+|[()+*]", term), ""
    pending = []
    depth = 0
    for piece in pieces:
        if piece == "S":
            text += "S("
            pending.append(depth)
            continue
        depth += (piece == "(") - (piece == ")")
        text += piece
        if piece not in "(+*":
            while pending and pending[-1] == depth:
                pending.pop()
                text += ")"
    return text


def test_equations_of_groups_hold_in_the_symmetric_group():
    elements = list(itertools.permutations(range(3)))
    seen = 0

    def value(text, at):
        pieces = re.findall(r"\w+|[()*]", text)

        def factor():
            piece = pieces.pop(0)
            if piece == "(":
                found = product()
                pieces.pop(0)
                return found
            if piece == "i":
                inner = factor()
                return tuple(sorted(range(3), key=inner.__getitem__))
            return at[piece]

        def product():
            found = factor()
            while pieces and pieces[0] == "*":
                pieces.pop(0)
                other = factor()
                found = tuple(found[i] for i in other)
            return found

        return product()

    for problem in problems("equational", 7, 12):
        statement = problem.statement
        constants = [name for name, count in statement.functions if count == 0 and name != "e"]
        for values in itertools.product(elements, repeat=len(constants)):
            at = {**dict(zip(constants, values, strict=True)), "e": (0, 1, 2)}
            left, right = (value(side, at) for side in statement.goal.split("="))
            assert left == right
            seen += 1
    assert seen >= 12 * 216


@pytest.mark.parametrize("name", [*NUMBER_LEMMAS, *GROUP_LEMMAS])
def test_the_kernel_accepts_the_lemmas(name):
    of_numbers = name in NUMBER_LEMMAS
    library = NUMBER_LEMMAS if of_numbers else GROUP_LEMMAS
    lemma = library[name]
    facts = tuple((each, library[each].text) for each in lemma.needs)
    functions = NUMBERS if of_numbers else (("*", 2), ("i", 1), ("e", 0))
    axioms = () if of_numbers else tuple(GROUP_AXIOMS.items())
    statement = Statement(
        lemma.text,
        facts=(*axioms, *facts),
        functions=functions,
        sort="ℕ" if of_numbers else "α",
    )
    assert checked(statement, lemma.proof) is not None
    assert checked(statement, lemma.proof[:-1]) is None


def test_the_proof_is_hidden_and_spread_over_the_messages():
    for problem in problems("numbers", 9, 4):
        actions = TASK.play(problem)
        assert len(actions) <= problem.n_turns
        assert TASK.replay(problem, actions).score == 1.0
        assert TASK.replay(problem, actions[:-1]).score == 0.0
        assert TASK.effort(problem) >= len(problem.proof)
        assert len(TASK.explain(problem)) == len(problem.proof)
        assert problem.proof[-1] not in TASK.prompt(problem)


def test_higher_levels_need_what_is_not_given():
    for problem in problems("equational", 8, 6):
        proved = {line.split()[1] for line in problem.proof if line.startswith("have")}
        assert proved & set(GROUP_LEMMAS)
        assert not proved & {name for name, _ in problem.statement.facts}
    for problem in problems("propositional", 6, 6):
        assert any(line.startswith("by_cases") for line in problem.proof)


@pytest.mark.skipif(shutil.which("repl") is not None, reason="a REPL is installed")
def test_lean_that_is_not_installed_says_so():
    task = ProofStepsTask(ProofStepsConfig(backend="lean"))
    assert "⊢ q ∧ p" in task.prompt(SWAP)
    with pytest.raises(DependencyError, match="install Lean 4"):
        task.begin(SWAP)


@pytest.mark.parametrize("knob", [{"idea": 6}, {"n_turns": 1}, {"topics": ("sets",)}])
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        ProofStepsConfig(**knob)
