"""Finding a course, its files, and the exercises that a target names."""

import dataclasses
import re
from pathlib import Path

import pytest

from grader.core.errors import UsageError
from grader.course.course import Assignment, Course, Exercise, LateRule, Limits, find_course


def make_assignment(id_, *names):
    """An assignment with exercises of one point each."""
    return Assignment(id_, id_, tuple(Exercise(id_, name, 1) for name in names))


@pytest.fixture
def course(tmp_path):
    """Three assignments; `Layer` is in two of them."""
    assignments = (
        make_assignment("01_first_steps", "dot", "scores"),
        make_assignment("02_layers", "Layer", "Wrapper"),
        make_assignment("10_explicit_heads", "Layer"),
    )
    return Course(tmp_path, "T", "py", Limits(), LateRule(), assignments)


def selected(course, *targets):
    """The ids that targets select."""
    return list(course.select(targets))


def refusal(select, *targets):
    """The sentence that targets are refused with."""
    with pytest.raises(UsageError) as caught:
        select(*targets)
    return str(caught.value)


@pytest.mark.parametrize(
    "target",
    [
        *("02_layers", "02", "2", "layers", "02_layers/", "/02_layers"),
        *("assignments/02_layers", "assignments/02_layers/layers.py", "02_layers/layers.ipynb"),
        "assignments\\02_layers\\layers.py",
    ],
)
def test_an_assignment_is_named_by_id_number_or_module(target, course):
    """An assignment has three names, and a path; a shell's completion may add a slash."""
    assert selected(course, target) == ["02_layers/Layer", "02_layers/Wrapper"]


FIRST = ["01_first_steps/dot", "01_first_steps/scores"]


@pytest.mark.parametrize(
    ("targets", "ids"),
    [
        ("", [*FIRST, "02_layers/Layer", "02_layers/Wrapper", "10_explicit_heads/Layer"]),
        ("01_first_steps/dot", FIRST[:1]),
        ("dot", FIRST[:1]),
        ("01_first_steps/dot/", FIRST[:1]),
        ("10_explicit_heads/Layer", ["10_explicit_heads/Layer"]),
        ("10/Layer", ["10_explicit_heads/Layer"]),
        ("explicit_heads/Layer", ["10_explicit_heads/Layer"]),
        ("10 dot 01_first_steps dot", [*FIRST, "10_explicit_heads/Layer"]),
    ],
)
def test_targets_are_joined_in_the_order_of_the_course(targets, ids, course):
    """Exercises in full or by a unique name, none twice; all without a target."""
    assert selected(course, *targets.split()) == ids


def test_a_name_of_two_exercises_is_ambiguous(course):
    """An ambiguous name is answered with what it could mean."""
    both = "02_layers/Layer and 10_explicit_heads/Layer. Write one in full."
    assert refusal(course.select, ("Layer",)) == f"'Layer' names more than one: {both}"


@pytest.mark.parametrize(
    ("target", "meant"),
    [
        *(("dto", "dot"), ("LAYERS", "layers"), ("wraper", "Wrapper")),
        ("10_explicit_haeds", "10_explicit_heads"),
    ],
)
def test_a_misspelt_target_is_answered_with_the_nearest(target, meant, course):
    """A slip of the keyboard is told with the name that was meant, first."""
    text = refusal(course.select, (target,))
    start = f"There is no assignment or exercise {target!r}. Did you mean {meant}"
    assert text.startswith(start)
    assert text.endswith("?")


@pytest.mark.parametrize("target", ["Layer", "layer", "2/Layre", "Dot", "softmax", "x9"])
def test_what_a_message_proposes_can_be_given(target, course):
    """Whatever stands there names something."""
    text = refusal(course.select, (target,))
    names = re.search(r"(?:mean|one:|are:) (.*?)(?:\?|\.$|\. Write)", text)
    assert names is not None
    assert all(course.select((name,)) for name in re.split(", | and | or ", names[1]))


@pytest.mark.parametrize("target", ["", "zzzzzzzz", "03"])
def test_a_target_like_nothing_is_answered_with_the_assignments(target, course):
    """Where nothing is near, their list helps; one wrong target among right ones is still wrong."""
    text = refusal(course.select, ("dot", target))
    assert text.startswith(f"There is no assignment or exercise {target!r}.")
    assert "01_first_steps" in text


def test_an_exercise_named_like_another_module_is_not_passed_over(course):
    """A name that is both an assignment's and an exercise's elsewhere is ambiguous."""
    more = (*course.assignments, make_assignment("11_dot", "other"))
    both = dataclasses.replace(course, assignments=more)
    with pytest.raises(UsageError, match="'dot' names more than one"):
        both.select(("dot",))
    dot = both.exercises["01_first_steps/dot"]
    assert [each.name_of(dot) for each in (course, both)] == ["dot", dot.id]


def test_an_exercise_named_like_its_own_module_is_found_by_that_name(course):
    """Its assignment is found by the number."""
    more = (*course.assignments, make_assignment("12_mix", "mix", "other"))
    both = dataclasses.replace(course, assignments=more)
    assert selected(both, "mix") == ["12_mix/mix"]
    assert selected(both, "12") == selected(both, "12_mix") == ["12_mix/mix", "12_mix/other"]


@pytest.mark.parametrize("target", ["02_layers", "02", "2", "layers"])
def test_an_assignment_is_found_by_its_names(target, course):
    """Those that targets have."""
    assert course.assignment(target).id == "02_layers"


def test_an_assignment_that_is_none_is_answered_with_the_nearest(course):
    """An exercise is no assignment."""
    text = refusal(course.assignment, "layer")
    assert text.startswith("There is no assignment 'layer'. Did you mean ")


def test_every_path_is_made_from_the_ids(course):
    """The layout is written in one place, and this is it."""
    paths = course.paths(course.by_id["02_layers"])
    shown = {
        field.name: getattr(paths, field.name).relative_to(course.root).as_posix()
        for field in dataclasses.fields(paths)
    }
    own = {"solution": "layers.py", "drawing": "picture.py"}
    own |= {name: f"{name}.toml" for name in ("misconceptions", "hints", "styles", "equivalent")}
    checks = {"visible_checks": "test_visible.py", "hidden_checks": "test_hidden.py"}
    checks |= {"recording": "recording.bin"}
    stub = {"stub": "layers.py", "notebook": "layers.ipynb", "picture": "picture.svg"}
    folders = {"solutions": own, "tests/checks": checks, "assignments": stub}
    assert shown == {
        name: f"{folder}/02_layers/{file}"
        for folder, files in folders.items()
        for name, file in files.items()
    }


def test_a_folder_without_solutions_is_a_released_copy(course):
    """What students receive has no folder of solutions."""
    assert not course.has_solutions
    (course.root / "solutions").mkdir()
    assert course.has_solutions


@pytest.fixture
def hash_after(course):
    """The course's hash after a file was written."""

    def hash_after(path, text):
        (course.root / path).parent.mkdir(parents=True, exist_ok=True)
        (course.root / "course.toml").touch()
        (course.root / path).write_text(text, "utf-8")
        return dataclasses.replace(course).hash

    return hash_after


@pytest.mark.parametrize(
    "changed", ["course.toml", "solutions/02_layers/layers.py", "tests/checks/a/test_hidden.py"]
)
def test_the_hash_follows_what_decides_scores(changed, hash_after):
    """The manifest, a solution and a check each change the hash; a student's file does not."""
    before = hash_after("course.toml", "# nothing")
    assert hash_after("notes/mine.py", "x = 1") == before
    after = hash_after(changed, "x = 2")
    assert after != before
    assert hash_after(changed, "x = 3") not in (before, after)
    assert hash_after(changed, "x = 2") == after


@pytest.mark.parametrize(
    ("path", "changed"),
    [
        ("solutions/02_layers/layers.py", "# why\nx = 1  # so\n"),
        ("course.toml", "# why\nx = 1  # so\n"),
        ("solutions/02_layers/hints.toml", "x = 2\n"),
        ("solutions/02_layers/equivalent.toml", "x = 2\n"),
    ],
)
def test_comments_and_hints_decide_no_score(path, changed, hash_after):
    """So that nobody is graded again for them."""
    assert hash_after(path, "x = 1\n") == hash_after(path, changed)


# Finding the course.


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    """The environment names no course."""
    monkeypatch.delenv("GRADER_COURSE", raising=False)


def test_the_nearest_course_upwards_is_found(tmp_path, monkeypatch):
    """From any folder inside, which may be given as a dot; a course inside another counts there."""
    (tmp_path / "course.toml").touch()
    inner = tmp_path / "assignments" / "01_a"
    inner.mkdir(parents=True)
    assert find_course(inner) == find_course(tmp_path) == tmp_path
    monkeypatch.chdir(inner)
    assert find_course(Path()).resolve() == tmp_path.resolve()
    (inner / "course.toml").touch()
    assert find_course(inner) == inner


def test_outside_of_a_course_the_next_step_is_told(tmp_path):
    """No manifest upwards: the sentence says what to do."""
    assert refusal(find_course, tmp_path) == (
        f"No course.toml in {tmp_path} or any folder above it. "
        "Run the command inside the course's folder."
    )


def test_the_variable_names_the_course(tmp_path, monkeypatch):
    """GRADER_COURSE goes before where one stands; a wrong one is not passed over."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        (folder / "course.toml").touch()
    monkeypatch.setenv("GRADER_COURSE", str(there))
    assert find_course(here) == there
    monkeypatch.setenv("GRADER_COURSE", str(tmp_path / "gone"))
    assert refusal(find_course, here) == (
        f"GRADER_COURSE says {tmp_path / 'gone'}, and there is no course.toml there. "
        "Run the command inside the course's folder."
    )
