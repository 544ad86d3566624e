"""Frames between client and server: JSON with blobs, in memory that forks do not see."""

from __future__ import annotations

import json
import mmap
import os
import struct
from typing import TYPE_CHECKING, Any

from rlvr_envs.sandboxes.slot.basics import MIB

if TYPE_CHECKING:
    from collections.abc import Sequence


def private_memory(size: int) -> memoryview:
    """Return memory that no forked child gets to see.

    A forked Python job could otherwise find there what this server has read and captured: inputs
    of other cases, sources and outputs of other jobs.
    """
    area = mmap.mmap(-1, max(1, size), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    area.madvise(mmap.MADV_DONTFORK)
    return memoryview(area)[:size]


def read_into(fd: int, view: memoryview) -> bool:
    """Fill memory from a descriptor; return whether there was enough to read."""
    done = 0
    while done < len(view):
        count = os.readv(fd, [view[done : done + MIB]])
        if not count:
            return False
        done += count
    return True


def write_all(fd: int, data: Any) -> None:
    """Write all of something."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view[:MIB]) :]


class Control:
    """The channel to the client."""

    def __init__(self, reading: int, writing: int) -> None:
        self.reading, self._writing = reading, writing

    @classmethod
    def take(cls) -> Control:
        """Move the channel away from the standard streams, where a job could meet it."""
        control = cls(os.dup(0), os.dup(1))
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        os.close(nothing)
        return control

    def read(self) -> tuple[dict[str, Any], list[memoryview]] | None:
        """Return the next message with the blobs it refers to, or None if the client is gone."""
        head = bytearray(8)
        if not read_into(self.reading, memoryview(head)):
            return None
        words, size = struct.unpack(">II", head)
        text, memory = bytearray(words), private_memory(size)
        if not read_into(self.reading, memoryview(text)) or not read_into(self.reading, memory):
            return None
        message = json.loads(text)
        blobs, start = [], 0
        for length in message.pop("blobs", ()):
            blobs.append(memory[start : start + length])
            start += length
        return message, blobs

    def write(self, message: dict[str, Any], blobs: Sequence[memoryview] = ()) -> None:
        """Send a message with the blobs it refers to."""
        text = json.dumps({**message, "blobs": [len(blob) for blob in blobs]}).encode()
        write_all(self._writing, struct.pack(">II", len(text), sum(map(len, blobs))) + text)
        for blob in blobs:
            write_all(self._writing, blob)

    def close(self) -> None:
        """Leave the channel to others."""
        os.close(self.reading)
        os.close(self._writing)
