"""Tools as typed Python functions: `tool` makes one, `read_call` reads a model's call of one.

The JSON schema of a tool comes from its type hints, and its words from its docstring. A call is
written as JSON or in tags; both are read to the same arguments, checked against the types, and a
call that does not fit gets an error that says what would.

    @tool
    def add(a: int, b: int = 1) -> str:
        '''Add two numbers.

        ...
        '''
        return str(a + b)

    {"name": "add", "arguments": {"a": 2, "b": 3}}
    <add><a>2</a><b>3</b></add>
"""

import ast
import inspect
import json
import math
import re
import textwrap
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Union

from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.core.thoughts import code_blocks, spoken, visible
from rlvr_envs.core.tools import BadCall, Tool

MAX_CHARACTERS = 200_000  # of a message with a call
MAX_DIGITS = 40  # of a number
_SHOWN = 80  # characters of what a model wrote that a message repeats
_INT = re.compile(r"[+-]?[0-9]{1,40}")
_FLOAT = re.compile(r"[+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?")
_OPENED = re.compile(r"\s*<([A-Za-z_]\w{0,60})>")
_AFTER = re.compile(r"\s*(?:<([A-Za-z_]\w{0,60})>|\Z)")
_ARGUMENT = re.compile(r"(\w+)(?: \([^)]*\))?: *(.*)")
_TRUTH = {"true": True, "false": False}
_KINDS: dict[Any, tuple[str, str]] = {
    str: ("string", "a text"),
    int: ("integer", "a whole number"),
    float: ("number", "a number"),
    bool: ("boolean", "true or false"),
}


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a tool.

    Attributes:
        kind: its type hint: str, int, float, bool, a Literal of texts or of whole numbers, or a
            list of one of these; not optional.
        told: what it is, for the model.
        required: whether a call has to give it.
        nullable: whether it may be null.
    """

    kind: Any
    told: str
    required: bool
    nullable: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its values."""
        return _schema(self.kind)

    @property
    def allowed(self) -> str:
        """What it may be, in words."""
        return _allowed(self.kind) + (", or null" if self.nullable else "")


@dataclass(frozen=True, slots=True)
class TypedTool:
    """A Python function that a model may call; made by `tool`.

    In the body of a class it is a method: read from an object, it is bound to that.

    Attributes:
        name: of the function.
        description: what a call does, for the model.
        arguments: by name.
        function: what a call runs; it returns a text, the observation.
    """

    name: str
    description: str
    arguments: Mapping[str, Argument]
    function: Callable[..., str]

    def __call__(self, *args: Any, **kwargs: Any) -> str:
        return self.function(*args, **kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> "TypedTool":
        """Return the tool of an object, as a method is read."""
        if instance is None:
            return self
        return replace(self, function=types.MethodType(self.function, instance))

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        return self.offered().parameters

    def checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call as values of their types.

        Raises:
            BadCall: one is missing, unknown or of another type; the message is for the model.
        """
        for name in arguments:
            if name not in self.arguments:
                hint = did_you_mean(str(name)[:_SHOWN], self.arguments)
                takes = ", ".join(self.arguments) or "none"
                raise BadCall(
                    f"{self.name} has no argument {str(name)[:_SHOWN]!r}{hint} (arguments: {takes})"
                )
        found: dict[str, Any] = {}
        for name, argument in self.arguments.items():
            value = arguments.get(name)
            if value is None and (argument.nullable or not argument.required):
                if name in arguments and argument.nullable:
                    found[name] = None
            elif value is None:
                raise BadCall(f"{self.name} lacks the argument {name!r}, {argument.allowed}")
            else:
                try:
                    found[name] = _value(argument.kind, value)
                except _Unfit:
                    raise BadCall(
                        f"the argument {name!r} of {self.name} is {argument.allowed}, got "
                        f"{_short(value)}"
                    ) from None
        return found

    def written(self, **arguments: Any) -> str:
        """Return a call as an action.

        Raises:
            BadCall: the arguments do not fit, or hold marks of thoughts, which are not read.
        """
        checked = self.checked(arguments)
        action = json.dumps({"name": self.name, "arguments": checked}, ensure_ascii=False)
        try:
            kept = read_call(action, (self,)).arguments == checked
        except BadCall:
            kept = False
        if not kept:
            raise BadCall("an argument holds marks of thoughts or invisible characters")
        return action

    def offered(self) -> Tool:
        """Return the tool as an environment offers it to models that call functions."""
        return Tool(
            self.name,
            self.description,
            {name: argument.told for name, argument in self.arguments.items()},
            lambda given: self.written(**given),
            optional=[name for name, each in self.arguments.items() if not each.required],
            schemas={name: argument.schema for name, argument in self.arguments.items()},
        )

    def usage(self) -> str:
        """Return how the tool is called, as an item of a list in a prompt."""
        lines = [f"- {self.name}({', '.join(self.arguments)}): {self.description}"]
        for name, argument in self.arguments.items():
            may = "" if argument.required else "; may be left out"
            lines.append(f"  - {name}, {argument.allowed}{may}: {argument.told}")
        return "\n".join(lines)


class Call(NamedTuple):
    """A call that fits its tool."""

    tool: TypedTool
    arguments: dict[str, Any]

    def run(self) -> str:
        """Run the tool and return what it says; what it refuses with `BadCall` is said too."""
        try:
            return self.tool(**self.arguments)
        except BadCall as error:
            return f"Error: {error}."


def tool(function: Callable[..., str]) -> TypedTool:
    """Make a tool of a function with type hints and a docstring.

    The first paragraph of the docstring says what a call does, its section ``Args:`` what each
    argument is. A parameter ``self`` is no argument.

    Raises:
        ConfigError: an argument has no type hint, one that calls cannot carry, or no words.

    Examples:
        >>> from typing import Literal
        >>> from rlvr_envs.core.typed_tools import read_call, tool
        >>> @tool
        ... def paint(wall: int, colour: Literal["red", "blue"] = "red") -> str:
        ...     '''Paint a wall.
        ...
        ...     Args:
        ...         wall: its number.
        ...         colour: of the paint.
        ...     '''
        ...     return f"Wall {wall} is {colour}."
        >>> read_call('{"name": "paint", "arguments": {"wall": 2}}', [paint]).run()
        'Wall 2 is red.'
        >>> read_call("<paint><wall>3</wall><colour>blue</colour></paint>", [paint]).run()
        'Wall 3 is blue.'
    """
    name = function.__name__
    description, told = _words(_docstring(function))
    if not description:
        raise ConfigError(f"the tool {name} needs a docstring: its first paragraph is shown")
    hints = typing.get_type_hints(function)
    arguments = {}
    for each in inspect.signature(function).parameters.values():
        if each.name == "self":
            continue
        if each.name not in hints or each.kind is not each.POSITIONAL_OR_KEYWORD:
            raise ConfigError(f"the argument {each.name} of the tool {name} needs a type hint")
        if each.name not in told:
            raise ConfigError(f"the docstring of the tool {name} has no line for {each.name}:")
        kind, nullable = _without_none(hints[each.name])
        if not _carried(kind):
            raise ConfigError(
                f"the argument {each.name} of the tool {name} is str, int, float, bool, a Literal "
                f"of texts or whole numbers, or a list of these, got {hints[each.name]}"
            )
        required = each.default is each.empty
        arguments[each.name] = Argument(kind, told[each.name], required, nullable)
    return TypedTool(name, description, arguments, function)


def _docstring(function: Callable[..., Any]) -> str:
    """Return a function's docstring, from its source where ``python -OO`` has removed it."""
    if (found := inspect.getdoc(function)) is not None:
        return found
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return ""
    definition = tree.body[0]
    return ast.get_docstring(definition) or "" if isinstance(definition, ast.FunctionDef) else ""


def tools_of(world: object) -> tuple[TypedTool, ...]:
    """Return the tools that are methods of an object, bound to it, in the order of their lines."""
    names: dict[str, None] = {}
    for owner in reversed(type(world).__mro__):
        names.update(dict.fromkeys(n for n, v in vars(owner).items() if isinstance(v, TypedTool)))
    return tuple(getattr(world, name) for name in names)


def read_call(text: str, tools: Sequence[TypedTool]) -> Call:
    """Read the first call of a message.

    It is a JSON object with "name" and "arguments": the whole message, between ``<tool_call>`` and
    ``</tool_call>``, or in a ```json block; or an element named like the tool, with an element for
    each argument. Thoughts are not read.

    Raises:
        BadCall: there is none, or it does not fit its tool; the message is for the model.
    """
    if len(text) > MAX_CHARACTERS:
        raise BadCall(f"a message has at most {MAX_CHARACTERS} characters")
    said = spoken(visible(text)).strip()
    if said.startswith("{"):
        return _json_call(said, tools)
    starts = {each.name: said.find(f"<{each.name}>") for each in tools}
    starts["tool_call"] = said.find("<tool_call>")
    found = {name: start for name, start in starts.items() if start >= 0}
    if found:
        name = min(found, key=lambda each: found[each])
        inside = found[name] + len(name) + 2
        if name == "tool_call":
            close = said.find("</tool_call>", inside)
            return _json_call(said[inside : close if close >= 0 else len(said)].strip(), tools)
        chosen = next(each for each in tools if each.name == name)
        return Call(chosen, chosen.checked(_elements(said, inside, chosen)))
    blocks = [body for tag, body, *_ in code_blocks(said) if tag == "json"]
    if blocks:
        return _json_call(blocks[0].strip(), tools)
    raise BadCall(f"your message holds no call of a tool ({_named(tools)})")


def _named(tools: Iterable[TypedTool]) -> str:
    return f"tools: {', '.join(each.name for each in tools)}"


def _json_call(text: str, tools: Sequence[TypedTool]) -> Call:
    try:
        data = json.loads(text, parse_constant=_no_number, parse_int=_short_int)
    except (ValueError, RecursionError):
        raise BadCall("the call is no JSON object; escape line ends as \\n within texts") from None
    if not isinstance(data, dict) or not isinstance(data.get("name"), str):
        raise BadCall('a call is a JSON object with "name" and "arguments"')
    name, arguments = data["name"], data.get("arguments", {})
    chosen = next((each for each in tools if each.name == name), None)
    if chosen is None:
        hint = did_you_mean(name[:_SHOWN], [each.name for each in tools])
        raise BadCall(f"there is no tool {name[:_SHOWN]!r}{hint} ({_named(tools)})")
    if not isinstance(arguments, dict):
        raise BadCall('the "arguments" of a call are a JSON object')
    return Call(chosen, chosen.checked(arguments))


def _elements(text: str, at: int, chosen: TypedTool) -> dict[str, str]:
    """Read the elements of a call in tags; an argument ends where the next one or the call does."""
    found: dict[str, str] = {}
    end = text.rfind(f"</{chosen.name}>", at)
    if end < 0:
        raise BadCall(f"the call of {chosen.name} does not end with </{chosen.name}>")
    if not chosen.arguments and not text[at:end].strip():
        return found
    while opened := _OPENED.match(text, at, end):
        name = opened[1]
        if name not in chosen.arguments or name in found:
            takes = ", ".join(f"<{each}>" for each in chosen.arguments) or "none"
            raise BadCall(f"{chosen.name} takes each of these elements once: {takes}")
        close = _close(text, opened.end(), end, name, chosen, {*found, name})
        found[name] = _trimmed(text[opened.end() : close])
        at = close + len(name) + 3
    rest = text[at:end].strip()
    if rest and not rest.startswith(f"</{chosen.name}>"):
        raise BadCall(
            f"in a call of {chosen.name}, every text stands in the element of an argument"
        )
    return found


def _close(text: str, start: int, end: int, name: str, chosen: TypedTool, given: set[str]) -> int:
    """Return where an element ends: where another argument's begins after it, or the call ends."""
    close = start
    while (close := text.find(f"</{name}>", close, end)) >= 0:
        after = _AFTER.match(text, close + len(name) + 3, end)
        if after and (after[1] is None or (after[1] in chosen.arguments and after[1] not in given)):
            return close
        if text.startswith(f"</{chosen.name}>", _skipped(text, close + len(name) + 3)):
            return close
        close += 1
    raise BadCall(f"the element <{name}> does not end with </{name}>")


def _skipped(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _trimmed(text: str) -> str:
    """Return a text without one line end at its beginning and at its end."""
    text = text.replace("\r\n", "\n")
    return text.removeprefix("\n").removesuffix("\n") if text.strip() else ""


def _words(doc: str) -> tuple[str, dict[str, str]]:
    """Return the first paragraph of a docstring, and the words of its section ``Args:``."""
    first, _, rest = doc.partition("\n\n")
    _, _, section = f"\n{rest}".partition("\nArgs:\n")
    told: dict[str, str] = {}
    last = ""
    for line in section.split("\n"):
        begins = _ARGUMENT.fullmatch(line.strip()) if line[:4] == "    " != line[4:8] else None
        if begins:
            last = begins[1]
            told[last] = begins[2]
        elif last and line[:8] == "        ":
            told[last] += f" {line.strip()}"
        else:
            last = ""
    return " ".join(first.split()), told


def _without_none(hint: Any) -> tuple[Any, bool]:
    if typing.get_origin(hint) in (Union, types.UnionType):
        others = [each for each in typing.get_args(hint) if each is not type(None)]
        if len(others) == 1:
            return others[0], True
    return hint, False


def _carried(kind: Any) -> bool:
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is list:
        return len(args) == 1 and _carried(args[0])
    if origin is Literal:
        return len({type(each) for each in args}) == 1 and type(args[0]) in (str, int)
    return kind in _KINDS


def _schema(kind: Any) -> dict[str, Any]:
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is list:
        return {"type": "array", "items": _schema(args[0])}
    if origin is Literal:
        return {"type": _KINDS[type(args[0])][0], "enum": list(args)}
    return {"type": _KINDS[kind][0]}


def _allowed(kind: Any) -> str:
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is list:
        return f"a list, each item {_allowed(args[0])}"
    if origin is Literal:
        return f"one of {', '.join(map(str, args))}"
    return _KINDS[kind][1]


class _Unfit(Exception):
    """A value is not of a kind."""


def _value(kind: Any, value: Any) -> Any:
    """Return a value of a kind; numbers, truth and lists may come as texts, as in tags."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is list:
        return [_value(args[0], item) for item in _items(value)]
    if origin is Literal:
        given = _value(type(args[0]), value.strip() if isinstance(value, str) else value)
        if given in args:
            return given
        raise _Unfit
    return _READ[kind](value)


def _items(value: Any) -> list[Any]:
    if isinstance(value, str):
        try:
            read = json.loads(value, parse_constant=_no_number, parse_int=_short_int)
        except (ValueError, RecursionError):
            read = None
        bare = [part.strip() for part in value.split(",")] if value.strip() else []
        value = read if isinstance(read, list) else bare
    if not isinstance(value, list):
        raise _Unfit
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Unfit
    return value


def _whole(value: Any) -> int:
    if isinstance(value, str) and _INT.fullmatch(value.strip()):
        return int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _Unfit
    return value


def _number(value: Any) -> float:
    if isinstance(value, str) and _FLOAT.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _Unfit
    return float(value)


def _truth(value: Any) -> bool:
    if isinstance(value, str):
        value = _TRUTH.get(value.strip().lower())
    if not isinstance(value, bool):
        raise _Unfit
    return value


_READ: dict[Any, Callable[[Any], Any]] = {str: _text, int: _whole, float: _number, bool: _truth}


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _short_int(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError("a number with too many digits")
    return int(digits)
