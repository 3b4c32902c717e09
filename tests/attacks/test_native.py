"""Attacks that crash natively: a dead process costs its exercise and names its signal."""

import platform

import pytest


def crashed(signal):
    """Only `double` was lost, by a signal."""
    return (5, {"double": "crashed blocked blocked"}, f"died of {signal}")


@pytest.mark.parametrize(
    "body",
    [
        "ctypes.string_at(0)",
        "ctypes.memset(0, 1, 1)",
        "ctypes.CFUNCTYPE(None)(8)()",
        "ctypes.memset(id(None), 255, 16); [None, type(None)]",
        "import sys; sys._getframe().f_code.replace(co_code=bytes([255, 255] * 40)) and ctypes.string_at(1)",
    ],
)
def test_a_pointer_to_nowhere_costs_the_exercise(attack, body):
    """SIGSEGV, with or without a namespace."""
    assert attack(f"def double(x):\n    {body}\n    return x + x\n") == crashed("SIGSEGV")


def test_a_recursion_without_limit_costs_the_exercise(attack):
    """Through C, where Python does not count."""
    verdict = attack(
        """
        import sys


        class Deep:
            def __getattr__(self, name):
                return getattr(self, name + "x"[:0])


        def double(x):
            sys.setrecursionlimit(2**31 - 1)
            return Deep().value
        """,
    )
    assert verdict in (
        crashed("SIGSEGV"),
        (5, {"double": "out_of_memory blocked blocked"}, "memory"),
    )


def test_a_recursion_within_the_limit_is_an_exception(attack):
    """Python's own limit comes first."""
    verdict = attack("def double(x):\n    return double(x)\n")
    assert verdict == (5, {"double": "failed blocked blocked"}, "raised RecursionError")


def test_giving_up_costs_the_exercise(attack, is_first_process):
    """`abort` kills by a signal that the first process of a namespace does not take from itself."""
    verdict = attack("def double(x):\n    os.abort()\n")
    assert verdict == crashed("SIGSEGV" if is_first_process else "SIGABRT")


def test_a_division_by_zero_in_machine_code_costs_the_exercise(attack):
    """So does an instruction that does not exist."""
    verdict = attack(
        """
        import mmap


        def double(x):
            page = mmap.mmap(-1, 4096, prot=7)
            page.write(b"\\x0f\\x0b" if os.uname().machine == "x86_64" else bytes(4))
            ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
        """
    )
    assert verdict == crashed("SIGILL")


def test_a_system_call_of_another_architecture_costs_the_exercise(attack):
    """A filter that only knew the numbers of 64 bits would let 32 bits through."""
    verdict = attack(
        """
        import mmap

        # getpid by its 32-bit number: mov eax, 20; int 0x80; ret. On Arm64 an undefined instruction.
        CODE = b"\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3" if os.uname().machine == "x86_64" else bytes(4)


        def double(x):
            page = mmap.mmap(-1, 4096, prot=7)
            page.write(CODE)
            ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
            return x + x
        """
    )
    score, lost, reason = verdict
    known = ("SIGSYS", "SIGSEGV") if platform.machine() == "x86_64" else ("SIGILL",)
    assert ((score, lost), reason.rpartition(" ")[2] in known) == (crashed("")[:2], True)


def test_a_crash_in_a_thread_costs_the_exercise(attack):
    """The whole process dies of it."""
    verdict = attack(
        """
        import threading


        def double(x):
            thread = threading.Thread(target=ctypes.string_at, args=(0,))
            thread.start()
            thread.join()
        """
    )
    assert verdict == crashed("SIGSEGV")


def test_a_crash_while_loading_costs_what_stands_below_it(attack):
    """A new process loads what stands above it, and the crash names its line."""
    assert attack("ctypes.string_at(0)\n") == (8, {}, "")
