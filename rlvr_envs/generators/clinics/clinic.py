"""A clinic as data, drawn at random, and the decision that its rules lead to.

Names of medicines are made up, and nothing here is medical advice.
"""

from dataclasses import dataclass

from rlvr_envs.core.seeding import Rng, integer, pick

TESTS = ("kidney", "liver", "heart", "blood")
CLASSES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
_CONDITIONS = (
    *("cough", "rash", "migraine", "fever", "cramps", "insomnia", "nausea", "gout", "asthma"),
    *("anaemia", "arthritis", "bronchitis", "colitis", "dermatitis", "eczema", "gastritis"),
)
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "zo")
_FIRST = ("Ada", "Ben", "Cleo", "Dov", "Eva", "Finn", "Gil", "Hana", "Ivo", "Jana", "Kai", "Lea")
_LAST = ("Adler", "Berg", "Costa", "Dietz", "Engel", "Falk", "Groth", "Hahn", "Ito", "Jung")
_TRIES = 400

# The rules that a medicine may have, in the order in which levels bring them in.
RULES = ("allergy", "maximum", "age", "test", "interaction", "kidney", "range", "condition")


@dataclass(frozen=True, slots=True)
class Drug:
    """A medicine; what it has no rule for is empty or 0.

    Attributes:
        name: made up.
        drug_class: its class, to which patients may be allergic.
        mg_per_kg: daily dose for each kilogram.
        tablet_mg: doses are multiples of it.
        max_mg: the largest daily dose.
        half_from_age: from this age on, the dose is halved.
        half_below_kidney: where the kidney value is below, the dose is halved.
        test: a test that has to be done before.
        test_low: below this result the medicine is forbidden.
        avoids_class: forbidden beside a medicine of this class.
        avoids_condition: forbidden for patients with this condition.
    """

    name: str
    drug_class: str
    mg_per_kg: int
    tablet_mg: int
    max_mg: int
    half_from_age: int = 0
    half_below_kidney: int = 0
    test: str = ""
    test_low: int = 0
    avoids_class: str = ""
    avoids_condition: str = ""


@dataclass(frozen=True, slots=True)
class Patient:
    """A patient; ``results`` are what tests give, in the order of `TESTS`."""

    id: str
    name: str
    age: int
    weight_kg: int
    allergies: tuple[str, ...]
    conditions: tuple[str, ...]
    takes: tuple[str, ...]
    results: tuple[int, ...]
    done: tuple[str, ...]  # tests whose results are in the record


@dataclass(frozen=True, slots=True)
class Guideline:
    """The medicines for a condition, the first choice first."""

    condition: str
    drugs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """Treat a patient for a condition."""

    patient: str
    condition: str


@dataclass(frozen=True, slots=True)
class Clinic:
    """Everything that the tools can tell."""

    patients: tuple[Patient, ...]
    drugs: tuple[Drug, ...]
    guidelines: tuple[Guideline, ...]

    def patient(self, name: str) -> Patient:
        """Return a patient by id."""
        return next(each for each in self.patients if each.id == name)

    def drug(self, name: str) -> Drug:
        """Return a medicine by name."""
        return next(each for each in self.drugs if each.name == name)

    def guideline(self, condition: str) -> Guideline:
        """Return the guideline of a condition."""
        return next(each for each in self.guidelines if each.condition == condition)


@dataclass(frozen=True, slots=True)
class Decision:
    """What is right for a request: a medicine and a dose, or neither, which means to refer.

    Attributes:
        drug: its name, or empty.
        dose_mg: each day.
        tests: that had to be ordered, because the record lacks them.
        rejected: how many medicines the rules forbid that come before.
    """

    drug: str
    dose_mg: int
    tests: tuple[str, ...]
    rejected: int


def decide(clinic: Clinic, patient: Patient, condition: str, takes: tuple[str, ...]) -> Decision:
    """Return what the rules lead to for a patient who takes some medicines."""
    tests: list[str] = []
    for rejected, name in enumerate(clinic.guideline(condition).drugs):
        drug = clinic.drug(name)
        if forbidden(clinic, patient, drug, takes):
            continue
        if drug.test and drug.test not in (*patient.done, *tests):
            tests.append(drug.test)
        if drug.test and result(patient, drug.test) < drug.test_low:
            continue
        if drug.half_below_kidney and "kidney" not in (*patient.done, *tests):
            tests.append("kidney")
        return Decision(name, dose(patient, drug), tuple(tests), rejected)
    return Decision("", 0, tuple(tests), len(clinic.guideline(condition).drugs))


def forbidden(clinic: Clinic, patient: Patient, drug: Drug, takes: tuple[str, ...]) -> str:
    """Return why the record forbids a medicine, or the empty string."""
    if drug.drug_class in patient.allergies:
        return f"{patient.id} is allergic to the class {drug.drug_class} of {drug.name}"
    if drug.avoids_condition in patient.conditions:
        return f"{drug.name} is forbidden with {drug.avoids_condition}"
    for each in map(clinic.drug, takes):
        if drug.avoids_class == each.drug_class or each.avoids_class == drug.drug_class:
            return f"{drug.name} is forbidden beside {each.name}"
    return ""


def result(patient: Patient, test: str) -> int:
    """Return what a test gives."""
    return patient.results[TESTS.index(test)]


def dose(patient: Patient, drug: Drug) -> int:
    """Return the daily dose, in mg: halved where it has to be, limited, in whole tablets."""
    # Quarters of a milligram keep two halvings exact.
    quarters = 4 * patient.weight_kg * drug.mg_per_kg
    if drug.half_from_age and patient.age >= drug.half_from_age:
        quarters //= 2
    if drug.half_below_kidney and result(patient, "kidney") < drug.half_below_kidney:
        quarters //= 2
    limited = min(quarters, 4 * drug.max_mg)
    return limited // (4 * drug.tablet_mg) * drug.tablet_mg


def draw_clinic(
    rng: Rng, *, n_patients: int, n_requests: int, n_drugs: int, n_rules: int
) -> tuple[Clinic, tuple[Request, ...], tuple[Decision, ...]]:
    """Draw a clinic, requests to it, and what is right for each, in their order.

    Args:
        rng: the only source of randomness.
        n_patients: patients of the clinic.
        n_requests: requests, of which the first ends in a prescription.
        n_drugs: medicines of each guideline.
        n_rules: how many of `RULES` there are.
    """
    for _ in range(_TRIES):
        clinic = _draw(rng, n_patients, min(n_requests + 1, len(_CONDITIONS)), n_drugs, n_rules)
        requests = _requests(rng, clinic, n_requests)
        decisions = decide_all(clinic, requests)
        # What the rules reject is what makes a request hard: half of the first choices at least,
        # where there are rules that can.
        wanted = (n_requests * min(n_drugs - 1, 1 + n_rules // 3) + 1) // 2 if n_rules else 0
        enough = sum(decision.rejected for decision in decisions) >= wanted
        prescribed = sum(1 for decision in decisions if decision.drug)
        if enough and decisions[0].drug and 2 * prescribed >= n_requests:
            return clinic, requests, decisions
    raise AssertionError(f"no clinic within {_TRIES} tries")


def decide_all(clinic: Clinic, requests: tuple[Request, ...]) -> tuple[Decision, ...]:
    """Return what is right for requests in their order: each sees what the ones before gave."""
    takes = {patient.id: patient.takes for patient in clinic.patients}
    tested: dict[str, tuple[str, ...]] = {}
    found = []
    for request in requests:
        patient, own = clinic.patient(request.patient), takes[request.patient]
        decision = decide(clinic, patient, request.condition, own)
        before = tested.get(request.patient, ())
        fresh = tuple(test for test in decision.tests if test not in before)
        found.append(Decision(decision.drug, decision.dose_mg, fresh, decision.rejected))
        tested[request.patient] = (*before, *fresh)
        if decision.drug:
            takes[request.patient] = (*own, decision.drug)
    return tuple(found)


def _requests(rng: Rng, clinic: Clinic, count: int) -> tuple[Request, ...]:
    pairs = [(p.id, g.condition) for p in clinic.patients for g in clinic.guidelines]
    order = rng.permutation(len(pairs)).tolist()
    # Half of the patients at most, so that requests meet each other at one patient.
    few = {patient.id for patient in clinic.patients[: max(1, (count + 1) // 2)]}
    chosen = [pairs[place] for place in order if pairs[place][0] in few][:count]
    return tuple(Request(*pair) for pair in chosen)


def _draw(rng: Rng, n_patients: int, n_conditions: int, n_drugs: int, n_rules: int) -> Clinic:
    rules = RULES[:n_rules]
    order = rng.permutation(len(_CONDITIONS)).tolist()
    conditions = [_CONDITIONS[place] for place in order[:n_conditions]]
    others = [_CONDITIONS[place] for place in order[n_conditions:]][:3] or conditions
    drugs: list[Drug] = []
    guidelines = []
    for condition in conditions:
        own = [_drug(rng, drugs, rules, others) for _ in range(n_drugs)]
        guidelines.append(Guideline(condition, tuple(each.name for each in own)))
    usual = [_drug(rng, drugs, (), others) for _ in range(4)]
    patients = []
    numbers = 1000 + rng.choice(9000, n_patients, replace=False)
    for number in numbers.tolist():
        n_allergies = integer(rng, 1, 2) if "allergy" in rules else 0
        takes = (
            tuple({pick(rng, usual).name: 0 for _ in range(2)}) if "interaction" in rules else ()
        )
        patients.append(
            Patient(
                id=f"P{number}",
                name=f"{pick(rng, _FIRST)} {pick(rng, _LAST)}",
                age=integer(rng, 18, 90),
                weight_kg=integer(rng, 45, 110),
                allergies=tuple(sorted({pick(rng, CLASSES) for _ in range(n_allergies)})),
                conditions=(pick(rng, others),) if "condition" in rules else (),
                takes=takes,
                results=tuple(integer(rng, 20, 120) for _ in TESTS),
                done=tuple(test for test in TESTS if rng.random() < 0.3) if "test" in rules else (),
            )
        )
    return Clinic(tuple(patients), tuple(drugs), tuple(guidelines))


def _drug(rng: Rng, drugs: list[Drug], rules: tuple[str, ...], others: list[str]) -> Drug:
    """Draw a medicine with some of the rules, and add it to those that there are."""
    used = {drug.name for drug in drugs}
    name = ""
    while not name or name in used:
        name = "".join(pick(rng, _SYLLABLES) for _ in range(3)) + "n"
    tablet = pick(rng, (5, 10, 20))  # below a quarter of the least dose
    per_kg = integer(rng, 2, 9)

    def ruled(rule: str) -> bool:
        return rule in rules and rng.random() < 0.6

    # A maximum that counts lies within what weights and doses give.
    most = per_kg * (integer(rng, 50, 90) if ruled("maximum") else 120)
    test = pick(rng, TESTS[1:]) if ruled("test") else ""
    drug = Drug(
        name=name,
        drug_class=pick(rng, CLASSES),
        mg_per_kg=per_kg,
        tablet_mg=tablet,
        max_mg=most // tablet * tablet,
        half_from_age=integer(rng, 55, 75) if ruled("age") else 0,
        half_below_kidney=integer(rng, 50, 80) if ruled("kidney") else 0,
        test=test,
        test_low=integer(rng, 40, 80) if test and ruled("range") else 0,
        avoids_class=pick(rng, CLASSES) if ruled("interaction") else "",
        avoids_condition=pick(rng, others) if ruled("condition") else "",
    )
    drugs.append(drug)
    return drug
