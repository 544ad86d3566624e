"""Precompiled headers change how long g++ takes, and nothing else."""

import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from rlvr_envs.core.errors import SandboxUnavailable
from rlvr_envs.sandboxes import headers, languages
from rlvr_envs.sandboxes.base import Job, RunStatus
from rlvr_envs.sandboxes.headers import PrecompiledHeaders, top_folder
from rlvr_envs.sandboxes.sandbox import Sandbox, make_backend, probe

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")

TELLS = """#include <bits/stdc++.h>
#ifndef PRECOMPILED
#define PRECOMPILED "parsed"
#endif
int main() { std::puts(PRECOMPILED); return %d; }
"""
MARKED = '#include <cstdio>\n#define PRECOMPILED "precompiled"\n'
FLAGS = ("-O2", "-std=gnu++20")


def program(number=0, **more):
    """Another program for each number, which prints where its header came from."""
    return replace(languages.find("cpp").job(TELLS.replace("%d", f"0 * {number}")), **more)


@pytest.fixture
def cache(monkeypatch):
    """An empty cache folder; not below `tmp_path`, which jobs of another user cannot enter."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        monkeypatch.setenv("XDG_CACHE_HOME", name)
        yield Path(name, "rlvr_envs", "headers")


@pytest.fixture
def made(cache, monkeypatch):
    """How often a header was precompiled: a small one, which tells that it was."""
    calls = []

    def precompile(made, flags):
        calls.append(flags)
        header = made.with_name("marked.h")
        header.write_text(MARKED)
        command = ["g++", *flags, "-x", "c++-header", "-o", str(made), str(header)]
        subprocess.run(command, check=True)
        return {"digest": headers._digest(made), "read": {}}

    monkeypatch.setattr(headers, "_precompile", precompile)
    return calls


def built():
    """Make what the language C++ uses, and return its folder."""
    user = PrecompiledHeaders()
    for _ in range(headers.WORTH):
        found = user.variables(program(), str)
    return Path(found[headers.VARIABLE])


def uses(job):
    return bool(PrecompiledHeaders().variables(job, str))


def test_a_header_is_precompiled_when_it_is_worth_the_while(backend, made):
    with Sandbox(backend, slots=1) as sandbox:
        said = [sandbox.run(program(number)).stdout for number in range(5)]
        assert said == [b"parsed\n"] * 2 + [b"precompiled\n"] * 3
        assert made == [FLAGS]
    with Sandbox(backend, slots=1) as later:
        assert later.run(program()).stdout == b"precompiled\n"
    with Sandbox(backend, slots=1, precompiled_headers=False) as without:
        assert without.run(program()).stdout == b"parsed\n"
    assert made == [FLAGS]


def test_what_comes_before_the_header_keeps_its_meaning(backend, made):
    built()
    with Sandbox(backend, slots=1) as sandbox:
        for first in ("#define BUFSIZ 8192\n", "int before;\n", '#pragma GCC optimize("O3")\n'):
            job = program(files={"main.cpp": (first + TELLS % 0).encode()})
            assert sandbox.run(job).stdout == b"parsed\n"
        twice = program(files={"main.cpp": b"#include <bits/stdc++.h>\n" + (TELLS % 0).encode()})
        assert sandbox.run(twice).stdout == b"precompiled\n"


def test_jobs_see_it_and_cannot_change_it(backend, made):
    folder = built()
    file, before = folder / "bits" / "stdc++.h.gch", sorted(folder.iterdir())
    with Sandbox(backend, slots=1) as sandbox:
        place = sandbox._pool.backend.headers_at(str(folder.parent))
        seen = f"{place}/{folder.name}"
        look = Job(argv=("/bin/sh", "-c", f"cd {seen} && wc -c < bits/stdc++.h.gch"))
        assert int(sandbox.run(look).stdout) == file.stat().st_size
        digest = headers._digest(file)
        for act in (
            f"echo x > {seen}/bits/stdc++.h.gch",
            f"echo x >> {seen}/manifest.json",
            f"echo x > {seen}/vector",
            f"rm -rf {seen} {place}/lock",
            f"mv {seen} {place}/other",
            f"mkdir {place}/new",
        ):
            for job in (
                Job(argv=("/bin/sh", "-c", act)),
                Job(argv=("/bin/true",), compile=("/bin/sh", "-c", act)),
            ):
                assert not sandbox.run(job).ok
        assert sandbox.run(program(1)).stdout == b"precompiled\n"
    assert headers._digest(file) == digest
    assert sorted(folder.iterdir()) == before


def test_a_program_that_states_its_needs_does_not_read_it(backend, made):
    folder = built()
    source = """#include <bits/stdc++.h>
int main() { std::ifstream file("%s"); std::puts(file ? "open" : "closed"); }
"""
    with Sandbox(backend, slots=1) as sandbox:
        if not sandbox.hides_programs:
            pytest.skip("this backend hides no programs")
        place = sandbox._pool.backend.headers_at(str(folder.parent))
        path = f"{place}/{folder.name}/manifest.json"
        assert sandbox.run(languages.find("cpp").job(source % path)).stdout == b"closed\n"


def spoil(path):
    with path.open("r+b") as file:
        file.seek(5000)
        file.write(b"spoilt")


@pytest.mark.parametrize(
    "harm",
    [
        lambda folder: spoil(folder / "bits" / "stdc++.h.gch"),
        lambda folder: os.truncate(folder / "bits" / "stdc++.h.gch", 4096),
        lambda folder: (folder / "bits" / "stdc++.h.gch").chmod(0o666),
        lambda folder: (folder / "bits").chmod(0o777),
        lambda folder: folder.chmod(0o775),
        lambda folder: (folder / "bits" / "stdc++.h").write_text("#define PRECOMPILED 3\n"),
        lambda folder: (folder / "manifest.json").write_text("{"),
        lambda folder: (folder / "manifest.json").write_text("[]"),
        lambda folder: (folder / "manifest.json").unlink(),
        lambda folder: linked(folder / "bits" / "stdc++.h.gch"),
        lambda folder: older(folder / "manifest.json"),
    ],
    ids=[
        *("spoilt", "cut", "file_open_to_all", "bits_open_to_all", "folder_open_to_group"),
        *("stub", "no_json", "another_json", "no_manifest", "link", "another_c_library"),
    ],
)
def test_what_is_not_as_it_was_written_is_not_used_but_made_again(made, harm):
    folder = built()
    assert uses(program())
    used = PrecompiledHeaders()
    assert used.variables(program(), str)
    harm(folder)
    assert not uses(program())
    assert not used.variables(program(), str)  # though it was found right before
    assert built() == folder
    assert made == [FLAGS] * 2
    assert uses(program())


def linked(path):
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def older(manifest):
    """Say that it was made of a file that has changed since."""
    told = json.loads(manifest.read_text())
    told["read"] = {"/usr/include/stdio.h": [1, 2]}
    manifest.write_text(json.dumps(told))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to somebody else")
@pytest.mark.parametrize("what", [".", "bits", "bits/stdc++.h.gch", "manifest.json", ".."])
def test_what_belongs_to_somebody_else_is_not_used(made, what):
    folder = built()
    os.chown(folder / what, 65534, 65534)
    assert not uses(program())


def test_a_folder_that_others_may_change_is_not_used(cache, made):
    built()
    cache.parent.chmod(0o777)
    assert top_folder() is None
    assert not uses(program())
    cache.parent.chmod(0o755)
    assert uses(program())
    cache.chmod(0o777)
    assert top_folder() is None


def test_a_relative_cache_folder_is_no_place(cache, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    assert top_folder() != Path("here/rlvr_envs/headers").resolve()
    assert not Path("here").exists()


@pytest.mark.parametrize(
    "job",
    [
        program(files={"main.cpp": b"#include <vector>\nint main() {}"}),
        program(compile=("g++", "-O2", "-I.", "-o", "main", "main.cpp")),
        program(compile=("g++", "-O2", "-include", "vector", "-o", "main", "main.cpp")),
        program(compile=("g++", "-O2", "-DNDEBUG", "-o", "main", "main.cpp")),
        program(compile=("g++", "-O2", "-fplugin=./evil.so", "-o", "main", "main.cpp")),
        program(compile=("clang++", "-O2", "-o", "main", "main.cpp")),
        program(env={"CPATH": "/work"}),
        program(compile=(), argv=("/bin/true",)),
    ],
    ids=["unused", "folder", "include", "macro", "plugin", "clang", "variables", "none"],
)
def test_commands_that_it_is_not_for_stay_as_they_are(made, job):
    user = PrecompiledHeaders()
    for _ in range(headers.WORTH + 1):
        assert user.variables(job, str) == {}
    assert made == []


def test_each_kind_of_flags_has_its_own_and_the_oldest_goes(made):
    jobs = [
        program(compile=("g++", level, "main.cpp", "-lm", "-o", "main"))
        for level in ("-O0", "-O1", "-O2", "-O3", "-Os")
    ]
    user = PrecompiledHeaders()
    for job in jobs:
        for _ in range(headers.WORTH):
            found = user.variables(job, str)
        assert found
    assert made == [(job.compile[1],) for job in jobs]
    assert [uses(job) for job in jobs] == [False, True, True, True, True]


def test_where_another_process_makes_it_a_program_does_without(cache, made):
    folder = top_folder()
    user = PrecompiledHeaders()
    with headers._locked(folder) as ours:
        assert ours
        for _ in range(headers.WORTH):
            assert user.variables(program(), str) == {}
    assert made == []
    assert user.variables(program(), str)
    assert made == [FLAGS]


def test_a_compiler_that_makes_something_else_is_asked_once(cache, monkeypatch):
    calls = []

    def run(words, given):
        calls.append(words)
        if "-M" in words:
            return "-: /usr/include/stdio.h \\\n /usr/include/bits/stdc++.h\n"
        Path(words[words.index("-o") + 1]).write_bytes(b"CPCH")
        return ""

    monkeypatch.setattr(headers, "_run", run)
    monkeypatch.setattr(headers, "_stamp", lambda path: [1, 2, 3, 4])
    user = PrecompiledHeaders()
    for _ in range(headers.WORTH + 2):
        assert user.variables(program(), str) == {}
    assert len(calls) == 2
    assert sorted(path.name for path in cache.iterdir()) == ["lock"]


def test_without_a_compiler_nothing_is_made_or_shown(cache, monkeypatch):
    monkeypatch.setattr(headers, "find_tool", lambda tool: None)
    assert top_folder() is None
    assert not cache.exists()


PROGRAMS = {
    "sorts": "int main() { vector<int> v{3, 1}; sort(v.begin(), v.end()); cout << v[0]; }",
    "containers": 'map<string, set<int>> m; int main() { m["a"].insert(1); cout << m.size(); }',
    "template": "int main() { list<int> l; sort(l.begin(), l.end()); }",
    "ambiguous": "int count; int main() { count = 3; }",
    "syntax": "int main( {",
}


def test_executables_and_messages_are_the_same_with_it_and_without(cache, backend):
    """The real header, as the language C++ has it compiled."""
    shared = [built() / name for name in ("manifest.json", "bits/stdc++.h.gch")]
    assert all(path.stat().st_size > 10_000 for path in shared)
    begin = "#include <bits/stdc++.h>\nusing namespace std;\n"
    with (
        Sandbox(backend, slots=1) as sandbox,
        Sandbox(backend, slots=1, precompiled_headers=False) as plain,
    ):
        for name, body in PROGRAMS.items():
            job = replace(languages.find("cpp").job(begin + body), collect=("main",))
            assert uses(job)
            found, wanted = sandbox.run(job), plain.run(job)
            assert (found.status, found.stdout) == (wanted.status, wanted.stdout), name
            assert found.stderr == wanted.stderr, name
            assert found.files == wanted.files, name
            failed = found.status is RunStatus.COMPILE_ERROR
            assert failed == (name in {"template", "ambiguous", "syntax"})
            assert failed or found.files["main"].startswith(b"\x7fELF")


def make_and_use(name):
    """Return who owns the header that the C++ of a new sandbox used, and what a program said."""
    with Sandbox(name, slots=1) as sandbox:
        owner = built().stat().st_uid
        return f"{owner} {sandbox.run(program()).stdout!r}"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_ordinary_user_can_make_it(made, monkeypatch, backend):
    assert make_and_use(backend) == "0 b'precompiled\\n'"  # and all is imported that is needed
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, 65534, 65534)
        monkeypatch.setenv("XDG_CACHE_HOME", folder)
        read_end, write_end = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.setgroups([])
                os.setresgid(65534, 65534, 65534)
                os.setresuid(65534, 65534, 65534)
                told = make_and_use(backend)
            except SandboxUnavailable as error:
                told = f"skip: {error}"
            except BaseException as error:  # noqa: BLE001 - or the child would be a second pytest
                told = f"{type(error).__name__}: {error}"
            os.write(write_end, told.encode())
            os._exit(0)
        os.close(write_end)
        with os.fdopen(read_end, encoding="utf-8") as file:
            told = file.read()
        os.waitpid(child, 0)
    if told.startswith("skip"):
        pytest.skip(told)
    assert told == "65534 b'precompiled\\n'"


def test_a_backend_that_shows_no_headers_is_given_none(made):
    built()
    try:
        probe(make_backend("process"))
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    with Sandbox("process", slots=1, allow_unsafe=True) as sandbox:
        assert sandbox.run(program()).stdout == b"parsed\n"
