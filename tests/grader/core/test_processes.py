"""Work that is spread over processes: in order, in the same language, and over at once."""

import os

import pytest

from grader.core import processes
from grader.core.language import current, use
from grader.core.processes import spread


def who_and_what(number):
    """Which process works, on what, in which language."""
    return os.getpid(), number, current()


def refuse(number):
    """A piece that goes wrong."""
    raise ValueError(number)


def end(number):
    """A process that something else ends."""
    os._exit(number)


PIECES = [(number,) for number in range(20)]


@pytest.fixture
def few(monkeypatch):
    """So few pieces are many."""
    monkeypatch.setattr(processes, "FEW", 3)


def test_a_few_pieces_are_worked_on_here():
    """Processes take longer to begin."""
    assert {one for one, *_ in spread(who_and_what, PIECES, 2)} == {os.getpid()}
    assert {one for one, *_ in spread(who_and_what, PIECES * 10, 1)} == {os.getpid()}


@pytest.mark.slow
def test_many_pieces_are_spread_and_come_back_in_order(few):
    """Other processes speak the language that is spoken here."""
    before = current()
    use("ja")
    try:
        found = list(spread(who_and_what, PIECES, 2))
    finally:
        use(before)
    assert [number for _, number, _ in found] == [number for (number,) in PIECES]
    assert {language for *_, language in found} == {"ja"}
    assert os.getpid() not in {one for one, *_ in found}


@pytest.mark.slow
def test_what_goes_wrong_is_told(few):
    """As here; and a process that is killed in words."""
    with pytest.raises(ValueError, match="0"):
        list(spread(refuse, PIECES, 2))
    with pytest.raises(processes.GraderError, match="Run the same command again"):
        list(spread(end, PIECES, 2))
