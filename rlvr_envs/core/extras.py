"""Optional packages, and the command that installs one that is missing.

The metadata of the installed package lists them by extra, so no list is written twice. A hint
names the packages themselves, which works in a clone and outside of one. It never names this
package: the name ``rlvr-envs`` on PyPI is not ours, so it may install anything.
"""

import re
import shlex
from importlib.metadata import PackageNotFoundError, requires, version

DISTRIBUTION = "rlvr-envs"

_PACKAGE = re.compile(r"[\w.-]+")
_EXTRA = re.compile(r"""extra == ['"]([\w-]+)['"]""")


def requirements(extra: str) -> list[str]:
    """Return what an extra asks for, such as ``["pyosys>=0.70"]``; empty if that is unknown."""
    try:
        every = requires(DISTRIBUTION) or []
    except PackageNotFoundError:  # the sources are on the path, and nothing is installed
        return []
    parts = [requirement.partition(";") for requirement in every]
    return [what.strip() for what, _, when in parts if _EXTRA.findall(when) == [extra]]


def package_of(requirement: str) -> str:
    """Return the name of the package that a requirement such as ``torch>=2.4`` asks for."""
    found = _PACKAGE.match(requirement)
    return found[0] if found else requirement


def installed(package: str) -> str | None:
    """Return the version of an installed package, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def missing(extra: str) -> list[str]:
    """Return what an extra asks for and is not installed."""
    return [each for each in requirements(extra) if installed(package_of(each)) is None]


def hint(extra: str, package: str | None = None) -> str:
    """Return the command that installs what is missing of an extra, or one package of it."""
    if package is not None:
        found = [each for each in requirements(extra) if package_of(each) == package]
        return pip_install(*(found or [package]))
    wanted = missing(extra) or requirements(extra)
    if not wanted:  # without metadata this runs from a clone, whose pyproject.toml pip can read
        return f"{pip_install(f'.[{extra}]')}  # in the clone of rlvr_envs"
    return pip_install(*wanted)


def needs(what: str, error: ImportError, extra: str) -> str:
    """Return what to say where a part of an extra is missing, or has a wrong version."""
    lacking = error.name or f"other packages ({' '.join(str(error).split())})"
    return f"{what} needs {lacking}: {hint(extra)}"


def pip_install(*requirements: str) -> str:
    """Return the command that installs packages, to be pasted into a shell."""
    return shlex.join(["pip", "install", *requirements])
