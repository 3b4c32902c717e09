"""Attempts: folders named after times, nbgrader's exchange, and the commits of a repository."""

import os
import subprocess
from datetime import UTC, datetime

import pytest

from grader.intake.attempts import stamp_of
from grader.intake.read import read_submissions

NOON = datetime(2027, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "name",
    [
        *("2027-01-31 12:00:00.000000 UTC", "2027-01-31T12-00-00", "2027-01-31_12.00"),
        *("20270131T120000Z", "2027-01-31T13:00+01:00", "2027-01-31T13-00-00+0100"),
    ],
)
def test_a_folder_is_named_after_its_time(name):
    """In ISO's form, without colons where a system allows none, and as nbgrader writes it."""
    assert stamp_of(name) == NOON


@pytest.mark.parametrize("name", ["2027-01-31", "01_first", "2027-13-31T12:00", "notes", ""])
def test_another_name_is_no_time(name):
    """A day alone is not enough."""
    assert stamp_of(name) is None


@pytest.fixture
def put(tmp_path):
    """Writes a file of the class."""

    def write(path, text="def one():\n    return 1\n"):
        place = tmp_path / "class" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")

    return write


def test_a_link_in_a_circle_is_no_folder(put, read, tmp_path):
    """It loses nothing else of an attempt."""
    for day in (30, 31):
        put(f"ada/2027-01-{day}T12-00-00/01_first/first.py", f"# {day}\n")
    link = tmp_path / "class" / "ada" / "2027-01-31T12-00-00" / "loop"
    link.symlink_to(link)
    found, _arrived = read()
    assert [day for day, *_ in found["ada"]] == [30, 31]


@pytest.fixture
def read(small_course, tmp_path):
    """Reads the class: each attempt's day, what it is of, and its files; and the notes."""

    def read_class(**options):
        with read_submissions(small_course, tmp_path / "class", **options) as arrived:
            return {
                student.id: [
                    (
                        one.moment.at.day,
                        one.only,
                        sorted(p.relative_to(one.path).as_posix() for p in one.path.rglob("*.py")),
                    )
                    for one in student.attempts
                ]
                for student in arrived.students
            }, arrived

    return read_class


def test_folders_named_after_times(put, read):
    """With an assignment each, what was handed in before lies beside it."""
    put("ada/2027-01-30T10-00-00/01_first/first.py")
    put("ada/2027-01-31T10-00-00/02_second/second.py")
    put("ada/2027-02-01T10-00-00/first.py")
    put("ada/readme.txt")
    put("cem/2027-01-30T10-00-00/01_first/first.py")
    put("cem/01_first/first.py")
    put("bo/01_first/first.py")
    found, arrived = read()
    assert found == {
        "ada": [
            (30, ("01_first",), ["01_first/first.py"]),
            (31, ("02_second",), ["01_first/first.py", "02_second/second.py"]),
            (1, (), ["first.py"]),
        ],
        "bo": [],
        "cem": [],
    }
    assert arrived.notes == (
        "cem has folders named after times beside 01_first: all of it is read as one submission.",
    )


def test_one_students_folder(put, read, small_course, tmp_path):
    """It is a class of one."""
    put("ada/2027-01-30T10-00-00/01_first/first.py")
    with read_submissions(small_course, tmp_path / "class/ada") as arrived:
        assert [(s.id, len(s.attempts)) for s in arrived.students] == [("ada", 1)]
        assert not arrived.is_whole


def test_nbgraders_exchange(put, read):
    """Its inbound folder, and ngshare's."""
    stamp = "2027-01-{} 10:00:00.000000 UTC"
    put(f"ada+01_first+{stamp.format(30)}+x1y2/first.py")
    put(f"ada+02_second+{stamp.format(31)}/second.py")
    put(f"bo+01_first+{stamp.format(29)}+q/first.py")
    put(f"bo+09_other+{stamp.format(29)}+q/first.py")
    put("bo+01_first+yesterday/first.py")
    put(f"..+01_first+{stamp.format(29)}/first.py")
    found, arrived = read()
    assert found == {
        "ada": [
            (30, ("01_first",), ["01_first/first.py"]),
            (31, ("02_second",), ["01_first/first.py", "02_second/second.py"]),
        ],
        "bo": [(29, ("01_first",), ["01_first/first.py"])],
    }
    assert arrived.notes == (
        f"..+01_first+{stamp.format(29)} was left out: it is not named "
        "<student>+<assignment>+<time>.",
        "bo+01_first+yesterday was left out: its name tells no time.",
        f"bo+09_other+{stamp.format(29)}+q was left out: its name tells no assignment of this "
        "course.",
    )


def test_a_name_with_plus_is_no_exchange(put, read):
    """Like that of a group."""
    put("ada+bo+cem/01_first/first.py")
    put("dee/01_first/first.py")
    assert [*read()[0]] == ["ada+bo+cem", "dee"]


@pytest.fixture
def commit(put, tmp_path):
    """Commits files to a repository."""

    def make(repository, day, files):
        folder = tmp_path / "class" / repository
        for path, text in files.items():
            put(f"{repository}/{path}", text)
        at = f"2027-01-{day}T12:00:00+00:00"
        settings = {
            "GIT_COMMITTER_DATE": at,
            "GIT_AUTHOR_DATE": at,
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        if not (folder / ".git").exists():
            subprocess.run(["git", "init", "-q", folder], check=True)
        for words in (("add", "-A"), (*who, "commit", "-qm", "work")):
            subprocess.run(
                ["git", "-C", folder, *words], env={**os.environ, **settings}, check=True
            )
        return folder

    return make


def test_commits_are_attempts(commit, read, tmp_path):
    """Those that change the work; nothing of a student's own settings is believed."""
    name = "01-first-ada"
    commit(name, 29, {"first.py": "a = 1\n"})
    commit(name, 30, {"README.md": "no work\n"})
    folder = commit(name, 31, {"first.py": "a = 2\n"})
    evil = tmp_path / "evil"
    with (folder / ".git/config").open("a") as file:
        file.write(f"[core]\nfsmonitor = touch {evil}\n[log]\nshowSignature = true\n")
        file.write(f"[gpg]\nprogram = touch {evil}\n[alias]\nlog = !touch {evil}\n")
    (tmp_path / "class/01-first-bo").mkdir()
    found, arrived = read(history=True)
    work = (("01_first",), ["01_first/first.py"])
    assert [one for one in found["ada"] if one[0] != 30] == [(29, *work), (31, *work)]
    assert arrived.notes == (
        "bo has no history that can be read: 01-first-bo is no clone with commits.",
    )
    assert not evil.exists()
    (folder / ".git/HEAD").write_text("ref: ../../elsewhere\n")
    assert read(history=True)[0]["ada"] == []


def test_the_last_commit_says_when_it_was_handed_in(commit, read, small_course):
    """Where there is a due date, and no attempts are asked for."""
    commit("01-first-ada", 29, {"first.py": "a = 1\n"})
    assert read()[1].students[0].times == ()
    manifest = small_course.root / "course.toml"
    text = manifest.read_text("utf-8").replace(
        'id = "01_first"\n', 'id = "01_first"\ndue = 2027-02-01T00:00:00Z\n'
    )
    manifest.write_text(text, "utf-8")
    assert "due" in text
    from grader.course.course import load_course

    with read_submissions(load_course(small_course.root), manifest.parent.parent / "class") as read:
        ((id_, moment),) = read.students[0].times
    assert (id_, moment.at.day, moment.source) == ("01_first", 29, "git's commits")
