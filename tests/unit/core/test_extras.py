"""Hints name packages as the metadata of this package lists them."""

from importlib.metadata import PackageNotFoundError

import pytest

from rlvr_envs.core import extras

METADATA = [
    "numpy>=1.26",
    "pyosys>=0.70; extra == 'verilog'",
    'peft>=0.15 ; extra == "lora"',
    "httpx>=0.27; extra == 'report'",
    "plotly; python_version >= '3.11' and extra == 'report'",
    "itself[verilog]; extra == 'all'",
]


@pytest.fixture
def there(monkeypatch):
    """What is installed: a set of names to be filled."""
    names = set()

    def version(package):
        if package in names:
            return "1.0"
        raise PackageNotFoundError(package)

    monkeypatch.setattr(extras, "requires", lambda name: METADATA)
    monkeypatch.setattr(extras, "version", version)
    return names


def test_an_extra_is_read_from_the_metadata(there):
    assert extras.requirements("verilog") == ["pyosys>=0.70"]
    assert extras.requirements("lora") == ["peft>=0.15"]
    assert extras.requirements("report") == ["httpx>=0.27", "plotly"]
    assert extras.requirements("none") == []


def test_a_hint_names_what_is_missing(there):
    assert extras.hint("verilog") == "pip install 'pyosys>=0.70'"
    assert extras.hint("report") == "pip install 'httpx>=0.27' plotly"
    there.add("httpx")
    assert extras.missing("report") == ["plotly"]
    assert extras.hint("report") == "pip install plotly"
    there.add("plotly")  # it is there and cannot be imported: install all of it again
    assert extras.hint("report") == "pip install 'httpx>=0.27' plotly"


def test_a_hint_can_name_one_package(there):
    assert extras.hint("report", "httpx") == "pip install 'httpx>=0.27'"
    assert extras.pip_install("kaleido") == "pip install kaleido"


def test_sources_without_an_installation_give_hints_too(monkeypatch):
    def requires(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(extras, "requires", requires)
    assert extras.hint("verilog").startswith("pip install '.[verilog]'  # in the clone")
    assert extras.hint("report", "httpx") == "pip install httpx"
    assert extras.missing("verilog") == []


def test_what_lacks_a_package_or_has_a_wrong_version_says_so(there):
    missing = ImportError("No module named 'pyosys'", name="pyosys")
    assert extras.needs("proving", missing, "verilog") == (
        "proving needs pyosys: pip install 'pyosys>=0.70'"
    )
    wrong = ImportError("pyosys>=0.70 is required\nbut found 0.1")
    assert extras.needs("proving", wrong, "verilog") == (
        "proving needs other packages (pyosys>=0.70 is required but found 0.1): "
        "pip install 'pyosys>=0.70'"
    )
