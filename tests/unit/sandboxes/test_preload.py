"""Slots that load modules before their first job."""

import sys
import tempfile
from pathlib import Path

import pytest

from rlvr_envs.core.errors import SandboxUnavailable
from rlvr_envs.sandboxes.backend import Preload
from rlvr_envs.sandboxes.base import Job
from rlvr_envs.sandboxes.landlock import LandlockBackend
from rlvr_envs.sandboxes.namespaces import NamespacesBackend
from rlvr_envs.sandboxes.sandbox import Sandbox, probe

MODULE = "import os\nPID = os.getpid()\ncount = 0\n"


@pytest.fixture(
    scope="module", params=[NamespacesBackend, LandlockBackend], ids=lambda kind: kind.name
)
def kind(request):
    """A backend that runs on this machine, and works."""
    try:
        probe(request.param())
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    return request.param


@pytest.fixture
def library():
    """Two folders with a module each, of which the second uses the first, and a program.

    Not below `tmp_path`, which is for its owner alone: jobs may run as another user.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        for part, text in (("first", MODULE), ("second", "import preloaded_first\n")):
            (folder / part).mkdir()
            (folder / part / f"preloaded_{part}.py").write_text(text)
        program = folder / "program"
        program.write_text("#!/bin/sh\necho it runs\n")
        program.chmod(0o755)
        yield folder


def preload(library, *modules):
    return Preload(
        modules=modules,
        folders=(str(library / "first"), str(library / "second")),
        files={str(library / "program"): "/opt/preloaded-program"},
    )


def run(backend, source):
    job = Job(script="main.py", files={"main.py": source.encode()})
    with Sandbox(backend, slots=1) as sandbox:
        results = [sandbox.run(job), sandbox.run(job)]
    assert all(result.ok for result in results), results[0].stderr.decode()
    return [result.stdout.decode().strip() for result in results]


def test_jobs_have_the_modules_and_not_their_folders(kind, library):
    backend = kind(preload=preload(library, "preloaded_second"))
    source = (
        "import os, sys, preloaded_first\n"
        "folders = [path for path in sys.path if 'first' in path or 'second' in path]\n"
        "print(preloaded_first.PID != os.getpid(), folders)\n"
        f"try:\n    os.listdir({str(library / 'first')!r})\nexcept OSError:\n    print('hidden')\n"
    )
    assert run(backend, source) == ["True []\nhidden"] * 2


def test_no_job_changes_the_modules_of_another(kind, library):
    backend = kind(preload=preload(library, "preloaded_first"))
    source = "import preloaded_first as m\nm.count += 1\nprint(m.count)\n"
    assert run(backend, source) == ["1", "1"]


def test_slots_run_on_the_python_of_this_process(kind, library):
    backend = kind(preload=preload(library, "preloaded_first"))
    assert run(backend, "import sys\nprint(sys.version)") == [sys.version] * 2


def test_jobs_may_run_the_files_at_their_place(kind, library):
    backend = kind(preload=preload(library))
    with Sandbox(backend, slots=1) as sandbox:
        result = sandbox.run(Job(argv=(backend.place(str(library / "program")),)))
    assert result.stdout == b"it runs\n", result


def test_files_move_only_where_jobs_have_a_root_of_their_own(kind, library):
    program = str(library / "program")
    place = kind(preload=preload(library)).place(program)
    assert place == ("/opt/preloaded-program" if kind is NamespacesBackend else program)
    assert kind().place(program) == program


def test_a_module_that_is_not_there_is_named(kind, library):
    backend = kind(preload=preload(library, "preloaded_third"))
    with pytest.raises(SandboxUnavailable, match="No module named 'preloaded_third'"):
        backend.start()
