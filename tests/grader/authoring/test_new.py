"""What `grader new` makes: a course that is proven at once, and what is left to be filled in."""

import json
import re
from pathlib import Path

import pytest

from grader.authoring import scaffold
from grader.authoring.new import NewExercise, new_assignment, new_course, new_exercise
from grader.authoring.text_proofs import no_todo_is_left
from grader.authoring.validate import validate
from grader.core.errors import CourseError, UsageError
from grader.core.files import OutputFile, write_all
from grader.course.course import Course, load_course
from grader.release.stubs import generate

BLOCK = re.compile(r"(?ms)^```(?:python|toml)\n(.*?)^```")
FILLED = re.compile(r"TODO\(author\):?")


@pytest.fixture(scope="module")
def made() -> list[OutputFile]:
    """A new course."""
    return new_course('Numbers, "small" ones')


@pytest.fixture
def course(made: list[OutputFile], tmp_path: Path) -> Course:
    """The same on disk."""
    write_all(made, tmp_path / "course")
    return load_course(tmp_path / "course")


def state(course: Course) -> dict[str, bytes]:
    """All files of a course."""
    paths = (path for path in course.root.rglob("*") if "__pycache__" not in path.parts)
    return {course.inner(path): path.read_bytes() for path in paths if path.is_file()}


def write(course: Course, files: list[OutputFile]) -> Course:
    """The course with these files."""
    write_all(files, course.root)
    return load_course(course.root)


@pytest.mark.slow
def test_a_new_course_keeps_its_promises(course: Course) -> None:
    """Two exercises, each with a mistake that is named."""
    report = validate(course)
    assert (report.faults, report.warnings) == ([], [])
    assert course.title == 'Numbers, "small" ones'
    counts = [(r.exercise.id, r.misconceptions, r.recognised_visibly) for r in report.rows]
    assert counts == [("01_first_steps/standardize", 1, 1), ("01_first_steps/Affine", 1, 1)]


def test_a_new_course_has_nothing_of_another_one(made: list[OutputFile]) -> None:
    """Nor a placeholder that was not filled."""
    text = "\n".join(file.text for file in made if not file.path.endswith(".whl"))
    assert not re.search(r"attention|token|\{%|\{\{ title", text)


def test_where_there_are_no_templates_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """The grader that lies in a released copy has none."""
    monkeypatch.setattr(scaffold, "TEMPLATES", "none")
    with pytest.raises(UsageError, match="A released copy has no templates"):
        new_course("Mine")


@pytest.fixture(params=["plain", pytest.param("numpy", marks=pytest.mark.proof)])
def other_course(request: pytest.FixtureRequest, tmp_path: Path) -> Course:
    """A new course of another kind, whose assignment has another name."""
    write_all(new_course("Mine", "02_counting_words", request.param), tmp_path / "other")
    return load_course(tmp_path / "other")


@pytest.mark.slow
def test_a_course_of_another_kind_keeps_its_promises_without_a_tensor(other_course: Course) -> None:
    """Nothing of torch, nor of the assignment's first name; what is added is of its kind, and works."""
    course = other_course
    report = validate(course)
    assert (report.faults, report.warnings) == ([], [])
    (assignment,) = course.assignments
    assert (assignment.id, assignment.title) == ("01_counting_words", "Counting words")
    course = write(course, new_exercise(course, "01", NewExercise("sums", after="standardize")))
    course = write(course, new_assignment(course, "more_steps", "", ["one", "Two"]))
    texts = [text.decode() for path, text in state(course).items() if not path.endswith(".whl")]
    assert not re.search(r"torch|Tensor|nn\.|first_steps", "\n".join(texts))
    assert validate(course).faults == list(no_todo_is_left(course, course.exercises))


def test_a_course_whose_assignment_cannot_be_named_so_is_refused() -> None:
    """Before anything is written."""
    with pytest.raises(UsageError, match="'Counting Words' cannot be an assignment's name"):
        new_course("Mine", "Counting Words")


@pytest.mark.proof
def test_what_was_added_is_named_place_by_place_and_works_at_once(course: Course) -> None:
    """An exercise between others, a class, and an assignment: faults are what is to be filled in."""
    course = write(course, new_exercise(course, "1", NewExercise("sums", 1.5, after="standardize")))
    course = write(course, new_exercise(course, "01", NewExercise("Layer", is_class=True)))
    course = write(course, new_assignment(course, "more_steps", "", ["one", "Two"]))
    assert list(course.exercises) == [
        *("01_first_steps/standardize", "01_first_steps/sums", "01_first_steps/Affine"),
        *("01_first_steps/Layer", "02_more_steps/one", "02_more_steps/Two"),
    ]
    assert (course.by_id["02_more_steps"].title, course.points) == ("More steps", 12.5)
    faults = validate(course).faults
    assert faults == list(no_todo_is_left(course, course.exercises))
    line = (
        "solutions/02_more_steps/more_steps.py:4: still to be written: what the assignment is about"
    )
    assert [fault for fault in faults if fault.startswith(line)]
    for path in {fault.partition(":")[0] for fault in faults}:
        text = (course.root / path).read_text("utf-8")
        text = re.sub(r"# TODO\(author\): what students write here.*", "# TODO: write", text)
        (course.root / path).write_text(FILLED.sub("done:", text), "utf-8")
    course = write(course, generate(course))
    assert validate(course).faults == []


@pytest.mark.slow
def test_the_first_exercise_of_the_documentation_is_right(course: Course, root: Path) -> None:
    """Its blocks are put where it says, in its order: then the course keeps its promises."""
    text = (root / "docs" / "authors.md").read_text("utf-8")
    section = text.partition("## Your first exercise")[2].partition("\n## ")[0]
    blocks = BLOCK.findall(section)
    exercise = NewExercise("row_sums")
    course = write(course, new_exercise(course, "01", exercise))
    at = course.paths(course.by_id["01_first_steps"])
    files = at.solution, at.visible_checks, at.hidden_checks, at.misconceptions, at.hints
    for path, block in zip(files, blocks, strict=True):
        assert course.inner(path) in section
        before = path.read_text("utf-8")
        kind = "solution.py" if path == at.solution else path.name
        part = exercise.part(kind, "").strip()
        assert before.count(part) == 1
        path.write_text(before.replace(part, block.strip()), "utf-8")
    assert all("run `grader generate`" in fault for fault in validate(course).faults)
    assert validate(write(course, generate(course))).faults == []


def test_names_of_torch_are_imported_where_they_are_missing(course: Course) -> None:
    """In the line that is there, after other imports, or in a cell of its own."""
    solution = course.paths(course.by_id["01_first_steps"]).solution
    text = solution.read_text("utf-8")
    line, tensor = "from torch import Tensor, nn", "from torch import Tensor"
    for old, put, expected in (
        (line, tensor, f"{line}\n"),
        (line, "import torch.nn as nn", f"as nn\n{tensor}\n"),
        (f"import torch\n{line}", "", f"# %%\n{line}\n"),
    ):
        solution.write_text(text.replace(old, put), "utf-8")
        files = new_exercise(course, "01", NewExercise("Layer", is_class=True))
        (made,) = (file.text for file in files if file.path == course.inner(solution))
        assert made.count(expected) == 1
        compile(made, "solution", "exec")


THERE = "already. Nothing was written."


@pytest.mark.parametrize(
    ("target", "name", "sentence"),
    [
        ("01", "Affine", f"01_first_steps/Affine is there {THERE}"),
        ("01", "torch", f"solutions/01_first_steps/first_steps.py defines torch {THERE}"),
        ("01", "a-b", "'a-b' cannot be an exercise's name: Python allows no such name."),
        ("01", "class", "'class' cannot be an exercise's name: Python allows no such name."),
        ("01", "sums", "01_first_steps has no exercise 'Afine'; it has standardize, Affine."),
        ("7", "sums", "There is no assignment '7'. The assignments are: 01_first_steps."),
    ],
)
def test_an_exercise_that_cannot_be_is_refused(
    course: Course, target: str, name: str, sentence: str
) -> None:
    """With a sentence; nothing is written."""
    before = state(course)
    with pytest.raises(UsageError) as caught:
        new_exercise(course, target, NewExercise(name, after="Afine" if name == "sums" else ""))
    assert str(caught.value) == sentence
    assert state(course) == before


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("01_other", f"01_first_steps has the number 01 {THERE}"),
        ("first_steps", f"01_first_steps has the name first_steps {THERE}"),
        ("Other", "'Other' cannot be an assignment's name."),
        ("1_other", "'1_other' cannot be an assignment's name."),
        ("left", f"solutions/02_left/hints.toml is there {THERE}"),
    ],
)
def test_an_assignment_that_cannot_be_is_refused(course: Course, name: str, sentence: str) -> None:
    """Also where a file would be overwritten that nothing declares."""
    left = course.root / "solutions" / "02_left" / "hints.toml"
    left.parent.mkdir()
    left.write_text("", "utf-8")
    with pytest.raises(UsageError) as caught:
        new_assignment(course, name, "", [])
    assert str(caught.value).startswith(sentence)


def test_what_the_course_could_not_be_read_with_is_refused(course: Course) -> None:
    """Points that are neither whole nor half."""
    with pytest.raises(CourseError, match=r"found 0\.3; a whole or half number"):
        new_exercise(course, "01", NewExercise("sums", 0.3))


def test_two_exercises_of_one_name_in_two_spellings_keep_their_checks(course: Course) -> None:
    """Else the later class of checks would replace the earlier one."""
    course = write(course, new_exercise(course, "01", NewExercise("row_sums")))
    course = write(course, new_exercise(course, "01", NewExercise("RowSums", is_class=True)))
    paths = course.paths(course.by_id["01_first_steps"])
    text, mistakes = (p.read_text("utf-8") for p in (paths.visible_checks, paths.misconceptions))
    assert len({*re.findall(r'(?m)^id = "(.*?)"', mistakes)}) == 4
    assert text.count("class TestRowSums:") == text.count("class TestRowSumsClass:") == 1


def _added_to(course: Course, id_: str) -> None:
    """An exercise more: its files are made, and every cell that was there stays."""
    made = {file.path: file.text for file in new_exercise(course, id_, NewExercise("one_more"))}
    paths = course.paths(course.by_id[id_])
    before, after = (
        [cell["source"] for cell in json.loads(text)["cells"]]
        for text in (paths.notebook.read_text("utf-8"), made[course.inner(paths.notebook)])
    )
    assert [cell for cell in before if cell not in after] == []
    assert "def one_more(" in made[course.inner(paths.stub)]
    if paths.picture.is_file():
        assert made[course.inner(paths.picture)] == paths.picture.read_text("utf-8")


def test_an_exercise_is_added_beside_a_picture_that_imports_other_assignments(root: Path) -> None:
    """And beside predictions, which the notebook asks for."""
    for id_ in ("11_gpt2_attention", "17_a_model_that_writes"):
        _added_to(load_course(root), id_)


@pytest.mark.proof
@pytest.mark.parametrize("folder", [".", "examples/linear_regression"])
def test_an_exercise_is_added_to_every_assignment(root: Path, folder: str) -> None:
    """Whatever their pictures import."""
    course = load_course(root / folder)
    for assignment in course.assignments:
        _added_to(course, assignment.id)
