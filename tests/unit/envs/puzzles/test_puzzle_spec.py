"""Puzzles from specifications: the shipped ones against brute force, and errors with their place."""

import itertools
import re

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.puzzle_spec import PuzzleSpecConfig, PuzzleSpecTask
from rlvr_envs.generators.puzzle_specs.draw import draw
from rlvr_envs.generators.puzzle_specs.language import SpecError
from rlvr_envs.generators.puzzle_specs.spec import read, shipped

pytest.importorskip("z3")


def problems(path, level, count):
    task = PuzzleSpecTask(PuzzleSpecConfig(path=path, level=level))
    for seed in range(count):
        yield task, task.generate(stream("specs", path, level, seed))


def sentence(pattern, text):
    found = re.fullmatch(pattern, text)
    return found and found.groups()


def seating_holds(line, order):
    """Whether a sentence of the seating puzzle is true, read word by word."""
    seat = {name: place for place, name in enumerate(order, start=1)}
    if found := sentence(r"(\w+) sits somewhere to the left of (\w+)\.", line):
        return seat[found[0]] < seat[found[1]]
    if found := sentence(r"(\w+) and (\w+) sit next to each other\.", line):
        return abs(seat[found[0]] - seat[found[1]]) == 1
    if found := sentence(r"The seat numbers of (\w+) and (\w+) differ by (\d+)\.", line):
        return abs(seat[found[0]] - seat[found[1]]) == int(found[2])
    if found := sentence(r"(\w+) sits somewhere between (\w+) and (\w+)\.", line):
        return sorted(found, key=seat.get)[1] == found[0]
    (name,) = sentence(r"(\w+) sits at one end of the row\.", line)
    return seat[name] in (1, len(order))


@pytest.mark.parametrize("level", [0, 4])
def test_seating_has_exactly_one_order_and_says_nothing_idle(level):
    for task, problem in problems("seating", level, 8):
        people = problem.answer
        orders = list(itertools.permutations(people))
        fitting = [o for o in orders if all(seating_holds(line, o) for line in problem.said)]
        assert fitting == [people]
        for left_out in problem.said:
            others = [line for line in problem.said if line != left_out]
            assert sum(all(seating_holds(line, o) for line in others) for o in orders) > 1
        right = [o for o in orders if task.verify(problem, ", ".join(o)).score == 1.0]
        assert right == [people]


def liar_holds(line, honest):
    speaker, said = sentence(r'(\w+) says: "(.+)"', line)
    if found := sentence(r"(\w+) is a liar\.", said):
        true = not honest[found[0]]
    elif found := sentence(r"(\w+) and (\w+) are of the same kind\.", said):
        true = honest[found[0]] == honest[found[1]]
    elif found := sentence(r"At least one of (\w+) and (\w+) tells the truth\.", said):
        true = honest[found[0]] or honest[found[1]]
    elif found := sentence(r"The number of liars among us is (\d+)\.", said):
        true = sum(not value for value in honest.values()) == int(found[0])
    else:
        one, other = sentence(r"If (\w+) tells the truth, then (\w+) is a liar\.", said)
        true = not (honest[one] and honest[other])
    return honest[speaker] == true


@pytest.mark.parametrize("level", [0, 5])
def test_liars_have_exactly_one_reading(level):
    for _, problem in problems("liars", level, 8):
        listed = sentence(r".* You meet (.+)\.", problem.story)[0]
        people = re.split(r", | and ", listed)
        worlds = [
            dict(zip(people, values, strict=True))
            for values in itertools.product((False, True), repeat=len(people))
        ]
        fitting = [w for w in worlds if all(liar_holds(line, w) for line in problem.said)]
        assert [tuple("1" if w[p] else "0" for p in people) for w in fitting] == [problem.answer]


def test_workshop_reaches_the_largest_profit():
    for _, problem in problems("workshop", 4, 8):
        planks, hours, most = map(int, re.findall(r"\d+", problem.story))
        rows = [list(map(int, re.findall(r"\d+", line))) for line in problem.said]
        profits = [
            sum(p * k for p, k in zip(rows[2], made, strict=True))
            for made in itertools.product(range(most + 1), repeat=len(rows[0]))
            if sum(w * k for w, k in zip(rows[0], made, strict=True)) <= planks
            and sum(h * k for h, k in zip(rows[1], made, strict=True)) <= hours
        ]
        assert problem.answer == (str(max(profits)),)


def timetable_holds(line, world):
    if found := sentence(r"The talk on (\w+) is in an earlier slot than the talk on (\w+)\.", line):
        return world[found[0]][0] < world[found[1]][0]
    if found := sentence(r"The talks on (\w+) and (\w+) are in the same slot\.", line):
        return world[found[0]][0] == world[found[1]][0]
    if found := sentence(r"The talks on (\w+) and (\w+) are in different slots\.", line):
        return world[found[0]][0] != world[found[1]][0]
    if found := sentence(r"The talks on (\w+) and (\w+) are in different rooms\.", line):
        return world[found[0]][1] != world[found[1]][1]
    if found := sentence(r"The talk on (\w+) is not in slot (\d+)\.", line):
        return world[found[0]][0] != int(found[1])
    if found := sentence(r"The talk on (\w+) is in (the \w+)\.", line):
        return world[found[0]][1] == found[1]
    assert line == "No two talks are in the same room in the same slot."
    return len(set(world.values())) == len(world)


def test_the_right_option_of_a_timetable_is_true_in_every_world():
    for task, problem in problems("timetable", 0, 10):
        head, tail = problem.story.split(" are given in ")
        talks = re.split(r", | and ", head.removeprefix("Talks on "))
        rooms = re.findall(r"the (?:hall|cellar|attic)", tail)
        slots = int(re.search(r"There are (\d+)", tail)[1])
        places = list(itertools.product(range(1, slots + 1), rooms))
        worlds = [
            world
            for chosen in itertools.product(places, repeat=len(talks))
            if all(
                timetable_holds(line, world := dict(zip(talks, chosen, strict=True)))
                for line in problem.said
            )
        ]
        assert worlds
        musts = [all(timetable_holds(o, w) for w in worlds) for o in problem.options]
        for letter, must in zip("ABCD", musts, strict=True):
            assert task.verify(problem, letter).score == must


@pytest.mark.parametrize(
    ("path", "answer", "status"),
    [
        ("timetable", "E", "unparsable"),
        ("timetable", "A, B, C, D, A", "unparsable"),
        ("timetable", "the first", "unparsable"),
        ("seating", "Ann", "unparsable"),
        ("workshop", "999999", "wrong"),
        ("workshop", "1, 2", "wrong"),
    ],
)
def test_answers_of_another_form(path, answer, status):
    for task, problem in problems(path, 3, 3):
        assert task.verify(problem, answer).status == status


def test_forms_of_letters():
    for task, problem in problems("pets", 2, 6):
        letters = list(problem.answer)
        for form in (", ".join(letters), " ".join(reversed(letters)), f"[{','.join(letters)}]"):
            assert task.verify(problem, form.lower()).score == 1.0
        assert task.verify(problem, ", ".join(f"({letter})" for letter in letters)).score == 1.0


def test_levels_beyond_30_are_like_it():
    assert PuzzleSpecConfig.at(10**6) == PuzzleSpecConfig.at(30) != PuzzleSpecConfig.at(29)


@pytest.mark.parametrize("path", shipped())
def test_high_levels_still_come_to_an_end(path):
    for task, problem in problems(path, 15, 1):
        assert task.verify(problem, task.solve(problem)).score == 1.0


GOOD = """
name: coins
parameters:
  most: {integer: [2, 3 + level]}
  names: {sample: 2, from: [Ann, Bob, Cy]}
symbols:
  has: {type: integer, domain: [0, most], for: names}
story: "{names} have coins, at most {most} each."
rules:
  - formula: sum(has) > 0
    text: They do not both have none.
statements:
  - draw: {a: names, b: names}
    read: {gap: "has[a] - has[b]"}
    formula: has[a] == has[b] + gap
    when: gap >= 0
    text: "{a} has {gap} more than {b}."
  - draw: {a: names, k: "range(0, most + 1)"}
    formula: has[a] == k
    text: "{a} has {k}."
query:
  text: How many coins are there?
  answer: sum(has)
"""


def test_a_file_of_ones_own(tmp_path):
    path = tmp_path / "coins.yaml"
    path.write_text(GOOD)
    task = PuzzleSpecTask(PuzzleSpecConfig(path=str(path), level=2))
    problem = task.generate(stream("own", 0))
    assert problem.spec == "coins"
    assert task.verify(problem, task.solve(problem)).score == 1.0
    path.unlink()  # a stored problem is judged without the file
    assert task.verify(problem, "9").score == 0.0


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("name: coins", "title: coins", "the file: no key 'title'"),
        ("  text: How many coins are there?\n", "", "query: the key 'text' is missing"),
        ("sum(has) > 0", "sum(hat) > 0", r"rules\[0\].formula: .*nothing is called 'hat'; did you"),
        ("{a} has {gap} more", "{a} has {gab} more", r"statements\[0\].text: .*'gab'"),
        ("{a} has {k}.", "{a} has {has[a]}.", r"statements\[1\].text: .*nothing is called 'has'"),
        ("type: integer", "type: real", "symbols.has.type: 'real' is not one of integer"),
        ("domain: [0, most]", "domain: most", "symbols.has.domain: expected"),
        ("[2, 3 + level]", "[2, 3 + ]", "parameters.most.integer: .* is not a formula"),
        ("sample: 2", "sampel: 2", "parameters.names: no key 'sampel'; did you mean 'sample'"),
        ("[Ann, Bob, Cy]", "[]", "parameters.names.from: expected a list of names"),
        ("  answer: sum(has)", "  answr: sum(has)", "query: no key 'answr'; did you mean 'answer'"),
        ("  answer: sum(has)", "", "expected either 'answer' .* or 'options'"),
        ("most: {integer", "len: {integer", r"parameters.names|nothing is called 'most'"),
        ("rules:", "rules: [", "not YAML: .*line"),
        ("story: ", "story: [] #", "story: expected text"),
    ],
)
def test_an_error_says_where_and_what(old, new, complaint):
    assert old in GOOD
    with pytest.raises(SpecError, match=complaint) as caught:
        read(GOOD.replace(old, new), "coins.yaml")
    assert str(caught.value).startswith("coins.yaml: ")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("sum(has) > 0", "sum(has)", r"rules\[0\].formula: .* neither true nor false"),
        ("sum(has) > 0", "sum(has) > 99", "the rules contradict each other"),
        ("sample: 2", "sample: 5", "5 of 3 items cannot be drawn"),
        ("[2, 3 + level]", "[9, 3 + level]", r"\[9, 3\] is empty"),
        ("answer: sum(has)", "answer: has['Zoe']", "query.answer: .*nothing for 'Zoe'"),
        ("has[a] == k", "has[a] >= 0", "more than one answer"),
        ("{a: names, b: names}", "{a: names, b: names, c: names}", "more names than elements"),
    ],
)
def test_an_error_found_while_drawing_says_where_too(old, new, complaint):
    text = GOOD.replace(old, new).replace("has[a] == has[b] + gap", "has[a] >= has[b]")
    with pytest.raises(SpecError, match=complaint):
        draw(read(text, "coins.yaml"), 0, stream("broken", 0))


@pytest.mark.parametrize("knob", [{"path": ""}, {"level": -1}, {"level": True}, {"level": 10**30}])
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        PuzzleSpecConfig(**knob)


def test_a_missing_file_lists_what_there_is():
    task = PuzzleSpecTask(PuzzleSpecConfig(path="seatings"))
    with pytest.raises(SpecError, match=r"did you mean 'seating'.*timetable"):
        task.generate(stream("none", 0))


@pytest.mark.parametrize("form", ["{}.", r"\text{{{}}}", r"$\text{{{}}}$", "({})"])
@pytest.mark.parametrize("path", shipped())
def test_answers_in_usual_markup_are_read(path, form):
    for task, problem in problems(path, 1, 1):
        answer = task.solve(problem)
        if form != "({})" or problem.n_values != 1:
            assert task.verify(problem, form.format(answer)).score == 1.0


@pytest.mark.parametrize(
    ("path", "wanted"), [("shopping", str.isdecimal), ("seating", str.isalpha)]
)
def test_the_baseline_answers_with_words_of_the_puzzle(path, wanted):
    for task, problem in problems(path, 2, 4):
        values = task.baseline(stream("baseline", path), problem).split(", ")
        assert len(values) == problem.n_values
        assert all(map(wanted, values))
        assert all(value in f"{problem.story} {problem.said}" for value in values)


@pytest.mark.parametrize("path", shipped())
def test_effort_grows_with_the_level(path):
    low, high = (
        sum(task.effort(problem) for task, problem in problems(path, level, 6)) for level in (0, 6)
    )
    assert 0 < low < high


def test_shopping_has_exactly_one_list_of_prices():
    for task, problem in problems("shopping", 0, 10):
        goods = re.split(r", | and ", sentence(r"A stall sells (.+?)\. .*", problem.story)[0])
        dearest = int(re.search(r"from 1 to (\d+)", problem.story)[1])
        fitting = []
        for values in itertools.product(range(1, dearest + 1), repeat=len(goods)):
            price = dict(zip(goods, values, strict=True))
            if all(shopping_holds(line, price) for line in problem.said):
                fitting.append(tuple(map(str, values)))
        assert fitting == [problem.answer]
        assert task.verify(problem, ", ".join(problem.answer)).score == 1.0


def shopping_holds(line, price):
    if found := sentence(
        r"(\d+) of the (\w+) and (\d+) of the (\w+) cost (\d+) coins together\.", line
    ):
        x, a, y, b, total = found
        return int(x) * price[a] + int(y) * price[b] == int(total)
    if found := sentence(r"The price of the (\w+) is (\d+) higher than .+ the (\w+)\.", line):
        return price[found[0]] == price[found[2]] + int(found[1])
    one, other = sentence(r"The price of the (\w+) is higher than the price of the (\w+)\.", line)
    return price[one] > price[other]
