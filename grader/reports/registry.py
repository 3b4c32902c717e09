"""All reports by name: the one table to which a new report is added."""

from collections.abc import Iterator, Sequence

from grader.core.files import OutputFile
from grader.reports import classroom50, github, gradebooks, gradescope, items, junit
from grader.reports.base import Checked, CheckedWork, GradedClass, Report
from grader.reports.html import report as html

REPORTS: dict[str, Report] = {
    "html": Report(html.check, html.grade),
    "junit": Report(junit.check, junit.grade),
    "github": Report(github.check, github.grade),
    "classroom50": Report(classroom50.check, classroom50.grade),
    "gradescope": Report(gradescope.check, gradescope.grade),
    "csv": Report(gradebooks.check, None),  # `grader grade` always writes it
    "canvas": Report(None, gradebooks.canvas),
    "items": Report(None, items.grade),
    "moodle": Report(None, gradebooks.moodle),
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
