"""Clones that no honest student hands in: each is told of, concerns its student alone, and shows nobody else's work."""

import hashlib
import os
import shutil
import zlib
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.intake import history
from grader.intake.read import read_submissions
from tests.grader.intake.conftest import FIRST, ONE, files_in, git

pytestmark = pytest.mark.slow

FILE, FOLDER = b"100644", b"40000"
MINE = [{FIRST: ONE}]
WHO = "E <e@x.y>"
NO_DATE = "has no date that can be read."


class Clone:
    """A student's repository, of which any object can be written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        git(folder, "init", "-q", "-b", "main")

    @property
    def inside(self) -> Path:
        """Its `.git`."""
        return self.folder / ".git"

    def object(self, kind: str, data: bytes) -> str:
        """Write an object, whatever it says."""
        whole = f"{kind} {len(data)}\0".encode() + data
        sha = hashlib.sha1(whole).hexdigest()
        path = self.inside / "objects" / sha[:2] / sha[2:]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(zlib.compress(whole))
        return sha

    def blob(self, text: str = ONE) -> str:
        """A file's content."""
        return self.object("blob", text.encode())

    def tree(self, *entries: tuple[bytes, bytes, str]) -> str:
        """A tree of these modes, names and contents."""
        lines = (b"%b %b\0%b" % (mode, name, bytes.fromhex(sha)) for mode, name, sha in entries)
        return self.object("tree", b"".join(lines))

    def commit(self, tree: str, date: str = "1800000000 +0000") -> str:
        """Commit a tree, and check it out as far as `.git` says."""
        head = self.inside / "refs/heads/main"
        parent = f"parent {head.read_text().strip()}\n" if head.exists() else ""
        text = f"tree {tree}\n{parent}author {WHO} {date}\ncommitter {WHO} {date}\n\nx\n"
        sha = self.object("commit", text.encode())
        head.write_text(f"{sha}\n")
        return sha

    def work(self, text: str = ONE, **variables: str) -> str:
        """Commit a file as students do."""
        (self.folder / "first.py").write_text(text, "utf-8")
        git(self.folder, "add", "-A")
        git(self.folder, "commit", "-q", "-m", "x", **variables)
        return git(self.folder, "rev-parse", "HEAD")


@pytest.fixture
def clone(tmp_path):
    """Makes a student's repository."""
    return lambda student: Clone(tmp_path / "class" / f"01-first-{student}")


@pytest.fixture
def course(small_course):
    """A course with a due date, so that the time of the last commit is asked for, too."""
    first, second = small_course.assignments
    due = datetime(2027, 2, 1, tzinfo=UTC)
    return replace(small_course, assignments=(replace(first, due=due), second))


@pytest.fixture
def read(course, clone, tmp_path):
    """Reads the class with an honest student beside: the texts of each commit, and the notes."""
    clone("honest").work(GIT_COMMITTER_DATE="2027-01-31T12:00:00Z")

    def read_class(*, history=True):
        with read_submissions(course, tmp_path / "class", history=history) as arrived:
            found = {
                student.id: [files_in(one.path, "*.py") for one in student.attempts]
                for student in arrived.students
            }
            assert {s.id: s.refused for s in arrived.students} == dict.fromkeys(found, "")
            honest = next(s for s in arrived.students if s.id == "honest")
            moments = [moment for _id, moment in honest.times]
            moments = moments or [one.moment for one in honest.attempts]
            assert [moment.at.day for moment in moments] == [31]
        if history:
            assert found.pop("honest") == MINE
        return found, arrived.notes

    return read_class


# Dates.


def test_an_ordinary_commit_in_the_year_10000(clone, read):
    """Nothing of it is taken for late, and its work is read as it lies there."""
    sha = clone("eve").work(GIT_COMMITTER_DATE="@253402300800 +0000")
    why = f"the commit {sha[:10]} {NO_DATE}"
    assert read() == ({"eve": []}, (f"eve has no history that can be read: {why}",))
    _found, notes = read(history=False)
    assert notes == (f"eve: nothing is taken for late, because no commits can be read: {why}",)


@pytest.mark.parametrize(
    "date",
    [
        *("99999999999999 +0000", "1800000000 +9999", "yesterday +0000", "", "-62135596800 -0000"),
        *("253402300799 -2359", "9" * 400 + " +0000"),
    ],
    ids=["huge", "zone", "text", "none", "before all", "after all", "endless"],
)
def test_a_date_that_is_none(clone, read, date):
    """Whatever stands there concerns its student alone."""
    eve = clone("eve")
    eve.commit(eve.tree((FILE, b"first.py", eve.blob())), date)
    found, notes = read()
    said = [*notes, *read(history=False)[1]]
    assert found["eve"] == MINE or notes
    assert [note for note in said if "eve" not in note or not note.endswith(NO_DATE)] == []


# Names and contents.


def test_names_that_cannot_be_written_are_left_out(clone, read):
    """The others of the commit are read; what is left out is named."""
    eve = clone("eve")
    blob, other = eve.blob(), eve.blob("other = 1\n")
    entries = (
        (FILE, b"a" * 300 + b".py", blob),
        (FILE, b"d.py", blob),
        (FOLDER, b"d.py", eve.tree((FILE, b"x.py", blob))),
        (FILE, b"first.py", blob),
        (FILE, b"first.py", other),
        (FILE, b"/".join([b"n" * 250] * 30) + b".py", blob),
    )
    sha = eve.commit(eve.tree(*entries))[:10]
    found, (note,) = read()
    assert found["eve"] == [{"01_first/d.py": ONE, FIRST: ONE}]
    assert note == f"eve: left out is {'a' * 80}… (cut) of {sha}, and 3 more like it."


def test_a_folder_first_and_then_a_file_of_its_name(clone, read):
    """Neither order stops the run."""
    eve = clone("eve")
    blob = eve.blob()
    inner = eve.tree((FILE, b"x.py", blob))
    entries = ((FOLDER, b"d.py", inner), (FILE, b"d.py", blob), (FILE, b"first.py", blob))
    sha = eve.commit(eve.tree(*entries))[:10]
    found, notes = read()
    assert found["eve"] == [{"01_first/d.py/x.py": ONE, FIRST: ONE}]
    assert notes == (f"eve: left out is d.py of {sha}.",)


@pytest.mark.parametrize("kind", ["missing", "a tree", "damaged"])
def test_a_commit_whose_contents_are_not_there_is_left_out(clone, read, kind):
    """As of a clone made with `--filter=blob:none`: the commits that are whole are attempts."""
    eve = clone("eve")
    eve.work()
    blob = {"missing": "12" * 20, "a tree": eve.tree(), "damaged": "ab" * 20}[kind]
    path = eve.inside / "objects" / blob[:2] / blob[2:]
    if kind == "damaged":
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"damaged")
    sha = eve.commit(eve.tree((FILE, b"first.py", blob)))[:10]
    found, (note,) = read()
    assert found["eve"] == MINE
    assert note.startswith(f"eve: left out is the commit {sha} (git ")
    assert kind == "damaged" or note.endswith("(git has no content of first.py).")


def test_a_repository_with_longer_names_of_objects_is_read(read, tmp_path):
    """As `git init --object-format=sha256` makes it."""
    folder = tmp_path / "class" / "01-first-eve"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main", "--object-format=sha256")
    (folder / "first.py").write_text(ONE, "utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "x")
    assert read() == ({"eve": MINE}, ())


def test_a_tree_that_unfolds_without_end_is_left(clone, read, monkeypatch):
    """Ten folders of ten folders, ten deep: git is stopped, and says why."""
    monkeypatch.setattr(history, "MOST_OUTPUT", 1_000_000)
    eve = clone("eve")
    tree = eve.tree(*((FILE, b"%d.py" % n, eve.blob()) for n in range(10)))
    for _level in range(10):
        tree = eve.tree(*((FOLDER, b"%d" % n, tree) for n in range(10)))
    sha = eve.commit(tree)[:10]
    why = f"left out is the commit {sha} ({history.TOO_MUCH[:-1]})"
    assert read() == ({"eve": []}, (f"eve has no history: {why}.",))


def test_git_has_so_many_seconds_for_one_student(clone, read, monkeypatch):
    """Those commits are read that fit in, the last ones first."""
    eve = clone("eve")
    shas = [eve.work(f"a = {number}\n")[:10] for number in range(3)]
    asked, real = Counter(), history.Repository.ask

    def ask(self, *words, **options):
        asked[self.own] += 1
        self.left = 1.0 if asked[self.own] <= 3 else 0.0
        return real(self, *words, **options)

    monkeypatch.setattr(history.Repository, "ask", ask)
    found, notes = read()
    assert found["eve"] == [{FIRST: "a = 2\n"}]
    first = f"the commit {shas[1]} ({history.TOO_MUCH[:-1]})"
    assert notes == (f"eve: left out is {first}, and 1 more like it.",)


# Somebody else's objects.


@pytest.fixture
def thief(clone, tmp_path):
    """A repository whose branch is a neighbour's commit, of which it has nothing itself."""
    bo, thief = clone("bo"), clone("thief")
    sha = bo.work("def one():\n    return 'stolen'\n")
    (thief.folder / "first.py").write_text("mine = 1\n", "utf-8")
    (thief.inside / "refs/heads/main").write_text(f"{sha}\n")
    return thief, bo.inside / "objects", sha


def relink(mine, paths, theirs):
    """Make links of these paths, inside one folder, to the same in another."""
    for path in paths:
        link = mine / path.relative_to(theirs)
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(path)


def by_a_linked_list(mine, theirs):
    """A link to a list that names them."""
    (mine.parent / "list").write_text(f"{theirs}\n")
    (mine / "info/alternates").symlink_to(mine.parent / "list")


def by_a_link(mine, theirs):
    """The whole folder."""
    shutil.rmtree(mine)
    mine.symlink_to(theirs)


UNREAD = "thief has no history that can be read: "
LIST = "objects/info/alternates"


@pytest.mark.parametrize(
    ("way", "name"),
    [
        # As `git clone --shared` writes it; from one clone to the one beside it.
        (lambda mine, theirs: (mine / LIST[8:]).write_text(f"{theirs}\n"), LIST),
        (lambda mine, _: (mine / LIST[8:]).write_text("../../../01-first-bo/.git/objects\n"), LIST),
        (by_a_linked_list, LIST),
        (by_a_link, "objects"),
        # Each folder of objects, and each object.
        (lambda mine, theirs: relink(mine, theirs.glob("??"), theirs), "objects/"),
        (
            lambda mine, theirs: relink(mine, [*filter(Path.is_file, theirs.rglob("*"))], theirs),
            "objects/",
        ),
    ],
    ids=["a list", "a relative path", "a linked list", "a link", "folders", "files"],
)
def test_a_neighbours_commit_is_nobody_elses(thief, read, way, name):
    """What is not in a student's own folder is not read; their files are."""
    mine, theirs, _sha = thief
    way(mine.inside / "objects", theirs)
    found, notes = read()
    assert found["thief"] == []
    assert [len(found["bo"]), len(notes)] == [1, 1]
    assert notes[0].startswith(f"{UNREAD}{name}")
    assert notes[0].endswith(
        "in its .git leads elsewhere, and what lies there may be somebody else's."
    )
    _found, notes = read(history=False)
    assert [note.partition(":")[0] for note in notes] == ["thief"]


@pytest.mark.parametrize("name", ["HEAD", "refs", "refs/heads", "refs/heads/main", "packed-refs"])
def test_no_link_says_what_is_checked_out(thief, read, name, tmp_path):
    """Nor is a link followed to a commit of their own."""
    clone, _theirs, _sha = thief
    (clone.inside / "refs/heads/main").unlink()
    sha = clone.work("mine = 2\n")
    if name == "packed-refs":
        (clone.inside / "refs/heads/main").unlink()
        (clone.inside / name).write_text(f"{sha} refs/heads/main\n")
    path = clone.inside / name
    path.rename(tmp_path / "moved")
    path.symlink_to(tmp_path / "moved")
    found, notes = read()
    assert found["thief"] == []
    assert notes == (f"{UNREAD}01-first-thief is no clone with commits.",)


def test_a_git_folder_that_is_a_link_or_a_file_is_no_clone(thief, read):
    """As those of worktrees and submodules: they lead to another one."""
    clone, theirs, _sha = thief
    shutil.rmtree(clone.inside)
    for make in (
        lambda path: path.symlink_to(theirs.parent),
        lambda path: path.write_text(f"gitdir: {theirs.parent}\n"),
    ):
        make(clone.inside)
        found, notes = read()
        assert found["thief"] == []
        assert notes == (f"{UNREAD}01-first-thief is no clone with commits.",)
        clone.inside.unlink()


def test_a_common_folder_elsewhere_is_not_asked_for(thief, read):
    """`commondir` and `gitdir` lead to another `.git`, for git; nothing of them is believed."""
    clone, theirs, sha = thief
    (clone.inside / "commondir").write_text(f"{theirs.parent}\n")
    (clone.inside / "gitdir").write_text(f"{theirs.parent}\n")
    found, notes = read()
    assert found["thief"] == []
    assert notes == (f"{UNREAD}git cannot read it: fatal: bad object {sha}",)


# What is never opened.


@pytest.mark.parametrize(
    "name",
    [
        *("HEAD", "refs/heads/main", "packed-refs", "shallow", "config", "index"),
        *("objects/12/" + "3" * 38, "objects/pack/pack-1.idx", "objects/info/commit-graph"),
    ],
)
def test_a_pipe_in_a_git_folder_is_not_waited_for(clone, read, name):
    """Wherever it stands."""
    eve = clone("eve")
    eve.work()
    path = eve.inside / name
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    found, _notes = read()
    is_needed = name in ("HEAD", "refs/heads/main") or name.startswith("objects/")
    assert found["eve"] == ([] if is_needed else MINE)


def test_a_folder_of_git_that_cannot_be_read_leaves_its_student_undecided(
    clone, course, tmp_path, monkeypatch
):
    """With the reason; the others of the class are read."""
    for student in ("eve", "honest"):
        clone(student).work()
    real = os.scandir

    def refuse(path):
        if str(path).endswith("01-first-eve/.git/objects"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with read_submissions(course, tmp_path / "class", history=True) as arrived:
        eve, honest = arrived.students
        assert eve.refused.startswith(
            "objects cannot be read (Permission denied): make it readable"
        )
        assert (honest.refused, len(honest.attempts)) == ("", 1)
