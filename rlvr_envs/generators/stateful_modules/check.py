"""Whether Python source has exactly the class that an interface asks for, read off its tree."""

import ast

from rlvr_envs.verifiers.python_source import parse_module

Method = ast.FunctionDef | ast.AsyncFunctionDef


def interface_fault(source: str, stub: str) -> str | None:
    """Return "" where the interface is kept, what is wrong, or None where there is no Python.

    Args:
        source: the model's module.
        stub: the interface, as a class whose methods have no bodies.
    """
    module, wanted = parse_module(source), parse_module(stub)
    if module is None or wanted is None:
        return None
    (model,) = (node for node in wanted.body if isinstance(node, ast.ClassDef))
    try:
        return _module_fault(module, model)
    except RecursionError:
        return "an expression is nested too deeply"


def _module_fault(module: ast.Module, model: ast.ClassDef) -> str:
    classes = [node for node in module.body if isinstance(node, ast.ClassDef)]
    for place, node in enumerate(module.body):
        docstring = place == 0 and _is_text(node)
        if not (docstring or isinstance(node, ast.ClassDef | ast.Import | ast.ImportFrom)):
            return "the top level contains something other than imports and one class"
    if len(classes) != 1 or classes[0].name != model.name:
        return f"the top level must define {model.name} and no other class"
    if classes[0].bases or classes[0].keywords or classes[0].decorator_list:
        return f"{model.name} has bases or decorators"
    if any(isinstance(node, ast.Global | ast.Nonlocal) for node in ast.walk(module)):
        return "there is a global or nonlocal statement"
    return _class_fault(classes[0], model)


def _class_fault(found: ast.ClassDef, model: ast.ClassDef) -> str:
    wanted = {node.name: _signature(node) for node in model.body if isinstance(node, Method)}
    seen: set[str] = set()
    for node in found.body:
        if not isinstance(node, Method):
            if not _is_text(node):
                return "the class body contains something other than methods"
            continue
        if node.name in seen:
            return f"{node.name} is defined twice"
        seen.add(node.name)
        private = node.name.startswith("_") and not node.name.startswith("__")
        if node.name not in wanted and not private:
            return f"{node.name} is not part of the interface"
        if node.name in wanted and _signature(node) != wanted[node.name]:
            return f"the signature of {node.name} differs from the interface"
    missing = [name for name in wanted if name not in seen]
    return f"{missing[0]} is missing" if missing else ""


def _is_text(node: ast.stmt) -> bool:
    """Whether a statement is a docstring, or nothing at all."""
    return isinstance(node, ast.Pass) or (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _signature(node: Method) -> tuple[str, str, tuple[str, ...]]:
    """Return all of a method's head in one spelling; quotes around a type do not count."""
    returns = "" if node.returns is None else ast.unparse(node.returns)
    head = f"{type(node).__name__}({ast.unparse(node.args)})"
    return head, returns.strip("'\""), tuple(map(ast.unparse, node.decorator_list))
