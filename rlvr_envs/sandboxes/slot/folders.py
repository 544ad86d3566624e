"""The working directory of a job: filled, read, and wiped."""

from __future__ import annotations

import ctypes
import os
import stat
from typing import TYPE_CHECKING, Any

from rlvr_envs.sandboxes.slot.basics import MIB, check, libc
from rlvr_envs.sandboxes.slot.frames import private_memory, read_into, write_all
from rlvr_envs.sandboxes.slot.walls import MS_NODEV, MS_NOSUID, mount

if TYPE_CHECKING:
    from collections.abc import Iterator


def open_beneath(root: int, path: str, flags: int) -> int:
    """Open a file below a directory and follow no link; when creating, make room for it first."""
    *folders, name = path.split("/")
    here = os.dup(root)
    try:
        for folder in folders:
            if flags & os.O_CREAT and not is_folder(here, folder):
                clear(here, folder)
                os.mkdir(folder, 0o755, dir_fd=here)
            deeper = os.open(folder, os.O_DIRECTORY | os.O_NOFOLLOW | os.O_PATH, dir_fd=here)
            os.close(here)
            here = deeper
        if flags & os.O_CREAT:
            clear(here, name)
            flags |= os.O_EXCL
        flags |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        return os.open(name, flags, 0o644, dir_fd=here)
    finally:
        os.close(here)


def is_folder(here: int, name: str) -> bool:
    """Whether a name of a directory is a directory, and no link to one."""
    try:
        return stat.S_ISDIR(os.lstat(name, dir_fd=here).st_mode)
    except FileNotFoundError:
        return False


def clear(here: int, name: str) -> None:
    """Delete whatever has a name in a directory."""
    if not is_folder(here, name):
        try:
            os.unlink(name, dir_fd=here)
        except FileNotFoundError:
            pass
        return
    os.chmod(name, 0o700, dir_fd=here)
    fd = os.open(name, os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
    try:
        wipe(fd)
    finally:
        os.close(fd)
    os.rmdir(name, dir_fd=here)


# More folders in one another than a path can name would escape being counted.
DEEPEST, LONGEST_PATH = 200, 4000


def entries_below(top: str) -> Iterator[tuple[os.DirEntry[str], int]]:
    """Yield every entry below a directory with its depth, and follow no link.

    What lies deeper than a path can name is left out; its folder then counts as too deep.
    """
    todo = [(top, 0)]
    while todo:
        folder, depth = todo.pop()
        try:
            entries = os.scandir(folder)
        except OSError:
            continue
        with entries:
            for entry in entries:
                named = len(os.fsencode(entry.path)) < LONGEST_PATH
                yield entry, depth if named else DEEPEST + 1
                if named and entry.is_dir(follow_symlinks=False):
                    todo.append((entry.path, depth + 1))


class Box:
    """The two directories that a job may write to: where it works, and ``/tmp``.

    Here they are made afresh by deleting what is in them; `MountedBox` mounts new ones.
    """

    def __init__(self, work: str, tmp: str, owner: int | None) -> None:
        self.work, self.tmp, self.owner = work, tmp, owner

    def fresh(self, limits: dict[str, Any]) -> None:
        """Empty both directories."""
        del limits
        for path in (self.work, self.tmp):
            fd = self._open(path)
            try:
                wipe(fd)
            finally:
                os.close(fd)

    def _open(self, path: str) -> int:
        """Open one of the two directories, whatever the job has done to its mode."""
        try:
            os.chmod(path, 0o755)
        except PermissionError:
            pass  # it belongs to somebody else, and then a job cannot change it either
        return os.open(path, os.O_DIRECTORY | os.O_NOFOLLOW)

    def write(self, path: str, content: memoryview, mode: int = 0o644) -> None:
        """Write a file into the working directory."""
        root = self._open(self.work)
        try:
            fd = open_beneath(root, path, os.O_WRONLY | os.O_CREAT)
            try:
                write_all(fd, content)
                os.fchmod(fd, mode)
                if self.owner is not None:
                    os.fchown(fd, self.owner, self.owner)
            finally:
                os.close(fd)
        finally:
            os.close(root)

    def read(self, path: str, most: int) -> memoryview | None:
        """Return a file of the working directory: a regular file, at most so large, or None."""
        root = self._open(self.work)
        try:
            fd = open_beneath(root, path, os.O_RDONLY)
        except OSError:
            return None
        finally:
            os.close(root)
        try:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode) or found.st_size > most:
                return None
            content = private_memory(found.st_size)
            return content if read_into(fd, content) else None
        finally:
            os.close(fd)

    def snapshot(self) -> dict[str, tuple[int, memoryview]]:
        """Return the regular files of the working directory with their modes."""
        files: dict[str, tuple[int, memoryview]] = {}
        os.close(self._open(self.work))
        for entry, _ in entries_below(self.work):
            if entry.is_file(follow_symlinks=False):
                found = entry.stat(follow_symlinks=False)
                content = private_memory(found.st_size)
                if (
                    not found.st_mode & stat.S_IRUSR
                ):  # the owner's own rights bind one who is not root
                    os.chmod(entry.path, 0o600)
                fd = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW)
                read_into(fd, content)
                os.close(fd)
                path = os.path.relpath(entry.path, self.work)
                files[path] = (stat.S_IMODE(found.st_mode) & 0o755 | 0o400, content)
        return files

    def full(self) -> bool:
        """Whether a directory has no room for another page or file."""
        return False

    def in_memory(self) -> int | None:
        """Return how many bytes of its files are memory; None where that is not known."""
        return None if kind_of_file_system(self.work) == TMPFS else 0

    def over(self, limits: dict[str, Any]) -> bool:
        """Whether a directory holds more than it may; nothing else limits it."""
        for top in (self.work, self.tmp):
            size, count = 0, 0
            for entry, depth in entries_below(top):
                count += 1
                if count > limits["inodes"] or depth > DEEPEST:
                    return True
                try:
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                except OSError:
                    continue
            if size > limits["disk_mib"] * MIB:
                return True
        return False


WORK = "/work"  # where every job works, if the slot has a root of its own


class MountedBox(Box):
    """Both directories are file systems in memory, of limited size and number of files."""

    def __init__(self) -> None:
        super().__init__(WORK, "/tmp", None)  # noqa: S108 - private to the job
        self._mounted: dict[str, tuple[str, int, int]] = {}

    def fresh(self, limits: dict[str, Any]) -> None:
        options = f"size={limits['disk_mib']}m,nr_inodes={limits['inodes']},mode=755"
        for path in (self.work, self.tmp):
            if path in self._mounted:
                if self._mounted[path] == self._state(path, options):
                    continue  # nothing was ever put there or looked for
                check(libc.umount2(path.encode(), 2), f"umount {path}")
            mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options)
            self._mounted[path] = self._state(path, options)

    def _state(self, path: str, options: str) -> tuple[str, int, int]:
        """Return what changes with the first use of a directory, and cannot be changed back."""
        found = os.stat(path)
        return options, found.st_ctime_ns, found.st_atime_ns

    def full(self) -> bool:
        return any(
            room.f_bavail == 0 or room.f_ffree == 0
            for room in map(os.statvfs, (self.work, self.tmp))
        )

    def over(self, limits: dict[str, Any]) -> bool:
        return False  # there is no way to be

    def in_memory(self) -> int | None:
        rooms = map(os.statvfs, (self.work, self.tmp))
        return sum((room.f_blocks - room.f_bfree) * room.f_frsize for room in rooms)


class LimitedBox(Box):
    """Directories that the container has limited, perhaps less than a job asks for."""

    full = MountedBox.full
    in_memory = MountedBox.in_memory

    def over(self, limits: dict[str, Any]) -> bool:
        for room in map(os.statvfs, (self.work, self.tmp)):
            size = (room.f_blocks - room.f_bfree) * room.f_frsize
            if size > limits["disk_mib"] * MIB or room.f_files - room.f_ffree > limits["inodes"]:
                return True
        return False


TMPFS = 0x01021994


def kind_of_file_system(path: str) -> int:
    """Return the magic number of the file system that holds a path."""
    buffer = ctypes.create_string_buffer(256)
    check(libc.statfs(path.encode(), buffer), f"statfs {path}")
    return int(ctypes.c_long.from_buffer(buffer).value)


def wipe(top: int) -> None:
    """Delete everything below a directory, however deep and however it is protected.

    Directories move up to the top before they are emptied, so that depth costs nothing. Nothing
    may be running that could change them meanwhile.
    """
    serial = 0
    while names := os.listdir(top):
        for name in names:
            if not stat.S_ISDIR(os.lstat(name, dir_fd=top).st_mode):
                os.unlink(name, dir_fd=top)
                continue
            os.chmod(name, 0o700, dir_fd=top)
            here = os.open(name, os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
            try:
                for child in os.listdir(here):
                    if stat.S_ISDIR(os.lstat(child, dir_fd=here).st_mode):
                        os.chmod(child, 0o700, dir_fd=here)
                        serial += 1
                        os.rename(
                            child, f".up{serial}-{os.getpid()}", src_dir_fd=here, dst_dir_fd=top
                        )
                    else:
                        os.unlink(child, dir_fd=here)
            finally:
                os.close(here)
            os.rmdir(name, dir_fd=top)
