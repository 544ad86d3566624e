"""Tools: calls by name and arguments that stand for the text actions of an interactive task.

Models that are trained for it call functions in a format of their own, which their server reads. A
`Tool` says what such a function is called and takes, and writes the action that a call of it means,
so that the task plays, records and judges text as always.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rlvr_envs.core.errors import RlvrEnvsError

_SHOWN = 80  # characters of what a model wrote that a message repeats


class BadCall(RlvrEnvsError):
    """A call means no action; the message says why, for the model."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model may call; its arguments are texts, unless they have a schema.

    Attributes:
        name: of the function, in letters, digits and underscores.
        description: what a call does, for the model.
        arguments: each argument by its name, with what it says, for the model.
        write: returns the action of a call, given its arguments. A BadCall says why they make no
            action.
        optional: the arguments that may be left out.
        schemas: the JSON schema of each argument that is no text; ``write`` checks and gets its
            value as it came (`rlvr_envs.core.typed_tools`).

    Examples:
        >>> from rlvr_envs.core.tools import Tool
        >>> guess = Tool("guess", "Guess a number.", {"n": "the number"}, lambda given: given["n"])
        >>> guess.action({"n": 7})
        '7'
    """

    name: str
    description: str
    arguments: Mapping[str, str]
    write: Callable[[Mapping[str, Any]], str]
    optional: Sequence[str] = ()
    schemas: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        return {
            "type": "object",
            "properties": {
                name: {**self.schemas.get(name, {"type": "string"}), "description": told}
                for name, told in self.arguments.items()
            },
            "required": [name for name in self.arguments if name not in self.optional],
        }

    def action(self, arguments: Mapping[str, object]) -> str:
        """Return the action that a call with these arguments means.

        Numbers are read as texts, which is what they are in an action.

        Raises:
            BadCall: an argument is missing, unknown or no text; the message is for the model.
        """
        given = {name: value for name, value in arguments.items() if value is not None}
        if unknown := [name for name in given if name not in self.arguments]:
            raise BadCall(f"{self.name} has no argument {unknown[0][:_SHOWN]!r}; {self._takes()}")
        missing = [name for name in self.parameters["required"] if name not in given]
        if missing:
            raise BadCall(f"{self.name} lacks the argument {missing[0]!r}; {self._takes()}")
        for name, value in given.items():
            if name in self.schemas:
                continue
            if isinstance(value, bool) or not isinstance(value, (str, int, float)):
                raise BadCall(f"the argument {name!r} of {self.name} has to be a text")
        typed = {
            name: value if name in self.schemas else str(value) for name, value in given.items()
        }
        return self.write({name: typed[name] for name in self.arguments if name in typed})

    def _takes(self) -> str:
        return f"it takes {', '.join(map(repr, self.arguments))}"


def _text(arguments: Mapping[str, str]) -> str:
    return arguments["text"]


# The one tool of a task that declares none.
ACT = Tool(
    "act",
    "Send the next message to the environment: an answer, or an action, written as the task asks.",
    {"text": "The whole message."},
    _text,
)
