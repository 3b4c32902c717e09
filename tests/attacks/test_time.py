"""Attacks on time: every loop and every sleep ends at the limit, whoever interrupts it."""

import pytest

UNHARMED = (8, {}, "")
TOO_LONG = (5, {"double": "timeout blocked blocked"}, "too long")
STILL_RUNNING = (5, {"double": "timeout blocked blocked"}, "still running")
NOTHING_LOADED = {
    "double": "timeout blocked blocked",
    "total": "timeout blocked",
    "Layer": "timeout blocked blocked",
}

INTERRUPTED = {
    "a loop": "while True:\n        n += 1",
    "a sleep": "time.sleep(1000)",
    "a sleep without a timer": "signal.setitimer(signal.ITIMER_REAL, 0)\n    time.sleep(1000)",
    "a loop over everything": "for n in itertools.count():\n        pass",
    "a wait in C": "LIBC.pause()",
    "a lock that nobody releases": (
        "lock = threading.Lock()\n    lock.acquire()\n    lock.acquire()"
    ),
    "a thread that never ends": (
        "thread = threading.Thread(target=time.sleep, args=(1000,))\n    thread.start()\n"
        "    thread.join()"
    ),
    "endless printing": "while True:\n        print('again and again')",
    "a loop in a method of a value": (
        "class Slow(collections.UserList):\n        def __radd__(self, other):\n"
        "            while True:\n                pass\n    return x + Slow()"
    ),
}

NOT_INTERRUPTED = {
    "a loop in C": "collections.deque(itertools.repeat(0), maxlen=0)",
    "a sum without end": "sum(itertools.repeat(1))",
    "an operation of torch": "torch.ones(1).expand(2**44).sum()",
    "a loop that goes on after any exception": (
        "while True:\n        try:\n            while True:\n                n += 1\n"
        "        except BaseException:\n            n = 0"
    ),
    "an alarm that is ignored": (
        "signal.signal(signal.SIGALRM, signal.SIG_IGN)\n    time.sleep(1000)"
    ),
    "an alarm that is blocked": (
        "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n    time.sleep(1000)"
    ),
    "an alarm that is handled": (
        "signal.signal(signal.SIGALRM, lambda *_: None)\n    time.sleep(1000)"
    ),
    "every signal ignored": (
        "for number in set(signal.valid_signals()) - {9, 19, 32, 33}:\n"
        "        signal.signal(number, signal.SIG_IGN)\n    time.sleep(1000)"
    ),
}

IMPORTS = "import collections, itertools, re, signal, threading, time\n"


def slow(body):
    """A `double` that does not come back."""
    return f"{IMPORTS}\n\ndef double(x):\n    n = 0\n    {body}\n"


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["without_namespaces"], indirect=True)
@pytest.mark.parametrize("body", INTERRUPTED.values(), ids=INTERRUPTED.keys())
def test_what_can_be_interrupted_names_its_line(attack, body):
    """The student reads where time went."""
    assert attack(slow(body), request_seconds=0.3) == TOO_LONG


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["without_namespaces"], indirect=True)
@pytest.mark.parametrize("body", NOT_INTERRUPTED.values(), ids=NOT_INTERRUPTED.keys())
def test_what_cannot_be_interrupted_is_ended_with_its_process(attack, body):
    """The deadline that counts is kept outside; the other exercises have a new process."""
    assert attack(slow(body), request_seconds=0.3) == STILL_RUNNING


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        "re.fullmatch('(a+)+', 'a' * 60 + 'b')",
        "while True:\n        try:\n            double(x)\n        except RecursionError:\n            n += 1",
    ],
    ids=["a pattern", "a recursion that starts anew"],
)
def test_what_can_sometimes_be_interrupted_is_ended(attack, body):
    """Whether it can depends on the moment, and on the version of Python."""
    score, lost, reason = attack(slow(body), request_seconds=0.3)
    assert ((score, lost), reason in ("too long", "still running")) == (TOO_LONG[:2], True)


def test_what_stands_before_a_sleep_counts(attack):
    """A file that falls asleep at its end has defined everything."""
    assert attack("import time\ntime.sleep(1000)\n", load_seconds=0.5) == UNHARMED


def test_what_stands_after_a_sleep_is_lost(attack):
    """A file that falls asleep at its start has defined nothing."""
    verdict = attack("", before="import time\ntime.sleep(1000)\n", load_seconds=0.5)
    assert verdict == (0, NOTHING_LOADED, "too long")


@pytest.mark.slow
def test_what_stands_before_what_cannot_be_interrupted_counts(attack):
    """Its process is ended, and a new one loads what stands above it."""
    verdict = attack(
        "import collections, itertools\ncollections.deque(itertools.repeat(0), maxlen=0)",
        load_seconds=0.5,
    )
    assert verdict == UNHARMED


@pytest.mark.slow
def test_what_stands_after_what_cannot_be_interrupted_is_lost(attack):
    """It is run once; the reason names its line."""
    endless = "import collections, itertools\ncollections.deque(itertools.repeat(0), maxlen=0)\n"
    verdict = attack("", before=endless, load_seconds=0.5)
    assert verdict == (0, NOTHING_LOADED, "too long")


@pytest.mark.slow
def test_a_submission_that_is_slow_everywhere_uses_up_its_own_time(attack):
    """Beyond the time for a submission nothing of it is run."""
    verdict = attack(
        """
        import time


        def double(x):
            time.sleep(1000)


        total = Layer = double
        """,
        submission_seconds=1.5,
    )
    lost = {"double": "timeout blocked blocked", "total": "timeout blocked"}
    assert verdict == (0, {**lost, "Layer": "timeout blocked blocked"}, "too long")


def test_threads_that_go_on_after_the_answer_are_ended(attack):
    """Daemons and others, idle and busy."""
    verdict = attack(
        """
        import hashlib, threading, time


        def idle():
            while True:
                time.sleep(0.01)


        def busy():
            while True:
                hashlib.sha256(bytes(2**20))


        def double(x):
            for target, daemon in ((idle, True), (idle, False), (busy, False)):
                threading.Thread(target=target, daemon=daemon).start()
            return x + x
        """,
        memory_mib=2048,
    )
    assert verdict == UNHARMED


def test_timers_that_fire_later_cost_their_own_exercise(attack):
    """An alarm of the student's own, set while the file is loaded, is not in force later."""
    verdict = attack(
        """
        import signal

        signal.signal(signal.SIGALRM, lambda *_: os._exit(3))
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        """
    )
    assert verdict == UNHARMED


def test_an_exit_that_takes_forever_does_not(attack):
    """What is registered for the end of the process is not run."""
    verdict = attack(
        """
        import atexit, time

        class Slow:
            def __del__(self):
                time.sleep(1000)

        KEPT = Slow()
        atexit.register(time.sleep, 1000)
        """
    )
    assert verdict == UNHARMED
