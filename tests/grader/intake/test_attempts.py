"""Attempts: folders named after times, nbgrader's exchange, and the commits of a repository."""

from datetime import UTC, datetime

import pytest

from grader.course.course import load_course
from grader.intake.attempts import stamp_of
from grader.intake.read import read_submissions
from tests.grader.intake.conftest import FIRST, files_in, git

NOON = datetime(2027, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "at"),
    [
        *(("2027-01-31 12:00:00.000000 UTC", NOON), ("2027-01-31T12-00-00", NOON)),
        *(("2027-01-31_12.00", NOON), ("20270131T120000Z", NOON)),
        *(("2027-01-31T13:00+01:00", NOON), ("2027-01-31T13-00-00+0100", NOON)),
        # A day alone is not enough.
        *(("2027-01-31", None), ("01_first", None), ("2027-13-31T12:00", None), ("", None)),
    ],
)
def test_a_folder_is_named_after_its_time(name, at):
    """In ISO's form, without colons where a system allows none, and as nbgrader writes it."""
    assert stamp_of(name) == at


@pytest.fixture
def read(arrived):
    """Reads the class: each attempt's day, what it is of, and its files; and what arrived."""

    def attempts(student):
        return [(a.moment.at.day, a.only, [*files_in(a.path, "*.py")]) for a in student.attempts]

    return lambda **options: arrived(of=attempts, **options)


def test_a_link_in_a_circle_is_no_folder(put, read):
    """It loses nothing else of an attempt."""
    stamps = ("2027-01-30T12-00-00", "2027-01-31T12-00-00")
    for stamp in stamps:
        put(f"ada/{stamp}/{FIRST}", text=f"# {stamp}\n")
    link = put() / "ada" / stamps[1] / "loop"
    link.symlink_to(link)
    assert [day for day, *_ in read()[0]["ada"]] == [30, 31]


OF_FIRST, OF_SECOND = (("01_first",), [FIRST]), (("02_second",), [FIRST, "02_second/second.py"])


def test_folders_named_after_times(put, read):
    """With an assignment each, what was handed in before lies beside it."""
    put(f"ada/2027-01-30T10-00-00/{FIRST}", "ada/2027-01-31T10-00-00/02_second/second.py")
    put("ada/2027-02-01T10-00-00/first.py", "ada/readme.txt")
    put(f"cem/2027-01-30T10-00-00/{FIRST}", f"cem/{FIRST}", f"bo/{FIRST}")
    found, arrived = read()
    assert found == {
        "ada": [(30, *OF_FIRST), (31, *OF_SECOND), (1, (), ["first.py"])],
        "bo": [],
        "cem": [],
    }
    assert arrived.notes == (
        "cem has folders named after times beside 01_first: all of it is read as one submission.",
    )


def test_one_students_folder(put, read):
    """It is a class of one."""
    folder = put(f"ada/2027-01-30T10-00-00/{FIRST}") / "ada"
    found, arrived = read(path=folder)
    assert found == {"ada": [(30, *OF_FIRST)]}
    assert not arrived.is_whole


def test_nbgraders_exchange(put, read):
    """Its inbound folder, and ngshare's."""
    stamp = "2027-01-{} 10:00:00.000000 UTC"
    put(f"ada+01_first+{stamp.format(30)}+x1y2/first.py")
    put(f"ada+02_second+{stamp.format(31)}/second.py")
    put(f"bo+01_first+{stamp.format(29)}+q/first.py")
    put(f"bo+09_other+{stamp.format(29)}+q/first.py")
    put("bo+01_first+yesterday/first.py", f"..+01_first+{stamp.format(29)}/first.py")
    found, arrived = read()
    assert found == {"ada": [(30, *OF_FIRST), (31, *OF_SECOND)], "bo": [(29, *OF_FIRST)]}
    assert arrived.notes == (
        f"..+01_first+{stamp.format(29)} was left out: it is not named "
        "<student>+<assignment>+<time>.",
        "bo+01_first+yesterday was left out: its name tells no time.",
        f"bo+09_other+{stamp.format(29)}+q was left out: its name tells no assignment of this "
        "course.",
    )


def test_a_name_with_plus_is_no_exchange(put, read):
    """Like that of a group."""
    put(f"ada+bo+cem/{FIRST}", f"dee/{FIRST}")
    assert [*read()[0]] == ["ada+bo+cem", "dee"]


@pytest.fixture
def commit(put):
    """Commits a file to a repository."""

    def make(repository, day, name, text):
        folder = put(f"{repository}/{name}", text=text) / repository
        at = f"2027-01-{day}T12:00:00+00:00"
        git(folder, "init", "-q")
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", "work", GIT_COMMITTER_DATE=at, GIT_AUTHOR_DATE=at)
        return folder

    return make


def test_commits_are_attempts(commit, read, tmp_path):
    """Those that change the work; nothing of a student's own settings is believed."""
    name = "01-first-ada"
    commit(name, 29, "first.py", "a = 1\n")
    commit(name, 30, "README.md", "no work\n")
    folder = commit(name, 31, "first.py", "a = 2\n")
    evil = tmp_path / "evil"
    with (folder / ".git/config").open("a") as file:
        file.write(f"[core]\nfsmonitor = touch {evil}\n[log]\nshowSignature = true\n")
        file.write(f"[gpg]\nprogram = touch {evil}\n[alias]\nlog = !touch {evil}\n")
    (tmp_path / "class/01-first-bo").mkdir()
    found, arrived = read(history=True)
    assert [one for one in found["ada"] if one[0] != 30] == [(29, *OF_FIRST), (31, *OF_FIRST)]
    assert arrived.notes == (
        "bo has no history that can be read: 01-first-bo is no clone with commits.",
    )
    assert not evil.exists()
    (folder / ".git/HEAD").write_text("ref: ../../elsewhere\n")
    assert read(history=True)[0]["ada"] == []


def test_the_last_commit_says_when_it_was_handed_in(commit, read, small_course):
    """Where there is a due date, and no attempts are asked for."""
    folder = commit("01-first-ada", 29, "first.py", "a = 1\n")
    assert read()[1].students[0].times == ()
    manifest = small_course.root / "course.toml"
    text = manifest.read_text("utf-8")
    due = 'id = "01_first"\ndue = 2027-02-01T00:00:00Z\n'
    manifest.write_text(text.replace('id = "01_first"\n', due), "utf-8")
    with read_submissions(load_course(small_course.root), folder.parent) as arrived:
        ((id_, moment),) = arrived.students[0].times
    assert (id_, moment.at.day, moment.source) == ("01_first", 29, "git's commits")
