"""Tests of the filter of system calls: the program is run as the kernel runs it."""

import errno
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.sandbox import seal
from grader.sandbox import syscall_table as table
from grader.sandbox.seal import seccomp_program
from grader.sandbox.syscall_table import DENIED

MACHINES = ("x86_64", "aarch64")
PID = 4321

ALLOW, KILL = seal.RETURN_ALLOW, seal.RETURN_KILL
REFUSE, ABSENT = seal.RETURN_ERRNO | errno.EPERM, seal.RETURN_ERRNO | errno.ENOSYS

ORDINARY = {
    # name: x86-64, Arm64
    "read": (0, 63),
    "write": (1, 64),
    "openat": (257, 56),
    "close": (3, 57),
    "mmap": (9, 222),
    "munmap": (11, 215),
    "mprotect": (10, 226),
    "futex": (202, 98),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "rt_sigaction": (13, 134),
    "setitimer": (38, 103),
    "clock_gettime": (228, 113),
    "getrandom": (318, 278),
    "getpid": (39, 172),
    "pipe2": (293, 59),
}

SHORT = st.integers(0, 2**32 - 1)
LONG = st.integers(0, 2**64 - 1)


def column(machine: str) -> int:
    """Where a machine's numbers stand."""
    return MACHINES.index(machine)


def instructions(program: bytes) -> list[tuple[int, int, int, int]]:
    """A program, decoded."""
    return list(struct.iter_unpack("HBBI", program))


def answer(machine: str, number: int, *arguments: int, architecture: int | None = None) -> int:
    """What the filter answers to a call, by running its program as the kernel does."""
    if architecture is None:
        architecture = table.ARCHITECTURES[machine]
    padded = [*arguments, *(0,) * 6][:6]
    data = struct.pack("IIQ6Q", number, architecture, 0, *padded)
    program = instructions(seccomp_program(machine, PID))
    accumulator = position = 0
    while True:
        code, if_true, if_false, value = program[position]
        position += 1
        if code == seal.RETURN:
            return value
        if code == seal.LOAD:
            (accumulator,) = struct.unpack_from("I", data, value)
            continue
        holds = {
            seal.JUMP_EQUAL: accumulator == value,
            seal.JUMP_AT_LEAST: accumulator >= value,
            seal.JUMP_SET: bool(accumulator & value),
        }[code]
        position += if_true if holds else if_false


# The program as such.


@pytest.mark.parametrize("machine", MACHINES)
def test_the_program_is_one_the_kernel_takes(machine: str) -> None:
    """Known instructions, jumps that stay inside, aligned loads, an end, and not too long."""
    program = instructions(seccomp_program(machine, PID))
    jumps = (seal.JUMP_EQUAL, seal.JUMP_AT_LEAST, seal.JUMP_SET)
    for position, (code, if_true, if_false, value) in enumerate(program):
        assert code in (*jumps, seal.LOAD, seal.RETURN)
        if code in jumps:
            assert position + 1 + max(if_true, if_false) < len(program)
        if code == seal.LOAD:
            assert (value % 4, value < 64) == (0, True)
    assert (program[-1], len(program) <= 4096) == ((seal.RETURN, 0, 0, ALLOW), True)


@pytest.mark.parametrize("machine", MACHINES)
def test_every_instruction_can_be_reached(machine: str) -> None:
    """No rule is dead because a jump leads past it."""
    program = instructions(seccomp_program(machine, PID))
    reached, waiting = set(), [0]
    while waiting:
        position = waiting.pop()
        if position in reached:
            continue
        reached.add(position)
        code, if_true, if_false, _ = program[position]
        if code == seal.LOAD:
            waiting.append(position + 1)
        elif code != seal.RETURN:
            waiting += [position + 1 + if_true, position + 1 + if_false]
    assert reached == set(range(len(program)))


@pytest.mark.parametrize("machine", MACHINES)
def test_no_number_stands_there_twice(machine: str) -> None:
    """Two names of one number would be a slip in the table."""
    named = {**DENIED, **table.SIGNALS_TO_SELF, "clone": table.CLONE, "clone3": table.CLONE3}
    named |= {**table.ABOUT_ITSELF, "prctl": table.PRCTL, "ioctl": table.IOCTL}
    named["socketpair"] = table.SOCKETPAIR
    numbers = [n[column(machine)] for n in named.values() if n[column(machine)] is not None]
    assert sorted(numbers) == sorted(set(numbers))


# What it answers.


@pytest.mark.parametrize("name", DENIED)
@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_denied_is_denied(machine: str, name: str) -> None:
    """Whatever the arguments are; a number that a machine lacks is denied on the other."""
    number = DENIED[name][column(machine)]
    if number is None:
        machine = MACHINES[1 - column(machine)]
        number = DENIED[name][column(machine)]
    assert number is not None
    answers = {answer(machine, number), answer(machine, number, PID), answer(machine, number, 1)}
    assert answers == {REFUSE}


@pytest.mark.parametrize("name", ORDINARY)
@pytest.mark.parametrize("machine", MACHINES)
def test_what_honest_code_needs_is_allowed(machine: str, name: str) -> None:
    """Files, memory, threads, time."""
    assert answer(machine, ORDINARY[name][column(machine)], 1, 1) == ALLOW


@given(st.sampled_from(MACHINES), SHORT, st.sampled_from([0, *table.ARCHITECTURES.values()]))
def test_calls_of_another_architecture_are_killed(machine: str, number: int, other: int) -> None:
    """Their numbers mean something else, so no rule would hold."""
    if other != table.ARCHITECTURES[machine]:
        assert answer(machine, number, architecture=other) == KILL


@given(st.integers(seal.X32_BIT, 2**32 - 1), LONG)
def test_calls_by_their_x32_number_are_denied(number: int, argument: int) -> None:
    """The same architecture has a second set of numbers."""
    assert answer("x86_64", number, argument) == REFUSE


RULES: dict[str, Any] = {
    "threads may be made and processes not": (
        [table.CLONE],
        st.tuples(LONG),
        lambda flags: flags & seal.CLONE_THREAD,
        REFUSE,
    ),
    # The kernel looks at the low half of the target, and so does the filter.
    "signals go to oneself only": (
        [*table.SIGNALS_TO_SELF.values()],
        st.tuples(st.sampled_from([PID, 0, 1, 2**32 - 1, 2**32 - PID]) | LONG, st.just(9)),
        lambda target, _signal: target % 2**32 == PID,
        REFUSE,
    ),
    "limits are set on oneself only": (
        [*table.ABOUT_ITSELF.values()],
        st.tuples(st.sampled_from([PID, 0, 1]) | SHORT),
        lambda target: target in (0, PID),
        REFUSE,
    ),
    # The flags of a file that may be read are changed by a request to its descriptor.
    "descriptors are asked harmless questions only": (
        [table.IOCTL],
        st.tuples(SHORT, st.sampled_from([*table.HARMLESS_IOCTLS, 0x40086602])),
        lambda _descriptor, request: request in table.HARMLESS_IOCTLS,
        seal.RETURN_ERRNO | errno.ENOTTY,
    ),
    # A datagram could be sent to somebody else's socket.
    "only streams come in pairs": (
        [table.SOCKETPAIR],
        st.tuples(
            st.sampled_from([table.AF_UNIX, 0, 2, 30]),
            st.sampled_from([*table.STREAMS, 2, 3, 5, 2 | table.SOCK_CLOEXEC]),
        ),
        lambda family, kind: family == table.AF_UNIX and kind in table.STREAMS,
        REFUSE,
    ),
    "the tie to the parent is not undone": (
        [table.PRCTL],
        st.tuples(st.just(seal.PR_SET_PDEATHSIG) | SHORT, st.just(0)),
        lambda option, _value: option != seal.PR_SET_PDEATHSIG,
        REFUSE,
    ),
}


@pytest.mark.parametrize("rule", RULES)
@given(st.sampled_from(MACHINES), st.data())
def test_arguments_decide(rule: str, machine: str, data: st.DataObject) -> None:
    """What is not allowed is refused, whichever number of the rule is called."""
    numbers, arguments, allowed, otherwise = RULES[rule]
    asked = data.draw(arguments)
    found = [pair[column(machine)] for pair in numbers]
    answers = {answer(machine, number, *asked) for number in found if number is not None}
    assert answers == {ALLOW if allowed(*asked) else otherwise}


@pytest.mark.parametrize("machine", MACHINES)
def test_the_newer_clone_is_not_there(machine: str) -> None:
    """Its flags cannot be seen."""
    assert answer(machine, table.CLONE3[column(machine)], seal.CLONE_THREAD) == ABSENT


@settings(max_examples=20)
@given(st.sampled_from(MACHINES), st.integers(1, 2**22))
def test_the_program_depends_on_the_process_only_where_it_names_it(machine: str, pid: int) -> None:
    """The id stands in the rules on signals and on the process itself, nowhere else."""
    one, other = (instructions(seccomp_program(machine, number)) for number in (pid, pid + 1))
    differing = [(a, b) for a, b in zip(one, other, strict=True) if a != b]
    assert differing == [((*a[:3], pid), (*a[:3], pid + 1)) for a, _ in differing]
    assert len(differing) == len(table.SIGNALS_TO_SELF) + len(table.ABOUT_ITSELF)
