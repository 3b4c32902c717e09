"""Tests of the time that the graders' own code may take."""

import signal
import time

import pytest

from grader.sessions.own_time import OwnTimeOver, limited


def sleep_too_long() -> float:
    """Seconds until it ends."""
    started = time.monotonic()
    with pytest.raises(OwnTimeOver), limited(0.01):
        time.sleep(30)
    return time.monotonic() - started


@pytest.mark.only_on("linux", "darwin", reason="elsewhere no signal wakes the main thread")
def test_a_signal_that_wakes_nobody_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that comes just before a sleep begins is over by then."""
    sent, send = [], signal.pthread_kill

    def lose_the_first(thread: int, number: int) -> None:
        sent.append(number)
        if len(sent) > 1:
            send(thread, number)

    monkeypatch.setattr(signal, "pthread_kill", lose_the_first)
    assert sleep_too_long() < 15
    assert sent[:2] == [signal.SIGALRM] * 2
    time.sleep(0.3)
    number = len(sent)
    time.sleep(0.3)
    assert len(sent) == number  # nobody is woken any more
