"""The store of a class: what it refuses, what it keeps, and what it says."""

import os
import sqlite3
import subprocess
import sys

import pytest

from grader.classes.store import FORMAT, KEPT_RUNS, STORE, Store
from grader.core.errors import UsageError
from tests.grader.classes.conftest import HIDDEN, STUDENTS

TWO = STUDENTS[:2]
ENDS_IN_A_WRITE = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")  # so that pages go to the file before the end
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE meta SET value = 'grader/class/0' WHERE name = 'format'")
connection.execute("CREATE TABLE more (value BLOB)")
connection.executemany("INSERT INTO more VALUES (?)", [(bytes(4000),)] * 100)
os._exit(0)
"""


@pytest.fixture
def run(make):
    """A class of two that was graded."""
    made = make("out")
    made.run(names=TWO)
    return made


def other(statement, *values):
    """Changes a store behind the grader's back."""

    def change(path):
        with sqlite3.connect(path) as connection:
            connection.execute(statement, values)
        connection.close()

    return change


OTHER_VERSION = other("UPDATE meta SET value = 'grader/class/0' WHERE name = 'format'")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (
            OTHER_VERSION,
            f" holds a class of another version of the grader (grader/class/0, not {FORMAT}). "
            "Give another --out, or --force to grade everything again.",
        ),
        (other("DROP TABLE meta"), "--force to grade everything again."),
        (
            lambda path: path.write_bytes(b"something else" * 100),
            "--force to grade everything again.",
        ),
        (lambda path: os.truncate(path, 5000), "--force to grade everything again."),
        (other("UPDATE outcome SET record = ?", b"nothing"), " Run the command with --force."),
    ],
    ids=["another version", "no table", "no database", "half", "no outcome"],
)
def test_a_store_that_cannot_be_read_is_refused(run, damage, said):
    """With what to do; forced, everybody is graded again and all is as it was."""
    files = run.files()
    damage(run.out / STORE)
    with pytest.raises(UsageError) as refused:
        run.run(names=TWO)
    assert any(name in str(refused.value) for name in (f"{run.out}", STORE))
    assert str(refused.value).endswith(said)
    run.run(names=TWO, force=True)
    assert run.files() == files
    assert run.graded.total() == 4


def test_a_journal_of_an_earlier_version_is_refused(run):
    """A folder that another version wrote has none of the store's files."""
    (run.out / STORE).rename(run.out / "run.jsonl")
    with pytest.raises(UsageError, match="holds a class of another version of the grader"):
        run.run(names=TWO)


def test_who_only_reads_a_store_of_another_version_is_refused(run):
    """As who writes it."""
    OTHER_VERSION(run.out / STORE)
    with pytest.raises(UsageError, match="holds a class of another version of the grader"):
        Store.to_read(run.out)


@pytest.mark.parametrize(("first", "second"), [("to_write", "to_write"), ("to_write", "to_read")])
def test_two_commands_at_once_are_told(run, first, second):
    """The one that comes later does nothing; when the first has ended, it may."""
    with getattr(Store, first)(run.out), pytest.raises(UsageError) as refused:
        getattr(Store, second)(run.out)
    assert str(refused.value) == (
        f"Another grader command is working in {run.out}. Wait for it, then run this command again."
    )
    with getattr(Store, second)(run.out) as store:
        assert sorted(store.standings()) == TWO


def test_a_write_that_was_cut_off_is_undone(run):
    """By whichever command is first, also one that only reads."""
    path = run.out / STORE
    before = run.store()
    subprocess.run([sys.executable, "-c", ENDS_IN_A_WRITE, str(path)], check=True)
    assert path.with_name(f"{STORE}-journal").is_file()
    with Store.to_read(run.out) as store:
        assert sorted(store.standings()) == TWO
    assert run.store() == before


def test_commands_that_read_do_not_wait_for_each_other(run):
    """They write nothing."""
    with Store.to_read(run.out) as one, Store.to_read(run.out) as other:
        assert one.keys() == other.keys() != set()


def test_a_run_that_could_not_begin_leaves_no_store(tmp_path):
    """Nor a folder."""
    with Store.to_write(tmp_path / "out"):
        pass
    assert not (tmp_path / "out").exists()


def test_outcomes_that_nothing_uses_are_forgotten_after_some_runs(run):
    """A change that is undone in time grades nobody."""
    path = run.course / HIDDEN.format("01_scores")
    before = path.read_text("utf-8")
    path.write_text(before + "HARDER = 1\n", "utf-8")
    for _ in range(KEPT_RUNS):
        run.run(names=TWO)
    with Store.to_read(run.out) as store:
        assert len(store.keys()) == 6
    run.run(names=TWO)
    with Store.to_read(run.out) as store:
        assert len(store.keys()) == 4
    path.write_text(before, "utf-8")
    run.graded.clear()
    run.run(names=TWO)
    assert run.graded.total() == 2
