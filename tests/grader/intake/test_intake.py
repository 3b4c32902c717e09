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

ONE = "def one():\n    return 1\n"
TWO = "from first import one\n\n\ndef two():\n    return one() + 1\n"


def zip_of(files):
    """A zip's bytes; a value may be a zip's own files."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, zip_of(content) if isinstance(content, dict) else content)
    return memory.getvalue()


@pytest.fixture
def roster(tmp_path):
    """Writes a roster."""

    def write(text):
        path = tmp_path / "roster.csv"
        path.write_text(text, "utf-8")
        return path

    return write


@pytest.fixture
def read(small_course, tmp_path):
    """Reads a download: whose files are where, with what they say; and the notes."""

    def read_class(files, roster=None, name="class.zip"):
        path = tmp_path / name
        path.write_bytes(zip_of(files))
        with read_submissions(small_course, path, roster) as arrived:
            places = [s.path for s in arrived.students if s.path is not None]
            found = {
                student.id: {
                    inner.relative_to(student.path).as_posix(): inner.read_text("utf-8")
                    for inner in sorted(student.path.rglob("*"))
                    if inner.is_file()
                }
                if student.path is not None
                else None
                for student in arrived.students
            }
        assert [place for place in places if place.exists()] == []  # removed afterwards
        return found, arrived

    return read_class


# Canvas.


def test_canvas_zip_is_a_class(read) -> None:
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
def test_who_handed_in_nothing_that_can_be_graded_is_told(read, names) -> None:
    """By the first of their files; nobody vanishes from a download without a word."""
    _, arrived = read(dict.fromkeys(names, ONE))
    assert arrived.notes == (
        "fay: nothing to grade was handed in; report.pdf is no .py, no .ipynb and no .zip.",
    )


def test_who_is_not_on_the_roster_is_told(small_course, tmp_path, roster) -> None:
    """A name that is written in two ways would otherwise be two students."""
    for name in ("ada", "zed"):
        (tmp_path / "class" / name).mkdir(parents=True)
    with read_submissions(
        small_course, tmp_path / "class", roster("student\nada\nzedd\n")
    ) as arrived:
        assert [student.id for student in arrived.students] == ["ada", "zed", "zedd"]
        assert arrived.notes == ("zed is not on the roster.",)


def test_two_of_one_name_stay_two(read) -> None:
    """By the platform's number."""
    found, _ = read({"wangfang_11_1_first.py": ONE, "wangfang_12_2_first.py": TWO})
    assert found == {"wangfang_11": {"first.py": ONE}, "wangfang_12": {"first.py": TWO}}


def test_a_roster_decides_who_is_meant(read, roster) -> None:
    """By number for two of one name, else by name; who is left is told, and graded all the same."""
    listed = roster("student,name,id\nw1,Fang Wang,11\nw2,Fang Wang,12\nada,Ada Lovelace,\nzoe,,\n")
    found, arrived = read(
        {
            "wangfang_11_1_first.py": ONE,
            "wangfang_12_2_first.py": TWO,
            "lovelaceada_13_3_first.py": ONE,
            "nobody_14_4_first.py": ONE,
        },
        listed,
    )
    assert {student: sorted(files or []) for student, files in found.items()} == {
        "w1": ["first.py"],
        "w2": ["first.py"],
        "ada": ["first.py"],
        "nobody_14": ["first.py"],
        "zoe": [],
    }
    assert (found["w1"], found["w2"], found["zoe"]) == ({"first.py": ONE}, {"first.py": TWO}, None)
    assert arrived.notes == (
        "nobody (14) could not be placed: nobody on the roster has this name or number. "
        "Graded as nobody_14.",
    )


def test_a_name_that_may_mean_several_is_not_placed(read, roster) -> None:
    """The roster has no numbers: nobody is given another's points."""
    listed = roster("student,name\nw1,Fang Wang\nw2,Fang Wang\n")
    found, arrived = read({"wangfang_11_1_first.py": ONE}, listed)
    assert found == {"wangfang_11": {"first.py": ONE}, "w1": None, "w2": None}
    assert arrived.notes[0].startswith(
        "wangfang (11) could not be placed: the roster has several whom it may mean: w1, w2."
    )


def test_two_that_claim_one_place_get_neither(read, roster) -> None:
    """One of them is somebody whom the roster does not know."""
    found, arrived = read(
        {"wangfang_11_1_first.py": ONE, "wangfang_12_2_first.py": TWO},
        roster("student,name\nw1,Fang Wang\n"),
    )
    assert set(found) == {"w1", "wangfang_11", "wangfang_12"}
    assert [note.partition(": ")[2] for note in arrived.notes] == [
        "somebody else is taken for w1, too. Graded as wangfang_11.",
        "somebody else is taken for w1, too. Graded as wangfang_12.",
    ]


# Moodle.


def test_moodles_zip_is_a_class(read) -> None:
    """Folders or flat files, names in any script; online text is no file."""
    found, arrived = read(
        {
            "Ada Lovelace_71_assignsubmission_file/01_first/first.py": ONE,
            "Ada Lovelace_71_assignsubmission_file/02_second/second.py": TWO,
            "王 芳_72_assignsubmission_file_/first.py": ONE,
            "山田 太郎_73_assignsubmission_file_first.py": ONE,
            "Ada Lovelace_71_assignsubmission_onlinetext/onlinetext.html": "",
        }
    )
    assert found == {
        "Ada Lovelace": {"01_first/first.py": ONE, "02_second/second.py": TWO},
        "王 芳": {"first.py": ONE},
        "山田 太郎": {"first.py": ONE},
    }
    assert arrived.notes == ()


def test_a_worksheet_of_moodles_places_its_own_numbers(read, roster) -> None:
    """The number in the folder's name is the worksheet's."""
    listed = roster(
        "Identifier,Full name,Email address\nParticipant 71,Ada Lovelace,ada@example.org\n"
    )
    found, arrived = read({"A. Lovelace_71_assignsubmission_file/first.py": ONE}, listed)
    assert found == {"ada@example.org": {"first.py": ONE}}
    ada = arrived.roster["ada@example.org"]
    assert ada.identifier == "Participant 71"
    assert ada.upload == "A. Lovelace_71_assignsubmission_file_"


def test_canvas_files_leave_their_numbers(read) -> None:
    """Also of a student whom no roster has: Canvas knows by them whose feedback is whose."""
    _found, arrived = read({"wangfang_LATE_11_901_first.py": ONE, "wangfang_11_902_b.py": TWO})
    assert arrived.roster["wangfang"].upload == "wangfang_11_902_"


# Zips in zips, and zips of other shapes.


def test_students_own_zips_are_unpacked(read) -> None:
    """Beside their other files, without a folder that says nothing; nbgrader's timestamp is theirs."""
    found, _ = read(
        {
            "lovelaceada_11_1_work.zip": {
                "my work/01_first/first.py": ONE,
                "my work/01_first/timestamp.txt": "2000-01-01 00:00:00 UTC",
                "__MACOSX/my work/._first.py": "",
            },
            "turingalan_12_2_repo.zip": {
                "repo/assignments/01_first/first.py": ONE,
                "repo/assignments/02_second/second.py": TWO,
            },
            "hoppergrace_13_3_outer.zip": {"inner.zip": {"first.py": ONE}},
        }
    )
    assert found == {
        "lovelaceada": {"01_first/first.py": ONE},
        "turingalan": {"01_first/first.py": ONE, "02_second/second.py": TWO},
        "hoppergrace": {"first.py": ONE},
    }


def test_zips_too_deep_are_told(read) -> None:
    """The rest of the student's work counts."""
    deep = {"third.zip": {"fourth.zip": {"first.py": ONE}}}
    found, arrived = read({"ada_1_1_first.py": ONE, "ada_1_2_second.zip": deep})
    assert found == {"ada": {"first.py": ONE}}
    assert arrived.notes == ("ada: fourth.zip lies too deep in other zips and was not unpacked.",)


@pytest.mark.slow
def test_a_bomb_costs_only_who_handed_it_in(read) -> None:
    """Its own words say so; the class is graded."""
    bomb = {f"{n}.py": bytes(range(256)) * 64_000 for n in range(6)}
    found, arrived = read({"ada_1_1_first.py": ONE, "bo_2_2_bomb.zip": bomb})
    assert found == {"ada": {"first.py": ONE}, "bo": {}}
    assert arrived.notes == (
        "bo: bomb.zip was not unpacked: The archive unpacks to more than 64 MiB.",
    )


@pytest.mark.slow
def test_a_folder_of_more_files_than_a_class_has_costs_only_its_student(read) -> None:
    """It is not unpacked; what the course asks for counts, wherever it stands in the list."""
    files = {f"class/ada/a{number}.py": "" for number in range(20_000)}
    begun = time.thread_time()
    found, arrived = read({**files, "class/ada/zz/first.py": ONE, "class/bo/first.py": ONE})
    assert time.thread_time() - begun < 30  # most of it to make the zip
    assert (len(found["ada"]), found["ada"]["zz/first.py"]) == (2_000, ONE)
    assert found["bo"] == {"first.py": ONE}
    assert arrived.notes == ("ada: 20001 files were handed in; 2000 are looked at.",)


def test_files_of_one_student_that_come_to_too_much_are_left_out(read, monkeypatch) -> None:
    """However large a class's download may be: those that the course asks for count first."""
    large = "#" * 2**20
    monkeypatch.setattr(platform_zips, "MOST_IN_ALL", 2**21 + 100, raising=False)
    monkeypatch.setattr(intake, "CLASS_CAPS", replace(CLASS_CAPS, total=3 * 2**20))
    files = {f"ada/{number}.py": large for number in range(4)}
    found, arrived = read({**files, "ada/second.py": TWO, "bo/first.py": ONE})
    assert [*found["ada"]] == ["0.py", "1.py", "second.py"]
    assert found["bo"] == {"first.py": ONE}
    assert arrived.notes == (
        "ada: 2.py was left out: all files have more than 2 MiB.",
        "ada: 3.py was left out: all files have more than 2 MiB.",
    )


def test_a_class_that_comes_to_too_much_is_refused_before_it_is_unpacked(read, monkeypatch) -> None:
    """As a bomb of many students' names would be."""
    monkeypatch.setattr(intake, "CLASS_CAPS", replace(CLASS_CAPS, total=3 * 2**20))
    monkeypatch.setattr(platform_zips, "lay_out", None)
    with pytest.raises(UsageError, match=r"The archive unpacks to more than 3 MiB\."):
        read({f"{name}/first.py": "#" * 2**20 for name in ("ada", "bo", "eve", "zoe")})


def test_what_is_left_out_of_a_class_is_told_shortly(read) -> None:
    """One student's thousand of links would fill the screen."""
    outside = {f"../{number}.py": ONE for number in range(1000)}
    _, arrived = read({**outside, "ada/first.py": ONE})
    assert (len(arrived.notes), arrived.notes[-1]) == (21, "Left out: and 980 more.")


def test_many_zips_of_one_student_come_to_an_end(read) -> None:
    """As do the notes about them."""
    found, arrived = read({"ada_1_1_many.zip": {f"{n}.zip": {f"{n}.py": ONE} for n in range(60)}})
    assert len(found["ada"]) == 49
    assert len(arrived.notes) == 6
    assert arrived.notes[-1] == "ada: and 6 more."


def test_a_zip_of_a_zip_per_student_is_a_class(read) -> None:
    """Named as the zips are."""
    found, _ = read({"ada.zip": {"first.py": ONE}, "bo.zip": {"x/01_first/first.py": ONE}})
    assert found == {"ada": {"first.py": ONE}, "bo": {"01_first/first.py": ONE}}


def test_a_zip_of_a_folder_per_student_is_a_class(read) -> None:
    """Also inside another folder; an instructor's own timestamps stay."""
    files = {
        "submitted/ada/01_first/first.py": ONE,
        "submitted/ada/01_first/timestamp.txt": "2027-02-01 10:00:00 UTC",
        "submitted/bo/first.py": ONE,
    }
    found, _ = read(files)
    assert found["ada"]["01_first/timestamp.txt"].startswith("2027")
    assert found["bo"] == {"first.py": ONE}


def test_a_zip_of_one_students_work_is_a_class_of_one(read) -> None:
    """Named as the zip is."""
    assert read({"01_first/first.py": ONE}, name="ada.zip")[0] == {
        "ada": {"01_first/first.py": ONE}
    }
    assert read({"first.py": ONE}, name="bo.zip")[0] == {"bo": {"first.py": ONE}}


def test_what_lies_beside_the_students_folders_is_told(read) -> None:
    """It belongs to nobody."""
    found, arrived = read({"ada/first.py": ONE, "bo/first.py": ONE, "helper.py": ""})
    assert sorted(found) == ["ada", "bo"]
    assert arrived.notes == ("Left out: 'helper.py' belongs to no student.",)


def test_traps_in_the_download_are_told_and_passed_over(read) -> None:
    """A path outside belongs to nobody."""
    found, arrived = read({"../ada_1_1_first.py": ONE, "bo_2_2_first.py": ONE})
    assert found == {"bo": {"first.py": ONE}}
    assert arrived.notes == ("Left out: '../ada_1_1_first.py' leads out of the folder.",)


@pytest.mark.parametrize("files", [{}, {"readme.txt": "hello"}])
def test_a_zip_without_work_is_refused(read, files) -> None:
    """Nobody can be graded by it."""
    with pytest.raises(UsageError, match=r"holds no \.py, no \.ipynb and no \.zip of a student"):
        read(files)


# Repositories.


@pytest.fixture
def repositories(small_course, tmp_path):
    """Makes a folder of repositories, and reads it: whose work lies where."""

    def read_folder(names, roster=None, inner="assignments/01_first/first.py"):
        place = tmp_path / "repositories"
        for name in names:
            file = place / name / inner
            file.parent.mkdir(parents=True)
            file.write_text(ONE, "utf-8")
            if inner.startswith("assignments"):
                (place / name / "course.toml").write_text("", "utf-8")
        with read_submissions(small_course, place, roster) as arrived:
            found = {
                s.id: sorted(p.relative_to(s.path).as_posix() for p in s.path.rglob("*.py"))
                for s in arrived.students
                if s.path is not None
            }
        return found, arrived

    return read_folder


def test_repositories_are_read_as_they_are(repositories) -> None:
    """Logins are what is left of their names."""
    found, arrived = repositories(["attention-2027-ada", "attention-2027-adele-k"])
    assert found == {"ada": ["01_first/first.py"], "adele-k": ["01_first/first.py"]}
    assert arrived.notes == ()


def test_a_roster_tells_logins_with_hyphens(repositories, roster) -> None:
    """Without one, what all names begin with would be taken for the assignment."""
    listed = roster("student,login\nm1,Jean-Luc\nm2,jean-paul\nm3,zoe\n")
    names = ["attention-jean-luc", "attention-jean-paul", "attention-jean-x"]
    found, arrived = repositories(names, listed)
    assert set(found) == {"m1", "m2", "x"}
    assert [student.id for student in arrived.students] == ["m1", "m2", "m3", "x"]
    assert arrived.notes == (
        "attention-jean-x could not be placed: it ends in no login of the roster. Graded as x.",
    )


def test_one_repository_alone_keeps_its_name(repositories) -> None:
    """Nothing tells where the login begins."""
    assert repositories(["attention-ada"])[0] == {"attention-ada": ["01_first/first.py"]}


def test_a_repository_per_assignment_is_put_together(repositories) -> None:
    """One student's assignments, each from its own."""
    names = ["01_first-ada", "02-second-ada", "01_first-bo-b"]
    found, _ = repositories(names, inner="first.py")
    assert found == {
        "ada": ["01_first/first.py", "02_second/first.py"],
        "bo-b": ["01_first/first.py"],
    }


@pytest.mark.parametrize("login", ["..", ".", ".ada", "..\\ada", "a\nb", "a\u202eb", "a\udcff"])
def test_what_is_no_login_names_nobody(repositories, tmp_path, login) -> None:
    """The whole name does; nothing is written outside, and nobody is left out."""
    names = [f"01_first-{login}", "01_first-bo"]
    found, _ = repositories(names, inner="first.py")
    assert found == {names[0]: ["01_first/first.py"], "bo": ["01_first/first.py"]}


def test_repositories_whose_names_begin_with_a_dot_are_passed_over(repositories) -> None:
    """And named."""
    found, arrived = repositories(["01_first-ada", ".01_first-bo"], inner="first.py")
    assert (set(found), arrived.notes) == (
        {"ada"},
        (".01_first-bo was passed over: its name begins with a dot.",),
    )


def test_a_plain_folder_is_read_as_ever(small_course, tmp_path) -> None:
    """One folder per student, hyphens or not."""
    for name in ("ada-x", "ada-y"):
        (tmp_path / "class" / name).mkdir(parents=True)
    with read_submissions(small_course, tmp_path / "class") as arrived:
        assert [student.id for student in arrived.students] == ["ada-x", "ada-y"]


# The wrong folder.


@pytest.fixture
def refusal(small_course, tmp_path):
    """Writes files, and answers with which sentence one of the folders is refused."""

    def refused(folder: str, *files: str) -> str:
        for name in files:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("def one():\n    return 1\n", "utf-8")
        with pytest.raises(UsageError) as caught, read_submissions(small_course, tmp_path / folder):
            pass
        return str(caught.value).replace(f"{tmp_path}/", "")

    return refused


CLASS = [f"term/handed/{who}/01_first/first.py" for who in ("ada", "bo", "cem")]
STUDENTS = "Give the folder with one folder per student."


@pytest.mark.parametrize(
    "beside",
    [
        [],
        ["term/d/first.py"],
        ["term/d/01_first/first.py", "term/notes/plan.py", "term/g1/class.sqlite"],
        ["term/g1/run.jsonl", "term/d/d1/01_first/first.py"],
    ],
    ids=["alone", "a file", "a student's", "an output"],
)
def test_the_folder_above_a_class_is_refused(refusal, beside):
    """Also where other folders lie beside it, some of which look like students'."""
    sentence = "term holds a class, not students. Did you mean term/handed?"
    assert refusal("term", *CLASS, *beside) == sentence


def test_who_packed_their_work_in_folders_is_a_student(small_course, tmp_path):
    """One folder or two of them beside the folders of others, and any number of attempts."""
    files = ["ada/01_first/first.py", "bo/01_first/first.py"]
    files += ["cem/homework/01_first/first.py"]
    files += [f"dee/{name}/01_first/first.py" for name in ("draft", "final")]
    files += [f"eve/2027-01-{day}T12-00-00/01_first/first.py" for day in (10, 11, 12, 13)]
    for name in files:
        (tmp_path / "class" / name).parent.mkdir(parents=True)
        (tmp_path / "class" / name).write_text("def one():\n    return 1\n", "utf-8")
    with read_submissions(small_course, tmp_path / "class") as arrived:
        assert [student.id for student in arrived.students] == ["ada", "bo", "cem", "dee", "eve"]


@pytest.mark.parametrize(
    ("folder", "files", "sentence"),
    [
        (
            "out",
            ["out/class.sqlite"],
            f"out is what an earlier `grader grade` wrote, not what students handed in. {STUDENTS}",
        ),
        (
            "out/results",
            ["out/run.jsonl", "out/results/ada.json"],
            "out/results is what an earlier `grader grade` wrote, not what students handed in. "
            f"{STUDENTS}",
        ),
        (
            "copy",
            ["copy/course.toml", "copy/assignments/01_first/first.py"],
            "copy is a course or a copy of one: course.toml lies in it. Give the folder with one folder "
            "per student, or copy/assignments for what one student wrote in this copy.",
        ),
        (
            "nb",
            ["nb/submitted/ada/01_first/first.py", "nb/source/01_first/first.py"],
            "nb is a folder of nbgrader's, with what students handed in and more beside it. Give "
            "nb/submitted.",
        ),
        (
            "nb/release",
            ["nb/submitted/ada/01_first/first.py", "nb/release/01_first/first.py"],
            "nb/release is what nbgrader keeps beside the work of students. Give nb/submitted.",
        ),
        (
            "exchange/outbound",
            ["exchange/outbound/01_first/first.py", "exchange/inbound/x/first.py"],
            "exchange/outbound is what nbgrader keeps beside the work of students. Give exchange/inbound.",
        ),
        (
            "class/ada/01_First (1)",
            ["class/ada/01_First (1)/first.py"],
            "class/ada/01_First (1) is the folder of one assignment. Give the student's folder, class/ada, "
            "or the class's.",
        ),
        (
            "class/ada/2027-01-31T12-00-00",
            ["class/ada/2027-01-31T12-00-00/01_first/first.py"],
            "class/ada/2027-01-31T12-00-00 is one of several attempts. Give the student's folder, "
            "class/ada, or the class's.",
        ),
    ],
    ids=["output", "results", "course", "nbgrader", "release", "outbound", "assignment", "attempt"],
)
def test_what_no_student_handed_in_is_refused(refusal, folder, files, sentence):
    """With what it seems to be, and what to give instead."""
    assert refusal(folder, *files) == sentence
