"""What was published stays as it is, and later runs are compared with it."""

from datetime import UTC, datetime

import pytest

from grader.classes.records import differing, last_published, publish
from grader.cli.publish import run_publish
from grader.core.errors import UsageError
from tests.grader.classes.conftest import STUDENTS, files_in

NOW = datetime(2027, 3, 1, 12, tzinfo=UTC)


def test_what_was_published_stays(make):
    """Later runs change nothing of it; two copies in a second have two names."""
    run = make("out")
    run.run()
    kept = run.files()
    first = publish(run.out, NOW)
    assert files_in(first) == kept
    assert first.name == "2027-03-01T12-00-00Z"
    assert differing(first, run.result.rows) == 0
    run.harder()
    run.run()
    assert files_in(first) == kept
    assert differing(first, run.result.rows) == len(run.result.changed) > 0
    assert last_published(run.out) == first
    second = publish(run.out, NOW)
    assert last_published(run.out) == second != first
    assert differing(second, run.result.rows) == 0


def test_nothing_new_is_not_published_again(make, capsys):
    """What is different since the last time is said first."""
    run = make("out")
    run.run()
    run_publish(run.out)
    assert "Later runs are compared with it." in capsys.readouterr().out
    run_publish(run.out)
    assert "Nothing is different from what was published" in capsys.readouterr().out
    run.harder()
    run.run()
    run_publish(run.out)
    assert f"Z: {len(STUDENTS)} students are in both: " in capsys.readouterr().out


def test_what_is_no_run_is_not_published(tmp_path):
    """With what to give."""
    with pytest.raises(UsageError, match=r"holds no run: there is no summary\.json\. Give"):
        publish(tmp_path, NOW)
    assert last_published(tmp_path) is None
