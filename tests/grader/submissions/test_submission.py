"""Reading what a student handed in: which file counts for which assignment."""

from dataclasses import replace

import pytest

from grader.core.errors import UsageError
from grader.submissions.file_names import unread_files
from grader.submissions.notebooks import Cell
from grader.submissions.source_file import SourceFile
from grader.submissions.submission import Reading, read_submission
from tests.grader.submissions.conftest import (
    BOTH,
    DONE,
    LAYER,
    STUB,
    assignment_of,
    cell,
    course_of,
    notebook,
    put,
)

PY, NB, FLAT, OTHER = "01_first/first.py", "01_first/first.ipynb", "first.py", "homework.py"
DONE_NB, STUB_NB = notebook("", DONE), notebook("", STUB)
DAMAGED = "its JSON is damaged at line 1, column 2"


def of(*sources, notes=()):
    """The reading of an assignment for which these files count, the first of them most."""
    return Reading(sources, sources[0], notes)


def test_the_tree_of_nbgrader_is_read(read):
    """A folder for each assignment, with its file inside."""
    second = "02_second/second.ipynb"
    submission = read({PY: DONE, second: notebook("", "x = 1")})
    assert submission.student == "ada"
    assert submission.readings == {"01_first": of(PY), "02_second": of(second)}
    assert submission.sources == {
        PY: SourceFile(PY, "first", True, (Cell(None, DONE),)),
        second: SourceFile(second, "second", True, (Cell(1, ""), Cell(2, "x = 1"))),
    }


@pytest.mark.parametrize(
    ("files", "first", "second"),
    [
        ({FLAT: DONE, "second.py": "x = 1"}, of(FLAT), of("second.py")),
        ({OTHER: BOTH}, of(OTHER), of(OTHER)),
        ({OTHER: BOTH, PY: f"{DONE}# mine"}, of(PY, OTHER), of(OTHER)),
        ({"scratch.py": "x = 1\n", PY: DONE}, of(PY, "scratch.py"), Reading()),
        ({"01_first/mine.py": DONE}, of("01_first/mine.py"), Reading()),
        ({PY: DONE, "01_first/a.py": "x", "01_first/z.ipynb": "x"}, of(PY), Reading()),
        # The exact name goes before that of a copy.
        ({FLAT: DONE, "first (1).py": STUB}, of(FLAT), Reading()),
        # What is no definition of its own hands nothing in.
        ({PY: DONE, "old/first.py": BOTH}, of(PY), Reading()),
        ({PY: DONE, "02_second/_heads.py": BOTH}, of(PY), Reading()),
        ({PY: f"class Other:\n    def Layer(self): ...\n{DONE}"}, of(PY), Reading()),
        ({PY: f"Layer = max\n{DONE}"}, of(PY), Reading()),
        # Of two forms the one counts that is not as it was given out, whatever an editor added.
        ({PY: DONE, NB: STUB_NB}, of(PY), Reading()),
        ({PY: STUB, NB: DONE_NB}, of(NB), Reading()),
        ({PY: STUB, NB: STUB_NB}, of(PY), Reading()),
        ({FLAT: STUB, "first.ipynb": DONE_NB}, of("first.ipynb"), Reading()),
        ({PY: STUB.replace("\n", "  \n\n"), NB: DONE_NB}, of(NB), Reading()),
        ({PY: STUB.replace("\n", "\r\n"), NB: DONE_NB}, of(NB), Reading()),
        ({PY: f"\n{STUB}\n\n", NB: DONE_NB}, of(NB), Reading()),
        # A broken one counts where nobody worked on the other, and is told in any case.
        ({NB: "{"}, of(NB, notes=(f"{NB} cannot be read: {DAMAGED}.",)), Reading()),
        ({PY: DONE, NB: "{"}, of(PY, notes=(f"{PY} was read; {NB} cannot be.",)), Reading()),
    ],
)
def test_which_files_count_for_an_assignment(read, files, first, second):
    """The one of its name, or any that defines what it asks for."""
    assert read(files).readings == {"01_first": first, "02_second": second}


def test_an_untouched_stub_goes_after_a_file_for_everything(read):
    """A stub left lying around does not hide the work in a file of another name."""
    reading = read({OTHER: DONE, PY: STUB}).readings["01_first"]
    assert (reading.sources, reading.read_from) == ((OTHER, PY), OTHER)


def test_a_single_file_is_read_for_every_assignment(course, tmp_path):
    """A single file is looked in for every exercise, and cannot be imported."""
    put(tmp_path, {"ada.py": BOTH})
    submission = read_submission(course, tmp_path / "ada.py", "ada")
    assert submission.sources == {"ada.py": SourceFile("ada.py", "ada", False, (Cell(None, BOTH),))}
    assert set(submission.readings.values()) == {of("ada.py")}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gone", r"There is no submission at .*gone\. Give a folder, a \.py or an \.ipynb\.$"),
        ("ada.png", r"ada\.png is neither a \.py nor an \.ipynb\.$"),
    ],
)
def test_what_is_no_submission_is_a_usage_error(course, tmp_path, name, said):
    """With what is expected."""
    put(tmp_path, {"ada.png": "picture"})
    with pytest.raises(UsageError, match=said):
        read_submission(course, tmp_path / name, "ada")


@pytest.mark.parametrize(
    "name",
    [
        *("notes.txt", "01_first/notes.md", "first.py/data.csv", ".ipynb_checkpoints/first.ipynb"),
        "01_first/.ipynb_checkpoints/first-checkpoint.ipynb",
        *("01_first/.first.py", "01_first/_first.py", "test_first.py", "01_first/test_first.py"),
        *("conftest.py", "setup.py", "nbgrader_config.py", "__pycache__/first.py"),
    ],
)
def test_what_tools_leave_behind_is_no_submission(name, read):
    """Checkpoints, hidden files, tests, configuration and files of other kinds are not read."""
    submission = read({name: DONE})
    assert submission.is_empty
    assert submission.readings == {"01_first": Reading(), "02_second": Reading()}


def test_only_stray_files_are_an_empty_submission(read, folder):
    """Nothing of the course is in them; they are named."""
    assert read({"scratch.py": "x = 1\n", "notes/essay.docx": "…"}).is_empty
    assert unread_files(folder) == ("notes/essay.docx", "scratch.py")


@pytest.mark.parametrize(
    ("script", "cell", "name"),
    [
        *((STUB, DONE, NB), (DONE, STUB, PY), (DONE, DONE, PY), (STUB, STUB, PY)),
        (STUB + STUB, STUB + DONE, NB),
    ],
    ids=["notebook", "script", "both", "neither", "one gap of two"],
)
def test_in_a_students_own_copy_the_form_with_fewer_gaps_counts(script, cell, name, course):
    """Stubs are filled in where they lie, so that nothing tells what they were."""
    own = course.root / "assignments"
    put(own, {PY: script, NB: notebook("", cell)})
    assert read_submission(course, own, "me").readings["01_first"].read_from == name


@pytest.mark.parametrize(("prefer", "name", "other"), [("py", PY, NB), ("ipynb", NB, PY)])
def test_of_two_filled_forms_the_preferred_counts_with_a_note(prefer, name, other, course, folder):
    """Where both were filled in, the course decides, and the result says so."""
    put(folder, {PY: DONE, NB: notebook(DONE)})
    note = f"{name} was read and {other} was not: a .{prefer} file is preferred."
    submission = read_submission(replace(course, prefer=prefer), folder, "ada")
    assert submission.readings["01_first"] == of(name, notes=(note,))


@pytest.mark.parametrize(
    ("files", "name"), [({NB: "{", PY: STUB}, NB), ({PY: "x" * 2**20, NB: STUB_NB}, PY)]
)
def test_work_may_stand_in_the_form_that_cannot_be_read(read, files, name):
    """Where nobody worked on the other one; the note says what is wrong with it."""
    found = read(files).readings["01_first"]
    assert (found.read_from, len(found.notes)) == (name, 1)
    assert found.notes[0].startswith(f"{name} cannot be read: ")


def test_a_broken_file_is_not_said_to_have_been_read(read):
    """Where neither form can be read, no note claims that one was."""
    notes = read({PY: "x" * 2**20, NB: "{"}).readings["01_first"].notes
    assert not any("was read" in note for note in notes)


def test_a_single_file_that_cannot_be_read_is_noted(course, tmp_path):
    """A broken single file has the same note as one in a folder."""
    put(tmp_path, {"ada.ipynb": "[]"})
    reading = read_submission(course, tmp_path / "ada.ipynb", "ada").readings["01_first"]
    assert reading.notes == ("ada.ipynb cannot be read: its JSON is not a notebook.",)


def test_two_wrongly_named_scripts_are_not_told_apart_by_their_form(read):
    """The note on which of two scripts was read does not speak of a preferred form."""
    reading = read({"01_first/a.py": DONE, "01_first/b.py": f"{DONE}# other"}).readings["01_first"]
    assert reading.read_from == "01_first/a.py"
    assert not any("preferred" in note for note in reading.notes)


def test_defects_are_notes_for_instructors_only(course, read):
    """Of every notebook that was handed in, also of one that does not count."""
    released = notebook(cell(STUB, nbgrader={"grade_id": "dot", "solution": True}))
    put(course.root / "assignments", {NB: released})
    submission = read({PY: DONE, NB: notebook("x = 1")})
    reading = submission.readings["01_first"]
    (defect,) = reading.defects
    assert defect.startswith(f"{NB}: it has lost nbgrader's marks on its cells: nbgrader would ")
    assert defect not in reading.notes
    told = submission.for_instructors().readings["01_first"]
    assert told.notes == (*reading.notes, defect)


# Names.


@pytest.mark.parametrize(
    "text", ["def dot(a, b):\n    return 1\n", "dot = max\n", "from helpers import dot\n"]
)
def test_what_defines_a_name_in_any_way_hands_it_in(read, text):
    """As a function, by an assignment or an import."""
    assert read({"scratch.py": text}).readings["01_first"].read_from == "scratch.py"


@pytest.mark.parametrize(
    "name",
    [
        *("FIRST.PY", "First.py", "first (1).py", "first copy.py", "Copy of first.py"),
        *("first - Copy (2).py", "01_First/first.py", "01_first copy/first.py"),
        "01-first (1)/FIRST.py",
    ],
)
def test_names_in_another_case_and_of_copies_are_read(read, name):
    """As what they are meant to be, with a note."""
    submission = read({name: DONE})
    assert submission.readings["01_first"] == of(name, notes=(f"{name} was read for 01_first.",))
    assert submission.sources[name].importable


def test_a_copy_beside_an_untouched_stub_counts(read):
    """The work stands in the copy."""
    copy = "01_first/first (1).py"
    reading = read({FLAT: STUB, PY: STUB, copy: DONE}).readings["01_first"]
    assert reading.sources == (PY, copy)
    assert reading.notes == (f"{copy} was read for 01_first.",)


@pytest.mark.parametrize("name", ["first.py.txt", "01_first/First.ipynb.TXT"])
def test_a_name_with_an_ending_too_many_is_noted(read, name):
    """Some systems hide it."""
    short = name.rpartition("/")[2]
    sentence = f"{short} is not read: its name ends in .txt. Rename it to {short[:-4]}."
    assert read({name: DONE}).readings["01_first"] == Reading(notes=(sentence,))


@pytest.mark.parametrize("name", [FLAT, PY, "01_first/mine.py", "week/1/all.py", "week/first.py"])
def test_a_files_name_does_not_hide_what_it_holds(read, name):
    """The file of one assignment, or one in any folder, counts for all that it defines."""
    readings = read({name: BOTH}).readings
    assert [reading.sources for reading in readings.values()] == [(name,)] * 2
    assert f"{name} was read for 02_second." in readings["02_second"].notes


@pytest.mark.parametrize(
    "files",
    [
        {FLAT: BOTH, "02_second/second.py": "x = 1\n"},
        {FLAT: BOTH, "second.py": "x = 1\n"},
        {"01_first/a.py": DONE, "01_first/b.py": LAYER, "second.py": "x = 1\n"},
    ],
)
def test_what_an_assignments_own_file_lacks_is_found_elsewhere(read, files):
    """Its own file is looked into first."""
    reading = read(files).readings["02_second"]
    own, other = reading.sources
    assert own.endswith("second.py")
    assert reading.read_from == own
    assert f"{other} was read for 02_second." in reading.notes


def test_a_name_that_two_assignments_ask_for_is_that_of_its_file(course, folder):
    """What the file of one defines for itself is nothing handed in for the other."""
    both = course_of(course.root, course.assignments[0], assignment_of("02_second", "dot", "Layer"))
    put(folder, {FLAT: DONE})
    assert read_submission(both, folder, "ada").readings["02_second"] == Reading()
    put(folder, {FLAT: BOTH})
    assert read_submission(both, folder, "ada").readings["02_second"].sources == (FLAT,)


def test_what_stands_for_the_courses_modules_is_known(read):
    """A file that imports one finds it under its own name, a notebook of another name not."""
    submission = read({OTHER: BOTH, "week/extra.py": "x = 1\n"})
    assert submission.modules == {"first": OTHER, "second": OTHER}
    assert submission.beside == ("week/extra.py",)
    assert not submission.sources[OTHER].importable


def test_a_folder_that_is_not_all_theirs_is_not_searched(read):
    """As where a notebook looks for earlier work in the folder above it."""
    submission = read({FLAT: DONE, "other/more.py": BOTH}, is_all_theirs=False)
    assert list(submission.sources) == [FLAT]


def test_results_depend_on_the_files_that_may_be_imported(read):
    """Of an assignment for which something was handed in."""
    submission = read({PY: DONE, "01_first/heads.py": "x = 1\n"})
    files = (PY, "01_first/heads.py")
    assert (submission.files_for("01_first"), submission.files_for("02_second")) == (files, ())


def test_only_what_is_asked_for_decides_what_is_imported(read):
    """A file of another assignment counts where it is imported, as well as files beside."""
    second = "import torch\n\n\nclass Layer:\n    place = torch.device('meta')\n"
    submission = read({PY: DONE, "02_second/second.py": second})
    assert submission.libraries() == ("torch", "sympy")
    assert submission.libraries({"01_first"}) == ()
    submission = read({PY: f"from second import Layer\n{DONE}"})
    assert submission.libraries({"01_first"}) == ("torch", "sympy")
