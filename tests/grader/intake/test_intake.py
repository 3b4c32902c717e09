"""A class however it arrives: platforms' zips, repositories side by side, a plain folder."""

import io
import time
import zipfile
from dataclasses import replace

import pytest

from grader.core.errors import UsageError
from grader.intake import platform_zips
from grader.intake import read as intake
from grader.intake.read import read_submissions
from grader.intake.safe_zip import CLASS_CAPS
from tests.grader.intake.conftest import FIRST, ONE, TWO

SECOND = "02_second/second.py"


def zip_of(files):
    """A zip's bytes; a value may be a zip's own files."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, zip_of(content) if isinstance(content, dict) else content)
    return memory.getvalue()


@pytest.fixture
def read(arrived, tmp_path):
    """Reads a download: whose files are where, with what they say; and what arrived."""

    def read_class(files, roster=None, name="class.zip"):
        path = tmp_path / name
        path.write_bytes(zip_of(files))
        found, what = arrived(path, roster)
        places = [student.path for student in what.students if student.path is not None]
        assert [place for place in places if place.exists()] == []  # removed afterwards
        return found, what

    return read_class


DEEP = {"third.zip": {"fourth.zip": {"first.py": ONE}}}
STAMP = "2027-02-01 10:00:00 UTC"
UPLOAD = "Ada Lovelace_71_assignsubmission"
DOWNLOADS = {
    "two of one name stay two by the platform's number": (
        {"wangfang_11_1_first.py": ONE, "wangfang_12_2_first.py": TWO},
        {"wangfang_11": {"first.py": ONE}, "wangfang_12": {"first.py": TWO}},
        (),
    ),
    "Moodle's folders or flat files, names in any script; online text is no file": (
        {
            f"{UPLOAD}_file/{FIRST}": ONE,
            f"{UPLOAD}_file/{SECOND}": TWO,
            f"{UPLOAD}_onlinetext/onlinetext.html": "",
            "王 芳_72_assignsubmission_file_/first.py": ONE,
            "山田 太郎_73_assignsubmission_file_first.py": ONE,
        },
        {
            "Ada Lovelace": {FIRST: ONE, SECOND: TWO},
            "王 芳": {"first.py": ONE},
            "山田 太郎": {"first.py": ONE},
        },
        (),
    ),
    "students' own zips lose folders that say nothing, and times that are theirs": (
        {
            "lovelaceada_11_1_work.zip": {
                f"my work/{FIRST}": ONE,
                "my work/01_first/timestamp.txt": "2000-01-01 00:00:00 UTC",
                "__MACOSX/my work/._first.py": "",
            },
            "turingalan_12_2_repo.zip": {
                f"repo/assignments/{FIRST}": ONE,
                f"repo/assignments/{SECOND}": TWO,
            },
            "hoppergrace_13_3_outer.zip": {"inner.zip": {"first.py": ONE}},
        },
        {
            "lovelaceada": {FIRST: ONE},
            "turingalan": {FIRST: ONE, SECOND: TWO},
            "hoppergrace": {"first.py": ONE},
        },
        (),
    ),
    "a zip too deep is told, and the rest of the student's work counts": (
        {"ada_1_1_first.py": ONE, "ada_1_2_second.zip": DEEP},
        {"ada": {"first.py": ONE}},
        ("ada: fourth.zip lies too deep in other zips and was not unpacked.",),
    ),
    "a zip per student": (
        {"ada.zip": {"first.py": ONE}, "bo.zip": {f"x/{FIRST}": ONE}},
        {"ada": {"first.py": ONE}, "bo": {FIRST: ONE}},
        (),
    ),
    "a folder per student inside another, where an instructor's times stay": (
        {
            f"submitted/ada/{FIRST}": ONE,
            "submitted/ada/01_first/timestamp.txt": STAMP,
            "submitted/bo/first.py": ONE,
        },
        {"ada": {FIRST: ONE, "01_first/timestamp.txt": STAMP}, "bo": {"first.py": ONE}},
        (),
    ),
    "what lies beside the students' folders": (
        {"ada/first.py": ONE, "bo/first.py": ONE, "helper.py": ""},
        {"ada": {"first.py": ONE}, "bo": {"first.py": ONE}},
        ("Left out: 'helper.py' belongs to no student.",),
    ),
    "a path that leads outside": (
        {"../ada_1_1_first.py": ONE, "bo_2_2_first.py": ONE},
        {"bo": {"first.py": ONE}},
        ("Left out: '../ada_1_1_first.py' leads out of the folder.",),
    ),
}


@pytest.mark.parametrize(("files", "found", "notes"), DOWNLOADS.values(), ids=DOWNLOADS)
def test_a_download_is_a_class(read, files, found, notes):
    """Whose files are where; what is left out is told."""
    known, what = read(files)
    assert (known, what.notes) == (found, notes)


def test_canvas_zip_is_a_class(read):
    """Files by student; a later attempt's number is dropped; a late one is told."""
    found, arrived = read(
        {
            "lovelaceada_11_501_first.py": ONE,
            "lovelaceada_11_502_second-2.py": TWO,
            "turingalan_LATE_12_503_my_notes_1_2_x.py": ONE,
            "turingalan_LATE_12_504_diagram.png": "",
        }
    )
    assert found == {
        "lovelaceada": {"first.py": ONE, "second.py": TWO},
        "turingalan": {"my_notes_1_2_x.py": ONE},
    }
    assert (arrived.notes, arrived.marked_late) == ((), {"turingalan"})
    assert arrived.roster["turingalan"].number == "12"


@pytest.mark.parametrize(
    "names",
    [
        ("ada_11_501_first.py", "fay_16_602_report.pdf", "fay_16_603_notes.docx"),
        (
            "Ada_11_assignsubmission_file_/first.py",
            "fay_16_assignsubmission_file_/report.pdf",
            "fay_16_assignsubmission_onlinetext_/onlinetext.html",
        ),
    ],
)
def test_who_handed_in_nothing_that_can_be_graded_is_told(read, names):
    """By the first of their files; nobody vanishes from a download without a word."""
    _, arrived = read(dict.fromkeys(names, ONE))
    assert arrived.notes == (
        "fay: nothing to grade was handed in; report.pdf is no .py, no .ipynb and no .zip.",
    )


def test_who_is_not_on_the_roster_is_told(arrived, put, write):
    """A name that is written in two ways would otherwise be two students."""
    put("ada/first.py", "zed/first.py")
    found, what = arrived(roster=write("student\nada\nzedd\n"))
    assert [*found] == ["ada", "zed", "zedd"]
    assert what.notes == ("zed is not on the roster.",)


WANGS = {"wangfang_11_1_first.py": ONE, "wangfang_12_2_first.py": TWO}
W1, W2 = {"first.py": ONE}, {"first.py": TWO}


@pytest.mark.parametrize(
    ("listed", "files", "found", "notes"),
    [
        (
            "student,name,id\nw1,Fang Wang,11\nw2,Fang Wang,12\nada,Ada Lovelace,\nzoe,,\n",
            {**WANGS, "lovelaceada_13_3_first.py": ONE, "nobody_14_4_first.py": ONE},
            {"w1": W1, "w2": W2, "ada": W1, "zoe": None, "nobody_14": W1},
            [
                "nobody (14) could not be placed: nobody on the roster has this name or number. "
                "Graded as nobody_14."
            ],
        ),
        (
            "student,name\nw1,Fang Wang\nw2,Fang Wang\n",
            {"wangfang_11_1_first.py": ONE},
            {"wangfang_11": W1, "w1": None, "w2": None},
            [
                "wangfang (11) could not be placed: the roster has several whom it may mean: w1, w2. "
                "Graded as wangfang_11."
            ],
        ),
        (
            "student,name\nw1,Fang Wang\n",
            WANGS,
            {"wangfang_11": W1, "wangfang_12": W2, "w1": None},
            [
                f"wangfang ({number}) could not be placed: somebody else is taken for w1, too. "
                f"Graded as wangfang_{number}."
                for number in (11, 12)
            ],
        ),
    ],
    ids=["a number decides", "several may be meant", "two claim one place"],
)
def test_a_roster_decides_who_is_meant(read, write, listed, files, found, notes):
    """By number for two of one name, else by name: nobody is given another's points."""
    known, what = read(files, write(listed))
    assert (known, [*what.notes]) == (found, notes)


def test_a_worksheet_of_moodles_places_its_own_numbers(read, write):
    """The number in the folder's name is the worksheet's."""
    head = "Identifier,Full name,Email address\n"
    listed = write(f"{head}Participant 71,Ada Lovelace,ada@example.org\n")
    found, arrived = read({"A. Lovelace_71_assignsubmission_file/first.py": ONE}, listed)
    assert found == {"ada@example.org": {"first.py": ONE}}
    ada = arrived.roster["ada@example.org"]
    assert ada.identifier == "Participant 71"
    assert ada.upload == "A. Lovelace_71_assignsubmission_file_"


def test_canvas_files_leave_their_numbers(read):
    """Also of a student whom no roster has: Canvas knows by them whose feedback is whose."""
    _found, arrived = read({"wangfang_LATE_11_901_first.py": ONE, "wangfang_11_902_b.py": TWO})
    assert arrived.roster["wangfang"].upload == "wangfang_11_902_"


# Too much.


@pytest.mark.slow
def test_a_bomb_costs_only_who_handed_it_in(read):
    """Its own words say so; the class is graded."""
    bomb = {f"{n}.py": bytes(range(256)) * 64_000 for n in range(6)}
    found, arrived = read({"ada_1_1_first.py": ONE, "bo_2_2_bomb.zip": bomb})
    assert found == {"ada": {"first.py": ONE}, "bo": {}}
    assert arrived.notes == (
        "bo: bomb.zip was not unpacked: The archive unpacks to more than 64 MiB.",
    )


@pytest.mark.slow
def test_a_folder_of_more_files_than_a_class_has_costs_only_its_student(read):
    """It is not unpacked; what the course asks for counts, wherever it stands in the list."""
    files = {f"class/ada/a{number}.py": "" for number in range(20_000)}
    begun = time.thread_time()
    found, arrived = read({**files, "class/ada/zz/first.py": ONE, "class/bo/first.py": ONE})
    assert time.thread_time() - begun < 30  # most of it to make the zip
    assert (len(found["ada"]), found["ada"]["zz/first.py"]) == (2_000, ONE)
    assert found["bo"] == {"first.py": ONE}
    assert arrived.notes == ("ada: 20001 files were handed in; 2000 are looked at.",)


def test_files_of_one_student_that_come_to_too_much_are_left_out(read, monkeypatch):
    """However large a class's download may be: those that the course asks for count first."""
    monkeypatch.setattr(platform_zips, "MOST_IN_ALL", 2**21 + 100, raising=False)
    monkeypatch.setattr(intake, "CLASS_CAPS", replace(CLASS_CAPS, total=3 * 2**20))
    files = {f"ada/{number}.py": "#" * 2**20 for number in range(4)}
    found, arrived = read({**files, "ada/second.py": TWO, "bo/first.py": ONE})
    assert [*found["ada"]] == ["0.py", "1.py", "second.py"]
    assert found["bo"] == {"first.py": ONE}
    assert arrived.notes == (
        "ada: 2.py was left out: all files have more than 2 MiB.",
        "ada: 3.py was left out: all files have more than 2 MiB.",
    )


def test_a_class_that_comes_to_too_much_is_refused_before_it_is_unpacked(read, monkeypatch):
    """As a bomb of many students' names would be."""
    monkeypatch.setattr(intake, "CLASS_CAPS", replace(CLASS_CAPS, total=3 * 2**20))
    monkeypatch.setattr(platform_zips, "lay_out", None)
    with pytest.raises(UsageError, match=r"The archive unpacks to more than 3 MiB\."):
        read({f"{name}/first.py": "#" * 2**20 for name in ("ada", "bo", "eve", "zoe")})


def test_what_is_left_out_of_a_class_is_told_shortly(read):
    """One student's thousand of links would fill the screen."""
    outside = {f"../{number}.py": ONE for number in range(1000)}
    _, arrived = read({**outside, "ada/first.py": ONE})
    assert (len(arrived.notes), arrived.notes[-1]) == (21, "Left out: and 980 more.")


def test_many_zips_of_one_student_come_to_an_end(read):
    """As do the notes about them."""
    found, arrived = read({"ada_1_1_many.zip": {f"{n}.zip": {f"{n}.py": ONE} for n in range(60)}})
    assert len(found["ada"]) == 49
    assert (len(arrived.notes), arrived.notes[-1]) == (6, "ada: and 6 more.")


@pytest.mark.parametrize("name", [FIRST, "first.py"])
def test_a_zip_of_one_students_work_is_a_class_of_one(read, name):
    """Named as the zip is."""
    assert read({name: ONE}, name="ada.zip")[0] == {"ada": {name: ONE}}


@pytest.mark.parametrize("files", [{}, {"readme.txt": "hello"}])
def test_a_zip_without_work_is_refused(read, files):
    """Nobody can be graded by it."""
    with pytest.raises(UsageError, match=r"holds no \.py, no \.ipynb and no \.zip of a student"):
        read(files)


# Repositories.

COPY = f"assignments/{FIRST}"
WORK = {FIRST: ONE}
ODD_LOGINS = ("..", ".", ".ada", "..\\ada", "a\nb", "a\u202eb", "a\udcff")


@pytest.mark.parametrize(
    ("files", "found", "notes"),
    [
        (
            [f"attention-2027-ada/{COPY}", f"attention-2027-adele-k/{COPY}"],
            {"ada": WORK, "adele-k": WORK},
            (),
        ),
        # Nothing tells where the login begins in one alone.
        ([f"attention-ada/{COPY}"], {"attention-ada": WORK}, ()),
        (
            ["01_first-ada/first.py", "02-second-ada/first.py", "01_first-bo-b/first.py"],
            {"ada": {FIRST: ONE, "02_second/first.py": ONE}, "bo-b": WORK},
            (),
        ),
        (
            ["01_first-ada/first.py", ".01_first-bo/first.py"],
            {"ada": WORK},
            (".01_first-bo was passed over: its name begins with a dot.",),
        ),
        # What is no login names nobody: the whole name does, and nothing is written outside.
        *(
            ([f"01_first-{one}/first.py", "01_first-bo/first.py"], {name: WORK, "bo": WORK}, ())
            for one in ODD_LOGINS
            for name in [f"01_first-{one}"]
        ),
    ],
)
def test_repositories_are_read_as_they_are(arrived, put, files, found, notes):
    """Logins are what is left of their names; one student's assignments are put together."""
    put(*files)
    put(*(name.replace(COPY, "course.toml") for name in files if COPY in name), text="")
    known, what = arrived()
    assert (known, what.notes) == (found, notes)


def test_a_roster_tells_logins_with_hyphens(arrived, put, write):
    """Without one, what all names begin with would be taken for the assignment."""
    for name in ("jean-luc", "jean-paul", "jean-x"):
        put(f"attention-{name}/{COPY}")
        put(f"attention-{name}/course.toml", text="")
    found, what = arrived(roster=write("student,login\nm1,Jean-Luc\nm2,jean-paul\nm3,zoe\n"))
    assert [*found] == ["m1", "m2", "m3", "x"]
    assert found["m3"] is None
    assert what.notes == (
        "attention-jean-x could not be placed: it ends in no login of the roster. Graded as x.",
    )


def test_a_plain_folder_is_read_as_ever(arrived, put):
    """One folder per student, hyphens or not."""
    put("ada-x/first.py", "ada-y/first.py")
    assert [*arrived()[0]] == ["ada-x", "ada-y"]


def test_who_packed_their_work_in_folders_is_a_student(arrived, put):
    """One folder or two of them beside the folders of others, and any number of attempts."""
    put(f"ada/{FIRST}", f"bo/{FIRST}", f"cem/homework/{FIRST}")
    put(f"dee/draft/{FIRST}", f"dee/final/{FIRST}")
    put(*(f"eve/2027-01-{day}T12-00-00/{FIRST}" for day in (10, 11, 12, 13)))
    assert [*arrived()[0]] == ["ada", "bo", "cem", "dee", "eve"]


# The wrong folder.

CLASS = [f"term/handed/{who}/{FIRST}" for who in ("ada", "bo", "cem")]
HANDED = "term holds a class, not students. Did you mean term/handed?"
WRITTEN = (
    "is what an earlier `grader grade` wrote, not what students handed in. "
    "Give the folder with one folder per student."
)
BESIDE = "is what nbgrader keeps beside the work of students."


@pytest.mark.parametrize(
    ("folder", "files", "sentence"),
    [
        # Also where other folders lie beside a class, some of which look like students'.
        ("term", CLASS, HANDED),
        ("term", [*CLASS, "term/d/first.py"], HANDED),
        (
            "term",
            [*CLASS, f"term/d/{FIRST}", "term/notes/plan.py", "term/g1/class.sqlite"],
            HANDED,
        ),
        ("term", [*CLASS, "term/g1/run.jsonl", f"term/d/d1/{FIRST}"], HANDED),
        ("out", ["out/class.sqlite"], f"out {WRITTEN}"),
        ("out/results", ["out/run.jsonl", "out/results/ada.json"], f"out/results {WRITTEN}"),
        (
            "copy",
            ["copy/course.toml", f"copy/assignments/{FIRST}"],
            "copy is a course or a copy of one: course.toml lies in it. Give the folder with one folder "
            "per student, or copy/assignments for what one student wrote in this copy.",
        ),
        (
            "nb",
            [f"nb/submitted/ada/{FIRST}", f"nb/source/{FIRST}"],
            "nb is a folder of nbgrader's, with what students handed in and more beside it. Give "
            "nb/submitted.",
        ),
        (
            "nb/release",
            [f"nb/submitted/ada/{FIRST}", f"nb/release/{FIRST}"],
            f"nb/release {BESIDE} Give nb/submitted.",
        ),
        (
            "exchange/outbound",
            [f"exchange/outbound/{FIRST}", "exchange/inbound/x/first.py"],
            f"exchange/outbound {BESIDE} Give exchange/inbound.",
        ),
        (
            "class/ada/01_First (1)",
            ["class/ada/01_First (1)/first.py"],
            "class/ada/01_First (1) is the folder of one assignment. Give the student's folder, class/ada, "
            "or the class's.",
        ),
        (
            "class/ada/2027-01-31T12-00-00",
            [f"class/ada/2027-01-31T12-00-00/{FIRST}"],
            "class/ada/2027-01-31T12-00-00 is one of several attempts. Give the student's folder, "
            "class/ada, or the class's.",
        ),
    ],
)
def test_what_no_student_handed_in_is_refused(small_course, put, folder, files, sentence):
    """With what it seems to be, and what to give instead."""
    place = put(*files, folder="wrong")
    with pytest.raises(UsageError) as caught, read_submissions(small_course, place / folder):
        pass
    assert str(caught.value).replace(f"{place}/", "") == sentence
