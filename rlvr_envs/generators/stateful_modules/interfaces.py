"""Classes that stateful modules are rewritten into: the stub, a solution, and what it does.

A feature is something the class has on top of the operations, such as a copy or an undo.
"""

import textwrap
from dataclasses import dataclass

from rlvr_envs.generators.stateful_modules.stateful import (
    Machine,
    Operation,
    changed,
    lines,
    written,
)

FEATURES = ("reset", "length", "clone", "equality", "undo", "history")


@dataclass(frozen=True, slots=True)
class Interface:
    """How a module becomes a class."""

    machine: Machine  # the module
    name: str  # of the class
    methods: tuple[str, ...]  # for each operation, the name of its method
    orders: tuple[tuple[int, ...], ...]  # for each operation, the order of the method's parameters
    features: tuple[str, ...]  # which of `FEATURES` there are

    def module(self) -> str:
        """Return the module as it is."""
        parts = [f"{name} = {value}" for name, value in self.machine.counters]
        parts += [f"{name} = []" for name in self.machine.lists]
        texts = ["\n".join(parts)]
        texts += [_function(operation) for operation in self.machine.operations]
        for name, _ in self.machine.counters:
            texts.append(f"def get_{name}():\n    return {name}")
        for name in self.machine.lists:
            texts.append(f"def get_{name}():\n    return list({name})")
        return "\n\n\n".join(texts)

    def stub(self) -> str:
        """Return the interface: signatures with documentation."""
        return "\n\n".join(
            f'{head}\n        """{told}"""\n        ...' if told else f"{head} ..."
            for head, told, _ in self._members()
        )

    def solution(self) -> str:
        """Return the class."""
        members = "\n\n".join(f"{head}\n{body}" for head, _, body in self._members())
        extra = "\n\n".join(self._private())
        text = f"{members}\n\n{extra}" if extra else members
        return f"import copy\n\n\n{text}" if "clone" in self.features else text

    def _members(self) -> list[tuple[str, str, str]]:
        """Return the head, the documentation and the body of every member."""
        counters = self.machine.counters
        given = ", ".join(f"{name}: int = {value}" for name, value in counters)
        sets = [f"self._{name} = {name}" for name, _ in counters]
        sets += [f"self._{name} = []" for name in self.machine.lists]
        if "reset" in self.features:
            names = ", ".join(name for name, _ in counters)
            sets.append(f"self._given = ({names}{',' if len(counters) == 1 else ''})")
        if self._remembers():
            sets.append("self._past = []")
        first = f"class {self.name}:\n    def __init__(self, {given}) -> None:"
        told = "Start with these integers" + (" and empty lists." if self.machine.lists else ".")
        members = [(first, told, _indented(sets))]
        for operation, method, order in zip(
            self.machine.operations, self.methods, self.orders, strict=True
        ):
            members.append(self._method(operation, method, order))
        for name in (*(name for name, _ in counters), *self.machine.lists):
            members.append(self._reader(name))
        members += [self._feature(feature) for feature in self.features]
        return members

    def _method(
        self, operation: Operation, method: str, order: tuple[int, ...]
    ) -> tuple[str, str, str]:
        params = ", ".join(f"{operation.params[i]}: int" for i in order)
        head = f"    def {method}(self, {params}) -> int:"
        told = f"Do what `{operation.name}({', '.join(operation.params)})` does"
        told += ", but raise ValueError where it returns None." if operation.refuses else "."
        if not self._remembers():
            return head, told, _indented(_body(operation))
        names = ", ".join(operation.params)
        body = [
            f"before = {self._state()}",
            f"value = self._{method}({names})",
            f'self._past.append(("{method}", before))',
            "return value",
        ]
        return head, told, _indented(body)

    def _private(self) -> list[str]:
        """Return the methods that operations are moved to where they are remembered."""
        if not self._remembers():
            return []
        return [
            f"    def _{method}(self, {', '.join(f'{name}: int' for name in operation.params)}) "
            f"-> int:\n{_indented(_body(operation))}"
            for operation, method in zip(self.machine.operations, self.methods, strict=True)
        ]

    def _reader(self, name: str) -> tuple[str, str, str]:
        plural = name in self.machine.lists
        kind, value = ("list[int]", f"list(self._{name})") if plural else ("int", f"self._{name}")
        told = f"What `get_{name}()` returns" + (", as a new list each time." if plural else ".")
        return (
            f"    @property\n    def {name}(self) -> {kind}:",
            told,
            f"        return {value}",
        )

    def _feature(self, feature: str) -> tuple[str, str, str]:
        fields = [*(name for name, _ in self.machine.counters), *self.machine.lists]
        forget = "; afterwards there is nothing to undo" if self._remembers() else ""
        if "history" in self.features:
            forget += ", and the history is empty"
        if feature == "reset":
            targets = ", ".join(f"self._{name}" for name, _ in self.machine.counters)
            body = [f"{targets}{',' if ',' not in targets else ''} = self._given"]
            body += [f"self._{name} = []" for name in self.machine.lists]
            body += ["self._past = []"] if forget else []
            told = f"Return to the state that `__init__` gave this object{forget}."
            return "    def reset(self) -> None:", told, _indented(body)
        if feature == "length":
            total = " + ".join(f"len(self._{name})" for name in self.machine.lists) or "0"
            told = "Return the total length of all lists in the state."
            return "    def __len__(self) -> int:", told, f"        return {total}"
        if feature == "clone":
            told = "Return an independent copy, including everything that the other methods use."
            return (
                f'    def clone(self) -> "{self.name}":',
                told,
                "        return copy.deepcopy(self)",
            )
        if feature == "equality":
            told = f"Return whether `other` is a {self.name} with equal integers and lists."
            body = [
                f"if not isinstance(other, {self.name}):",
                "    return False",
                f"return {self._state()} == {self._state('other')}",
            ]
            return "    def __eq__(self, other: object) -> bool:", told, _indented(body)
        if feature == "undo":
            targets = ", ".join(f"self._{name}" for name in fields)
            body = [
                "if not self._past:",
                "    raise ValueError",
                "_, before = self._past.pop()",
                f"{targets}{',' if len(fields) == 1 else ''} = before",
            ]
            told = (
                f"Undo the last call of {_listed(self.methods)} that did not raise ValueError and "
                "is not undone yet. Raise ValueError if there is none."
            )
            return "    def undo(self) -> None:", told, _indented(body)
        told = (
            f"The names of the called methods, oldest first, as a new list each time. It lists the "
            f"calls of {_listed(self.methods)} that did not raise ValueError"
            f"{' and are not undone' if 'undo' in self.features else ''}."
        )
        body = ["return [name for name, _ in self._past]"]
        return "    @property\n    def history(self) -> list[str]:", told, _indented(body)

    def _remembers(self) -> bool:
        return "undo" in self.features or "history" in self.features

    def _state(self, owner: str = "self") -> str:
        parts = [f"{owner}._{name}" for name, _ in self.machine.counters]
        parts += [f"list({owner}._{name})" for name in self.machine.lists]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _listed(names: tuple[str, ...]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def _indented(body: list[str]) -> str:
    return textwrap.indent("\n".join(body), "        ")


def _function(operation: Operation) -> str:
    """Return an operation as a function of the module."""
    body = []
    if changed(operation.body):
        body.append(f"global {', '.join(sorted(changed(operation.body)))}")
    if operation.refuses is not None:
        body += [f"if {written(operation.refuses, str)}:", "    return None"]
    body += [*lines(operation.body, str), f"return {written(operation.result, str)}"]
    return f"def {operation.name}({', '.join(operation.params)}):\n" + textwrap.indent(
        "\n".join(body), "    "
    )


def _body(operation: Operation) -> list[str]:
    """Return the lines of an operation's method."""

    def name_of(name: str) -> str:
        return name if name in operation.params else f"self._{name}"

    body = []
    if operation.refuses is not None:
        body += [f"if {written(operation.refuses, name_of)}:", "    raise ValueError"]
    return [
        *body,
        *lines(operation.body, name_of),
        f"return {written(operation.result, name_of)}",
    ]
