"""Attacks that leave early: what was earned stays, what was running is lost."""

import pytest

UNHARMED = (8, {}, "")
ALL = {"double": "{0} blocked blocked", "total": "{0} blocked", "Layer": "{0} blocked blocked"}


def all_of(outcome):
    """Every exercise lost in the same way."""
    return {name: outcomes.format(outcome) for name, outcomes in ALL.items()}


def test_a_function_that_ends_its_process_costs_its_exercise(attack):
    """`os._exit` inside of a call."""
    verdict = attack("def double(x):\n    os._exit(0)\n")
    assert verdict == (5, {"double": "crashed blocked blocked"}, "exit status 0")


def test_each_function_that_ends_its_process_costs_its_own_exercise(attack):
    """A new process serves the next exercise."""
    verdict = attack("def double(*_):\n    os._exit(7)\n\n\nLayer = double\n")
    lost = {"double": "crashed blocked blocked", "Layer": "crashed blocked blocked"}
    assert verdict == (2, lost, "exit status 7")


def test_what_stands_before_the_end_of_a_process_counts(attack):
    """`os._exit` while the file is loaded: a new process loads what stands above it."""
    assert attack("os._exit(0)\n") == UNHARMED


def test_what_stands_after_the_end_of_a_process_is_not_defined(attack):
    """`os._exit` at the start of a file; the reason names its line."""
    verdict = attack("", before="import os\nos._exit(0)\n")
    assert verdict == (0, all_of("crashed"), "exit status 0")


def test_exiting_politely_is_an_exception_like_any_other(attack):
    """`sys.exit` inside of a call."""
    verdict = attack("import sys\n\n\ndef double(x):\n    sys.exit(0)\n")
    assert verdict == (5, {"double": "failed blocked blocked"}, "raised SystemExit")


@pytest.mark.parametrize("raised", ["SystemExit(0)", "KeyboardInterrupt", "GeneratorExit"])
def test_what_stands_before_an_exit_counts(attack, raised):
    """Whatever is raised at the end of a file."""
    assert attack(f"raise {raised}\n") == UNHARMED


@pytest.mark.parametrize("raised", ["SystemExit(0)", "KeyboardInterrupt", "RuntimeError('enough')"])
def test_what_stands_after_an_exit_is_not_defined(attack, raised):
    """Whatever is raised at the start of a file."""
    verdict = attack("", before=f"raise {raised}\n")
    assert verdict == (0, all_of("missing"), "stopped")


def test_killing_oneself_costs_the_exercise(attack, is_first_process):
    """SIGKILL from oneself; the first process of a namespace does not even notice."""
    verdict = attack("def double(x):\n    os.kill(os.getpid(), 9)\n    return x + x\n")
    lost = (5, {"double": "crashed blocked blocked"}, "ended without an answer")
    assert verdict == (UNHARMED if is_first_process else lost)


def test_terminating_oneself_costs_the_exercise(attack, is_first_process):
    """SIGTERM from oneself."""
    verdict = attack("def double(x):\n    os.kill(os.getpid(), 15)\n    return x + x\n")
    lost = (5, {"double": "crashed blocked blocked"}, "died of SIGTERM")
    assert verdict == (UNHARMED if is_first_process else lost)


def test_closing_every_descriptor_costs_the_exercise(attack):
    """The answer has no way back."""
    verdict = attack("def double(x):\n    os.closerange(0, 4096)\n    return x + x\n")
    assert verdict == (5, {"double": "crashed blocked blocked"}, "exit status 1")


def test_hanging_up_costs_the_exercise(attack):
    """Only the connection is shut down; the process would stay."""
    verdict = attack(
        """
        def double(x):
            import signal, socket, time
            signal.setitimer(signal.ITIMER_REAL, 0)
            socket.socket(fileno=os.dup(connection())).shutdown(socket.SHUT_RDWR)
            while True:
                time.sleep(1)
        """
    )
    assert verdict == (5, {"double": "crashed blocked blocked"}, "ended without an answer")


def test_deleting_all_names_costs_what_was_deleted(attack):
    """A function that clears its own module; the other exercises are gone with it."""
    verdict = attack("def double(x):\n    globals().clear()\n    return x\n")
    # Hidden checks have a process of their own, in which the function clears nothing before it runs.
    lost = {"double": "passed missing failed", "total": "missing blocked"}
    assert verdict == (0.6, {**lost, "Layer": "missing blocked blocked"}, "not defined")


def test_deleting_all_modules_costs_what_needs_them(attack):
    """Torch's own modules cannot be imported once more in the same process."""
    verdict = attack("import sys\n\n\ndef double(x):\n    sys.modules.clear()\n    return x + x\n")
    assert verdict == (7.4, {"Layer": "passed failed passed"}, "raised AttributeError")


def test_deleting_the_builtins_costs_everything_after_it(attack):
    """The servant needs them as well, and has none any more."""
    verdict = attack("def double(x):\n    import builtins\n    vars(builtins).clear()\n")
    assert verdict == (5, {"double": "crashed blocked blocked"}, "exit status 1")
