"""Rows of published Verilog datasets, recognised by their columns and read into one form.

VerilogEval (``canonical_solution`` of version 1, ``ref`` of version 2), RTLLM and the folders of
both, CodeV-R1 (``reward_model`` with a ground truth), CVDP with its solutions, and rows of a text
that asks and a reference. Of rows that hold a testbench alone, such as ResBench's, the reference is
taken if it stands in the testbench; otherwise the testbench and a header that says which ports
there are. Reading runs nothing.
"""

import json
import pickletools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from rlvr_envs.verifiers.hdl.bench_text import BenchRefused, read_bench

_ASKING = (
    "prompt",
    "question",
    "problem",
    "description",
    "instruction",
    "statement",
    "Problem",
    "design_description",
)
_GOLDEN = ("reference", "ref", "golden", "ground_truth", "code", "verified", "canonical_solution")
_TESTS = ("test", "tests", "testbench", "Testbench")
_HEADER = re.compile(r"\bmodule\s+(?:automatic\s+|static\s+)?([A-Za-z_][\w$]*)[^;]*;")
_WORD = re.compile(r"[A-Za-z_][\w$]*")
_STRIPPED = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
_NAMED = re.compile(r"[Mm]odule\s+name\s*:?\s*`?([A-Za-z_][\w$]*)")
# A header that says which ports there are: prose has the word "module" as well.
_WITH_PORTS = re.compile(r"\bmodule\s+([A-Za-z_][\w$]*)\s*(?:#\s*\([^;]*?\)\s*)?\([^;]*?\)\s*;")
_DIRECTION = re.compile(r"\b(?:input|output|inout)\b")
_DECLARED = re.compile(r"\b(?:input|output|inout|parameter|localparam)\b[^;]*;")
_INNER = re.compile(r"\b(function|task)\b.*?\bend\1\b", re.DOTALL)
_ONLY_TESTS = "it holds a testbench and no reference"
_NO_HEADER = "no header of the module that the testbench contains says which ports it has"
_HEADERS = ("Module header", "module_header", "header")
# What a module is called that a testbench compares with, and the module under test beside it.
_INSIDE = {"RefModule": "TopModule", "reference_module": "top_module"}
_V2_REFERENCE, _V2_TOP = "RefModule", "TopModule"
_VERIFIED = "verified_"


class NotARow(ValueError):
    """A row cannot be posed or judged; the message says why."""


@dataclass(frozen=True, slots=True)
class VerilogRow:
    """A row in one form.

    Attributes:
        layout: its name.
        name: what the file calls it, perhaps nothing.
        statement: what is asked.
        top: the module that an answer has to define.
        reference: a source that defines it; empty where there is a testbench alone.
        header: of the module, where there is a testbench.
        testbench: what answers are judged by where there is no reference, or none that can be
            synthesised; empty if there is none.
    """

    layout: str
    name: str
    statement: str
    top: str
    reference: str
    header: str = ""
    testbench: str = ""


def read_row(data: Mapping[str, Any], descriptions: Mapping[str, str]) -> VerilogRow:
    """Return a row in one form.

    Args:
        data: the columns.
        descriptions: task id → what is asked, for files that keep both apart.

    Raises:
        NotARow: no layout has its columns, or it holds no reference.
    """
    present = {key for key, value in data.items() if value not in (None, "")}
    for keys, reader in _READERS:
        if keys <= present:
            return reader(data, descriptions)
    if present & set(_ASKING) and any(_has_tests(data.get(key)) for key in _TESTS):
        return _tested(data)
    names = ", ".join(sorted(map(str, data))) or "none"
    raise NotARow(f"no layout has these columns: {names:.200}")


def _has_tests(value: object) -> bool:
    return isinstance(value, str | list | dict) and bool(value)


def _verilog_eval_1(data: Mapping[str, Any], descriptions: Mapping[str, str]) -> VerilogRow:
    name, header = _text(data, "task_id"), _text(data, "prompt")
    asked = descriptions.get(name) or data.get("detail_description") or data.get("description")
    if not isinstance(asked, str) or not asked.strip():
        raise NotARow(
            f"nothing says what {name} does: VerilogEval keeps that in another file, and "
            "'descriptions' names it"
        )
    reference = f"{header}\n{_text(data, 'canonical_solution')}"
    statement = (
        f"{asked.strip()}\n\nThe module begins like this:\n\n```verilog\n{header.strip()}\n```"
    )
    return VerilogRow("verilog_eval_1", name, statement, top_of(reference), reference)


def _verilog_eval_2(data: Mapping[str, Any], descriptions: Mapping[str, str]) -> VerilogRow:
    name = str(data.get("task_id") or "")
    reference = renamed(_text(data, "ref"), {_V2_REFERENCE: _V2_TOP})
    if _V2_TOP not in modules(reference):
        raise NotARow(f"its reference defines no {_V2_REFERENCE}")
    return VerilogRow("verilog_eval_2", name, _text(data, "prompt"), _V2_TOP, reference)


def _codev_r1(data: Mapping[str, Any], descriptions: Mapping[str, str]) -> VerilogRow:
    model = data["reward_model"]
    truth = model.get("ground_truth") if isinstance(model, Mapping) else None
    code = _ground_truth(truth)
    asked = _asked(data)
    return VerilogRow("codev_r1", _name(data), asked, _asked_top(code, asked), code)


def _rtllm(data: Mapping[str, Any], descriptions: Mapping[str, str]) -> VerilogRow:
    code, asked = _text(data, "verified"), _text(data, "design_description")
    return _with_bench("rtllm", data, asked, code)


def _cvdp(data: Mapping[str, Any], descriptions: Mapping[str, str]) -> VerilogRow:
    given, solved = _files(data["input"]), _files(data["output"])
    if not solved:
        raise NotARow(
            "CVDP was published without its solutions, and what is left to judge by are programs "
            "for a container, which are not run"
        )
    settings = "\n".join(str(text) for text in _mapping(data["harness"], "files").values())
    told = re.search(r"^TOPLEVEL\s*=\s*(\w+)", settings, re.MULTILINE)
    code = "\n\n".join((given | solved).values())
    top = told[1] if told and told[1] in modules(code) else top_of(code)
    if top not in modules("\n\n".join(solved.values())):
        raise NotARow(f"its solution does not define the module {top} that is tested")
    asked = _text(data["input"], "prompt")
    for name, text in given.items():
        asked = f"{asked.rstrip()}\n\n`{name}`:\n\n```verilog\n{text.strip()}\n```"
    return VerilogRow("cvdp", _name(data), asked, top, code)


def _files(data: object) -> dict[str, str]:
    """Return the Verilog files among those of one side of CVDP."""
    found = _mapping(data, "context").items()
    return {
        str(name): text
        for name, text in found
        if str(name).endswith((".v", ".sv")) and isinstance(text, str) and text.strip()
    }


def _mapping(data: object, column: str) -> Mapping[str, Any]:
    found = data.get(column) if isinstance(data, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _resbench(data: Mapping[str, Any], descriptions: Mapping[str, str]) -> VerilogRow:
    # Some of its headers are whole modules by mistake, which makes them references.
    code = _text(data, "Module header")
    header = _HEADER.search(code)
    if header is None or "endmodule" not in _STRIPPED.sub(" ", code):
        return _tested(data)
    statement = _with_header(_text(data, "Problem"), header[0])
    return VerilogRow("resbench", str(data.get("module") or ""), statement, top_of(code), code)


def _tested(data: Mapping[str, Any]) -> VerilogRow:
    """Return a row that has a testbench and no column for a reference."""
    bench = _first(data, _TESTS)
    asked, name = _asked(data), _name(data) or str(data.get("module") or "")
    for inner, top in _INSIDE.items():
        found = renamed(taken_out(bench, inner), {inner: top})
        if found and re.search(rf"\b{top}\b", bench):
            return VerilogRow("reference in testbench", name, asked, top, found)
    given = _first(data, _HEADERS)
    for header in _WITH_PORTS.finditer(_STRIPPED.sub(" ", given or asked)):
        if not re.search(rf"\b{header[1]}\b", bench):
            continue
        try:
            read_bench(bench, header[1])
        except BenchRefused as error:
            raise NotARow(f"{_ONLY_TESTS}, and {error}") from error
        statement = _with_header(asked, given) if given else asked
        return VerilogRow("testbench", name, statement, header[1], "", header[0], bench)
    raise NotARow(f"{_ONLY_TESTS}, and {_NO_HEADER}")


def _first(data: Mapping[str, Any], columns: Sequence[str]) -> str:
    """Return the first text among some columns; nothing if there is none."""
    texts = (data[key] for key in columns if isinstance(data.get(key), str))
    return next((text for text in texts if text.strip()), "")


def _with_header(asked: str, header: str) -> str:
    return f"{asked.strip()}\n\nThe module begins like this:\n\n```verilog\n{header.strip()}\n```"


def _plain(data: Mapping[str, Any], descriptions: Mapping[str, str]) -> VerilogRow:
    column = next(key for key in _GOLDEN if isinstance(data.get(key), str) and data[key].strip())
    code, asked = _text(data, column), _asked(data)
    top = data.get("top")
    if top is None:
        return _with_bench("plain", data, asked, code)
    if top not in modules(code):
        raise NotARow(f"its reference does not define its 'top' {top!r:.80}")
    return VerilogRow("plain", _name(data), asked, str(top), code)


def _with_bench(layout: str, data: Mapping[str, Any], asked: str, code: str) -> VerilogRow:
    """Return a row with a reference, and perhaps with a testbench.

    RTLLM calls a reference ``verified_adder``, and the testbench, the description and the answer
    ``adder``; some of its references have yet another name.
    """
    bench = _first(data, _TESTS)
    tested = set(_WORD.findall(_STRIPPED.sub(" ", bench)))
    called = tested | set(_WORD.findall(asked))
    plain = {name: name.removeprefix(_VERIFIED) for name in modules(code)}
    code = renamed(code, {name: other for name, other in plain.items() if other in called})
    told = _NAMED.search(asked)
    top = told[1] if told and told[1] in modules(code) else _asked_top(code, asked)
    if told and told[1] in tested and top not in tested:
        code, top = renamed(code, {top: told[1]}), told[1]
    if not _instantiates(bench, top):
        return VerilogRow(layout, _name(data), asked, top, code)
    return VerilogRow(layout, _name(data), asked, top, code, header_of(code, top), bench)


def _instantiates(bench: str, name: str) -> bool:
    """Return whether a testbench is one of a module."""
    try:
        read_bench(bench, name)
    except BenchRefused:
        return False
    return True


_Reader = Callable[[Mapping[str, Any], Mapping[str, str]], VerilogRow]
_READERS: tuple[tuple[set[str], _Reader], ...] = (
    ({"task_id", "prompt", "canonical_solution", "test"}, _verilog_eval_1),
    ({"prompt", "ref", "test"}, _verilog_eval_2),
    ({"design_description", "verified"}, _rtllm),
    ({"input", "output", "harness"}, _cvdp),
    ({"reward_model"}, _codev_r1),
    ({"Problem", "Module header", "Testbench"}, _resbench),
    *(({asking, golden}, _plain) for asking in _ASKING for golden in _GOLDEN),
)


def modules(source: str) -> list[str]:
    """Return the names of the modules that a source defines, in its order."""
    return _HEADER.findall(_STRIPPED.sub(" ", source))


def header_of(source: str, name: str) -> str:
    """Return the header of a module of a source, with its ports; nothing if there is none.

    Ports that are declared behind the header follow it, with the parameters of the module.
    """
    plain = _STRIPPED.sub(" ", taken_out(source, name))
    found = _HEADER.search(plain)
    if found is None:
        return ""
    body = _INNER.sub(" ", plain[found.end() :].partition("endmodule")[0])
    if _DIRECTION.search(found[0]):
        return found[0]
    return "\n".join([found[0], *_DECLARED.findall(body)])


def taken_out(source: str, name: str) -> str:
    """Return a module of a source with those that it contains; nothing if there is none."""
    plain = _STRIPPED.sub(lambda found: " " * len(found[0]), source)
    texts = {}
    for found in _HEADER.finditer(plain):
        end = re.compile(r"\bendmodule\b").search(plain, found.end())
        if end is not None:
            texts[found[1]] = source[found.start() : end.end()]
    wanted, kept = [name], {}
    while wanted:
        inner = wanted.pop()
        if inner in texts and inner not in kept:
            kept[inner] = texts[inner]
            words = set(_WORD.findall(_STRIPPED.sub(" ", texts[inner])))
            wanted += sorted(words & texts.keys())
    return "\n\n".join(kept.values()) if name in kept else ""


def top_of(source: str) -> str:
    """Return the module that no other one of a source contains.

    Raises:
        NotARow: there is none, or there are several.
    """
    plain = _STRIPPED.sub(" ", source)
    words = Counter(_WORD.findall(plain))
    names = modules(source)
    found = [name for name in names if words[name] == 1] or (names if len(names) == 1 else [])
    if len(found) != 1:
        listed = ", ".join(names) or "none"
        raise NotARow(f"its reference has no single module on top: {listed:.200}")
    return found[0]


def renamed(source: str, names: Mapping[str, str]) -> str:
    """Return a source in which modules have other names."""
    for name, other in names.items():
        if name != other:
            source = re.sub(rf"(?<![\w$]){re.escape(name)}(?![\w$])", other, source)
    return source


def _asked_top(code: str, asked: str) -> str:
    """Return the module on top, or that which the text names if several could be."""
    try:
        return top_of(code)
    except NotARow:
        named = [name for name in modules(code) if re.search(rf"\b{re.escape(name)}\b", asked)]
        if len(named) != 1:
            raise
        return named[0]


def _asked(data: Mapping[str, Any]) -> str:
    """Return the text that asks; of a chat, the last message of the user."""
    for column in _ASKING:
        value = data.get(column)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, Sequence) and not isinstance(value, str):
            told = [m for m in value if isinstance(m, Mapping) and m.get("role") == "user"]
            if told and isinstance(told[-1].get("content"), str):
                return str(told[-1]["content"])
    raise NotARow(f"none of its columns asks anything ({', '.join(_ASKING)})")


def _name(data: Mapping[str, Any]) -> str:
    return next((str(data[key]) for key in ("task_id", "name", "id") if data.get(key)), "")


def _ground_truth(value: object) -> str:
    """Return the code of CodeV-R1's ground truth: JSON, or a pickle, which is never loaded."""
    if isinstance(value, bytes):
        return _from_pickle(value)
    found: object = value
    if isinstance(value, str):
        try:
            found = json.loads(value)
        except (ValueError, RecursionError):
            found = {"code": value} if modules(value) else None
    for key in ("answer", "code"):
        found = found.get(key, found) if isinstance(found, Mapping) else found
    if not isinstance(found, str) or not found.strip():
        raise NotARow("its ground truth holds no code")
    return found


def _from_pickle(data: bytes) -> str:
    try:
        texts = [arg for code, arg, _ in pickletools.genops(data) if isinstance(arg, str)]
    except ValueError as error:
        raise NotARow(f"its ground truth cannot be read: {error}") from error
    found = [text for key, text in pairwise(texts) if key == "code"]
    if len(found) != 1:
        raise NotARow("its ground truth holds no code, or several")
    return found[0]


def _text(data: Mapping[str, Any], column: str) -> str:
    value = data.get(column)
    if not isinstance(value, str) or not value.strip():
        raise NotARow(f"{column!r} is no text: {value!r:.60}")
    return value
