"""`decisions.toml`: what is right is read, and every mistake is named with its place."""

from datetime import UTC, datetime

import pytest

from grader.classes.decisions import (
    Comment,
    Decisions,
    DroppedCheck,
    Exemption,
    ExerciseSet,
    Extension,
    GivenCheck,
    Group,
    Known,
    Label,
    LateDays,
    Override,
    Resolved,
    class_decisions,
    read_decisions,
)
from grader.core.errors import CourseError
from grader.course.course import load_course
from grader.intake.folders import Student
from grader.intake.read import IntakeResult
from grader.intake.roster import Enrolled, read_roster

SCORES, WEIGHTS, MIXTURE = "01_scores/scores", "02_mixture/weights", "02_mixture/Mixture"
SHAPE, VALUES = f"{SCORES}::visible::test_shape", f"{SCORES}::hidden::test_values"
CHECKS = {SHAPE: 1, VALUES: 2}
ADA = 'student = "ada"\n'


@pytest.fixture
def course(course_copy):
    """The example course, whose first assignment has a due date."""
    path = course_copy / "course.toml"
    text = path.read_text("utf-8").replace('"Scores"\n', '"Scores"\ndue = 2027-02-01T00:00:00Z\n')
    path.write_text(text, "utf-8")
    return load_course(course_copy)


@pytest.fixture
def read(course):
    """Reads a file of this text."""
    known = Known({"ada", "bob", "cyd"}, {"A", "part time"}, True, lambda _exercise: CHECKS)

    def reading(text, **other):
        path = course.root / "decisions.toml"
        path.write_text(text, "utf-8")
        kinds = {name: other.get(name, getattr(known, name)) for name in known.__slots__}
        return read_decisions(path, course, Known(**kinds))

    return reading


def test_everything_that_can_be_decided(read):
    """An entry of each kind."""
    text = f"""
    [late_days]
    budget = 5
    [[extensions]]
    {ADA}
    assignment = "1"
    until = 2027-02-08T00:00:00Z
    reason = "not shown"
    [[extensions]]
    label = "part time"
    days = 2
    [[exemptions]]
    {ADA}
    exercises = ["weights"]
    [[exemptions]]
    label = "A"
    assignment = "mixture"
    [[exercise_sets]]
    label = "A"
    exercises = ["scores", "Mixture"]
    [[overrides]]
    {ADA}
    exercise = "Mixture"
    points = 2.25
    reason = "Shown."
    [[comments]]
    {ADA}
    exercise = "Mixture"
    text = "Well done."
    [[comments]]
    {ADA}
    assignment = "1"
    text = "Look at the axes."
    [[resolved]]
    {ADA}
    exercise = "scores"
    [[labels]]
    {ADA}
    label = "new"
    [[groups]]
    students = ["bob", "ada"]
    assignment = "2"
    [[drop]]
    check = "{SCORES}::hidden::test_values"
    [[full_marks]]
    check = "{SCORES}::visible::test_shape"
    reason = "Shown."
    """
    assert read(text) == Decisions(
        extensions=(
            Extension("ada", "", "not shown", "01_scores", datetime(2027, 2, 8, tzinfo=UTC)),
            Extension(label="part time", days=2),
        ),
        exemptions=(
            Exemption("ada", exercises=(WEIGHTS,)),
            Exemption(label="A", assignment="02_mixture"),
        ),
        exercise_sets=(ExerciseSet("A", (SCORES, MIXTURE)),),
        overrides=(Override("ada", MIXTURE, 2.25, "Shown."),),
        drop=(DroppedCheck(VALUES),),
        full_marks=(GivenCheck(SHAPE, "Shown."),),
        late_days=LateDays(5),
        groups=(Group(("ada", "bob"), "02_mixture"),),
        comments=(
            Comment("ada", "Well done.", exercise=MIXTURE),
            Comment("ada", "Look at the axes.", assignment="01_scores"),
        ),
        resolved=(Resolved("ada", SCORES),),
        labels=(Label("ada", "new"),),
    )


def test_a_label_of_the_file_counts_like_those_of_the_roster(read, course):
    """Also where there is no roster, and in the roster that reports are given."""
    given = f'[[labels]]\n{ADA}label = "new"\n[[extensions]]\nlabel = "new"\ndays = 1'
    for labels in (None, {"A"}):
        found = read(given, labels=labels)
        roster = found.labelled({"ada": Enrolled("ada", section="A")})
        assert roster["ada"].labels == ("A", "new")
        assert found.of(course, "ada", roster["ada"].labels).due
        assert found.labelled({})["ada"] == Enrolled("ada", tags=("new",))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[extension]]", "extension: unknown key; did you mean 'extensions'? allowed: comments, "),
        (
            '[[extensions]]\nstudent = "adda"\ndays = 1',
            "extensions[1].student: nobody in the class is called 'adda'; did you mean 'ada'?",
        ),
        (
            '[[extensions]]\nlabel = "B"\ndays = 1',
            "extensions[1].label: the roster has no label 'B'; it has: A, part time",
        ),
        ("[[extensions]]\ndays = 1", "extensions[1]: student or label is needed, one of them"),
        (f"[[extensions]]\n{ADA}", "extensions[1]: until or days is needed, one of them"),
        (
            f'[[extensions]]\n{ADA}days = 1\nassignment = "scors"',
            "extensions[1].assignment: There is no assignment 'scors'. Did you mean scores or ",
        ),
        (
            f'[[extensions]]\n{ADA}days = 1\nassignment = "2"',
            "extensions[1].assignment: 02_mixture has no due date; there is nothing to extend",
        ),
        (
            f'[[extensions]]\n{ADA}assignment = "1"\nuntil = 2027-01-31T00:00:00Z',
            "extensions[1].until: 2027-01-31 00:00:00+00:00 is not after the due date of 01_scores",
        ),
        (
            f"[[extensions]]\n{ADA}until = 2027-03-01",
            "extensions[1].until: found datetime.date(2027, 3, 1); a date and time with offset",
        ),
        (
            f"[[extensions]]\n{ADA}days = 1\n" * 2,
            "extensions[2] is the same as extensions[1]; keep one",
        ),
        (
            f'[[overrides]]\n{ADA}exercise = "Mixture"\npoints = 3.5\nreason = "So."',
            "overrides[1].points: found 3.5; 02_mixture/Mixture is worth 3",
        ),
        (
            f'[[overrides]]\n{ADA}exercise = "2"\npoints = 1\nreason = "So."',
            "overrides[1].exercise: '2' names 2 exercises; one is needed",
        ),
        (
            f'[[overrides]]\n{ADA}exercise = "Mixture"\npoints = -1\nreason = "So."',
            "overrides[1].points: found -1; a number from 0 to 1000000 with at most two decimals",
        ),
        (
            f'[[overrides]]\n{ADA}exercise = "Mixture"\npoints = 1',
            "overrides[1].reason: missing; a text that is not empty is needed",
        ),
        (
            "".join(
                f'[[overrides]]\n{ADA}exercise = "Mixture"\npoints = {points}\nreason = "So."\n'
                for points in (1, 2)
            ),
            "overrides[2] decides about the same as overrides[1]; keep one",
        ),
        (
            f'[[drop]]\ncheck = "{SCORES}::hidden::test_value"',
            f"drop[1].check: there is no check '{SCORES}::hidden::test_value'; did you mean "
            f"'{SCORES}::hidden::test_values'?",
        ),
        (
            '[[full_marks]]\ncheck = "01_scores/score"',
            "full_marks[1].check: there is no exercise '01_scores/score'; did you mean",
        ),
        (
            "".join(f'[[drop]]\ncheck = "{check}"\n' for check in CHECKS),
            f"drop: no check of {SCORES} would count any more; use [[full_marks]] or",
        ),
        (
            "".join(f'[[{k}]]\ncheck = "{SHAPE}"\n' for k in ("drop", "full_marks")),
            f"drop and full_marks both name {SHAPE}; keep one",
        ),
        (
            '[[exercise_sets]]\nlabel = "A"',
            "exercise_sets[1].exercises: missing; at least one exercise or assignment is needed",
        ),
        (
            '[[groups]]\nstudents = ["ada", "bobb"]',
            "groups[1].students: nobody in the class is called 'bobb'; did you mean 'bob'?",
        ),
        (
            '[[groups]]\nstudents = ["ada"]',
            "groups[1].students: found a list of 1; a list of two students or more is needed",
        ),
        (
            '[[groups]]\nstudents = ["ada", "bob"]\n[[groups]]\nstudents = ["ada", "cyd"]\n'
            'assignment = "2"',
            "groups: ada is in 2 groups for 02_mixture; keep one",
        ),
        (
            f'[[comments]]\n{ADA}exercise = "scores"\ntext = "a"\n' * 2,
            "comments[2] decides about the same as comments[1]; keep one",
        ),
        (f'[[comments]]\n{ADA}text = "a"', "comments[1]: assignment or exercise is needed, one of"),
        (f"[[exemptions]]\n{ADA}", "exemptions[1]: assignment or exercises is needed, one of them"),
        ("[late_days]\nbudget = -1", "late_days.budget: found -1; a whole number from 0 to 366"),
        ("extensions = 3", "extensions: found 3; a list of tables is needed"),
    ],
)
def test_a_mistake_is_named_with_its_place(read, text, problem):
    """What was found, what is allowed, and the nearest match; nothing else is complained about."""
    with pytest.raises(CourseError) as raised:
        read(text)
    (said,) = raised.value.problems
    assert said.startswith((f"decisions.toml: {problem}", problem))


def test_of_numbered_students_none_is_nearest(read):
    """Nobody who writes s999 means s299."""
    with pytest.raises(CourseError) as raised:
        read('[[extensions]]\nstudent = "s999"\ndays = 1', students={"s299", "s998"})
    assert "did you mean" not in raised.value.problems[0]


def test_labels_need_a_roster(read):
    """Without one nobody would have them."""
    with pytest.raises(CourseError, match="labels stand in the roster; give it with --roster"):
        read('[[extensions]]\nlabel = "A"\ndays = 1', labels=None)


def test_one_student_by_themselves_may_lack_the_others(read):
    """Of a single submission the others' entries are no mistakes."""
    text = '[[extensions]]\nstudent = "dan"\ndays = 1'
    assert read(text, is_everybody=False).extensions


def test_a_class_knows_its_students_labels_and_checks(course, tmp_path):
    """Those of the roster, of the folder, and who was there before; labels in two columns."""
    roster = tmp_path / "roster.csv"
    roster.write_text("student,section,labels\nada,A,part time | late\n", "utf-8")
    known = {one.student: one for one in read_roster(roster)}
    intake = IntakeResult([Student("bob", None)], known)
    (tmp_path / "out" / "former" / "results").mkdir(parents=True)
    (tmp_path / "out" / "former" / "results" / "cyd.json").write_text("", "utf-8")
    lines = [f'[[extensions]]\nstudent = "{name}"\ndays = 1' for name in ("ada", "bob", "cyd")]
    lines += [
        f'[[extensions]]\nlabel = "{label}"\ndays = 1' for label in ("A", "part time", "late")
    ]
    lines += [f'[[drop]]\ncheck = "{SCORES}::hidden::test_other_queries_and_keys"']
    (course.root / "decisions.toml").write_text("\n".join(lines), "utf-8")
    found = class_decisions(course, None, intake, has_roster=True, out=tmp_path / "out")
    assert len(found.extensions) == 6
    assert len(found.drop) == 1


def test_without_a_file_nothing_is_decided(course, tmp_path):
    """One that was named has to be there."""
    intake = IntakeResult([Student("bob", None)])
    assert class_decisions(course, None, intake, has_roster=False, out=tmp_path) == Decisions()
    with pytest.raises(CourseError, match="it cannot be read"):
        class_decisions(course, tmp_path / "no.toml", intake, has_roster=False, out=tmp_path)
