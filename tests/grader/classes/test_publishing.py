"""What was published stays as it is, and later runs are compared with it."""

import json
from datetime import UTC, datetime

import pytest

from grader.classes.records import last_published, open_records, publish
from grader.classes.store import Store
from grader.cli.publish import publish as publish_command
from grader.core.errors import UsageError
from tests.grader.classes.conftest import STUDENTS, texts

NOW = datetime(2027, 3, 1, 12, tzinfo=UTC)


def test_what_was_published_stays(run):
    """Later runs change nothing of it; what is published twice in a second has two names."""
    kept, summary = texts(run.out), json.loads((run.out / "summary.json").read_text("utf-8"))
    first = publish(run.out, NOW)
    assert first == run.out / "published" / "2027-03-01T12-00-00Z"
    assert texts(first) == kept
    run.harder()
    run.run(force=True)
    assert texts(first) == kept != texts(run.out)
    assert last_published(run.out) == first
    second = publish(run.out, NOW)
    assert last_published(run.out) == second != first
    assert texts(second) == texts(run.out) == texts(run.out / "published")
    with Store.to_read(run.out) as store:
        assert store.published() == [first.name, second.name]
        query = "SELECT summary FROM published WHERE name = ?"
        (kept_summary,) = store._connection.execute(query, (first.name,)).fetchone()
        assert json.loads(kept_summary) == summary


def test_nothing_new_is_not_published_again(run, capsys):
    """What is different since the last time is said first."""
    publish_command.callback(run.out)
    assert "Later runs are compared with it." in capsys.readouterr().out
    publish_command.callback(run.out)
    assert "Nothing is different from what was published" in capsys.readouterr().out
    run.harder()
    run.run()
    publish_command.callback(run.out)
    assert f"Z: {len(STUDENTS)} students are in both: " in capsys.readouterr().out


def test_a_name_that_was_not_published_is_told_with_those_that_were(run):
    """And where nothing was, that."""
    with pytest.raises(UsageError, match=r"has published nothing of that name\. Nothing was"):
        open_records(run.out / "published")
    name = publish(run.out, NOW).name
    with pytest.raises(UsageError, match=rf"of that name\. Published are: {name}"):
        open_records(run.out / "published" / "2027-03-02")


def test_what_is_no_run_is_not_published(tmp_path):
    """With what to give."""
    with pytest.raises(UsageError, match=r"holds no run: there is no summary\.json\. Give"):
        publish(tmp_path, NOW)
    with pytest.raises(UsageError, match="is no folder that `grader grade --out` wrote"):
        last_published(tmp_path)
