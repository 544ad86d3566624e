"""Print how the package is built: modules, who imports them, the length of tasks, and cycles.

    python scripts/structure.py            # the numbers
    python scripts/structure.py --list     # and the modules behind them

Imports inside functions and those for type checkers count.
"""

import argparse
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import grimp
from grimp import ImportGraph

from rlvr_envs.core.registry import find, load_all, task_ids

PACKAGE = "rlvr_envs"


def lines_of(module: str) -> int:
    """Return the number of lines of a module's file."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return 0
    return len(Path(spec.origin).read_text(encoding="utf-8").splitlines())


def is_private(module: str) -> bool:
    """Whether a module, or a package that it is in, has a name with a leading underscore."""
    return any(part[0] == "_" and part[:2] != "__" for part in module.split("."))


def single_importers(graph: ImportGraph, modules: list[str]) -> dict[str, str]:
    """Return the private modules that exactly one module imports, with that one."""
    found = {}
    for module in filter(is_private, modules):
        importers = graph.find_modules_that_directly_import(module)
        if len(importers) == 1 and not graph.find_children(module):
            (found[module],) = importers
    return found


def cycles(graph: ImportGraph, modules: list[str]) -> list[tuple[str, str]]:
    """Return pairs of modules that import each other, if indirectly.

    A package and its own modules are no pair.
    """
    return [
        (one, other)
        for one in modules
        for other in sorted(graph.find_modules_directly_imported_by(one))
        if not other.startswith(f"{one}.")
        and not one.startswith(f"{other}.")
        and graph.chain_exists(importer=other, imported=one)
    ]


def tasks() -> list[str]:
    """Return the modules that define registered tasks."""
    load_all()
    return sorted({find(name).task_type.__module__ for name in task_ids()})


def main() -> None:
    """Print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="name the modules behind the numbers")
    given = parser.parse_args()
    graph = grimp.build_graph(PACKAGE, cache_dir=None)
    modules = sorted(graph.modules)
    lines = {module: lines_of(module) for module in modules}
    private = [module for module in modules if is_private(module)]
    single = single_importers(graph, modules)
    circular = cycles(graph, modules)
    own = [lines[module] for module in tasks()]
    rows = {
        "modules": len(modules),
        "private modules": len(private),
        "private modules that one module imports": len(single),
        "modules that import each other": len(circular),
        "lines": sum(lines.values()),
        "task files": len(own),
        "lines of a task file, median": median(own),
        "lines of a task file, longest": max(own),
    }
    for name, value in rows.items():
        print(f"{value:>8,.0f}  {name}")
    if given.list:
        print("\nprivate modules that one module imports:")
        for module, importer in single.items():
            print(f"{lines[module]:>8}  {module} <- {importer}")
        print("\ncycles:")
        for one, other in circular:
            print(f"          {one} -> {other}")


if __name__ == "__main__":
    main()
