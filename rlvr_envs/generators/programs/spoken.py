"""A program in plain words, precise enough to write it again."""

from rlvr_envs.generators.programs import nodes

_TYPES: dict[nodes.Type, str] = {
    "int": "an integer",
    "bool": "a boolean, true or false",
    "str": "a string",
    "list": "a list of integers",
}
_FORMS: dict[nodes.Type, str] = {
    "int": "a line with an integer",
    "str": "a line with a string",
    "list": "a line with the length of a list of integers, then a line with its items",
}
_PHRASES = {
    "+": "{} + {}",
    "-": "{} - {}",
    "*": "{} * {}",
    "//": "the quotient of {} by {}",
    "%": "the remainder of {} by {}",
    "min": "the smaller of {} and {}",
    "max": "the larger of {} and {}",
    "==": "{} equals {}",
    "!=": "{} differs from {}",
    "<": "{} is less than {}",
    "<=": "{} is at most {}",
    ">": "{} is greater than {}",
    ">=": "{} is at least {}",
    "and": "{} and {}",
    "or": "{} or {}",
    "concat": "{} followed by {}",
}


# By the word that needs it.
_NOTES = {
    "item ": "List items and characters of strings are numbered from 0.",
    "quotient of": "A quotient is rounded down.",
    "remainder of": "The remainder of a by b has the sign of b: it is a minus b times the quotient "
    "of a by b, rounded down.",
    "For `": "The bounds of a loop are computed once, before it starts.",
    "Print ": "Each print step prints one line, with its values separated by single spaces. A list "
    "is printed as its items.",
}


def inputs_in_words(program: nodes.Program) -> str:
    """Return what a program reads, one input a line."""
    return "\n".join(f"- `{name}`: {_FORMS[kind]}" for name, kind in program.inputs)


def in_words(program: nodes.Program) -> str:
    """Return what a program does, step by step."""
    parts = [_function(function) for function in program.functions]
    parts.append("The program:\n" + "\n".join(_block(program.body, 0)))
    text = "\n\n".join(parts)
    notes = [note for word, note in _NOTES.items() if word in text]
    return f"{text}\n\n{' '.join(notes)}" if notes else text


def _function(function: nodes.Function) -> str:
    params = ", ".join(f"`{name}` ({_TYPES[kind]})" for name, kind in function.params)
    head = f"The function `{function.name}` takes {params} and returns {_TYPES[function.returns]}:"
    return "\n".join((head, *_block(function.body, 0)))


def _block(body: nodes.Block, depth: int) -> list[str]:
    return [line for statement in body for line in _statement(statement, depth)]


def _statement(statement: nodes.Statement, depth: int) -> list[str]:
    indent = "  " * depth + "- "
    match statement:
        case nodes.If(condition, then, otherwise):
            lines = [f"{indent}If {_words(condition)}:", *_block(then, depth + 1)]
            return lines + (
                [f"{indent}Otherwise:", *_block(otherwise, depth + 1)] if otherwise else []
            )
        case nodes.While(condition, body):
            head = f"While {_words(condition)}, repeat:"
            return [indent + head, *_block(body, depth + 1)]
        case nodes.For(var, start, stop, body):
            head = f"For `{var}` from {_words(start)} up to, but not including, {_operand(stop)}:"
            return [indent + head, *_block(body, depth + 1)]
    return [f"{indent}{_simple(statement)}."]


def _simple(statement: nodes.Statement) -> str:
    match statement:
        case nodes.Let(name, _, value):
            text = f"Let `{name}` be {_words(value)}"
        case nodes.Assign(name, nodes.Binary("+", nodes.Var(left), right)) if left == name:
            text = f"Increase `{name}` by {_words(right)}"
        case nodes.Assign(name, nodes.Binary("-", nodes.Var(left), right)) if left == name:
            text = f"Decrease `{name}` by {_words(right)}"
        case nodes.Assign(name, value):
            text = f"Set `{name}` to {_words(value)}"
        case nodes.SetItem(name, index, value):
            text = f"Set item {_operand(index)} of `{name}` to {_words(value)}"
        case nodes.Append(name, value):
            text = f"Append to `{name}`: {_words(value)}"
        case nodes.Return(value):
            text = f"Return {_words(value)}"
        case nodes.Print(items):
            text = f"Print {', then '.join(map(_words, items))}"
        case _:
            raise TypeError(f"not a simple statement: {statement!r}")
    return text


def _words(node: nodes.Expression) -> str:
    match node:
        case nodes.Binary(op, left, right):
            text = _PHRASES[op].format(_operand(left), _operand(right))
        case nodes.Not(inner):
            text = f"it is not true that {_operand(inner)}"
        case nodes.Neg(inner):
            text = f"minus {_operand(inner)}"
        case nodes.Length(inner):
            text = f"the length of {_operand(inner)}"
        case nodes.Index(sequence, index):
            text = f"item {_operand(index)} of {_operand(sequence)}"
        case nodes.Call(name, args):
            text = f"the result of `{name}` for {' and '.join(map(_operand, args))}"
        case nodes.ListOf(items):
            text = f"the list of {', '.join(map(_words, items))}" if items else "an empty list"
        case _:
            text = _atom(node)
    return text


def _atom(node: nodes.Expression) -> str:
    match node:
        case nodes.Var(name):
            return f"`{name}`"
        case nodes.Str(text):
            return f'"{text}"' if text else "the empty string"
        case nodes.Int(value):
            return str(value)
        case nodes.Bool(value):
            return "true" if value else "false"
    raise TypeError(f"not an expression: {node!r}")


def _operand(node: nodes.Expression) -> str:
    """Return an expression as part of another, with parentheses where it has parts itself."""
    plain = isinstance(node, (nodes.Var, nodes.Str, nodes.Bool)) or (
        isinstance(node, nodes.Int) and node.value >= 0
    )
    return _words(node) if plain else f"({_words(node)})"
