"""What jobs need of the machine, and that they see no other program."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rlvr_envs.sandboxes import languages
from rlvr_envs.sandboxes.backend import interpreter
from rlvr_envs.sandboxes.base import Job
from rlvr_envs.sandboxes.namespaces import NamespacesBackend
from rlvr_envs.sandboxes.sandbox import Sandbox
from rlvr_envs.sandboxes.toolchains import closure, libraries, python_needs

TRY = """
import subprocess
try:
    print(subprocess.run({command}, capture_output=True).stdout)
except OSError as error:
    print(type(error).__name__)
"""


def script(command, **more):
    return Job(script="main.py", files={"main.py": TRY.format(command=command).encode()}, **more)


@pytest.fixture
def hiding(sandbox):
    if not sandbox.hides_programs:
        pytest.skip("programs cannot be hidden here")
    return sandbox


def test_the_closure_of_a_program_holds_what_the_loader_loads():
    paths = closure(("ls",))
    said = subprocess.run(
        [shutil.which("ldd"), "/bin/ls"], capture_output=True, text=True, check=True
    )
    loaded = [word for word in said.stdout.split() if word.startswith("/")]
    assert loaded
    assert {os.path.realpath(path) for path in loaded} <= set(paths)
    assert os.path.realpath("/bin/ls") in paths
    assert os.path.realpath("/bin/sh") not in paths


def test_the_libraries_of_binaries_stand_at_the_paths_that_the_loader_opens():
    binaries = [Path("/bin/ls"), Path(interpreter()[0])]
    said = subprocess.run(
        [shutil.which("ldd"), *map(str, binaries)], capture_output=True, text=True, check=True
    )
    opened = {Path(word) for word in said.stdout.split() if word.startswith("/") and ".so" in word}
    assert opened
    assert opened <= set(libraries(binaries))
    assert all(path.exists() for path in libraries(binaries))
    assert libraries([Path("/etc/passwd"), Path("/no/such/file")]) == []


def test_what_is_not_on_this_machine_is_left_out():
    assert closure(("no-such-program", "/no/such/*/place")) == closure(())


def test_the_needs_of_an_interpreter_are_its_library_too():
    program, library, _ = python_needs(sys.executable)
    assert Path(program).is_file()
    assert Path(library).is_dir()
    assert library.endswith(f"python{sys.version_info[0]}.{sys.version_info[1]}")


def test_a_script_runs_its_own_interpreter_and_no_other_program(hiding):
    assert hiding.run(script('["/bin/echo", "1"]')).stdout == b"PermissionError\n"
    own = '[__import__("sys").executable, "-c", "print(1)"]'
    assert hiding.run(script(own)).stdout == b"b'1\\n'\n"


def test_a_script_may_be_given_programs(hiding):
    job = script('["/bin/echo", "1"]', programs=("echo",))
    assert hiding.run(job).stdout == b"b'1\\n'\n"
    job = script('["/bin/echo", "1"]', programs=("/usr",))
    assert hiding.run(job).stdout == b"b'1\\n'\n"


def test_a_command_without_programs_sees_all(hiding):
    assert hiding.run(Job(argv=("/bin/sh", "-c", "echo 1 | cat"))).stdout == b"1\n"
    job = Job(argv=("/bin/sh", "-c", "echo 1 | cat"), programs=("sh",))
    assert hiding.run(job).stdout == b""


def test_a_session_hides_programs_too(hiding):
    with hiding.session() as session:
        assert session.run(script('["/bin/echo", "1"]')).stdout == b"PermissionError\n"


def test_the_modules_of_the_standard_library_load(hiding):
    """Also those that load libraries of the machine."""
    code = b"import ctypes, sqlite3, ssl, bz2, lzma, zlib, hashlib, readline, curses, zoneinfo\n"
    code += b"print(zoneinfo.ZoneInfo('Europe/Paris'), sqlite3.sqlite_version > '3')"
    result = hiding.run(Job(script="main.py", files={"main.py": code}))
    assert result.stdout == b"Europe/Paris True\n", result.stderr


@pytest.mark.parametrize("name", [name for name in languages.names() if name != "python"])
def test_every_language_states_what_it_needs(name):
    language = languages.find(name)
    assert language.programs is not None
    assert (language.compile_programs is not None) == bool(language.compile)
    job = language.job("text")
    assert (job.programs, job.compile_programs) == (language.programs, language.compile_programs)


def test_a_language_with_other_commands_sees_all_unless_it_says_more(tmp_path, monkeypatch):
    monkeypatch.setattr(languages, "_LOADED", {})
    path = tmp_path / "mine.toml"
    path.write_text('[c]\ncompile = "tcc -o main main.c"\n[lua]\nprograms = ["luajit"]\n')
    c, lua = languages.load(path)
    assert (c.programs, c.compile_programs) == (None, None)
    assert lua.programs == ("luajit",)


def test_the_process_backend_hides_nothing():
    with Sandbox("process", allow_unsafe=True, slots=1) as sandbox:
        assert not sandbox.hides_programs
        assert sandbox.run(script('["/bin/echo", "1"]')).stdout == b"b'1\\n'\n"
    assert NamespacesBackend().hides_programs is None  # not known before a slot has started
