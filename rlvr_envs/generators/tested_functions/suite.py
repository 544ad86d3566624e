"""Reading a test suite as data: which calls of the function it makes, and what it expects.

Nothing of the suite is run. A suite that ran beside the function could look at its code, its name
or its frames and tell a mutant from the original without testing anything; read as data, all that
it can say is "these arguments give this value". Constants, loops over literals, parametrised tests
and classes of tests are understood; whatever else stands in it is refused with a reason.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from rlvr_envs.generators.programs.nodes import Function
from rlvr_envs.generators.tested_functions.values import Call, SuiteError, Values, evaluate
from rlvr_envs.verifiers.python_source import parse_module

MAX_TESTS = 200
_MODULES = frozenset({"pytest", "unittest", "typing", "__future__"})
_EQUALITY = frozenset({"assertEqual", "assertEquals", "assertListEqual"})

Environment: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Check:
    """A call of the function and the value that it should return, in the test that says so."""

    test: str
    args: tuple[Any, ...]
    expected: Any


@dataclass(slots=True)
class Suite:
    """What a suite says."""

    checks: list[Check] = field(default_factory=list)  # all that is compared, in order
    tests: list[str] = field(default_factory=list)  # the names of the tests
    idle: int = 0  # how many assertions call nothing

    def quality(self) -> dict[str, float]:
        """Return static measures of the suite."""
        per_test = [sum(check.test == name for check in self.checks) for name in self.tests]
        distinct = {repr(check.args) for check in self.checks}
        return {
            "tests": float(len(self.tests)),
            "assertions": float(len(self.checks)),
            "repeated_assertions": float(len(self.checks) - len(distinct)),
            "tests_without_assertion": float(sum(count == 0 for count in per_test)),
            "idle_assertions": float(self.idle),
            "most_assertions_in_a_test": float(max(per_test, default=0)),
        }


def read_suite(source: str, function: Function, most: int) -> Suite:
    """Return what a suite says about a function.

    Args:
        source: Python code.
        function: what it tests.
        most: how many checks it may make.

    Raises:
        SuiteError: it is no suite that can be read; the message says why.
    """
    module = parse_module(source)
    if module is None:
        raise SuiteError("the tests are not valid Python")
    reader = _Reader(function, most)
    try:
        reader.module(module)
    except RecursionError as error:
        raise SuiteError("the tests are nested too deep") from error
    return reader.suite


class _Reader:
    """Walks through a suite as Python would, as far as it is understood."""

    def __init__(self, function: Function, most: int) -> None:
        self.function = function
        self.most = most
        self.suite = Suite()
        self.values = Values(function)

    def module(self, module: ast.Module) -> None:
        names: Environment = {}
        for node in module.body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self.imports(node)
            elif isinstance(node, ast.ClassDef):
                self.test_class(node, names)
            elif isinstance(node, ast.FunctionDef):
                self.test(node, names, "")
            else:
                self.statement(node, names, "")

    def imports(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.ImportFrom):
            own = all(alias.name == self.function.name and not alias.asname for alias in node.names)
            if own or (node.module or "").partition(".")[0] in _MODULES:
                return
            raise SuiteError(f"the tests may not import from {node.module}")
        for alias in node.names:
            if alias.name not in _MODULES or alias.asname:
                raise SuiteError(f"the tests may not import {alias.name}")

    def test_class(self, node: ast.ClassDef, names: Environment) -> None:
        if not node.name.startswith("Test") or node.decorator_list:
            raise SuiteError(
                "the name of a test class must begin with Test, and it has no decorators"
            )
        inner = dict(names)
        for item in node.body:
            if isinstance(item, ast.FunctionDef):
                self.test(item, inner, f"{node.name}.")
            elif isinstance(item, (ast.Assign, ast.Expr, ast.Pass)):
                self.statement(item, inner, "")
            else:
                raise SuiteError(_not_understood(item))

    def test(self, node: ast.FunctionDef, names: Environment, prefix: str) -> None:
        if not node.name.startswith("test"):
            raise SuiteError(
                f"{node.name} is not a test: only functions named test_... are allowed"
            )
        name = prefix + node.name
        if name in self.suite.tests:
            raise SuiteError(f"two tests are named {name}, so the first would never run")
        if len(self.suite.tests) >= MAX_TESTS:
            raise SuiteError(f"there are more than {MAX_TESTS} tests")
        self.suite.tests.append(name)
        params = [arg.arg for arg in node.args.args]
        if prefix and params[:1] == ["self"]:
            params = params[1:]
        others = node.args
        if any(
            (others.posonlyargs, others.vararg, others.kwonlyargs, others.kwarg, others.defaults)
        ):
            raise SuiteError(f"{name} has parameters other than plain positional ones")
        for case in self.cases(node.decorator_list, params, names):
            self.block(node.body, {**names, **case}, name)

    def cases(
        self, decorators: Sequence[ast.expr], params: list[str], names: Environment
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the values of a test's parameters, one set for each time that it runs."""
        if not decorators and not params:
            yield {}
            return
        if len(decorators) != 1 or not _is_parametrize(decorators[0]):
            raise SuiteError(
                "a test with parameters needs exactly one decorator, pytest.mark.parametrize"
            )
        call = decorators[0]
        if not isinstance(call, ast.Call) or len(call.args) != 2 or call.keywords:
            raise SuiteError("parametrize takes exactly the names and the list of values")
        given = evaluate(call.args[0], names, self.values)
        named = [n.strip() for n in given.split(",")] if isinstance(given, str) else list(given)
        if sorted(map(str, named)) != sorted(params):
            raise SuiteError("the names in parametrize are not the parameters of the test")
        for row in self.items(evaluate(call.args[1], names, self.values)):
            values = [row] if len(named) == 1 else list(self.items(row))
            if len(values) != len(named):
                raise SuiteError("a row of parametrize has too few or too many values")
            yield dict(zip(named, values, strict=True))

    def items(self, value: Any) -> Sequence[Any]:
        if isinstance(value, (list, tuple, range, str)):
            return value
        raise SuiteError("loops may only go over lists, tuples, ranges and strings")

    def block(self, body: Sequence[ast.stmt], names: Environment, test: str) -> None:
        for statement in body:
            self.statement(statement, names, test)

    def statement(self, node: ast.stmt, names: Environment, test: str) -> None:
        self.values.spend()
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return
            case ast.Assign(targets=[target], value=value):
                self.bind(target, evaluate(value, names, self.values), names)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.bind(target, evaluate(value, names, self.values), names)
            case ast.Assert(test=condition) if test:
                self.assertion(condition, names, test)
            case ast.For(target=target, iter=over, body=body, orelse=[]) if test:
                for item in self.items(evaluate(over, names, self.values)):
                    self.bind(target, item, names)
                    self.block(body, names, test)
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name), args=[left, right])) if (
                test and name in _EQUALITY
            ):
                self.equality(left, right, names, test)
            case _:
                raise SuiteError(_not_understood(node))

    def bind(self, target: ast.expr, value: Any, names: Environment) -> None:
        if isinstance(target, ast.Name):
            if target.id == self.function.name:
                raise SuiteError(f"the tests may not replace {target.id}")
            names[target.id] = value
            return
        if isinstance(target, (ast.Tuple, ast.List)):
            values = list(self.items(value))
            if len(values) == len(target.elts):
                for inner, item in zip(target.elts, values, strict=True):
                    self.bind(inner, item, names)
                return
        raise SuiteError("assignments need plain names, as many as there are values")

    def assertion(self, condition: ast.expr, names: Environment, test: str) -> None:
        match condition:
            case ast.BoolOp(op=ast.And(), values=parts):
                for part in parts:
                    self.assertion(part, names, test)
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                self.equality(left, right, names, test)
            case _:
                raise SuiteError(
                    f"an assertion must compare with ==: assert {self.function.name}(...) == value"
                )

    def equality(self, left: ast.expr, right: ast.expr, names: Environment, test: str) -> None:
        one, other = (evaluate(side, names, self.values) for side in (left, right))
        if isinstance(other, Call):
            one, other = other, one
        if isinstance(other, Call):
            raise SuiteError("an assertion must compare a call with a value, not with another call")
        if not isinstance(one, Call):
            self.suite.idle += 1
            return
        if len(self.suite.checks) >= self.most:
            raise SuiteError(f"the tests make more than {self.most} calls")
        self.suite.checks.append(Check(test, one.args, other))


def _is_parametrize(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith("mark.parametrize")


_SMELLS: dict[type[ast.AST], str] = {
    ast.Try: "try: a test that catches exceptions hides failures",
    ast.With: "with",
    ast.While: "while: loops go over literal values",
    ast.If: "if: a test has one path",
    ast.ClassDef: "a class within a test",
    ast.FunctionDef: "a function within a test",
}


def _not_understood(node: ast.AST) -> str:
    what = _SMELLS.get(type(node)) or f"`{ast.unparse(node):.60}`"
    return f"the tests may not use {what}"
