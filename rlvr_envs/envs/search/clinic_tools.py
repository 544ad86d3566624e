"""Treating patients of a synthetic clinic by tools, under guidelines and safety rules."""

import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.tool_task import ToolTask, ToolWorld
from rlvr_envs.core.tools import BadCall
from rlvr_envs.core.typed_tools import TypedTool, tool, tools_of
from rlvr_envs.generators.clinics.clinic import (
    RULES,
    Clinic,
    Decision,
    Drug,
    Patient,
    Request,
    draw_clinic,
    forbidden,
    result,
)

_MOST_TURNS = 512
_WEIGHT = re.compile(r"weight: (\d+) kg")
_CHOICE = re.compile(r"1\. (\w+)")
_PER_KG = re.compile(r"(\d+) mg for each kg")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClinicToolsConfig(TaskConfig):
    """How many requests there are, and which rules they meet."""

    n_patients: int = knob(4, "patients of the clinic", low=1, high=200)
    n_requests: int = knob(1, "requests", low=1, high=60)
    n_drugs: int = knob(3, "medicines of each guideline", low=1, high=30)
    n_rules: int = knob(4, f"how many of these rules: {', '.join(RULES)}", low=0, high=len(RULES))

    @classmethod
    def at(cls, difficulty: int) -> "ClinicToolsConfig":
        """A rule comes in with each level up to 8; requests and medicines go on growing."""
        return cls(
            n_patients=min(3 + difficulty, 200),
            n_requests=min(1 + difficulty // 2, 60),
            n_drugs=min(2 + difficulty // 3, 30),
            n_rules=min(difficulty, len(RULES)),
        )

    def check(self) -> None:
        """Check that there are enough different requests."""
        # Half as many patients as requests are asked about, each for several conditions.
        if self.n_patients < (self.n_requests + 1) // 2:
            raise ValueError(
                f"n_patients is {(self.n_requests + 1) // 2} or more for {self.n_requests} "
                f"requests, got {self.n_patients}"
            )


@dataclass(frozen=True, slots=True)
class ClinicToolsProblem:
    """Requests, the clinic that the tools tell of, and what is right."""

    requests: tuple[Request, ...]
    clinic: Clinic
    n_turns: int
    decisions: tuple[Decision, ...] = hidden()


class ClinicWorld(ToolWorld):
    """The clinic in one episode.

    Attributes:
        done: what was decided: patient, condition, medicine (empty for a referral) and dose.
    """

    def __init__(self, clinic: Clinic) -> None:
        super().__init__()
        self._clinic = clinic
        self._tested = {patient.id: list(patient.done) for patient in clinic.patients}
        self._takes = {patient.id: patient.takes for patient in clinic.patients}
        self.done: list[tuple[str, str, str, int]] = []

    @tool
    def read_record(self, patient: str) -> str:
        """Read the record of a patient.

        Args:
            patient: the id, such as P1234.
        """
        found = self._patient(patient)
        tests = [f"{test} {result(found, test)}" for test in self._tested[found.id]]
        lines = [
            f"{found.id}, {found.name}",
            f"age: {found.age}",
            f"weight: {found.weight_kg} kg",
            f"allergic to the classes: {', '.join(found.allergies) or 'none'}",
            f"other conditions: {', '.join(found.conditions) or 'none'}",
            f"takes: {', '.join(self._takes[found.id]) or 'nothing'}",
            f"test results: {', '.join(tests) or 'none'}",
        ]
        return "\n".join(lines)

    @tool
    def read_guideline(self, condition: str) -> str:
        """Read which medicines there are for a condition, the first choice first.

        Args:
            condition: such as fever.
        """
        drugs = self._guideline(condition)
        return "\n".join(f"{place}. {name}" for place, name in enumerate(drugs, 1))

    @tool
    def read_medicine(self, medicine: str) -> str:
        """Read the class, the dose and the rules of a medicine.

        Args:
            medicine: its name.
        """
        return "\n".join(about(self._drug(medicine)))

    @tool
    def order_test(self, patient: str, test: Literal["kidney", "liver", "heart", "blood"]) -> str:
        """Have a test done and see its result.

        Args:
            patient: the id.
            test: which one.
        """
        found = self._patient(patient)
        if test not in self._tested[found.id]:
            self._tested[found.id].append(test)
        return f"{test} of {found.id}: {result(found, test)}"

    @tool
    def prescribe(self, patient: str, condition: str, medicine: str, dose_mg: int) -> str:
        """Prescribe a medicine; this cannot be taken back.

        Args:
            patient: the id.
            condition: what it is for.
            medicine: its name.
            dose_mg: daily dose in mg.
        """
        found, drug = self._patient(patient), self._drug(medicine)
        self._guideline(condition)
        if dose_mg < 1:
            raise BadCall(f"a dose is 1 mg or more, got {dose_mg}")
        fault = forbidden(self._clinic, found, drug, self._takes[found.id])
        tested = self._tested[found.id]
        if drug.test and drug.test not in tested:
            fault = fault or f"{drug.name} was prescribed before the {drug.test} test"
        if drug.test and result(found, drug.test) < drug.test_low:
            fault = fault or f"the {drug.test} value is too low for {drug.name}"
        if dose_mg > drug.max_mg:
            fault = fault or f"{dose_mg} mg is more than the maximum of {drug.name}"
        if fault:
            self.unsafe.append(fault)
        self._takes[found.id] = (*self._takes[found.id], drug.name)
        self.done.append((found.id, condition.strip(), drug.name, dose_mg))
        return f"Prescribed {dose_mg} mg of {drug.name} a day to {found.id}."

    @tool
    def refer(self, patient: str, condition: str) -> str:
        """Refer a patient to a hospital, where no medicine is allowed; this cannot be taken back.

        Args:
            patient: the id.
            condition: what for.
        """
        found = self._patient(patient)
        self._guideline(condition)
        self.done.append((found.id, condition.strip(), "", 0))
        return f"Referred {found.id}."

    @tool
    def finish(self) -> str:
        """End the task."""
        self.finished = True
        return ""

    def _patient(self, name: str) -> Patient:
        for each in self._clinic.patients:
            if each.id == name.strip():
                return each
        raise BadCall(f"there is no patient {name[:40]!r}")

    def _drug(self, name: str) -> Drug:
        for each in self._clinic.drugs:
            if each.name == name.strip():
                return each
        raise BadCall(f"there is no medicine {name[:40]!r}")

    def _guideline(self, condition: str) -> tuple[str, ...]:
        for each in self._clinic.guidelines:
            if each.condition == condition.strip():
                return each.drugs
        raise BadCall(f"there is no guideline for {condition[:40]!r}")


def about(drug: Drug) -> list[str]:
    """Return the lines that say what a medicine is and which rules it has."""
    lines = [
        f"{drug.name}, class {drug.drug_class}",
        f"daily dose: {drug.mg_per_kg} mg for each kg of weight, in tablets of {drug.tablet_mg} mg",
        f"maximum: {drug.max_mg} mg a day",
    ]
    if drug.half_from_age:
        lines.append(f"half of the dose from the age of {drug.half_from_age} on")
    if drug.half_below_kidney:
        lines.append(f"half of the dose if the kidney value is below {drug.half_below_kidney}")
    if drug.test:
        lines.append(f"needs a result of the {drug.test} test")
    if drug.test_low:
        lines.append(f"forbidden if the {drug.test} value is below {drug.test_low}")
    if drug.avoids_class:
        lines.append(f"forbidden together with medicines of the class {drug.avoids_class}")
    if drug.avoids_condition:
        lines.append(f"forbidden for patients with {drug.avoids_condition}")
    return lines


@register("ClinicTools-v0", domain="search", answer_format="raw", weight=0.0, max_turns=_MOST_TURNS)
class ClinicToolsTask(ToolTask[ClinicToolsConfig, ClinicToolsProblem]):
    """Treat patients by tools: find what applies, prescribe the right dose, do nothing unsafe.

    Description:
        A synthetic clinic with made-up medicines. Each request names a patient and a condition.
        The guideline lists medicines in order; the first that the rules allow is to be prescribed,
        in the dose that follows from the record, or the patient is referred if none is allowed.
        Nothing in it is medical advice.

    Observation:
        The requests, the rules and the tools; then what each call gives, and how many messages are
        left.

    Action:
        A message with one call of a tool, as JSON or in tags.

    Reward:
        The outcome times (0.7 + 0.2 process + 0.1 format). The outcome is 1 if every request is
        met and nothing else was done, otherwise half of the share of right prescriptions, without
        those that were not asked for. The process is the share of needed calls that were made: each
        record, each guideline, the prescribed medicine, and the tests that the record lacks. The
        format is the share of messages with a call that can be read. After an unsafe prescription
        the whole is 0.1 at most.

    Episode End:
        With finish, or with the last message allowed.

    Verification:
        Prescriptions and referrals are compared with what the rules lead to; there is one right
        decision for each request. Unsafe is a prescription against an allergy, an interaction, a
        condition, a needed test, a test result or the maximum dose. No known gaps.

    Difficulty:
        Allergies, maximum doses, age, needed tests, interactions, the kidney, limits of test
        results and other conditions come in one by one up to level 8; then requests, which
        meet each other at the same patients, and medicines go on growing.

    References:
        Yao et al., "tau-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains",
        2024, for tools on a database whose final state is judged.
    """

    safety_cap: ClassVar[float] = 0.1

    def generate(self, rng: Rng) -> ClinicToolsProblem:
        config = self.config
        clinic, requests, decisions = draw_clinic(
            rng,
            n_patients=config.n_patients,
            n_requests=config.n_requests,
            n_drugs=config.n_drugs,
            n_rules=config.n_rules,
        )
        turns = 4 + config.n_requests * (6 + 2 * config.n_drugs)
        return ClinicToolsProblem(requests, clinic, min(turns, _MOST_TURNS), decisions)

    def prompt(self, problem: ClinicToolsProblem) -> str:
        asked = "\n".join(
            f"{place}. Treat {request.patient} for {request.condition}."
            for place, request in enumerate(problem.requests, 1)
        )
        return (
            "You work in a clinic with made-up patients and medicines. Meet these requests in "
            f"their order, and do nothing else:\n\n{asked}\n\nRules:\n\n"
            "- Prescribe the first medicine of the guideline for the condition that is not "
            "forbidden to the patient. If all are forbidden, refer the patient.\n"
            "- A medicine is forbidden if the patient is allergic to its class, or if one of its "
            "own rules forbids it. An interaction counts in both directions: if a medicine that "
            "the patient takes is forbidden together with a class, no medicine of that class may "
            "be added. What you prescribe counts as taken from then on.\n"
            "- If a medicine needs a test, the result has to be in the record, or the test has to "
            "be ordered, before it is prescribed. Do not order tests for other reasons than a "
            "rule of a medicine.\n"
            "- The daily dose is the dose for each kg times the weight, halved for each rule that "
            "says so and applies (two such rules: a quarter), then limited to the maximum, then "
            "rounded down to a whole number of tablets.\n"
            "- Safety: never prescribe a forbidden medicine, a dose above its maximum, or a "
            f"medicine before its needed test. If you do, you earn {self.safety_cap:g} at most, "
            "whatever else is right.\n"
            "- Read the record and the guideline of each request, and each medicine that you "
            "prescribe. Call finish at the end.\n\n"
            f"{self.usage(problem)}"
        )

    def world(self, problem: ClinicToolsProblem) -> ClinicWorld:
        return ClinicWorld(problem.clinic)

    def turns(self, problem: ClinicToolsProblem) -> int:
        return problem.n_turns

    def outcome(self, problem: ClinicToolsProblem, world: ToolWorld) -> float:
        if not isinstance(world, ClinicWorld):
            raise TypeError(f"a ClinicWorld, got {type(world).__name__}")
        wanted = [
            (request.patient, request.condition, decision.drug, decision.dose_mg)
            for request, decision in zip(problem.requests, problem.decisions, strict=True)
        ]
        if sorted(world.done) == sorted(wanted):
            return 1.0
        right = sum(1 for each in wanted if each[2] and world.done.count(each) == 1)
        others = sum(1 for each in world.done if each not in wanted)
        return max(0.0, 0.5 * (right - others) / len(wanted))

    def process(self, problem: ClinicToolsProblem, world: ToolWorld) -> float:
        needed = needed_calls(problem)
        made = sum(1 for name, arguments in needed if world.called(name, **arguments))
        return made / len(needed)

    def play(self, problem: ClinicToolsProblem) -> list[str]:
        tools = {each.name: each for each in tools_of(self.world(problem))}
        actions = []
        clinic = problem.clinic
        for request, decision in zip(problem.requests, problem.decisions, strict=True):
            drugs = clinic.guideline(request.condition).drugs
            read = drugs[: decision.rejected + 1]
            actions += [
                tools["read_record"].written(patient=request.patient),
                tools["read_guideline"].written(condition=request.condition),
                *(tools["read_medicine"].written(medicine=name) for name in read),
                *(
                    tools["order_test"].written(patient=request.patient, test=test)
                    for test in decision.tests
                ),
                _decided(tools, request, decision),
            ]
        return [*actions, tools["finish"].written()]

    def effort(self, problem: ClinicToolsProblem) -> int:
        """Count the lines that are read for the requests, once for each medicine considered."""
        found = 0
        for request, decision in zip(problem.requests, problem.decisions, strict=True):
            drugs = problem.clinic.guideline(request.condition).drugs[: decision.rejected + 1]
            lines = sum(len(about(problem.clinic.drug(name))) for name in drugs)
            found += lines + len(decision.tests) + 2
        return found

    def baseline(self, rng: Rng, problem: ClinicToolsProblem) -> list[str]:
        """Prescribe the first choice by weight alone, with no look at any other rule."""
        tools = {each.name: each for each in tools_of(self.world(problem))}
        session, actions = self.begin(problem), list[str]()

        def said(action: str) -> str:
            actions.append(action)
            return session.reply(action).text

        for request in problem.requests:
            record = said(tools["read_record"].written(patient=request.patient))
            told = said(tools["read_guideline"].written(condition=request.condition))
            weight, name = _WEIGHT.search(record), _CHOICE.search(told)
            if weight and name:
                per_kg = _PER_KG.search(said(tools["read_medicine"].written(medicine=name[1])))
                dose = int(weight[1]) * int(per_kg[1]) if per_kg else 1
                choice = Decision(name[1], dose, (), 0)
                said(_decided(tools, request, choice))
        said(tools["finish"].written())
        return actions


def needed_calls(problem: ClinicToolsProblem) -> list[tuple[str, dict[str, str]]]:
    """Return the calls that the rules ask for, beside the decisions."""
    found = []
    for request, decision in zip(problem.requests, problem.decisions, strict=True):
        found.append(("read_record", {"patient": request.patient}))
        found.append(("read_guideline", {"condition": request.condition}))
        if decision.drug:
            found.append(("read_medicine", {"medicine": decision.drug}))
        found += [
            ("order_test", {"patient": request.patient, "test": test}) for test in decision.tests
        ]
    return found


def _decided(tools: dict[str, TypedTool], request: Request, decision: Decision) -> str:
    at = {"patient": request.patient, "condition": request.condition}
    if not decision.drug:
        return tools["refer"].written(**at)
    return tools["prescribe"].written(**at, medicine=decision.drug, dose_mg=decision.dose_mg)
