"""What a job needs of the machine: programs, and the files and libraries that they load.

A job that states it can execute and read nothing else: a program cannot hand its work to another
interpreter or compiler. Libraries are found as the dynamic loader does, from the ELF headers.
"""

import os
import struct
import sysconfig
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from rlvr_envs.sandboxes.languages import TOOL_DIRECTORIES

_LIBRARY_FOLDERS = ("/usr/local/lib", "/lib64", "/usr/lib64", "/lib", "/usr/lib")

# What every dynamically linked program may load.
_C_LIBRARY = (
    *("libc.so.6", "libm.so.6", "libmvec.so.1", "libdl.so.2", "libpthread.so.0", "librt.so.1"),
    *("libresolv.so.2", "libutil.so.1", "libgcc_s.so.1", "libstdc++.so.6", "libatomic.so.1"),
    *("libnss_files.so.2", "libnss_compat.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"),
    *("libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"),
)
_DATA = (
    *("/usr/share/zoneinfo", "/usr/share/locale", "/usr/lib/locale", "/usr/share/i18n"),
    *("/usr/lib/*/gconv", "/usr/share/terminfo", "/usr/lib/terminfo"),
)

_INTERPRETER, _DYNAMIC = 3, 2  # kinds of program headers
_NEEDED, _STRINGS, _RPATH, _RUNPATH = 1, 5, 15, 29  # kinds of dynamic entries


@lru_cache(maxsize=64)
def closure(needs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the paths that some programs need, sorted: themselves, their libraries, their data.

    Args:
        needs: names of programs or libraries, or patterns of absolute paths; what is not on this
            machine is left out.
    """
    found = {path for pattern in _DATA for path in _matching(pattern)}
    todo = [path for need in (*_C_LIBRARY, *needs) for path in _places(need)]
    seen: set[Path] = set()
    while todo:
        real = todo.pop().resolve()
        if real in seen:
            continue
        seen.add(real)
        found.add(real)
        if real.is_dir():
            todo += [file for file in real.rglob("*.so*") if file.is_file()]
            continue
        todo += _opened(real)
    within = {path for path in found if found.intersection(path.parents)}
    return tuple(sorted(map(str, found - within)))


def libraries(binaries: Iterable[Path]) -> list[Path]:
    """Return what the loader opens for some programs and libraries, itself included, sorted.

    Each is at the path by which the loader finds it, which may be a link.
    """
    found: set[Path] = set()
    todo = list(binaries)
    while todo:
        opened = set(_opened(todo.pop().resolve())) - found
        found |= opened
        todo += opened
    return sorted(found)


def python_needs(executable: str, version: str = "") -> tuple[str, ...]:
    """Return what an interpreter of Python needs, for `closure`.

    Args:
        executable: its path.
        version: of its library, such as "3.11"; this interpreter's by default.
    """
    real = Path(executable).resolve()
    version = version or real.name.removeprefix("python")
    version = version if "." in version else sysconfig.get_python_version()
    library = real.parent.parent / "lib"
    return (str(real), f"{library}/python{version}", f"{library}/libpython*")


def _matching(pattern: str) -> list[Path]:
    return list(Path("/").glob(pattern.lstrip("/")))


def _places(need: str) -> list[Path]:
    """Return the paths that a need stands for."""
    if "/" in need:
        return _matching(need)
    if ".so" in need:
        return _libraries(need, ())
    return [path for folder in TOOL_DIRECTORIES if (path := Path(folder, need)).exists()]


def _opened(binary: Path) -> Iterator[Path]:
    """Yield what a program or library itself has the loader open."""
    for name, folders in _loaded_by(binary):
        yield from [Path(name)] if "/" in name else _libraries(name, folders)


def _libraries(name: str, before: Iterable[str]) -> list[Path]:
    """Return the first library of a name, as the loader finds it, or nothing."""
    for folder in (*before, *_library_folders()):
        if (path := Path(folder, name)).exists():
            return [path]
    return []


@lru_cache(maxsize=1)
def _library_folders() -> tuple[str, ...]:
    folders: list[str] = []
    for path in sorted(_matching("/etc/ld.so.conf.d/*.conf")):
        lines = path.read_text("utf-8", "replace").splitlines()
        folders += [line.strip() for line in lines if line.startswith("/")]
    return (*folders, *_LIBRARY_FOLDERS)


def _loaded_by(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what a program or library loads: name or path, and the folders to look in first."""
    try:
        with path.open("rb") as file:
            if file.read(6) != b"\x7fELF\x02\x01":  # 64 bits, little-endian
                return
            file.seek(0)
            head = file.read(64)
            (place,) = struct.unpack_from("<Q", head, 32)
            size, count = struct.unpack_from("<HH", head, 54)
            file.seek(place)
            table = file.read(size * count)
            parts = [struct.unpack_from("<IIQQQQ", table, size * i) for i in range(count)]
            for kind, _, offset, _, _, length in parts:
                file.seek(offset)
                if kind == _INTERPRETER:
                    yield file.read(length).rstrip(b"\0").decode(), ()
                elif kind == _DYNAMIC:
                    entries = list(struct.iter_unpack("<QQ", file.read(length)))
                    yield from _dynamic(file.fileno(), parts, entries, str(path.parent))
    except (OSError, struct.error, ValueError):
        return


def _dynamic(
    fd: int, parts: list[tuple[int, ...]], entries: list[tuple[int, ...]], origin: str
) -> Iterator[tuple[str, tuple[str, ...]]]:
    address = next((value for tag, value in entries if tag == _STRINGS), 0)
    places = [
        offset + address - start
        for kind, _, offset, start, _, length in parts
        if kind == 1 and start <= address < start + length
    ]
    if not places:
        return

    def text(at: int) -> str:
        return os.pread(fd, 4096, places[0] + at).partition(b"\0")[0].decode()

    folders = ":".join(text(value) for tag, value in entries if tag in {_RPATH, _RUNPATH})
    first = tuple(part.replace("$ORIGIN", origin) for part in folders.split(":") if part)
    for tag, value in entries:
        if tag == _NEEDED:
            yield text(value), first
