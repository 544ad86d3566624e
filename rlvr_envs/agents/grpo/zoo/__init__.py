"""Algorithms beyond the core, one file a method, registered as anybody's plug-ins are."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
