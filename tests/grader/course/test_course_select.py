"""Finding a course, its files, and the exercises that a target names."""

import dataclasses

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


def test_no_target_selects_everything_in_order(course):
    """Without a target, all exercises are meant."""
    assert selected(course) == [
        "01_first_steps/dot",
        "01_first_steps/scores",
        "02_layers/Layer",
        "02_layers/Wrapper",
        "10_explicit_heads/Layer",
    ]


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


@pytest.mark.parametrize("target", ["01_first_steps/dot", "dot", "01_first_steps/dot/"])
def test_an_exercise_is_named_in_full_or_by_a_unique_name(target, course):
    """The short form is enough where it is unique."""
    assert selected(course, target) == ["01_first_steps/dot"]


def test_the_full_id_chooses_between_exercises_of_one_name(course):
    """Where the short form is not unique, the full one is."""
    assert selected(course, "10_explicit_heads/Layer") == ["10_explicit_heads/Layer"]


def test_several_targets_are_joined_in_the_order_of_the_course(course):
    """The order of targets does not matter, and none counts twice."""
    assert selected(course, "10", "dot", "01_first_steps", "dot") == [
        "01_first_steps/dot",
        "01_first_steps/scores",
        "10_explicit_heads/Layer",
    ]


def test_a_name_of_two_exercises_is_ambiguous(course):
    """An ambiguous name is answered with what it could mean."""
    with pytest.raises(UsageError) as caught:
        course.select(("Layer",))
    assert str(caught.value) == (
        "'Layer' names more than one: 02_layers/Layer and 10_explicit_heads/Layer. "
        "Write one in full."
    )


@pytest.mark.parametrize(
    ("target", "meant"),
    [
        ("dto", "dot"),
        ("LAYERS", "layers"),
        ("wraper", "Wrapper"),
        ("10_explicit_haeds", "10_explicit_heads"),
    ],
)
def test_a_misspelt_target_is_answered_with_the_nearest(target, meant, course):
    """A slip of the keyboard is told with the name that was meant, first."""
    with pytest.raises(UsageError) as caught:
        course.select((target,))
    start = f"There is no assignment or exercise {target!r}. Did you mean {meant}"
    assert str(caught.value).startswith(start)
    assert str(caught.value).endswith("?")


@pytest.mark.parametrize("target", ["", "zzzzzzzz", "03"])
def test_a_target_like_nothing_is_answered_with_the_assignments(target, course):
    """Where nothing is near, the list of assignments helps."""
    with pytest.raises(UsageError) as caught:
        course.select((target,))
    text = str(caught.value)
    assert text.startswith(f"There is no assignment or exercise {target!r}.")
    assert "01_first_steps" in text


def test_one_wrong_target_among_right_ones_is_still_wrong(course):
    """A target is never passed over."""
    with pytest.raises(UsageError, match="no assignment or exercise 'zzzzzzzz'"):
        course.select(("dot", "zzzzzzzz"))


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
    with pytest.raises(UsageError) as caught:
        course.assignment("layer")
    assert str(caught.value).startswith("There is no assignment 'layer'. Did you mean ")


def test_every_path_is_made_from_the_ids(course):
    """The layout is written in one place, and this is it."""
    paths = course.paths(course.by_id["02_layers"])
    shown = {
        field.name: getattr(paths, field.name).relative_to(course.root).as_posix()
        for field in dataclasses.fields(paths)
    }
    assert shown == {
        "stub": "assignments/02_layers/layers.py",
        "notebook": "assignments/02_layers/layers.ipynb",
        "solution": "solutions/02_layers/layers.py",
        "misconceptions": "solutions/02_layers/misconceptions.toml",
        "hints": "solutions/02_layers/hints.toml",
        "styles": "solutions/02_layers/styles.toml",
        "equivalent": "solutions/02_layers/equivalent.toml",
        "visible_checks": "tests/checks/02_layers/test_visible.py",
        "hidden_checks": "tests/checks/02_layers/test_hidden.py",
        "recording": "tests/checks/02_layers/recording.bin",
        "drawing": "solutions/02_layers/picture.py",
        "picture": "assignments/02_layers/picture.svg",
    }


def test_a_folder_without_solutions_is_a_released_copy(course):
    """What students receive has no folder of solutions."""
    assert not course.has_solutions
    (course.root / "solutions").mkdir()
    assert course.has_solutions


@pytest.mark.parametrize(
    "changed", ["course.toml", "solutions/02_layers/layers.py", "tests/checks/a/test_hidden.py"]
)
def test_the_hash_follows_what_decides_scores(changed, course):
    """The manifest, a solution and a check each change the hash; a student's file does not."""

    def hash_after(path, text):
        (course.root / path).parent.mkdir(parents=True, exist_ok=True)
        (course.root / path).write_text(text, "utf-8")
        return dataclasses.replace(course).hash

    before = hash_after("course.toml", "# nothing")
    assert hash_after("notes/mine.py", "x = 1") == before
    after = hash_after(changed, "x = 2")
    assert after != before
    assert hash_after(changed, "x = 3") not in (before, after)
    assert hash_after(changed, "x = 2") == after


@pytest.mark.parametrize(
    ("path", "plain", "commented"),
    [
        ("solutions/02_layers/layers.py", "x = 1\n", "# why\nx = 1  # so\n"),
        ("course.toml", "x = 1\n", "# why\nx = 1  # so\n"),
        ("solutions/02_layers/hints.toml", "x = 1\n", "x = 2\n"),
        ("solutions/02_layers/equivalent.toml", "x = 1\n", "x = 2\n"),
    ],
)
def test_comments_and_hints_decide_no_score(path, plain, commented, course):
    """So that nobody is graded again for them."""
    (course.root / path).parent.mkdir(parents=True, exist_ok=True)
    (course.root / "course.toml").touch()
    (course.root / path).write_text(plain, "utf-8")
    before = dataclasses.replace(course).hash
    (course.root / path).write_text(commented, "utf-8")
    assert dataclasses.replace(course).hash == before


# Finding the course.


@pytest.fixture
def no_variable(monkeypatch):
    """The environment names no course."""
    monkeypatch.delenv("GRADER_COURSE", raising=False)


@pytest.mark.usefixtures("no_variable")
def test_the_course_is_found_from_any_folder_inside(tmp_path):
    """The nearest manifest upwards is the course's."""
    (tmp_path / "course.toml").touch()
    inner = tmp_path / "assignments" / "01_a"
    inner.mkdir(parents=True)
    assert find_course(inner) == tmp_path
    assert find_course(tmp_path) == tmp_path


@pytest.mark.usefixtures("no_variable")
def test_the_nearest_of_two_courses_is_meant(tmp_path):
    """A course inside another is the one that counts there."""
    inner = tmp_path / "copy"
    inner.mkdir()
    (tmp_path / "course.toml").touch()
    (inner / "course.toml").touch()
    assert find_course(inner) == inner


@pytest.mark.usefixtures("no_variable")
def test_a_relative_folder_is_searched_upwards_too(tmp_path, monkeypatch):
    """The working directory may be given as a dot."""
    (tmp_path / "course.toml").touch()
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    assert find_course(type(tmp_path)()).resolve() == tmp_path.resolve()


@pytest.mark.usefixtures("no_variable")
def test_outside_of_a_course_the_next_step_is_told(tmp_path):
    """No manifest upwards: the sentence says what to do."""
    with pytest.raises(UsageError) as caught:
        find_course(tmp_path)
    assert str(caught.value) == (
        f"No course.toml in {tmp_path} or any folder above it. "
        "Run the command inside the course's folder."
    )


def test_the_variable_names_the_course(tmp_path, monkeypatch):
    """GRADER_COURSE goes before where one stands."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        (folder / "course.toml").touch()
    monkeypatch.setenv("GRADER_COURSE", str(there))
    assert find_course(here) == there


def test_a_variable_that_names_no_course_is_told(tmp_path, monkeypatch):
    """A wrong GRADER_COURSE is not passed over in favour of the working directory."""
    (tmp_path / "course.toml").touch()
    monkeypatch.setenv("GRADER_COURSE", str(tmp_path / "gone"))
    with pytest.raises(UsageError) as caught:
        find_course(tmp_path)
    assert str(caught.value) == (
        f"GRADER_COURSE says {tmp_path / 'gone'}, and there is no course.toml there. "
        "Run the command inside the course's folder."
    )
