"""Scripts of calls on objects of a class: drawn, run on the trusted machine, and driven for real.

A script is a list of steps ``[action, index of the object, name, arguments]``; what it tells is
the list of all that the steps returned.
"""

import copy
from dataclasses import dataclass, field
from typing import Any

from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.generators.stateful_modules.interfaces import Interface
from rlvr_envs.generators.stateful_modules.stateful import State, run

Step = list[Any]
_OBJECTS = 4  # in a script, at most


def drive_script(script: list[list[Any]], made: Any) -> list[Any]:
    things: list[Any] = []
    told: list[Any] = []
    value: Any = None
    for action, index, name, args in script:
        try:
            if action == "new":
                things.append(made(*args))
                value = None
            elif action == "clone":
                things.append(things[index].clone())
                value = None
            elif action == "length":
                value = len(things[index])
            elif action == "equality":
                value = things[index] == (things[args[0]] if args else name)
            elif action == "get":
                value = getattr(things[index], name)
                if not isinstance(value, int):
                    told.append(list(value))
                    value.clear()  # a reader's list is nobody's state
            else:
                value = getattr(things[index], name)(*args)
        except ValueError:
            value = "ValueError"
        told.append(value)
    return told


@dataclass(slots=True)
class _Thing:
    """What an object of the class is to be like."""

    state: State
    given: tuple[int, ...]
    past: list[tuple[str, State]] = field(default_factory=list)


def expected(interface: Interface, script: list[Step]) -> list[Any]:
    """Return what a script tells of a right class."""
    things: list[_Thing] = []
    told: list[Any] = []
    for action, index, name, args in script:
        if action == "new":
            given = (*args, *(value for _, value in interface.machine.counters[len(args) :]))
            things.append(_Thing(interface.machine.start(given), given))
            told.append(None)
        elif action == "clone":
            things.append(copy.deepcopy(things[index]))
            told.append(None)
        elif action == "equality":
            told.append(bool(args) and things[index].state == things[args[0]].state)
        else:
            told += _answer(interface, things[index], action, name, args)
    return told


def _answer(interface: Interface, thing: _Thing, action: str, name: str, args: Any) -> list[Any]:
    """Return what a step on one object tells."""
    state = thing.state
    if action == "length":
        return [sum(len(state[each]) for each in interface.machine.lists)]
    if action == "get":
        value = [called for called, _ in thing.past] if name == "history" else state[name]
        return [list(value), []] if isinstance(value, list) else [value]
    if name == "undo" and not thing.past:
        return ["ValueError"]
    if name == "reset":
        thing.state, thing.past = interface.machine.start(thing.given), []
    elif name == "undo":
        thing.state = thing.past.pop()[1]
    else:
        return [_called(interface, thing, name, args)]
    return [None]


def _called(interface: Interface, thing: _Thing, name: str, args: list[int]) -> int | str:
    """Return what the method of an operation gives."""
    place = interface.methods.index(name)
    operation, order = interface.machine.operations[place], interface.orders[place]
    before = copy.deepcopy(thing.state)
    result = run(operation, thing.state, tuple(args[order.index(i)] for i in range(len(order))))
    if result is None:
        return "ValueError"
    thing.past.append((name, before))
    return result


def draw_script(rng: Rng, interface: Interface, length: int) -> list[Step]:
    """Draw a script on two objects and their copies that reads everything in the end."""
    counters = interface.machine.counters
    start = list(integers(rng, 0, 30, integer(rng, 1, len(counters))))
    script: list[Step] = [["new", 0, "", []], ["new", 0, "", start]]
    if rng.random() < 0.5:
        script.reverse()
    count = 2
    for _ in range(length):
        step = _step(rng, interface, count)
        count += step[0] == "clone"
        script.append(step)
    names = [name for name, _ in counters] + list(interface.machine.lists)
    names += ["history"] if "history" in interface.features else []
    # Twice: what a reader gave away must still be there.
    return script + [["get", i, name, []] for i in range(count) for name in (*names, *names)]


def _step(rng: Rng, interface: Interface, count: int) -> Step:
    index, choice = integer(rng, 0, count - 1), rng.random()
    if choice < 0.65 or (choice < 0.85 and not interface.features):
        place = integer(rng, 0, len(interface.methods) - 1)
        args = list(integers(rng, -3, 12, len(interface.orders[place])))
        return ["call", index, interface.methods[place], args]
    if choice >= 0.85:
        names = [name for name, _ in interface.machine.counters] + list(interface.machine.lists)
        return ["get", index, pick(rng, names), []]
    return _feature_step(rng, interface, index, count)


def _feature_step(rng: Rng, interface: Interface, index: int, count: int) -> Step:
    feature = pick(rng, interface.features)
    if feature in ("reset", "undo"):
        return ["call", index, feature, []]
    if feature == "history":
        return ["get", index, feature, []]
    if feature == "equality":
        return [feature, index, "", [integer(rng, 0, count - 1)] if rng.random() < 0.8 else []]
    if feature == "clone" and count >= _OBJECTS:
        return ["get", index, interface.machine.counters[0][0], []]
    return [feature, index, "", []]
