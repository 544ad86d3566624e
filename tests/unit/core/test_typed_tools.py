"""Typed tools: schemas from type hints, and calls that are read, checked and run."""

import json
from typing import Any, Literal, Optional

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.tools import BadCall
from rlvr_envs.core.typed_tools import read_call, tool, tools_of


@tool
def book(
    city: str,
    nights: int,
    price: float = 9.5,
    breakfast: bool = False,
    kind: Literal["single", "double"] = "single",
    floor: Literal[1, 2] | None = None,
    guests: list[str] = [],  # noqa: B006 - never changed
    note: Optional[str] = None,  # noqa: UP045 - this spelling too
) -> str:
    """Book a room
    in a hotel.

    More that no model needs.

    Args:
        city: where,
            in one word.
        nights: how many.
        price: at most.
        breakfast: whether there is one.
        kind: of the room.
        floor: of the room.
        guests: names.
        note: for the hotel.
    """
    return repr((city, nights, price, breakfast, kind, floor, guests, note))


@tool
def stop() -> str:
    """Stop."""
    return "stopped"


TOOLS = (book, stop)


def test_schema_and_words_come_from_the_function():
    assert book.description == "Book a room in a hotel."
    assert book.schema["required"] == ["city", "nights"]
    kinds = {name: dict(told) for name, told in book.schema["properties"].items()}
    assert kinds["city"] == {"type": "string", "description": "where, in one word."}
    assert kinds["nights"]["type"] == "integer"
    assert kinds["price"]["type"] == "number"
    assert kinds["breakfast"]["type"] == "boolean"
    assert kinds["kind"]["enum"] == ["single", "double"]
    assert (kinds["floor"]["type"], kinds["floor"]["enum"]) == ("integer", [1, 2])
    assert kinds["guests"]["items"] == {"type": "string"}
    assert kinds["note"]["type"] == "string"
    assert "- nights, a whole number: how many." in book.usage().replace("  -", "-")


BOOKED = repr(("Rome", 2, 9.5, False, "single", None, [], None))


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "book", "arguments": {"city": "Rome", "nights": 2}}',
        '  {"name": "book", "arguments": {"city": "Rome", "nights": 2.0, "note": null}}\n',
        '{"name": "book", "arguments": {"city": "Rome", "nights": "2"}}',
        'So:\n<tool_call>{"name": "book", "arguments": {"city": "Rome", "nights": 2}}</tool_call>',
        'So:\n```json\n{"name": "book", "arguments": {"city": "Rome", "nights": 2}}\n```\nDone.',
        "<book><city>Rome</city><nights>2</nights></book>",
        "I book.\n<book>\n  <nights> 2 </nights>\n  <city>\nRome\n</city>\n</book>\nDone.",
        "<think><stop></stop></think><book><city>Rome</city><nights>2</nights></book>",
        "<book><city>Rome</city><nights>2</nights></book><stop></stop>",
        "<book><city>Rome</city><nights>2</nights><breakfast>False</breakfast></book>",
    ],
)
def test_calls_are_read_in_every_form(text):
    assert read_call(text, TOOLS).run() == BOOKED


def test_every_type_is_read_from_elements_and_from_json():
    wanted = repr(("Rome", 2, 3.0, True, "double", 2, ["A", "B"], "<b>quiet</b>"))
    given = {
        "city": "Rome",
        "nights": 2,
        "price": 3,
        "breakfast": True,
        "kind": "double",
        "floor": 2,
        "guests": ["A", "B"],
        "note": "<b>quiet</b>",
    }
    assert read_call(json.dumps({"name": "book", "arguments": given}), TOOLS).run() == wanted
    elements = {**given, "breakfast": "true", "guests": "A, B"}
    text = "".join(f"<{name}>{value}</{name}>" for name, value in elements.items())
    assert read_call(f"<book>{text}</book>", TOOLS).run() == wanted
    assert read_call(book.written(**given), TOOLS).run() == wanted
    assert read_call(book.offered().action(given), TOOLS).run() == wanted


def test_texts_in_elements_stand_as_they_are():
    code = "if a < b:\n    print('<city>x</city>')\n\n"
    call = read_call(f"<book><city>\n{code}\n</city><nights>1</nights></book>", TOOLS)
    assert call.arguments["city"] == code
    assert read_call("<book><city></city><nights>1</nights></book>", TOOLS).arguments["city"] == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no call of a tool (tools: book, stop)"),
        ("book Rome", "no call of a tool"),
        ("{", "no JSON object"),
        ('{"name": "book"} and more', "no JSON object"),
        ("[1]", "no call of a tool"),
        ('{"name": 3}', 'with "name" and "arguments"'),
        ('{"name": "bok", "arguments": {}}', "no tool 'bok'; did you mean 'book'?"),
        ('{"name": "book", "arguments": [1]}', "are a JSON object"),
        ('{"name": "book", "arguments": {"nights": 1}}', "lacks the argument 'city', a text"),
        ('{"name": "book", "arguments": {"city": null, "nights": 1}}', "lacks the argument 'city'"),
        ('{"name": "book", "arguments": {"town": "x"}}', "no argument 'town'"),
        ('{"name": "book", "arguments": {"city": 3, "nights": 1}}', "is a text, got 3"),
        ('{"name": "book", "arguments": {"city": "x", "nights": 1.5}}', "a whole number, got 1.5"),
        ('{"name": "book", "arguments": {"city": "x", "nights": true}}', "a whole number, got"),
        ('{"name": "book", "arguments": {"city": "x", "nights": "two"}}', "a whole number, got"),
        ('{"name": "book", "arguments": {"city": "x", "nights": NaN}}', "no JSON object"),
        (f'{{"name": "book", "arguments": {{"nights": {"9" * 50}}}}}', "no JSON object"),
        (f"<book><nights>{'9' * 50}</nights><city>x</city></book>", "a whole number, got"),
        ("<book><city>x</city><nights>1</nights><kind>twin</kind></book>", "one of single, double"),
        ("<book><city>x</city><nights>1</nights><floor>3</floor></book>", "one of 1, 2, or null"),
        ("<book><city>x</city><nights>1</nights><price>inf</price></book>", "a number, got"),
        (
            "<book><city>x</city><nights>1</nights><breakfast>maybe</breakfast></book>",
            "true or fal",
        ),
        ("<book><city>x</city><nights>1</nights>", "does not end with </book>"),
        ("<book><city>x<nights>1</nights></book>", "<city> does not end"),
        ("<book><town>x</town></book>", "takes each of these elements once"),
        ("<book><city>x</city><city>y</city></book>", "lacks the argument 'nights'"),
        ("<book>Rome</book>", "every text stands in the element"),
        ("[" * 100_000, "no call of a tool"),
        ('{"name": ' + "[" * 100_000, "no JSON object"),
        ("x" * 200_001, "at most 200000 characters"),
    ],
)
def test_bad_calls_say_what_would_fit(text, said):
    with pytest.raises(BadCall) as caught:
        read_call(text, TOOLS)
    assert said in str(caught.value)


def test_an_action_that_would_be_read_otherwise_is_refused():
    with pytest.raises(BadCall, match="marks of thoughts"):
        book.written(city="<think>a</think>", nights=1)


def test_methods_are_bound_and_inherited():
    class World:
        def __init__(self):
            self.total = 0

        @tool
        def add(self, n: int) -> str:
            """Add a number.

            Args:
                n: the number.
            """
            self.total += n
            if self.total > 9:
                raise BadCall("the total is 9 at most")
            return str(self.total)

    class Larger(World):
        @tool
        def halt(self) -> str:
            """Halt."""
            return "halted"

    world = Larger()
    tools = tools_of(world)
    assert [each.name for each in tools] == ["add", "halt"]
    assert read_call("<add><n>4</n></add>", tools).run() == "4"
    assert read_call("<halt></halt>", tools).run() == "halted"
    assert read_call("<add><n>6</n></add>", tools).run() == "Error: the total is 9 at most."
    assert world.total == 10
    assert tools_of(Larger())[0](3) == "3"


def untyped(a) -> str:
    """Do.

    Args:
        a: it.
    """
    return str(a)


def unknown(a: dict[str, Any]) -> str:
    """Do.

    Args:
        a: it.
    """
    return str(a)


def untold(a: int) -> str:
    """Do."""
    return str(a)


def silent(a: int) -> str:
    return str(a)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (untyped, "needs a type hint"),
        (unknown, "is str, int, float, bool, a Literal"),
        (untold, "has no line for a:"),
        (silent, "needs a docstring"),
    ],
)
def test_functions_that_make_no_tool_are_refused(function, said):
    with pytest.raises(ConfigError, match=said):
        tool(function)
