"""The languages that a program may be written in, and how a sandbox compiles and runs each.

What is known of a language is data: ``languages.toml`` beside this file, then the file that the
variable ``RLVR_LANGUAGES`` names, then what `load` is given; later ones win. Whether the toolchain
is on this machine is looked up each time it is asked.
"""

import dataclasses
import functools
import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import ConfigError, ToolchainMissing, did_you_mean
from rlvr_envs.sandboxes.base import COMPILE_LIMITS, Job, Limits, check_path

VARIABLE = "RLVR_LANGUAGES"

# What every sandbox shows of this machine: a tool elsewhere might as well not be there.
TOOL_DIRECTORIES = ("/usr/local/bin", "/usr/bin", "/bin")
_SHOWN = tuple(Path(top) for top in ("/usr", "/bin", "/lib"))

_MEMORY = "{memory_mib}"
_NAME = re.compile(r"[a-z][a-z0-9_+#.-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A language: what ``languages.toml`` says of it.

    Attributes:
        name: what it is asked for by.
        install: the command that brings its toolchain.
        filename: what a program is saved as.
        compile: the command that compiles it, or an empty text.
        execute: the command that runs it.
        prompt: what a model is told about it.
        fence: the tag of its code blocks.
        limit_address_space: see `Job`.
        warm: whether the file is Python that a warm interpreter may run, instead of ``execute``.
        env: variables for both commands.
        extra_cpu_s: CPU seconds of the runtime itself, on top of the program's limit.
        extra_memory_mib: its memory, likewise.
        extra_processes: its threads and processes, likewise.
        extra_open_files: its open files, likewise.
        compile_cpu_s: CPU seconds of the compiler.
        compile_memory_mib: its memory.
        programs: what a program may execute and read of the machine; None for everything.
        compile_programs: what the compiler may execute, likewise.
        version: the command that prints the toolchain's version.
    """

    name: str
    install: str
    filename: str
    compile: str
    execute: str
    prompt: str
    fence: str = ""
    limit_address_space: bool = True
    warm: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    extra_cpu_s: float = 0.0
    extra_memory_mib: int = 0
    extra_processes: int = 0
    extra_open_files: int = 0
    compile_cpu_s: float = COMPILE_LIMITS.cpu_s
    compile_memory_mib: int = COMPILE_LIMITS.memory_mib
    programs: tuple[str, ...] | None = None
    compile_programs: tuple[str, ...] | None = None
    version: str = ""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ConfigError(f"a language has a name such as 'lua' or 'c++', got {self.name!r}")
        for key, value in dataclasses.asdict(self).items():
            if reason := _fault(key, value):
                raise ConfigError(f"the field {key} of the language {self.name} {reason}")
        check_path(self.filename)
        if self.warm and self.compile:
            raise ConfigError(f"the language {self.name} is warm, so it has nothing to compile")
        tool = next(iter(self.tools()), self.name)
        object.__setattr__(self, "fence", self.fence or self.name)
        object.__setattr__(self, "version", self.version or shlex.join((tool, "--version")))

    def job(
        self,
        source: str,
        *,
        limits: Limits | None = None,
        files: Mapping[str, bytes] | None = None,
    ) -> Job:
        """Return the job that compiles and runs a program.

        Args:
            source: the program.
            limits: what the program may use; what the runtime needs is added to it.
            files: further files in the working directory.
        """
        asked = limits or Limits()
        content = source.encode("utf-8", "replace")  # half a surrogate pair is no reason to fail
        return Job(
            argv=() if self.warm else self._words(self.execute, asked),
            script=self.filename if self.warm else "",
            files={**(files or {}), self.filename: content},
            compile=self._words(self.compile, asked),
            env={k: v.replace(_MEMORY, str(asked.memory_mib)) for k, v in self.env.items()},
            limits=dataclasses.replace(
                asked,
                cpu_s=asked.cpu_s + self.extra_cpu_s,
                memory_mib=asked.memory_mib + self.extra_memory_mib,
                processes=asked.processes + self.extra_processes,
                open_files=asked.open_files + self.extra_open_files,
            ),
            compile_limits=dataclasses.replace(
                COMPILE_LIMITS, cpu_s=self.compile_cpu_s, memory_mib=self.compile_memory_mib
            ),
            limit_address_space=self.limit_address_space,
            programs=self.programs,
            compile_programs=self.compile_programs,
        )

    def _words(self, command: str, limits: Limits) -> tuple[str, ...]:
        text = command.replace(_MEMORY, str(limits.memory_mib))
        return tuple(shlex.split(text))

    def tools(self) -> tuple[str, ...]:
        """Return the programs that it needs: the first words of its commands."""
        if self.warm:  # every sandbox brings an interpreter
            return ()
        commands = [shlex.split(text) for text in (self.compile, self.execute) if text]
        first = dict.fromkeys(words[0] for words in commands)
        return tuple(word for word in first if not word.startswith("./"))

    def missing(self) -> tuple[str, ...]:
        """Return those of its tools that a sandbox would not find on this machine."""
        return tuple(tool for tool in self.tools() if find_tool(tool) is None)

    def available(self) -> bool:
        """Return whether its toolchain is on this machine."""
        return not self.missing()

    def require(self) -> None:
        """Raise `ToolchainMissing`, with the way to install it, unless it is `available`."""
        if missing := self.missing():
            raise ToolchainMissing(
                f"{self.name} needs {' and '.join(missing)} in {', '.join(TOOL_DIRECTORIES)} "
                f"(a sandbox shows no other directory); as root: {self.install}"
            )


def find_tool(tool: str) -> str | None:
    """Return the path at which a sandbox finds a program, or None."""
    found = shutil.which(tool, path=":".join(TOOL_DIRECTORIES))
    if found is None:
        return None
    # A link into a home directory dangles inside the sandbox.
    real = Path(found).resolve()
    return found if any(real.is_relative_to(top) for top in _SHOWN) else None


def names() -> tuple[str, ...]:
    """Return the names of all languages, in the order of their files."""
    return tuple(_table())


def installed() -> tuple[str, ...]:
    """Return the names of the languages whose toolchain is on this machine."""
    return tuple(name for name, language in _table().items() if language.available())


def find(name: str) -> Language:
    """Return a language; raise `ConfigError` for a name that there is not."""
    table = _table()
    if name not in table:
        hint = did_you_mean(name, table)
        raise ConfigError(f"no language {name!r}{hint} (known: {', '.join(table)})")
    return table[name]


def load(path: str | os.PathLike[str]) -> tuple[Language, ...]:
    """Add the languages of a TOML file, in this process only, and return them.

    A table with the name of a language that exists changes the fields that it gives, and keeps the
    others. For every process that is started from here, set the variable ``RLVR_LANGUAGES``.

    Raises:
        ConfigError: there is no such file, or it says something that is not understood.
    """
    fresh = _read(Path(path), _table())
    _LOADED.update(fresh)
    return tuple(fresh.values())


_LOADED: dict[str, Language] = {}


def _table() -> dict[str, Language]:
    """Return name → language, of all three sources."""
    return {**_from_variable(os.environ.get(VARIABLE, "")), **_LOADED}


@functools.cache
def _from_variable(path: str) -> dict[str, Language]:
    """Return the languages that come with the package, and those of the user's file."""
    with resources.as_file(resources.files("rlvr_envs.sandboxes") / "languages.toml") as own:
        known = _read(own, {})
    return {**known, **_read(Path(path), known)} if path else known


def _read(path: Path, known: Mapping[str, Language]) -> dict[str, Language]:
    """Return the languages of a file; they may build on known ones."""
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read the languages of {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not TOML: {error}") from None
    found = {}
    for name, fields in tables.items():
        try:
            found[name] = _language(name, fields, known.get(name))
        except ConfigError as error:
            raise ConfigError(f"{path}: {error}") from None
    return found


def _language(name: str, fields: Any, base: Language | None) -> Language:
    """Return the language of a table; the fields that it lacks are the base's."""
    if not isinstance(fields, dict):
        raise ConfigError(f"{name} is no table: a language begins with [name] on a line")
    known = {f.name: f for f in dataclasses.fields(Language) if f.name != "name"}
    for key in fields:
        if key not in known:
            hint = did_you_mean(key, known)
            raise ConfigError(f"the language {name} has an unknown field {key!r}{hint}")
    fields = {k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()}
    if base is not None:
        # What was said of the old commands is of other tools where they change.
        stale: dict[str, Any] = {}
        if {"compile", "execute"} & fields.keys():
            stale = {"version": "", "programs": None, "compile_programs": None}
        return dataclasses.replace(base, **(stale | fields))
    missing = [
        key
        for key, f in known.items()
        if f.default is f.default_factory is dataclasses.MISSING and key not in fields
    ]
    if missing:
        raise ConfigError(f"the language {name} lacks {', '.join(missing)}")
    return Language(name=name, **fields)


_NEEDED = ("filename", "execute", "prompt")
_COMMANDS = ("compile", "execute", "version")
_FLAGS = ("limit_address_space", "warm")
_NUMBERS = ("extra_cpu_s", "compile_cpu_s")
_COUNTS = ("extra_memory_mib", "extra_processes", "extra_open_files", "compile_memory_mib")


def _fault(key: str, value: object) -> str:
    """Return what is wrong with the value of a field; nothing, if it is right."""
    if key in _FLAGS:
        return "" if isinstance(value, bool) else f"is true or false, got {value!r}"
    if key in _NUMBERS or key in _COUNTS:
        kind, what = (int, "an integer") if key in _COUNTS else (int | float, "a number")
        right = isinstance(value, kind) and not isinstance(value, bool) and 0 <= value < 1e6
        return "" if right else f"is {what} from 0, got {value!r}"
    if key in {"env", "programs", "compile_programs"}:
        return _collection_fault(key, value)
    if not isinstance(value, str):
        return f"is a text, got {value!r}"
    if key in _NEEDED and not value.strip():
        return "is empty"
    return _command_fault(value) if key in _COMMANDS else ""


def _collection_fault(key: str, value: object) -> str:
    if key == "env":
        texts = isinstance(value, dict) and all(isinstance(text, str) for text in value.values())
        return "" if texts else f"is a table of texts, got {value!r}"
    listed = isinstance(value, tuple) and all(isinstance(text, str) for text in value)
    return "" if listed or value is None else f"is a list of texts, got {value!r}"


def _command_fault(text: str) -> str:
    try:
        shlex.split(text)
    except ValueError as error:
        return f"is no command: {str(error).lower()}, in {text!r}"
    return ""
