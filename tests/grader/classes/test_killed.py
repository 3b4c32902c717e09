"""Commands killed at each of their writes: nothing is lost or half, and the next one ends as usual."""

import shutil
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from grader.classes.decisions import Decisions, Exemption
from grader.classes.records import last_published, open_records, publish, records_in
from grader.cli.compare import compare as compare_command
from grader.course.course import COURSE_VARIABLE
from grader.extras.similarity.command import similar as similar_command
from grader.judging.results import parsed
from tests.grader.classes.conftest import Killed, files_in
from tests.grader.classes.test_failing_writes import TWO, Disk

NOW, LATER = (datetime(2027, 3, day, 12, tzinfo=UTC) for day in (1, 2))
EXEMPT = Decisions(exemptions=(Exemption(TWO[0], exercises=("01_scores/scores",)),))


class End(Disk):
    """The end of the process in the middle of one of the writes: it writes nothing more."""

    def __init__(self, folder, at):
        super().__init__(folder, at, 0)

    def refuses(self, path):
        """Whether this write is refused: from the end on, each is."""
        return super().refuses(path) or self.writes > self.refused

    def error(self):
        """What stands for the end."""
        return Killed()

    store_error = error

    def use(self, monkeypatch):
        """Write to this disk from now on; whoever ended removes nothing."""
        super().use(monkeypatch)
        unlink = Path.unlink

        def kept(path, **options):
            if self.writes < self.refused:
                unlink(path, **options)

        monkeypatch.setattr(Path, "unlink", kept)


def killed_at_each_write(monkeypatch, start, command):
    """Do a command again and again from the start, killed at the first write, the second, and so on.

    Args:
        monkeypatch: pytest's.
        start: makes a folder as it is before the command, and returns it.
        command: is given this folder.
    """
    for number in count(1):
        folder = start(number)
        disk = End(folder, number)
        with monkeypatch.context() as patched:
            disk.use(patched)
            with suppress(Killed):
                command(folder)
        if disk.writes < number:
            assert number > 2
            return
        yield folder


def texts(place):
    """Everybody's record, to the byte."""
    records = open_records(place)
    return {student: records.text(student) for student in records.texts}


def test_what_is_published_is_whole(make, monkeypatch, tmp_path):
    """What was published before stays as it is, and no half of what is published counts."""
    run = make("out")
    run.run(names=TWO)
    first = publish(run.out, NOW).name
    given = texts(run.out)
    run.harder()
    run.run(names=TWO)
    now = texts(run.out)

    def start(number):
        return Path(shutil.copytree(run.out, tmp_path / f"out-{number}"))

    for out in killed_at_each_write(monkeypatch, start, lambda out: publish(out, LATER)):
        assert texts(out / "published" / first) == given
        last = last_published(out)
        assert texts(last) == (given if last.name == first else now)
        assert texts(publish(out, LATER)) == now


@pytest.mark.slow
@pytest.mark.parametrize(
    "decided", [True, pytest.param(False, marks=pytest.mark.proof)], ids=["decided", "graded"]
)
def test_a_run_goes_on(make, monkeypatch, tmp_path, decided):
    """Each record is whole, whoever has the decision already; the same command ends as usual."""
    run = make("out")
    if decided:
        run.run(names=TWO)
        shutil.copytree(run.out, tmp_path / "before")
    else:
        (tmp_path / "before").mkdir()
    options = {"decisions": EXEMPT} if decided else {}
    run.run(names=TWO, **options)
    whole, store, before = run.files(), run.store(), run.graded.total()

    def start(number):
        run.graded.clear()
        run.out = Path(shutil.copytree(tmp_path / "before", tmp_path / f"out-{number}"))
        return run.out

    def command(_out):
        run.run(names=TWO, **options)

    for out in killed_at_each_write(monkeypatch, start, command):
        found = {id_: parsed(path.read_bytes()) for id_, path in records_in(out).items()}
        assert not decided or [*found] == TWO
        run.run(names=TWO, **options)
        assert run.files() == whole
        assert run.store() == store
        # Whoever was graded when the process ended may have been graded for nothing, nobody else.
        assert run.graded.total() <= (0 if decided else before + 1)
        shutil.rmtree(out)


def compare(run, folder):
    """Compare the run with itself, on a page."""
    left_out = dict.fromkeys(("submissions", "roster", "anonymous", "items"))
    page = folder / "page.html"
    compare_command.callback(run.out, run.out, format_="json", page=page, **left_out)


def similar(run, folder):
    """Look for pairs, on a page and for other programs."""
    similar_command.callback(
        run.out,
        submissions=run.folder,
        archives=(),
        ignore=None,
        first=40,
        html=folder / "page.html",
        export=folder / "export",
        format_="text",
    )


@pytest.mark.slow
@pytest.mark.parametrize("command", [compare, similar])
def test_a_page_is_the_old_one_or_the_new_one(make, monkeypatch, tmp_path, capsys, command):
    """The run is as it was, and the same command writes what it would have written."""
    run = make("out")
    monkeypatch.setenv(COURSE_VARIABLE, str(run.course))
    run.run(names=TWO)
    graded = run.files()
    for other in {path.name for path in run.folder.iterdir()} - {*TWO}:
        shutil.rmtree(run.folder / other)
    (tmp_path / "whole").mkdir()
    command(run, tmp_path / "whole")
    new = files_in(tmp_path / "whole")

    def start(number):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}" / "page.html").write_text("old", "utf-8")
        return tmp_path / f"{number}"

    for folder in killed_at_each_write(monkeypatch, start, lambda folder: command(run, folder)):
        assert (folder / "page.html").read_text("utf-8") in ("old", new["page.html"])
        assert run.files() == graded
        command(run, folder)
        assert files_in(folder) == new
    capsys.readouterr()
