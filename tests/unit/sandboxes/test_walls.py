"""The filter of system calls, decided as the kernel would, without making one."""

import errno
import os
import re
import struct
from pathlib import Path

import pytest

from rlvr_envs.sandboxes.slot import walls
from rlvr_envs.sandboxes.slot.walls import CALLS, Filter, filter_of

TIERS = ("namespaces", "docker", "landlock")
ALLOWED, PRETENDED = "allowed", "pretended"


@pytest.fixture(params=("x86_64", "aarch64"), autouse=True)
def machine(request, monkeypatch):
    """Both kinds of machine, whichever this one is."""
    uname = os.uname()
    made = os.uname_result((*uname[:4], request.param))
    monkeypatch.setattr(walls.os, "uname", lambda: made)
    return request.param


def decide(tier, number, *arguments, shares=False):
    """Run the program of a filter as the kernel does, and return what it says of a call."""
    code = filter_of(tier, shares=shares)
    program = list(struct.iter_unpack("HBBI", code))
    data = struct.pack("<IIQ6Q", number, walls.MACHINES[os.uname().machine][1], 0, *_six(arguments))
    at, held = 0, 0
    while True:
        instruction, jump, otherwise, value = program[at]
        at += 1
        if instruction == Filter.LOAD:
            (held,) = struct.unpack_from("<I", data, value)
        elif instruction == Filter.AND:
            held &= value
        elif instruction == Filter.RETURN:
            if value == Filter.ALLOW:
                return ALLOWED
            return errno.errorcode.get(value & 0xFFFF, PRETENDED)
        else:
            tests = {
                Filter.EQUAL: held == value,
                Filter.AT_LEAST: held >= value,
                Filter.ANY_BIT: bool(held & value),
            }
            at += jump if tests[instruction] else otherwise


def _six(arguments):
    return [argument & (2**64 - 1) for argument in (*arguments, *[0] * (6 - len(arguments)))]


def number_of(name):
    return walls.call_number(name)


@pytest.mark.parametrize("tier", TIERS)
def test_a_priority_is_the_processs_own_or_nobodys(tier):
    """PRIO_PROCESS is 0, PRIO_PGRP 1, PRIO_USER 2; the user's processes include the trainer."""
    number = number_of("setpriority")
    assert decide(tier, number, 0, 0, 19) == PRETENDED
    assert decide(tier, number, 2, 0, 19) == "EPERM"
    assert decide(tier, number, 1, 0, 19) == "EPERM"
    assert decide(tier, number, 0, 7, 19) == "EPERM"
    number = number_of("ioprio_set")  # IOPRIO_WHO_PROCESS is 1, IOPRIO_WHO_USER is 3
    assert decide(tier, number, 1, 0, 0) == ALLOWED
    assert decide(tier, number, 3, 0, 0) == "EPERM"
    assert decide(tier, number, 1, 7, 0) == "EPERM"
    assert decide(tier, number_of("prlimit64"), 0, 1) == ALLOWED
    assert decide(tier, number_of("prlimit64"), 7, 1) == "EPERM"


@pytest.mark.parametrize("tier", TIERS)
def test_calls_that_nobody_knows_do_not_exist(tier, machine):
    last = {"x86_64": 334, "aarch64": 294}[machine]
    known = set(walls.NEWER.values())
    for number in (*range(last + 1, 424), *range(463, 1200), 0x3FFFFFFF):
        assert decide(tier, number) == "ENOSYS", number
    for number in range(424, 463):
        assert (decide(tier, number) == ALLOWED) == (number in known), number


@pytest.mark.parametrize("name", ["modify_ldt", "splice", "vmsplice", "io_setup", "bpf", "ptrace"])
def test_old_calls_that_no_program_needs_are_refused(name):
    if number_of(name) is not None:
        assert decide("namespaces", number_of(name)) in {"EPERM", "ENOSYS"}


def test_what_is_refused_is_the_same_everywhere_but_for_sockets_and_groups():
    differing = {"socket", "socketpair", "setsid", "setpgid"}
    for name in set(CALLS) - differing:
        if number_of(name) is not None:
            said = {decide(tier, number_of(name)) for tier in TIERS}
            assert len(said) == 1, name


def test_without_namespaces_no_pair_of_sockets_takes_an_address():
    number = number_of("socketpair")
    close_on_exec = 0o2000000
    for kind, expected in ((1, ALLOWED), (5, ALLOWED), (2, "EACCES"), (3, "EACCES"), (4, "EACCES")):
        assert decide("landlock", number, 1, kind | close_on_exec) == expected
    assert decide("landlock", number, 30, 1) == "EACCES"  # another family
    assert decide("namespaces", number, 1, 2) == ALLOWED
    assert decide("landlock", number_of("socket"), 1, 1) == "EACCES"


def test_shared_memory_is_allowed_where_it_is_counted():
    number, shared_anonymous = number_of("mmap"), 0x21
    assert decide("namespaces", number, 0, 4096, 3, shared_anonymous) == "EPERM"
    assert decide("namespaces", number, 0, 4096, 3, shared_anonymous, shares=True) == ALLOWED
    assert decide("namespaces", number, 0, 4096, 3, 0x22) == ALLOWED


def test_ordinary_calls_are_allowed(machine):
    ordinary = {"x86_64": (0, 1, 9, 56, 57, 59, 60, 202, 218, 231, 257, 318, 332, 334)}
    ordinary["aarch64"] = (56, 63, 64, 93, 94, 96, 98, 221, 222, 278, 291, 293)
    for number in ordinary[machine]:
        assert decide("namespaces", number, 0) == ALLOWED, number


def test_the_numbers_are_those_of_the_kernels_headers(machine):
    """Where they are installed, for this kind of machine."""
    header = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
    if machine != "x86_64" or not header.is_file():
        pytest.skip("the headers of this machine are not here")
    known = dict(re.findall(r"#define __NR_(\w+) (\d+)", header.read_text()))
    named = {**{name: number_of(name) for name in CALLS}, **walls.NEWER}
    for name, number in named.items():
        if name in known:
            assert int(known[name]) == number, name
