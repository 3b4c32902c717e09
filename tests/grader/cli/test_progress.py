"""Tests of what a run shows while it goes on."""

import io

import pytest
from rich.console import Console
from rich.text import Text

from grader.classes.rows import Row
from grader.cli import progress as shown

ERASED = "\x1b[1A\x1b[2K"
"""What takes the line above away."""


def row_of(*, undecided=False):
    """A student who is done."""
    return Row("ada", None, 6, undecided, True, {}, "", (), "1")


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests set."""
    now = [100.0]
    monkeypatch.setattr(shown.time, "monotonic", lambda: now[0])
    return now


def watch(*, terminal):
    """A watcher, and what it has shown."""
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=100, highlight=False)
    return shown.progress(console), text


def test_where_there_is_no_terminal_lines_tell_now_and_then(clock):
    """At the beginning, after half a minute and then more seldom, at the end; with the rate."""
    manager, text = watch(terminal=False)
    with manager as watcher:
        watcher.begin("students", 5, 1)
        for seconds, undecided in ((4, False), (27, True), (1, False), (8, False)):
            clock[0] += seconds
            watcher.done(is_undecided=undecided)
    assert text.getvalue().splitlines() == [
        "Grading: 1 of 5 students (1 unchanged) done.",
        "3 of 5 students (1 unchanged), 1 UNDECIDED, 0.1 a second.",
        "5 of 5 students (1 unchanged), 1 UNDECIDED, 0.1 a second.",
    ]


def test_a_class_in_which_nothing_changed_is_told_in_one_line(clock):
    """No rate, because nobody was graded."""
    manager, text = watch(terminal=False)
    with manager as watcher:
        watcher.begin("students", 3, 3)
    assert text.getvalue() == "Grading: 3 of 3 students (3 unchanged) done.\n"


@pytest.mark.parametrize("terminal", [False, True])
def test_the_first_who_gets_an_exercise_wrong_learns_what_is_waited_for(clock, terminal):
    """Known mistakes are run once for all: many of them take a while, a few do not."""
    manager, text = watch(terminal=terminal)
    with manager as watcher:
        watcher.begin("students", 2, 0)
        clock[0] += 11
        watcher.prepares("01_first/one", 9)
        watcher.prepares("02_second/two", 48)
        if terminal:
            watcher.bar.refresh()
    assert "48 known mistakes of two are run, once for all" in text.getvalue()
    assert "of one" not in text.getvalue()


def test_on_a_terminal_there_is_a_bar(clock):
    """With students done, the rate, failures, and the time left."""
    manager, text = watch(terminal=True)
    with manager as watcher:
        watcher.begin("students", 4, 1)
        clock[0] += 2
        watcher.done(is_undecided=True)
        watcher.bar.refresh()
    last = text.getvalue()
    assert "Grading" in last
    assert "2/4" in last
    assert "0.5/s, 1 undecided" in last


def count(*, terminal):
    """What shows how far work of three pieces is, and what it has shown."""
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=100, highlight=False)
    return shown.counting(console, "Trying", 3, "pieces"), text


def test_long_work_is_told_every_ten_seconds_where_there_is_no_terminal(clock):
    """What is done sooner says nothing."""
    manager, text = count(terminal=False)
    with manager as counting:
        for done, seconds in ((0, 9), (1, 2), (2, 3), (3, 8)):
            clock[0] += seconds
            counting.show(done, f"{10 * done} crumbs" if done else "")
        with counting.aside():
            text.write("in between\n")
    assert text.getvalue().splitlines() == [
        "Trying: 1 of 3 pieces, 10 crumbs.",
        "Trying: 3 of 3 pieces, 30 crumbs.",
        "in between",
    ]


def test_long_work_has_a_bar_on_a_terminal(clock):
    """It is gone while something else is printed, and in the end."""
    manager, text = count(terminal=True)
    with manager as counting:
        counting.show(2, "20 crumbs")
        counting.bar.refresh()
        assert Text.from_ansi(text.getvalue()).plain.endswith("2/3 20 crumbs")
        with counting.aside():
            assert text.getvalue().endswith(ERASED)
    assert text.getvalue().endswith(ERASED)


def test_what_is_counted_comes_as_it_is(clock):
    """One after the other; the last line tells of all."""
    text, seen = io.StringIO(), []
    for item in shown.counted(Console(file=text), "Reading", 2, iter("ab")):
        clock[0] += 11
        seen.append((item, text.getvalue()))
    assert seen == [("a", ""), ("b", "Reading: 1 of 2.\n")]
    assert text.getvalue() == "Reading: 1 of 2.\nReading: 2 of 2.\n"
