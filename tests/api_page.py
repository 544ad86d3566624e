"""The page of the API, and the public names that it documents."""

import ast
import functools
import importlib
import importlib.util
import inspect
import pkgutil
import re
from dataclasses import dataclass
from pathlib import Path

import rlvr_envs

PAGE = (Path(__file__).parents[1] / "docs/api.md").read_text("utf-8")
SECTION = re.compile(r"^::: ([\w.]+)\n((?:    .*\n)*)", re.MULTILINE)
PACKAGES = ["rlvr_envs"] + [
    f"rlvr_envs.{found.name}" for found in pkgutil.iter_modules(rlvr_envs.__path__) if found.ispkg
]
EXPORTS = [
    (package, name)
    for package in PACKAGES
    for name in getattr(importlib.import_module(package), "__all__", ())
    if not name.startswith("__")
]


def listed():
    """Return the names that the page documents, and the modules that it documents as a whole."""
    names, modules = set(), set()
    for path, options in SECTION.findall(PAGE):
        members = re.search(r"members: \[(.*)\]", options)
        if members:
            names |= {f"{path}.{name}" for name in members[1].split(", ")}
        elif _source(path) is None:
            names.add(path)
        else:
            modules.add(path)
    return names, modules


@dataclass(frozen=True)
class Public:
    """A public name, where it is made, and what its source says of it."""

    module: str
    name: str
    node: ast.stmt
    doc: str

    @property
    def path(self):
        return f"{self.module}.{self.name}"

    @property
    def callables(self):
        """The function itself, or the class and its public methods: (path, parameters, doc)."""
        if isinstance(self.node, ast.FunctionDef):
            yield self.path, _parameters(self.node), self.doc
        if isinstance(self.node, ast.ClassDef):
            methods = {node.name: node for node in _functions(self.node.body)}
            if "__init__" in methods:
                made = _parameters(methods["__init__"])
            else:
                made = [
                    node.target.id for node in self.node.body if isinstance(node, ast.AnnAssign)
                ]
            yield self.path, made, self.doc
            for name, node in methods.items():
                if not name.startswith("_") and (doc := ast.get_docstring(node)):
                    yield f"{self.path}.{name}", _parameters(node), doc


def public():
    """Return every public name once, sorted: what packages export and what the page documents."""
    names, modules = listed()
    found = [find(package, name) for package, name in EXPORTS]
    found += [find(*path.rsplit(".", 1)) for path in names]
    found += [find(module, name) for module in modules for name in _members(module)]
    return [each for _, each in sorted({each.path: each for each in found}.items())]


def find(module, name):
    """Return a name, by following the imports to the module that makes it.

    Raises:
        LookupError: nothing in the module makes it.
    """
    body = _body(module)
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if name == (alias.asname or alias.name):
                    return find(node.module, alias.name)
        elif name in _made(node):
            is_definition = isinstance(node, ast.FunctionDef | ast.ClassDef)
            doc = ast.get_docstring(node) if is_definition else _text(after)
            return Public(module, name, node, doc or "")
    raise LookupError(f"{module} makes no {name}")


def _members(module):
    """Return what the page shows of a module: its ``__all__``, or all that is documented there."""
    for node in _body(module):
        if "__all__" in _made(node):
            return ast.literal_eval(node.value)
    made = [name for node in _body(module) for name in _made(node) if not name.startswith("_")]
    return [name for name in made if find(module, name).doc]


def _made(node):
    """Return the names that a statement makes."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _functions(body):
    return [node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def _parameters(node):
    """Return the names of a function's parameters, without the object that it belongs to."""
    given = node.args
    every = [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg]
    return [each.arg for each in every if each is not None and each.arg not in ("self", "cls")]


def _text(node):
    """Return the docstring of an attribute, which stands below it."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return inspect.cleandoc(node.value.value) if isinstance(node.value.value, str) else None
    return None


@functools.cache
def _source(module):
    """Return the path of a module's source, None where the path is no module's."""
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # its parent is no package
        return None
    return spec and Path(spec.origin)


@functools.cache
def _body(module):
    return ast.parse(_source(module).read_text("utf-8")).body
