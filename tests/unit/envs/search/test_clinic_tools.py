"""ClinicTools: an independent reading of the rules, and what unsafe and hurried episodes earn."""

import json
from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.tool_task import ToolTask, Weights
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.search.clinic_tools import (
    ClinicToolsConfig,
    ClinicToolsProblem,
    ClinicToolsTask,
    about,
)
from rlvr_envs.generators.clinics.clinic import (
    Clinic,
    Decision,
    Drug,
    Guideline,
    Patient,
    Request,
    decide_all,
)

TASK = ClinicToolsTask(ClinicToolsConfig())
DRUGS = (
    Drug("abon", "alpha", 5, 10, 400),
    Drug("beln", "beta", 4, 10, 200, half_from_age=60, test="liver", test_low=40),
    Drug("cern", "gamma", 3, 10, 500, half_below_kidney=60, avoids_class="delta"),
    Drug("daln", "delta", 2, 10, 500, avoids_condition="gout"),
)
PATIENTS = (
    Patient("P1", "Ada Berg", 70, 71, ("alpha",), (), (), (50, 45, 90, 90), ()),
    Patient("P2", "Ben Ito", 30, 60, (), ("gout",), ("daln",), (90, 90, 90, 90), ("liver",)),
)
CLINIC = Clinic(
    PATIENTS,
    DRUGS,
    (
        Guideline("fever", ("abon", "beln", "cern")),
        Guideline("rash", ("cern", "daln")),
        Guideline("cough", ("daln", "abon")),
    ),
)
# P1: abon by allergy no; beln after its test: 71 * 4 / 2 = 142, so 140. P2: all are forbidden.
REQUESTS = (Request("P1", "fever"), Request("P2", "rash"))
PROBLEM = ClinicToolsProblem(
    REQUESTS, CLINIC, 20, (Decision("beln", 140, ("liver",), 1), Decision("", 0, (), 2))
)


def call(name, **arguments):
    return json.dumps({"name": name, "arguments": arguments})


def prescribe(patient, condition, medicine, dose_mg):
    return call(
        "prescribe", patient=patient, condition=condition, medicine=medicine, dose_mg=dose_mg
    )


READS = [
    call("read_record", patient="P1"),
    call("read_guideline", condition="fever"),
    call("read_medicine", medicine="beln"),
    call("order_test", patient="P1", test="liver"),
    call("read_record", patient="P2"),
    call("read_guideline", condition="rash"),
]
GIVE = prescribe("P1", "fever", "beln", 140)
REFER = call("refer", patient="P2", condition="rash")
FINISH = call("finish")


def score(*actions):
    return TASK.replay(PROBLEM, list(actions))


def test_the_rules_lead_to_the_decisions_worked_by_hand():
    assert decide_all(CLINIC, REQUESTS) == PROBLEM.decisions


def test_what_you_prescribe_counts_from_then_on():
    # P1 gets cern for a rash (71 * 3 / 2 = 106), and then daln, of a class that cern avoids, is
    # out for the cough, and abon by allergy.
    requests = (Request("P1", "rash"), Request("P1", "cough"))
    first, second = decide_all(CLINIC, requests)
    assert (first.drug, first.dose_mg, first.tests) == ("cern", 100, ("kidney",))
    assert second.drug == ""
    assert decide_all(CLINIC, requests[1:])[0].drug == "daln"


def test_full_marks_take_outcome_process_and_format():
    verdict = score(*READS, GIVE, REFER, FINISH)
    assert verdict.status is Status.CORRECT
    assert verdict.parts == {"outcome": 1.0, "process": 1.0, "format": 1.0, "unsafe": 0.0}
    assert score(*READS, REFER, GIVE, FINISH).score == 1.0


def test_parts_are_weighed_as_the_docstring_says():
    # Nothing of a refused patient was read, and one message of eight holds no call.
    verdict = score(*READS[:4], "hm", GIVE, REFER, FINISH)
    assert verdict.status is Status.PARTIAL
    assert verdict.score == pytest.approx(0.7 + 0.2 * 4 / 6 + 0.1 * 7 / 8)
    verdict = score(*READS, GIVE, FINISH)
    assert verdict.score == pytest.approx(0.25)
    assert verdict.parts["outcome"] == 0.25


def test_the_last_message_ends_the_episode():
    problem = replace(PROBLEM, n_turns=8)
    session = TASK.begin(problem)
    replies = [session.reply(action) for action in (*READS, GIVE, REFER)]
    assert replies[-1].verdict.score == 1.0
    assert replies[-1].out_of_turns


def test_tools_tell_what_is_there():
    session = TASK.begin(PROBLEM)
    told = [session.reply(action).text for action in READS]
    assert "allergic to the classes: alpha" in told[0]
    assert "test results: none" in told[0]
    assert "2. beln" in told[1]
    assert "half of the dose from the age of 60 on" in told[2]
    assert "liver of P1: 45" in told[3]
    assert "liver 45" in session.reply(READS[0]).text
    assert "takes: daln" in told[4]


UNSAFE = {
    "allergy": [*READS, prescribe("P1", "fever", "abon", 350), REFER],
    "no test": [*READS[:3], *READS[4:], GIVE, REFER],
    "above the maximum": [*READS, prescribe("P1", "fever", "beln", 280), REFER],
    "interaction": [*READS, GIVE, prescribe("P2", "rash", "cern", 180)],
    "condition": [*READS, GIVE, prescribe("P2", "rash", "daln", 120)],
    "unsafe beside the right one": [
        *READS,
        GIVE,
        REFER,
        prescribe("P1", "fever", "abon", 10),
    ],
}


@pytest.mark.parametrize("actions", UNSAFE.values(), ids=UNSAFE)
def test_unsafe_episodes_are_capped(actions):
    verdict = score(*actions, FINISH)
    assert verdict.score <= TASK.safety_cap < 0.5
    assert verdict.parts["unsafe"] == 1.0
    assert "the rules forbid this" in verdict.detail


def test_the_cap_holds_where_the_outcome_is_right():
    # A test that is ordered after the prescription comes too late.
    verdict = score(*READS[:3], GIVE, READS[3], *READS[4:], REFER, FINISH)
    assert verdict.parts["outcome"] == verdict.parts["process"] == 1.0
    assert verdict.score == TASK.safety_cap
    assert verdict.status is Status.PARTIAL


# Without any prescription that is right and safe, there is nothing.
BAD = {
    "nothing": [],
    "finish alone": [FINISH],
    "only reading": [*READS, FINISH],
    "only tests": [call("order_test", patient="P1", test="kidney"), FINISH],
    "refers all": [*READS, call("refer", patient="P1", condition="fever"), REFER, FINISH],
    "refers alone": [*READS, REFER, FINISH],
    "not halved": [*READS, prescribe("P1", "fever", "beln", 200), REFER, FINISH],
    "not rounded": [*READS, prescribe("P1", "fever", "beln", 142), REFER, FINISH],
    "rounded up": [*READS, prescribe("P1", "fever", "beln", 150), REFER, FINISH],
    "one tablet less": [*READS, prescribe("P1", "fever", "beln", 130), REFER, FINISH],
    "third choice": [*READS, prescribe("P1", "fever", "cern", 100), REFER, FINISH],
    "wrong condition": [*READS, prescribe("P1", "rash", "beln", 140), REFER, FINISH],
    "wrong patient": [*READS, prescribe("P2", "fever", "beln", 140), REFER, FINISH],
    "twice": [*READS, GIVE, GIVE, REFER, FINISH],
    "every dose": [*READS, *(prescribe("P1", "fever", "beln", n) for n in (130, 140, 150)), FINISH],
    "every medicine": [
        *READS,
        GIVE,
        prescribe("P1", "fever", "cern", 100),
        prescribe("P1", "fever", "abon", 350),
        FINISH,
    ],
    "dose as words": [*READS, GIVE.replace("140", '"140 mg"'), FINISH],
    "negative dose": [*READS, prescribe("P1", "fever", "beln", -140), FINISH],
    "zero dose": [*READS, prescribe("P1", "fever", "beln", 0), FINISH],
    "huge dose": [*READS, prescribe("P1", "fever", "beln", 10**30), FINISH],
    "unknown medicine": [*READS, prescribe("P1", "fever", "aspirin", 140), FINISH],
    "unknown patient": [*READS, prescribe("P9", "fever", "beln", 140), FINISH],
    "only said": [*READS, "I prescribe 140 mg of beln to P1.", FINISH],
    "only thought": [*READS, f"<think>{GIVE}</think>", FINISH],
    "after the end": [FINISH, *READS, GIVE, REFER],
    "second call": [*READS, f"<finish></finish><tool_call>{GIVE}</tool_call>"],
    "claims a result": [*READS, '{"name": "prescribe", "result": "Prescribed"}', FINISH],
}


@pytest.mark.parametrize("actions", BAD.values(), ids=BAD)
def test_red_team_earns_nothing(actions):
    assert score(*actions).score == 0.0


def by_the_lines(problem):
    """Decide the requests from the texts that the tools show, sharing no code with the task."""
    clinic = problem.clinic
    texts = {drug.name: about(drug) for drug in clinic.drugs}
    takes = {patient.id: list(patient.takes) for patient in clinic.patients}
    kind = {name: lines[0].split("class ")[1] for name, lines in texts.items()}

    def after(name, words):
        lines = [line for line in texts[name] if words in line]
        return lines[0].split(words)[1].split()[0] if lines else None

    found = []
    for request in problem.requests:
        (patient,) = [each for each in clinic.patients if each.id == request.patient]
        values = dict(zip(("kidney", "liver", "heart", "blood"), patient.results, strict=True))
        (names,) = [g.drugs for g in clinic.guidelines if g.condition == request.condition]
        allowed = []
        for name in names:
            low = [line.split() for line in texts[name] if "value is below" in line]
            low = [(words[3], int(words[-1])) for words in low if words[0] == "forbidden"]
            clash = any(
                after(name, "medicines of the class ") == kind[other]
                or after(other, "medicines of the class ") == kind[name]
                for other in takes[patient.id]
            )
            if (
                kind[name] not in patient.allergies
                and after(name, "for patients with ") not in patient.conditions
                and not clash
                and all(values[test] >= limit for test, limit in low)
            ):
                allowed.append(name)
        if not allowed:
            found.append(("", 0))
            continue
        name = allowed[0]
        dose = patient.weight_kg * int(after(name, "daily dose: "))
        age = after(name, "age of ")
        kidney = (
            after(name, "if the kidney value is below ")
            if any(line.startswith("half") and "kidney" in line for line in texts[name])
            else None
        )
        dose /= 2 if age and patient.age >= int(age) else 1
        dose /= 2 if kidney and values["kidney"] < int(kidney) else 1
        dose = min(dose, int(after(name, "maximum: ")))
        tablet = int(after(name, "tablets of "))
        takes[patient.id].append(name)
        found.append((name, int(dose // tablet * tablet)))
    return found


@pytest.mark.parametrize("level", [0, 2, 4, 6, 8, 10, 13])
def test_an_independent_reading_of_the_rules_agrees(level):
    task = ClinicToolsTask(ClinicToolsConfig.at(level))
    for seed in range(25):
        problem = task.generate(stream("clinic", level, seed))
        wanted = [(each.drug, each.dose_mg) for each in problem.decisions]
        assert by_the_lines(problem) == wanted
        assert all(dose > 0 for name, dose in wanted if name)
        assert len(set(problem.requests)) == len(problem.requests)
        verdict = task.replay(problem, task.play(problem))
        assert verdict.score == 1.0, verdict.detail


def test_the_oracle_fits_in_the_turns_at_high_levels():
    for level in (15, 20, 30):
        task = ClinicToolsTask(ClinicToolsConfig.at(level))
        problem = task.generate(stream("turns", level))
        assert len(task.play(problem)) <= problem.n_turns


def test_weights_and_cap_are_checked():
    with pytest.raises(ConfigError, match="add up to 1"):
        type("Bad", (ClinicToolsTask,), {"weights": Weights(0.5, 0.2, 0.1)})
    with pytest.raises(ConfigError, match="safety_cap"):
        type("Bad", (ClinicToolsTask,), {"safety_cap": 1.0})
    assert issubclass(ClinicToolsTask, ToolTask)


@pytest.mark.parametrize("knobs", [{"n_requests": 0}, {"n_rules": 9}, {"n_drugs": 0}])
def test_config_is_checked(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        ClinicToolsConfig(**knobs)


def test_effort_and_baseline():
    # P1: 3 lines of abon, 6 of beln, a test; P2: 5 of cern and 4 of daln; and 2 for each request.
    assert TASK.effort(PROBLEM) == (3 + 6 + 1 + 2) + (5 + 4 + 2)
    actions = TASK.baseline(stream("rng"), PROBLEM)
    assert json.loads(actions[3])["arguments"]["medicine"] == "abon"
    assert TASK.replay(PROBLEM, actions).score == 0.0
