"""What was compiled serves later jobs that would compile the same, and no other job."""

import shutil
from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.sandboxes import compiled, languages
from rlvr_envs.sandboxes.base import Case, Job, Limits, Result, RunStatus
from rlvr_envs.sandboxes.compiled import CompileCache, Compiled, compile_key, is_lasting
from rlvr_envs.sandboxes.sandbox import Sandbox
from rlvr_envs.sandboxes.shared import end_shared, shared_sandbox

STAMP = "od -An -N8 -tx8 /dev/urandom > stamp; "
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


def stamped(source=b"1", command="true", **more):
    """A job whose compile command leaves a mark that is another one each time."""
    words = ("/bin/sh", "-c", STAMP + command)
    return Job(argv=("/bin/cat", "stamp"), compile=words, files={"main.txt": source}, **more)


@pytest.fixture
def fresh(backend):
    """A sandbox that has compiled nothing."""
    with Sandbox(backend, slots=2) as sandbox:
        yield sandbox


def counts(sandbox):
    return sandbox.compile_cache.hits, sandbox.compile_cache.misses


def test_an_equal_source_is_compiled_once(fresh):
    results = [fresh.run(stamped()) for _ in range(3)]
    assert all(result.ok and len(result.stdout) > 16 for result in results)
    assert len({result.stdout for result in results}) == 1
    assert counts(fresh) == (2, 1)


def test_other_inputs_arguments_and_limits_of_the_run_need_no_compiling(fresh):
    job = stamped()
    first = fresh.run(job).stdout
    assert fresh.run_batch(job, [Case(stdin=b"1"), Case(stdin=b"2")])[1].stdout == first
    assert fresh.run(replace(job, limits=Limits(cpu_s=3), collect=("stamp",))).stdout == first
    assert fresh.run(replace(job, argv=("/bin/cat",), args=("stamp",))).stdout == first
    assert counts(fresh) == (3, 1)


@pytest.mark.parametrize(
    "other",
    [
        stamped(b"2"),
        stamped(b"1\n"),
        stamped(command="true "),
        stamped(env={"A": "1"}),
        stamped(compile_limits=Limits(cpu_s=5)),
        stamped(compile_programs=("/usr",)),
        replace(stamped(), files={"main2.txt": b"1"}),
        replace(stamped(), files={"main.txt": b"1", "more": b""}),
    ],
    ids=["byte", "end", "flag", "env", "limits", "programs", "name", "file"],
)
def test_any_difference_is_compiled(fresh, other):
    first, second = fresh.run(stamped()), fresh.run(other)
    assert first.ok
    assert second.ok
    assert first.stdout != second.stdout
    assert counts(fresh) == (0, 2)


@needs_gcc
def test_one_flag_or_language_of_difference_is_compiled(fresh):
    language = languages.find("c")
    source = '#include <stdio.h>\nint main(void) { return !printf("%ld", __STDC_VERSION__); }'
    job = language.job(source)
    as_c99 = replace(job, compile=tuple(w.replace("gnu17", "c99") for w in job.compile))
    assert fresh.run(job).stdout == b"201710"
    assert fresh.run(as_c99).stdout == b"199901"
    if languages.find("cpp").available():
        cpp = languages.find("cpp").job('#include <cstdio>\nint main() { puts("cpp"); }')
        as_c = replace(job, files={"main.c": cpp.files["main.cpp"]})
        assert fresh.run(as_c).status is RunStatus.COMPILE_ERROR
        assert fresh.run(cpp).stdout == b"cpp\n"
    assert fresh.compile_cache.hits == 0


OVERWRITES = """
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
    puts("right");
    unlink("main");
    FILE *file = fopen("main", "w");
    if (!file) return 3;
    fputs("#!/bin/sh\\necho wrong\\n", file);
    fclose(file);
    chmod("main", 0755);
    file = fopen("stamp", "w");
    fputs("wrong", file);
    return fclose(file);
}
"""


@needs_gcc
def test_a_program_that_replaces_its_own_executable_changes_no_later_run(fresh):
    job = languages.find("c").job(OVERWRITES)
    for _ in range(2):
        assert [r.stdout for r in fresh.run_batch(job, [Case()] * 2)] == [b"right\n"] * 2
    replaced = replace(job, collect=("main",))
    result = fresh.run(replaced)
    assert result.stdout == b"right\n"
    assert result.files["main"] == b"#!/bin/sh\necho wrong\n"  # it did what it could
    assert fresh.run(job).stdout == b"right\n"
    assert counts(fresh) == (3, 1)


HOSTILE = (
    "for place in /tmp/main ../main $HOME/../stamp $PWD/../tmp/stamp /usr/main /etc/main; do"
    " echo hostile > $place; done 2> /dev/null;"
    " ln -s /etc/passwd link; mkfifo pipe; ln -s ../tmp/main main; ln -s / root;"
    " mkdir -p deep/er; echo mine > deep/er/file; chmod 0 deep/er/file;"
    " (sleep 60; echo late > stamp) & true"
)


def test_a_hostile_compilation_reaches_its_own_entry_alone(fresh):
    look = "cat stamp; ls -R . /tmp $TMPDIR 2> /dev/null; cat deep/er/file"
    honest = replace(stamped(), argv=("/bin/sh", "-c", look))
    before = fresh.run(honest)
    hostile = replace(stamped(b"hostile", HOSTILE), argv=("/bin/sh", "-c", look))
    ran = fresh.run(hostile)
    assert ran.stdout.endswith(b"mine\n")
    again = fresh.run(hostile)
    assert again.stdout == ran.stdout
    kept = {name for entry in fresh.compile_cache._entries.values() for name in entry.files}
    assert kept == {"main.txt", "stamp", "deep/er/file"}
    assert fresh.run(honest).stdout == before.stdout
    assert fresh.run(stamped(b"other")).stdout not in {ran.stdout, before.stdout}
    assert counts(fresh) == (2, 3)


@needs_gcc
def test_a_compile_error_is_told_again_equally(fresh):
    job = languages.find("c").job("int main( {")
    first = fresh.run(job)
    assert first.status is RunStatus.COMPILE_ERROR
    assert b"error" in first.stderr
    assert fresh.run(job) == first
    assert fresh.run_batch(job, [Case()] * 3) == [first] * 3
    assert fresh.run_batch(job, [Case()] * 3, stop_on_fault=True) == [first]
    assert counts(fresh) == (3, 1)


@pytest.mark.parametrize(
    ("command", "limits"),
    [
        ("kill -9 $$", Limits(cpu_s=5)),
        ("echo 'g++: fatal error: Killed signal' >&2; exit 1", Limits(cpu_s=5)),
        ("while true; do :; done", Limits(cpu_s=0.2)),
        ("head -c 3000000 /dev/urandom; exit 1", Limits(cpu_s=5, output_kib=64)),
        ("head -c 40000 /dev/urandom; exit 1", Limits(cpu_s=5, stdout_kib=1)),
        ("no_such_compiler", Limits(cpu_s=5)),
    ],
    ids=["signal", "said", "time", "output", "cut", "missing"],
)
def test_a_failure_that_chance_or_a_limit_explains_is_compiled_again(fresh, command, limits):
    job = stamped(command=command, compile_limits=limits)
    for _ in range(2):
        assert fresh.run(job).status is RunStatus.COMPILE_ERROR
    assert counts(fresh) == (0, 2)


def test_without_room_nothing_is_kept(backend):
    with Sandbox(backend, slots=1, compile_cache_mib=0) as sandbox:
        assert sandbox.run(stamped()).stdout != sandbox.run(stamped()).stdout
        assert counts(sandbox) == (0, 2)
        assert sandbox.compile_cache.size == 0


def test_what_is_too_large_is_not_kept_and_runs_all_the_same(backend):
    with Sandbox(backend, slots=1, compile_cache_mib=1) as sandbox:
        job = stamped(command="head -c 300000 /dev/urandom > main")
        assert sandbox.run(job).ok
        assert sandbox.run(job).ok
        assert counts(sandbox) == (0, 2)
        assert sandbox.compile_cache.size == 0


def test_the_bound_holds_and_the_least_recently_used_goes(backend):
    with Sandbox(backend, slots=1, compile_cache_mib=0.1) as sandbox:
        jobs = [stamped(bytes([65 + i]), "head -c 20000 /dev/urandom > main") for i in range(6)]
        seen = [sandbox.run(job).stdout for job in jobs[:4]]
        assert sandbox.run(jobs[0]).stdout == seen[0]
        sandbox.run(jobs[4])
        sandbox.run(jobs[5])
        assert 80_000 < sandbox.compile_cache.size <= 0.1 * (1 << 20)
        assert sandbox.run(jobs[0]).stdout == seen[0]
        assert sandbox.run(jobs[1]).stdout != seen[1]


def test_what_names_the_place_of_its_slot_stays_in_it(fresh):
    """Under Landlock alone every slot has a working directory of another name."""
    job = replace(stamped(command="pwd > place"), argv=("/bin/sh", "-c", "pwd; cat place"))
    for _ in range(2):
        here, written = fresh.run(job).stdout.split()
        assert here == written
    assert counts(fresh) == ((0, 2) if fresh.backend == "landlock" else (1, 1))


def test_a_session_compiles_by_itself(fresh):
    job = stamped()
    with fresh.session() as session:
        assert session.run(job).stdout != session.run(job).stdout
    assert counts(fresh) == (0, 0)


def test_another_version_of_a_tool_is_another_key(tmp_path, monkeypatch):
    tool = tmp_path / "compiler"
    tool.write_text("1")
    tool.chmod(0o755)
    monkeypatch.setattr(languages, "TOOL_DIRECTORIES", (str(tmp_path),))
    monkeypatch.setattr(languages, "_SHOWN", (tmp_path,))
    job = Job(argv=("main",), compile=("compiler",))
    before = compile_key(job, same_programs=True)
    assert compile_key(job, same_programs=True) == before
    tool.write_text("22")
    assert compile_key(job, same_programs=True) != before
    assert compile_key(job, same_programs=False) == compile_key(job, same_programs=False)


def test_a_key_keeps_its_first_entry():
    cache = CompileCache(1)
    cache.keep("a", Compiled(files={"main": (0o755, b"first")}))
    cache.keep("a", Compiled(files={"main": (0o755, b"second")}))
    found = cache.find("a")
    assert found is not None
    assert found.files["main"] == (0o755, b"first")
    assert cache.size == found.size


def test_a_forked_child_starts_with_an_empty_cache(monkeypatch):
    cache = CompileCache(1)
    cache.keep("a", Compiled())
    assert cache.find("a") is not None
    with cache._lock:  # as another thread may have held it in that moment
        monkeypatch.setattr(compiled.os, "getpid", lambda: -1)
        assert cache.find("a") is None
    assert (cache.hits, cache.misses, cache.size) == (0, 1, 0)


@pytest.mark.parametrize("mib", [-1, True, "64", float("nan")])
def test_a_size_that_is_none_is_refused(mib):
    with pytest.raises(ConfigError, match="compile_cache_mib"):
        CompileCache(mib)


def test_only_an_error_of_the_program_lasts():
    failure = Result(status=RunStatus.COMPILE_ERROR, exit_code=1, stderr=b"main.c:1: error: no")
    assert is_lasting(failure, RunStatus.NONZERO_EXIT)
    for status in set(RunStatus) - {RunStatus.NONZERO_EXIT}:
        assert not is_lasting(failure, status)


def test_a_variable_sizes_the_cache_of_the_shared_sandbox(monkeypatch):
    end_shared()
    monkeypatch.setenv("RLVR_COMPILE_CACHE_MIB", "2")
    try:
        assert shared_sandbox().compile_cache.most_of_one == 1 << 19
        end_shared()
        monkeypatch.setenv("RLVR_COMPILE_CACHE_MIB", "much")
        with pytest.raises(ConfigError, match=r"RLVR_COMPILE_CACHE_MIB.*'much'"):
            shared_sandbox()
    finally:
        end_shared()
