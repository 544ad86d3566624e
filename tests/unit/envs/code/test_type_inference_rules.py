"""The stated types are the only ones: every assignment of small types, checked by the prompt's rules.

The checker here knows nothing of facts and unification: it goes forward through the syntax tree
with concrete types, which are written as in annotations.
"""

import ast
import dataclasses
import itertools

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.code.type_inference import TypeInferenceConfig, TypeInferenceTask

PLAIN = ("int", "str", "bool")
SMALL = (
    *PLAIN,
    *(f"{name}[{a}]" for name in ("list", "set") for a in PLAIN),
    *(f"{name}[{a}, {b}]" for name in ("dict", "tuple") for a in PLAIN for b in PLAIN),
)


class Clash(Exception):
    pass


def need(holds):
    if not holds:
        raise Clash


def parts(kind):
    """Split "dict[str, list[int]]" into its constructor and arguments."""
    node = ast.parse(kind, mode="eval").body
    if isinstance(node, ast.Name):
        return node.id, []
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return node.value.id, [ast.unparse(each) for each in inner]


def items_of(kind, heads):
    head, inner = parts(kind)
    need(head in heads)
    return inner[0]


def type_of(node, types):
    match node:
        case ast.Constant():
            return type(node.value).__name__
        case ast.Name():
            return types[node.id]
        case ast.BinOp():
            left, right = type_of(node.left, types), type_of(node.right, types)
            need(left == right)
            allowed = ("int", "str", "list") if isinstance(node.op, ast.Add) else ("int",)
            need(parts(left)[0] in allowed)
            return left
        case ast.UnaryOp():
            need(type_of(node.operand, types) == "bool")
            return "bool"
        case ast.Compare():
            left, right = type_of(node.left, types), type_of(node.comparators[0], types)
            if isinstance(node.ops[0], ast.In):
                right = items_of(right, ("list", "set", "dict"))
            need(left == right)
            return "bool"
        case ast.Subscript():
            head, inner = parts(type_of(node.value, types))
            need(head in ("list", "dict"))
            need(type_of(node.slice, types) == ("int" if head == "list" else inner[0]))
            return inner[-1]
        case ast.Call():
            return call(node, types)
    return display(node, types)


def display(node, types):
    match node:
        case ast.List() | ast.Set():
            inner = {type_of(each, types) for each in node.elts}
            need(len(inner) == 1)
            return f"{type(node).__name__.lower()}[{inner.pop()}]"
        case ast.Tuple():
            return f"tuple[{', '.join(type_of(each, types) for each in node.elts)}]"
        case ast.Dict():
            return f"dict[{type_of(node.keys[0], types)}, {type_of(node.values[0], types)}]"
    raise AssertionError(ast.dump(node))


def call(node, types):
    if isinstance(node.func, ast.Attribute):
        return method(node, types)
    kind = type_of(node.args[0], types)
    if node.func.id == "str":
        return "str"
    need(node.func.id == "sorted")
    return f"list[{items_of(kind, ('list', 'set', 'dict'))}]"


def method(node, types):
    owner, args = type_of(node.func.value, types), [type_of(arg, types) for arg in node.args]
    name = node.func.attr
    if name in ("append", "add"):
        need(args == [items_of(owner, ("list",) if name == "append" else ("set",))])
        return "None"
    if name == "items":
        items_of(owner, ("dict",))
        return owner
    need(owner == "str")
    return {"upper": "str", "strip": "str", "split": "list[str]", "startswith": "bool"}[name]


def bind(target, kind, types):
    if isinstance(target, ast.Name):
        types[target.id] = kind
        return
    head, inner = parts(kind)
    need(head in ("tuple", "dict"))
    for name, each in zip(target.elts, inner, strict=True):
        types[name.id] = each


def result_of(body, types):
    for statement in body:
        match statement:
            case ast.Assign():
                kind = type_of(statement.value, types)
                need(isinstance(statement.targets[0], ast.Name) or parts(kind)[0] == "tuple")
                bind(statement.targets[0], kind, types)
            case ast.For():
                kind = type_of(statement.iter, types)
                pairs = isinstance(statement.iter, ast.Call)
                bind(statement.target, kind if pairs else items_of(kind, ("list", "set")), types)
                result_of(statement.body, types)
            case ast.Expr():
                type_of(statement.value, types)
            case ast.Return():
                return type_of(statement.value, types)
    return None


@pytest.mark.parametrize("n_statements", [1, 2])
def test_whole_small_world(n_statements):
    config = dataclasses.replace(TypeInferenceConfig.at(0), n_statements=n_statements)
    task = TypeInferenceTask(config)
    for seed in range(25):
        problem = task.generate(stream("small world", seed))
        (function,) = ast.parse(problem.code).body
        names = [arg.arg for arg in function.args.args]
        right = []
        for kinds in itertools.product(SMALL, repeat=len(names)):
            types = dict(zip(names, kinds, strict=True))
            try:
                result = result_of(function.body, types)
            except Clash:
                continue
            listed = ", ".join(f"{n}: {k}" for n, k in zip(names, kinds, strict=True))
            right.append(f"def f1({listed}) -> {result}: ...")
        assert right == [task.solve(problem)], problem.code
