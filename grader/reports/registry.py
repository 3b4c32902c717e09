"""All reports by name: the one table to which a new report is added."""

from collections.abc import Iterator, Sequence

from grader.core.files import OutputFile
from grader.reports import github, items
from grader.reports.base import Checked, CheckedWork, GradedClass, Report, one_file
from grader.reports.html import report as html
from grader.reports.junit import junit
from grader.reports.platforms import canvas, classroom50, gradescope, moodle, scores_csv

REPORTS: dict[str, Report] = {
    "html": Report(html.check, html.grade),
    "junit": one_file("junit.xml", junit),
    "github": Report(github.check, github.grade),
    "classroom50": one_file("result.json", classroom50),
    "gradescope": one_file("results.json", lambda run: gradescope(run.result)),
    "csv": Report(
        one_file("scores.csv", lambda run: scores_csv(run.course, [run.result])).check, None
    ),  # `grader grade` always writes it
    "canvas": Report(None, canvas),
    "items": Report(None, items.grade),
    "moodle": Report(None, moodle),
}
CHECK_REPORTS = tuple(name for name, report in REPORTS.items() if report.check is not None)
GRADE_REPORTS = tuple(REPORTS)


def checked(names: Sequence[str], run: CheckedWork) -> Checked:
    """The reports asked for, of a student's own run."""
    made = [REPORTS[name].check for name in dict.fromkeys(names)]
    parts = [make(run) for make in made if make is not None]
    files = tuple(file for part in parts for file in part.files)
    return Checked(files, tuple(line for part in parts for line in part.lines))


def graded(names: Sequence[str], run: GradedClass) -> Iterator[OutputFile]:
    """The reports asked for, of a class; each report's files in a folder of its name."""
    for name in dict.fromkeys(names):
        make = REPORTS[name].grade
        for file in make(run) if make is not None else ():
            yield OutputFile(f"{name}/{file.path}", file.content, file.append)
