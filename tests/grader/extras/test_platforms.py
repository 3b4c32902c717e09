"""What single platforms ask for beyond a valid record."""

import csv
import io
import zipfile
from dataclasses import replace

from msgspec import structs

from grader.core.records import CheckResult, CodeLocation, Outcome, Visibility
from grader.extras import classroom50
from grader.extras import junit as junit_report
from grader.extras.canvas_and_moodle import canvas, moodle
from grader.extras.gradescope import report as gradescope
from grader.extras.gradescope.report import nothing_to_read
from grader.extras.junit import junit
from grader.intake.roster import Enrolled

TOLD = {
    "classroom": "spring",
    "assignment": "attention",
    "assignment_type": "group",
    "owner": "ada",
    "submission": "submit/2027-02-01",
    "commit": "commit",
    "release": "release",
    "review": "review",
}
NAMES = (
    "CLASSROOM ASSIGNMENT ASSIGNMENT_TYPE OWNER SUBMISSION_TAG COMMIT_URL RELEASE_URL REVIEW_URL"
)


def test_classroom50_tells_what_the_runner_told(check_run, schemas) -> None:
    """Everything about the submission comes from its environment."""
    environment = dict(zip(NAMES.split(), TOLD.values(), strict=True))
    (file,) = classroom50.report.check(replace(check_run, environment=environment)).files
    record = schemas.classroom50(file.text)
    told = {key: record[key] for key in list(record)[:10]}
    assert file.path == "result.json"
    assert told == {
        "schema": "classroom50/result/v1",
        **TOLD,
        "datetime": "2027-02-01T12:30:05Z",
    }


def test_classroom50_has_the_diagnosis_beside_each_test(class_run, example_class, schemas) -> None:
    """The named mistakes, and what the checks said."""
    run = replace(class_run, results=[example_class["scale_forgotten"]])
    (file,) = classroom50.report.grade(run)
    tests = {test["test-name"]: test for test in schemas.classroom50(file.text)["tests"]}
    told = tests["04_self_attention/SelfAttention_v2"]
    assert told["misconceptions"] == ["v2-scale-missing"]
    assert told["message"].startswith("It is v2-scale-missing. (v2-scale-missing) Why ")


def test_gradescope_never_hides_the_total(class_run, schemas) -> None:
    """No test is hidden, whatever check it stands for."""
    for file in gradescope.report.grade(class_run):
        if file.content is not None:
            record = schemas.gradescope(file.text)
            shown = {record["visibility"], *(test["visibility"] for test in record["tests"])}
            assert shown == {"visible"}


def test_gradescope_says_so_when_there_is_nothing_to_read(schemas) -> None:
    """A hand-in without a script is told what is missing."""
    record = schemas.gradescope(nothing_to_read("Not sealed."))
    assert (record["score"], record["tests"]) == (0, [])
    assert record["output"].startswith("Not sealed.\n\nThere is no .py and no .ipynb in what")


def test_junit_counts_what_it_holds(class_run, schemas) -> None:
    """Failures, errors and skipped cases as often as the counts say."""
    tags = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    for file in junit_report.report.grade(class_run):
        root = schemas.junit(file.text)
        for suite in root:
            counts = {plural: len(suite.findall(f"testcase/{tags[plural]}")) for plural in tags}
            assert counts == {plural: int(suite.get(plural)) for plural in tags}
        assert int(root.get("tests")) == len(list(root.iter("testcase")))


def test_junit_holds_any_text(check_run, schemas) -> None:
    """What XML cannot hold is replaced; places stand in front."""
    check = CheckResult(
        *("01_a/f::visible::test_it", "a\x00b", Visibility.VISIBLE, 1, Outcome.FAILED),
        *("]]> <b>\x1b\ud800", 0.1),
        where=CodeLocation("01_a/a.py", 3),
    )
    (assignment, *_) = check_run.result.assignments
    exercise = structs.replace(assignment.exercises[0], checks=(check,))
    result = structs.replace(
        check_run.result,
        student="\udce4",
        assignments=(structs.replace(assignment, exercises=(exercise,)),),
    )
    (case,) = schemas.junit(junit(replace(check_run, result=result))).iter("testcase")
    assert case.get("name") == "a\ufffdb"
    assert case[0].text == "01_a/a.py, line 3\n]]> <b>\ufffd\ufffd"


def test_canvas_gets_its_own_columns(class_run, example_class) -> None:
    """A row of possible points, then each student by the numbers that the roster knows."""
    results = [example_class["partly_done"], example_class["never_handed_in"]]
    ada = Enrolled("partly_done", "Lovelace, Ada", "ada", "42", "", "A")
    file, no_zip = canvas(replace(class_run, results=results, roster={"partly_done": ada}))
    assert no_zip.text.startswith("There is no feedback.zip: Canvas knows a page by ")
    header, possible, first, second = csv.reader(file.text.splitlines())
    titles = [assignment.title for assignment in class_run.course.assignments]
    given = class_run.course.assignments
    most = [str(0 if one.optional else one.max_score) for one in given]
    blank = len(given) - 2
    assert header == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles]
    assert possible == ["    Points Possible", "", "", "", "", *most]
    assert first == ["Lovelace, Ada", "42", "", "ada", "A", "6", "6.5", *[""] * blank]
    assert second == ["never_handed_in", "", "", "never_handed_in", "", *[""] * len(given)]


def test_a_blank_overwrites_no_grade(class_run, example_class) -> None:
    """Where nothing was handed in for an assignment there is no number."""
    result = example_class["scale_forgotten"]  # handed in assignment 04 alone
    file, _no_zip = canvas(replace(class_run, results=[result]))
    cells = list(csv.reader(file.text.splitlines()))[2][5:]
    assert cells == ["", "", "", str(result.score), *[""] * (len(class_run.course.assignments) - 4)]


def test_moodles_worksheets_are_for_those_whom_moodle_listed(class_run, example_class) -> None:
    """By Moodle's own identifier; everybody else is in the grade import alone."""
    results = [example_class["partly_done"], example_class["two_mistakes"]]
    numbers = {"number": "7", "email": "ada@example.org", "identifier": "Participant 7"}
    ada = Enrolled("partly_done", "Ada Lovelace", **numbers)
    made = {
        file.path: file.text
        for file in moodle(replace(class_run, results=results, roster={"partly_done": ada}))
        if file.path != "feedback.zip"
    }
    assert len(made) == 1 + len(class_run.course.assignments)
    rows = made["worksheet_01_simple_attention.csv"].splitlines()
    assert rows[0] == (
        "Identifier,Full name,Email address,Grade,Maximum Grade,Grade can be changed,"
        "Last modified (grade)"
    )
    score = str(example_class["partly_done"].assignments[0].score)
    assert rows[1:] == [f"Participant 7,Ada Lovelace,ada@example.org,{score},13,Yes,-"]
    assert made["grades.csv"].splitlines()[2].startswith("two_mistakes,,,")


def test_pages_come_back_as_the_platform_takes_them(class_run, example_class) -> None:
    """Named as its download was; who is not in one, and who handed in nothing, has none there."""
    names = ("partly_done", "two_mistakes", "never_handed_in")
    results = [example_class[name] for name in names]
    downloads = {
        canvas: ("lovelaceada_LATE_42_977_", "turingalan_43_978_", "beno_44_979_"),
        moodle: ("Ada Lovelace_42_assignsubmission_file_", "", "Bo_44_assignsubmission_file_"),
    }
    for report, prefixes in downloads.items():
        roster = {n: Enrolled(n, upload=prefix) for n, prefix in zip(names, prefixes, strict=True)}
        run = replace(class_run, results=results, roster=roster)
        one, again = ({file.path: file.data for file in report(run)} for _ in range(2))
        assert one == again
        with zipfile.ZipFile(io.BytesIO(one["feedback.zip"])) as archive:
            expected = [f"{prefix}feedback.html" for prefix in prefixes[:2] if prefix]
            assert archive.namelist() == expected
            assert "partly_done" in archive.read(expected[0]).decode()


def test_moodles_worksheet_is_enough_for_its_zip(class_run, example_class) -> None:
    """The name and the number in it are those of a download; underscores are none of a name."""
    ada = Enrolled("partly_done", "Ada_B Lovelace", number="7", identifier="Participant 7")
    run = replace(class_run, results=[example_class["partly_done"]], roster={"partly_done": ada})
    made = {file.path: file.data for file in moodle(run)}
    with zipfile.ZipFile(io.BytesIO(made["feedback.zip"])) as archive:
        assert archive.namelist() == ["Ada B Lovelace_7_assignsubmission_file_feedback.html"]
