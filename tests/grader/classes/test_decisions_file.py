"""`decisions.toml`: what is right is read, and every mistake is named with its place."""

import re
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
from tests.grader.classes.conftest import HIDDEN_CHECK

SCORES, WEIGHTS, MIXTURE = "01_scores/scores", "02_mixture/weights", "02_mixture/Mixture"
SHAPE, VALUES = f"{SCORES}::visible::test_shape", f"{SCORES}::hidden::test_values"
CHECKS = {SHAPE: 1, VALUES: 2}
ON = 'student = "ada", exercise = "Mixture"'


@pytest.fixture
def course(course_copy):
    """The example course, whose first assignment has a due date."""
    path = course_copy / "course.toml"
    text = path.read_text("utf-8")
    path.write_text(text.replace('"Scores"\n', '"Scores"\ndue = 2027-02-01T00:00:00Z\n'), "utf-8")
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
    late_days.budget = 5
    extensions = [
        {{student = "ada", assignment = "1", until = 2027-02-08T00:00:00Z, reason = "not shown"}},
        {{label = "part time", days = 2}},
    ]
    exemptions = [
        {{student = "ada", exercises = ["weights"]}},
        {{label = "A", assignment = "mixture"}},
    ]
    exercise_sets = [{{label = "A", exercises = ["scores", "Mixture"]}}]
    overrides = [{{{ON}, points = 2.25, reason = "Shown."}}]
    comments = [
        {{{ON}, text = "Well done."}},
        {{student = "ada", assignment = "1", text = "Look at the axes."}},
    ]
    resolved = [{{student = "ada", exercise = "scores"}}]
    labels = [{{student = "ada", label = "new"}}]
    groups = [{{students = ["bob", "ada"], assignment = "2"}}]
    drop = [{{check = "{VALUES}"}}]
    full_marks = [{{check = "{SHAPE}", reason = "Shown."}}]
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
    given = """
    labels = [{student = "ada", label = "new"}]
    extensions = [{label = "new", days = 1}]
    """
    for labels in (None, {"A"}):
        found = read(given, labels=labels)
        roster = found.labelled({"ada": Enrolled("ada", section="A")})
        assert roster["ada"].labels == ("A", "new")
        assert found.of(course, "ada", roster["ada"].labels).due
        assert found.labelled({})["ada"] == Enrolled("ada", tags=("new",))


MISTAKES = """
extension = []
  extension: unknown key; did you mean 'extensions'? allowed: comments,
extensions = 3
  extensions: found 3; a list of tables is needed
extensions = [{student = "adda", days = 1}]
  extensions[1].student: nobody in the class is called 'adda'; did you mean 'ada'?
extensions = [{label = "B", days = 1}]
  extensions[1].label: the roster has no label 'B'; it has: A, part time
extensions = [{days = 1}]
  extensions[1]: student or label is needed, one of them
extensions = [{student = "ada"}]
  extensions[1]: until or days is needed, one of them
extensions = [{student = "ada", days = 1, assignment = "scors"}]
  extensions[1].assignment: There is no assignment 'scors'. Did you mean scores or
extensions = [{student = "ada", days = 1, assignment = "2"}]
  extensions[1].assignment: 02_mixture has no due date; there is nothing to extend
extensions = [{student = "ada", assignment = "1", until = 2027-01-31T00:00:00Z}]
  extensions[1].until: 2027-01-31 00:00:00+00:00 is not after the due date of 01_scores
extensions = [{student = "ada", until = 2027-03-01}]
  extensions[1].until: found datetime.date(2027, 3, 1); a date and time with offset
extensions = [{student = "ada", days = 1}, {student = "ada", days = 1}]
  extensions[2] is the same as extensions[1]; keep one
exemptions = [{student = "ada"}]
  exemptions[1]: assignment or exercises is needed, one of them
exercise_sets = [{label = "A"}]
  exercise_sets[1].exercises: missing; at least one exercise or assignment is needed
overrides = [{%(on)s, points = 3.5, reason = "So."}]
  overrides[1].points: found 3.5; 02_mixture/Mixture is worth 3
overrides = [{student = "ada", exercise = "2", points = 1, reason = "So."}]
  overrides[1].exercise: '2' names 2 exercises; one is needed
overrides = [{%(on)s, points = -1, reason = "So."}]
  overrides[1].points: found -1; a number from 0 to 1000000 with at most two decimals
overrides = [{%(on)s, points = 1}]
  overrides[1].reason: missing; a text that is not empty is needed
overrides = [{%(on)s, points = 1, reason = "So."}, {%(on)s, points = 2, reason = "So."}]
  overrides[2] decides about the same as overrides[1]; keep one
comments = [{%(on)s, text = "a"}, {%(on)s, text = "b"}]
  comments[2] decides about the same as comments[1]; keep one
comments = [{student = "ada", text = "a"}]
  comments[1]: assignment or exercise is needed, one of
drop = [{check = "01_scores/scores::hidden::test_value"}]
  drop[1].check: there is no check '01_scores/scores::hidden::test_value'; did you mean '01_sc
full_marks = [{check = "01_scores/score"}]
  full_marks[1].check: there is no exercise '01_scores/score'; did you mean
drop = [{check = "%(shape)s"}, {check = "%(values)s"}]
  drop: no check of 01_scores/scores would count any more; use [[full_marks]] or
drop = [{check = "%(shape)s"}]
full_marks = [{check = "%(shape)s"}]
  drop and full_marks both name 01_scores/scores::visible::test_shape; keep one
groups = [{students = ["ada", "bobb"]}]
  groups[1].students: nobody in the class is called 'bobb'; did you mean 'bob'?
groups = [{students = ["ada"]}]
  groups[1].students: found a list of 1; a list of two students or more is needed
groups = [{students = ["ada", "bob"]}, {students = ["ada", "cyd"], assignment = "2"}]
  groups: ada is in 2 groups for 02_mixture; keep one
late_days.budget = -1
  late_days.budget: found -1; a whole number from 0 to 366
"""


@pytest.mark.parametrize(("text", "problem"), re.findall(r"((?:\w.*\n)+)  (.*)", MISTAKES))
def test_a_mistake_is_named_with_its_place(read, text, problem):
    """What was found, what is allowed, and the nearest match; nothing else is complained about."""
    with pytest.raises(CourseError) as raised:
        read(text % {"on": ON, "shape": SHAPE, "values": VALUES})
    (said,) = raised.value.problems
    assert said.removeprefix("decisions.toml: ").startswith(problem)


def test_of_numbered_students_none_is_nearest(read):
    """Nobody who writes s999 means s299."""
    with pytest.raises(CourseError) as raised:
        read('extensions = [{student = "s999", days = 1}]', students={"s299", "s998"})
    assert "did you mean" not in raised.value.problems[0]


def test_labels_need_a_roster(read):
    """Without one nobody would have them."""
    with pytest.raises(CourseError, match="labels stand in the roster; give it with --roster"):
        read('extensions = [{label = "A", days = 1}]', labels=None)


def test_one_student_by_themselves_may_lack_the_others(read):
    """Of a single submission the others' entries are no mistakes."""
    assert read('extensions = [{student = "dan", days = 1}]', is_everybody=False).extensions


def test_a_class_knows_its_students_labels_and_checks(course, tmp_path):
    """Those of the roster, of the folder, and who was there before; labels in two columns."""
    roster = tmp_path / "roster.csv"
    roster.write_text("student,section,labels\nada,A,part time | late\n", "utf-8")
    known = {one.student: one for one in read_roster(roster)}
    intake = IntakeResult([Student("bob", None)], known)
    (tmp_path / "out" / "former" / "results").mkdir(parents=True)
    (tmp_path / "out" / "former" / "results" / "cyd.json").write_text("", "utf-8")
    names = [f'{{student = "{name}", days = 1}}' for name in ("ada", "bob", "cyd")]
    names += [f'{{label = "{label}", days = 1}}' for label in ("A", "part time", "late")]
    text = f'extensions = [{", ".join(names)}]\ndrop = [{{check = "{HIDDEN_CHECK}"}}]'
    (course.root / "decisions.toml").write_text(text, "utf-8")
    found = class_decisions(course, None, intake, has_roster=True, out=tmp_path / "out")
    assert (len(found.extensions), len(found.drop)) == (6, 1)


def test_without_a_file_nothing_is_decided(course, tmp_path):
    """One that was named has to be there."""
    intake = IntakeResult([Student("bob", None)])
    assert class_decisions(course, None, intake, has_roster=False, out=tmp_path) == Decisions()
    with pytest.raises(CourseError, match="it cannot be read"):
        class_decisions(course, tmp_path / "no.toml", intake, has_roster=False, out=tmp_path)
