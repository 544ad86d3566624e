"""Algorithms beyond the core, one file a method, registered as anybody's plug-ins are.

Each file has the method's estimator, loss, aggregation or callback, with formula and source, and
its `recipe`. What a recipe does not reproduce of its paper, or what of it was only had from an
abstract or others' reports, its ``differs`` says. Importing this package imports all of them.
"""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
