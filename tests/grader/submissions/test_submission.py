"""Reading what a student handed in: which file counts for which assignment."""

import json

import pytest

from grader.core.errors import UsageError
from grader.course.course import Assignment, Course, Exercise, LateRule, Limits
from grader.submissions.file_names import unread_files
from grader.submissions.notebooks import Cell
from grader.submissions.source_file import SourceFile
from grader.submissions.submission import Reading, read_submission

STUB = 'def dot(a, b):\n    raise NotImplementedError("01_first/dot: not attempted yet")\n'
DONE = "def dot(a, b):\n    return a @ b\n"

BOTH = f"{DONE}\n\n\nclass Layer:\n    pass\n"


def notebook(*cells):
    """A notebook's text."""
    content = [{"cell_type": "code", "source": cell, "metadata": {}} for cell in cells]
    return json.dumps({"cells": content, "metadata": {}, "nbformat": 4})


def put(folder, **files):
    """Write files, named with `__` for a slash and `_py`, `_ipynb` for the suffix."""
    for name, text in files.items():
        stem, _, suffix = name.replace("__", "/").rpartition("_")
        path = folder / f"{stem}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


@pytest.fixture
def course(tmp_path):
    """Two assignments, the first with a stub in both forms."""
    root = tmp_path / "course"
    assignments = tuple(
        Assignment(id_, id_, (Exercise(id_, name, 1),))
        for id_, name in (("01_first", "dot"), ("02_second", "Layer"))
    )
    put(root / "assignments" / "01_first", first_py=STUB, first_ipynb=notebook("", STUB))
    return Course(root, "T", "py", Limits(), LateRule(), assignments)


@pytest.fixture
def folder(tmp_path):
    """A student's empty folder."""
    path = tmp_path / "ada"
    path.mkdir()
    return path


@pytest.fixture
def first(course, folder):
    """Reads the student's folder and answers what counts for the first assignment."""

    def first(course=course):
        return read_submission(course, folder, "ada").readings["01_first"]

    return first


def test_the_tree_of_nbgrader_is_read(course, folder):
    """A folder for each assignment, with its file inside."""
    put(folder, **{"01_first__first_py": DONE, "02_second__second_ipynb": notebook("", "x = 1")})
    submission = read_submission(course, folder, "ada")
    assert submission.student == "ada"
    assert submission.readings == {
        "01_first": Reading(("01_first/first.py",), "01_first/first.py"),
        "02_second": Reading(("02_second/second.ipynb",), "02_second/second.ipynb"),
    }
    assert submission.sources == {
        "01_first/first.py": SourceFile("01_first/first.py", "first", True, (Cell(None, DONE),)),
        "02_second/second.ipynb": SourceFile(
            "02_second/second.ipynb", "second", True, (Cell(1, ""), Cell(2, "x = 1"))
        ),
    }


def test_files_may_lie_flat(course, folder):
    """A student's folder may hold the files without folders."""
    put(folder, first_py=DONE, second_ipynb=notebook("x = 1"))
    assert read_submission(course, folder, "ada").readings == {
        "01_first": Reading(("first.py",), "first.py"),
        "02_second": Reading(("second.ipynb",), "second.ipynb"),
    }


def test_one_file_may_define_everything(course, folder):
    """A file of any other name is looked in for every assignment, and is not importable."""
    put(folder, homework_ipynb=notebook(BOTH))
    submission = read_submission(course, folder, "ada")
    everywhere = Reading(("homework.ipynb",), "homework.ipynb")
    assert submission.readings == {"01_first": everywhere, "02_second": everywhere}
    assert not submission.sources["homework.ipynb"].importable


def test_an_assignments_own_file_goes_before_one_for_everything(course, folder):
    """Where both are there, the assignment's own is looked in first."""
    put(folder, homework_py=BOTH, **{"01_first__first_py": DONE + "# mine"})
    readings = read_submission(course, folder, "ada").readings
    assert readings["01_first"] == Reading(
        ("01_first/first.py", "homework.py"), "01_first/first.py"
    )
    assert readings["02_second"] == Reading(("homework.py",), "homework.py")


def test_an_untouched_stub_goes_after_a_file_for_everything(course, folder):
    """A stub left lying around does not hide the work in a file of another name."""
    put(folder, homework_py=DONE, **{"01_first__first_py": STUB})
    reading = read_submission(course, folder, "ada").readings["01_first"]
    assert reading.sources == ("homework.py", "01_first/first.py")
    assert reading.read_from == "homework.py"


def test_a_single_file_is_read_for_every_assignment(course, tmp_path):
    """A single file is looked in for every exercise."""
    put(tmp_path, ada_py=BOTH)
    submission = read_submission(course, tmp_path / "ada.py", "ada")
    assert submission.sources == {"ada.py": SourceFile("ada.py", "ada", False, (Cell(None, BOTH),))}
    assert set(submission.readings.values()) == {Reading(("ada.py",), "ada.py")}


def test_a_submission_that_is_not_there_is_a_usage_error(course, tmp_path):
    """A path that does not exist is told, with what is expected."""
    with pytest.raises(UsageError) as caught:
        read_submission(course, tmp_path / "gone", "ada")
    assert str(caught.value) == (
        f"There is no submission at {tmp_path / 'gone'}. Give a folder, a .py or an .ipynb."
    )


def test_a_single_file_of_another_kind_is_a_usage_error(course, tmp_path):
    """A picture is no submission."""
    put(tmp_path, ada_png="picture")
    with pytest.raises(UsageError, match=r"ada\.png is neither a \.py nor an \.ipynb\.$"):
        read_submission(course, tmp_path / "ada.png", "ada")


def test_an_empty_folder_is_no_submission(course, folder):
    """Nothing handed in is told apart from something that is wrong."""
    submission = read_submission(course, folder, "ada")
    assert submission.is_empty
    assert submission.readings == {"01_first": Reading(), "02_second": Reading()}


def test_a_folder_with_nothing_to_read_is_no_submission(course, folder):
    """Files of other kinds, hidden ones and folders are no code."""
    put(
        folder,
        notes_txt="x",
        data_csv="x",
        **{"other__deep_py": "x = 1", "01_first__notes_md": "x"},
    )
    (folder / "first.py").mkdir()
    assert read_submission(course, folder, "ada").is_empty


# Two forms of one assignment.


@pytest.mark.parametrize(
    ("script", "cell", "read"),
    [(DONE, STUB, "01_first/first.py"), (STUB, DONE, "01_first/first.ipynb")],
)
def test_the_form_that_differs_from_the_stub_counts(script, cell, read, first, folder):
    """Where one form is as it was given out, the other counts, without a note."""
    put(folder, **{"01_first__first_py": script, "01_first__first_ipynb": notebook("", cell)})
    assert first() == Reading((read,), read)


@pytest.mark.parametrize(
    ("script", "cell", "read"),
    [
        (STUB, DONE, "01_first/first.ipynb"),
        (DONE, STUB, "01_first/first.py"),
        (DONE, DONE, "01_first/first.py"),
        (STUB, STUB, "01_first/first.py"),
        (STUB + STUB, STUB + DONE, "01_first/first.ipynb"),
    ],
    ids=["notebook", "script", "both", "neither", "one gap of two"],
)
def test_in_a_students_own_copy_the_form_with_fewer_gaps_counts(script, cell, read, course):
    """Stubs are filled in where they lie, so that nothing tells what they were."""
    own = course.root / "assignments"
    put(own / "01_first", first_py=script, first_ipynb=notebook("", cell))
    assert read_submission(course, own, "me").readings["01_first"].read_from == read


@pytest.mark.parametrize(
    "changed", [STUB.replace("\n", "  \n\n"), STUB.replace("\n", "\r\n"), f"\n{STUB}\n\n"]
)
def test_blank_space_does_not_make_a_stub_a_submission(changed, first, folder):
    """An editor that adds blank lines, trailing space or other line ends has filled in nothing."""
    put(folder, **{"01_first__first_ipynb": notebook("", DONE)})
    (folder / "01_first" / "first.py").write_bytes(changed.encode())
    assert first().read_from == "01_first/first.ipynb"


@pytest.mark.parametrize(("prefer", "other"), [("py", "ipynb"), ("ipynb", "py")])
def test_of_two_filled_forms_the_preferred_counts_with_a_note(prefer, other, course, folder):
    """Where both were filled in, the course decides, and the result says so."""
    put(folder, **{"01_first__first_py": DONE, "01_first__first_ipynb": notebook(DONE)})
    course = Course(course.root, "T", prefer, Limits(), LateRule(), course.assignments)
    read, left = f"01_first/first.{prefer}", f"01_first/first.{other}"
    assert read_submission(course, folder, "ada").readings["01_first"] == Reading(
        (read,), read, (f"{read} was read and {left} was not: a .{prefer} file is preferred.",)
    )


def test_of_two_untouched_forms_the_preferred_counts_without_a_note(first, folder):
    """Where neither was filled in, there is nothing to tell."""
    put(folder, **{"01_first__first_py": STUB, "01_first__first_ipynb": notebook("", STUB)})
    assert first() == Reading(("01_first/first.py",), "01_first/first.py")


def test_flat_files_of_both_forms_are_chosen_from_alike(first, folder):
    """The choice is the same without folders."""
    put(folder, first_py=STUB, first_ipynb=notebook("", DONE))
    assert first() == Reading(("first.ipynb",), "first.ipynb")


def test_the_form_that_can_be_read_counts_with_a_note(first, folder):
    """A broken notebook does not stand in the way of a script that somebody worked on."""
    put(folder, **{"01_first__first_py": DONE, "01_first__first_ipynb": "{"})
    assert first() == Reading(
        ("01_first/first.py",),
        "01_first/first.py",
        ("01_first/first.py was read; 01_first/first.ipynb cannot be.",),
    )


@pytest.mark.parametrize(
    ("broken", "content", "other"),
    [
        ("first.ipynb", "{", "first_py"),
        ("first.py", b"x" * 2**20, "first_ipynb"),
    ],
)
def test_work_may_stand_in_the_form_that_cannot_be_read(first, folder, broken, content, other):
    """Where nobody worked on the other one; the note says what is wrong with it."""
    put(folder, **{f"01_first__{other}": STUB if other == "first_py" else notebook("", STUB)})
    path = folder / "01_first" / broken
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found = first()
    assert (found.read_from, len(found.notes)) == (f"01_first/{broken}", 1)
    assert found.notes[0].startswith(f"01_first/{broken} cannot be read: ")


def test_a_file_that_cannot_be_read_is_noted_with_the_reason(course, folder):
    """The only file is broken: it still is the submission, with a note that says why."""
    put(folder, **{"01_first__first_ipynb": "{"})
    submission = read_submission(course, folder, "ada")
    key = "01_first/first.ipynb"
    problem = submission.sources[key].problem
    assert problem == "its JSON is damaged at line 1, column 2"
    assert submission.sources[key].cells == ()
    assert not submission.is_empty
    note = f"{key} cannot be read: {problem}."
    assert submission.readings["01_first"] == Reading((key,), key, (note,))


def test_a_broken_file_is_not_said_to_have_been_read(first, folder):
    """Where neither form can be read, no note claims that one was."""
    put(folder, **{"01_first__first_py": "x" * 2**20, "01_first__first_ipynb": "{"})
    assert not any("was read" in note for note in first().notes)


def test_a_single_file_that_cannot_be_read_is_noted(course, tmp_path):
    """A broken single file has the same note as one in a folder."""
    put(tmp_path, ada_ipynb="[]")
    reading = read_submission(course, tmp_path / "ada.ipynb", "ada").readings["01_first"]
    assert reading.notes == ("ada.ipynb cannot be read: its JSON is not a notebook.",)


# Names.


def test_a_wrongly_named_file_in_the_assignments_folder_counts(first, folder):
    """A single file in the right folder is meant, whatever its name."""
    put(folder, **{"01_first__my_solution_py": DONE})
    assert first() == Reading(("01_first/my_solution.py",), "01_first/my_solution.py")


def test_a_rightly_named_file_goes_before_others_in_its_folder(first, folder):
    """Scratch files beside the right one are not read."""
    put(folder, **{"01_first__first_py": DONE, "01_first__a_py": "x", "01_first__z_ipynb": "x"})
    assert first() == Reading(("01_first/first.py",), "01_first/first.py")


def test_two_wrongly_named_scripts_are_not_told_apart_by_their_form(first, folder):
    """The note on which of two scripts was read does not speak of a preferred form."""
    put(folder, **{"01_first__a_py": DONE, "01_first__b_py": DONE + "# other"})
    reading = first()
    assert reading.read_from == "01_first/a.py"
    assert not any("preferred" in note for note in reading.notes)


@pytest.mark.parametrize(
    "name",
    [
        ".ipynb_checkpoints/first-checkpoint.ipynb",
        "01_first/.ipynb_checkpoints/first-checkpoint.ipynb",
        "01_first/.first.py",
        "01_first/_first.py",
        "test_first.py",
        "01_first/test_first.py",
        "conftest.py",
        "setup.py",
        "nbgrader_config.py",
        "__pycache__/first.py",
    ],
)
def test_what_tools_leave_behind_is_no_submission(name, course, folder):
    """Checkpoints, hidden files, tests and configuration are not read."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(DONE, "utf-8")
    assert read_submission(course, folder, "ada").is_empty


def test_defects_are_notes_for_instructors_only(course, folder):
    """Of every notebook that was handed in, also of one that does not count."""
    released = json.loads(notebook(STUB))
    released["cells"][0]["metadata"] = {"nbgrader": {"grade_id": "dot", "solution": True}}
    path = course.root / "assignments" / "01_first" / "first.ipynb"
    path.write_text(json.dumps(released), "utf-8")
    put(folder, **{"01_first__first_py": DONE, "01_first__first_ipynb": notebook("x = 1")})
    submission = read_submission(course, folder, "ada")
    reading = submission.readings["01_first"]
    assert reading.defects == (
        "01_first/first.ipynb: it has lost nbgrader's marks on its cells: nbgrader would leave "
        "every score to be given by hand.",
    )
    assert not set(reading.defects) & set(reading.notes)
    told = submission.for_instructors().readings["01_first"]
    assert told.notes == (*reading.notes, *reading.defects)


def test_a_stray_file_hands_nothing_in(course, folder):
    """A file that defines no exercise of an assignment is no hand-in for it."""
    put(folder, scratch_py="x = 1\n", **{"01_first__first_py": DONE})
    readings = read_submission(course, folder, "ada").readings
    assert readings["01_first"].read_from == "01_first/first.py"
    assert readings["02_second"] == Reading()


@pytest.mark.parametrize(
    "text", ["def dot(a, b):\n    return 1\n", "dot = max\n", "from helpers import dot\n"]
)
def test_what_defines_a_name_in_any_way_hands_it_in(course, folder, text):
    """As a function, by an assignment or an import."""
    put(folder, scratch_py=text)
    assert read_submission(course, folder, "ada").readings["01_first"].read_from == "scratch.py"


def test_only_stray_files_are_an_empty_submission(course, folder):
    """Nothing of the course is in them; they are named."""
    put(folder, scratch_py="x = 1\n", notes__essay_docx="…")
    assert read_submission(course, folder, "ada").is_empty
    assert unread_files(folder) == ("notes/essay.docx", "scratch.py")


@pytest.mark.parametrize(
    "name",
    [
        "FIRST.PY",
        "First.py",
        "first (1).py",
        "first copy.py",
        "Copy of first.py",
        "first - Copy (2).py",
        "01_First/first.py",
        "01_first copy/first.py",
        "01-first (1)/FIRST.py",
    ],
)
def test_names_in_another_case_and_of_copies_are_read(course, folder, name):
    """As what they are meant to be, with a note."""
    (folder / name).parent.mkdir(exist_ok=True, parents=True)
    (folder / name).write_text(DONE, "utf-8")
    submission = read_submission(course, folder, "ada")
    assert submission.readings["01_first"].read_from == name
    assert submission.readings["01_first"].notes == (f"{name} was read for 01_first.",)
    assert submission.sources[name].importable


def test_the_exact_name_goes_before_that_of_a_copy(course, folder):
    """A second download does not replace the first by itself."""
    put(folder, first_py=DONE)
    (folder / "first (1).py").write_text(STUB, "utf-8")
    assert read_submission(course, folder, "ada").readings["01_first"].read_from == "first.py"


def test_a_copy_beside_an_untouched_stub_counts(course, folder):
    """The work stands in the copy."""
    put(folder, first_py=STUB)
    (folder / "01_first").mkdir()
    (folder / "01_first" / "first.py").write_text(STUB, "utf-8")
    (folder / "01_first" / "first (1).py").write_text(DONE, "utf-8")
    reading = read_submission(course, folder, "ada").readings["01_first"]
    assert reading.sources == ("01_first/first.py", "01_first/first (1).py")
    assert reading.notes == ("01_first/first (1).py was read for 01_first.",)


@pytest.mark.parametrize("name", ["first.py.txt", "01_first/First.ipynb.TXT"])
def test_a_name_with_an_ending_too_many_is_noted(course, folder, name):
    """Some systems hide it."""
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(DONE, "utf-8")
    reading = read_submission(course, folder, "ada").readings["01_first"]
    short = name.rpartition("/")[2]
    sentence = f"{short} is not read: its name ends in .txt. Rename it to {short[:-4]}."
    assert (reading.read_from, reading.notes) == ("", (sentence,))


@pytest.mark.parametrize(
    "name", ["first.py", "01_first/first.py", "01_first/mine.py", "week/1/all.py", "week/first.py"]
)
def test_a_files_name_does_not_hide_what_it_holds(course, folder, name):
    """The file of one assignment, or one in any folder, counts for all that it defines."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(BOTH, "utf-8")
    readings = read_submission(course, folder, "ada").readings
    assert [reading.sources for reading in readings.values()] == [(name,)] * 2
    assert f"{name} was read for 02_second." in readings["02_second"].notes


@pytest.mark.parametrize(
    "files",
    [
        {"first_py": BOTH, "02_second__second_py": "x = 1\n"},
        {"first_py": BOTH, "second_py": "x = 1\n"},
        {"01_first__a_py": DONE, "01_first__b_py": "class Layer: ...\n", "second_py": "x = 1\n"},
    ],
)
def test_what_an_assignments_own_file_lacks_is_found_elsewhere(course, folder, files):
    """Its own file is looked into first."""
    put(folder, **files)
    reading = read_submission(course, folder, "ada").readings["02_second"]
    own, other = reading.sources
    assert own.endswith("second.py")
    assert reading.read_from == own
    assert f"{other} was read for 02_second." in reading.notes


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"01_first__first_py": DONE, "old__first_py": BOTH}, Reading()),
        ({"01_first__first_py": DONE, "02_second___heads_py": BOTH}, Reading()),
        ({"01_first__first_py": f"class Other:\n    def Layer(self): ...\n{DONE}"}, Reading()),
        ({"01_first__first_py": f"Layer = max\n{DONE}"}, Reading()),
    ],
    ids=["another version", "private", "a method", "a variable"],
)
def test_what_is_no_definition_of_its_own_hands_nothing_in(course, folder, files, expected):
    """Of an assignment that has no file."""
    put(folder, **files)
    assert read_submission(course, folder, "ada").readings["02_second"] == expected


def test_a_name_that_two_assignments_ask_for_is_that_of_its_file(course, folder):
    """What the file of one defines for itself is nothing handed in for the other."""
    same = (Exercise("02_second", "dot", 1), Exercise("02_second", "Layer", 1))
    second = Assignment("02_second", "02_second", same)
    both = Course(course.root, "T", "py", Limits(), LateRule(), (course.assignments[0], second))
    put(folder, first_py=DONE)
    assert read_submission(both, folder, "ada").readings["02_second"] == Reading()
    put(folder, first_py=BOTH)
    assert read_submission(both, folder, "ada").readings["02_second"].sources == ("first.py",)


def test_what_stands_for_the_courses_modules_is_known(course, folder):
    """A file that imports one finds it under its own name."""
    put(folder, homework_py=BOTH, week__extra_py="x = 1\n")
    submission = read_submission(course, folder, "ada")
    assert submission.modules == {"first": "homework.py", "second": "homework.py"}
    assert submission.beside == ("week/extra.py",)


def test_a_folder_that_is_not_all_theirs_is_not_searched(course, folder):
    """As where a notebook looks for earlier work in the folder above it."""
    put(folder, first_py=DONE, other__more_py=BOTH)
    submission = read_submission(course, folder, "me", is_all_theirs=False)
    assert list(submission.sources) == ["first.py"]


def test_results_depend_on_the_files_that_may_be_imported(course, folder):
    """Of an assignment for which something was handed in."""
    put(folder, **{"01_first__first_py": DONE, "01_first__heads_py": "x = 1\n"})
    submission = read_submission(course, folder, "ada")
    files = ("01_first/first.py", "01_first/heads.py")
    assert (submission.files_for("01_first"), submission.files_for("02_second")) == (files, ())


def test_only_what_is_asked_for_decides_what_is_imported(course, folder):
    """A file of another assignment counts where it is imported, as well as files beside."""
    second = "import torch\n\n\nclass Layer:\n    place = torch.device('meta')\n"
    put(folder, **{"01_first__first_py": DONE, "02_second__second_py": second})
    submission = read_submission(course, folder, "ada")
    assert submission.libraries() == ("torch", "sympy")
    assert submission.libraries({"01_first"}) == ()
    put(folder, **{"01_first__first_py": f"from second import Layer\n{DONE}"})
    submission = read_submission(course, folder, "ada")
    assert submission.libraries({"01_first"}) == ("torch", "sympy")
