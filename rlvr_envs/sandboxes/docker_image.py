"""Images for the docker backend that need no registry: made from what this machine has.

Two kinds. A *host image* is an empty skeleton into which the machine's own ``/usr`` is mounted
read-only, so that every local toolchain works at no cost; it needs an engine on this machine. A
*Python image* holds a copy of the local Python and of the libraries it loads, and runs on any
engine of the same processor.
"""

import hashlib
import io
import json
import subprocess
import tarfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import SandboxUnavailable
from rlvr_envs.sandboxes.toolchains import libraries

# Podman takes a bare name for one of Docker Hub, and forgets the tag of an import: so the digest
# that tells images apart belongs to the name.
PREFIX = "localhost/rlvr-sandbox-"

# Directories that exist before anything is mounted on them: the root is read-only.
_FOLDERS = {"usr": 0o755, "etc": 0o755, "etc/alternatives": 0o755, "proc": 0o755, "sys": 0o755}
_FOLDERS |= {"dev": 0o755, "tmp": 0o1777, "work": 0o1777}
_LINKS = ("bin", "sbin", "lib", "lib32", "lib64")
_ACCOUNTS = {
    "etc/passwd": "root:x:0:0::/:/bin/sh\nsandbox:x:65534:65534::/work:/bin/sh\n",
    "etc/group": "root:x:0:\nsandbox:x:65534:\n",
}
# Python's own tests and graphical programs are half of its library.
_LEFT_OUT = {"test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "dist-packages"}


def _tar(files: Iterable[tuple[str, Path]] = ()) -> bytes:
    """Return an archive of the skeleton and some files, the same bytes for the same content."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, mode in _FOLDERS.items():
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, mode
            tar.addfile(entry)
        for name in _LINKS:
            target = Path("/", name)
            if target.is_symlink():
                entry = tarfile.TarInfo(name)
                entry.type, entry.linkname = tarfile.SYMTYPE, str(target.readlink())
                tar.addfile(entry)
        for name, text in _ACCOUNTS.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text), 0o644
            tar.addfile(entry, io.BytesIO(text.encode()))
        for name, path in files:
            entry = tarfile.TarInfo(name)
            found = path.stat()
            entry.size, entry.mode = found.st_size, 0o755 if found.st_mode & 0o100 else 0o644
            entry.mtime = int(found.st_mtime)  # else the compiled modules count as outdated
            with path.open("rb") as file:
                tar.addfile(entry, file)
    return buffer.getvalue()


def ensure_host_image(api: Any) -> str:
    """Return the name of the skeleton, imported into the engine unless it is there."""
    content = _tar()
    kind = f"host-{hashlib.sha256(content).hexdigest()[:12]}"
    return _ensure(api, kind, lambda: content)


def ensure_python_image(api: Any, python: str) -> str:
    """Return the name of an image with a copy of a Python, made unless the engine has it."""
    about = _about(python)
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:12]
    return _ensure(api, f"python-{digest}", lambda: _tar(_python_files(python, about)))


def _ensure(api: Any, kind: str, make: Callable[[], bytes]) -> str:
    name = PREFIX + kind
    if not api.images(name=name, quiet=True):
        answer = str(api.import_image_from_data(make(), repository=name, tag="latest"))
        if '"error"' in answer:
            raise SandboxUnavailable(f"the docker engine did not import an image: {answer}")
    return name


def _about(python: str) -> dict[str, str]:
    """Return where an interpreter keeps itself and its library, and what it is."""
    code = (
        "import json, os, sys, sysconfig; print(json.dumps({'program': os.path.realpath("
        "sys.executable), 'library': sysconfig.get_path('stdlib'), 'version': sys.version}))"
    )
    try:
        answer = subprocess.run(  # noqa: S603 - a constant program of the system
            [python, "-I", "-S", "-c", code], capture_output=True, check=True, timeout=30
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxUnavailable(
            f"the python image is a copy of {python}, which does not run: {error}; "
            "install python3, or name an image with RLVR_DOCKER_IMAGE"
        ) from error
    about: dict[str, str] = json.loads(answer.stdout)
    return about


def _python_files(python: str, about: dict[str, str]) -> list[tuple[str, Path]]:
    """Return name in the image → file for the interpreter, its library and what they load."""
    program, library = Path(about["program"]), Path(about["library"])
    modules = [
        path
        for path in sorted(library.rglob("*"))
        if path.is_file()
        and path.suffix not in {".a", ".o"}  # for embedding Python in other programs
        and not _LEFT_OUT & set(path.relative_to(library).parts)
    ]
    binaries = [program, *(path for path in modules if path.suffix == ".so")]
    found = {str(path).lstrip("/"): path for path in (program, *modules)}
    for path in libraries(binaries):
        # the loader is named by the path in the binary, which may lead through /lib64 -> usr/lib64
        real = path.parent.resolve() / path.name
        found[str(real).lstrip("/")] = path
    found[python.lstrip("/")] = program
    return sorted(found.items())
