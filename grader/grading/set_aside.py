"""What does not count any more, kept where no report looks for it."""

import shutil
from pathlib import Path

from grader.core.files import file_name, writing
from grader.grading.class_files import feedback_path, record_path

REPORTS = "reports"
LEFT = "left"
"""The folder for what does not count any more: of former students, and older reports."""


def move_aside(out: Path, student: str) -> None:
    """Keep a former student's two files, and their page, where no report looks for them."""
    page = out / REPORTS / "html" / "students" / f"{file_name(student)}.html"
    for path in (record_path(out, student), feedback_path(out, student), page):
        if path.is_file():
            target = out / LEFT / path.parent.name / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)


def set_reports_aside(out: Path) -> None:
    """Keep an earlier run's reports where nobody takes them for those of newer results."""
    reports, target = out / REPORTS, out / LEFT / REPORTS
    if reports.is_dir():
        with writing(target):
            shutil.rmtree(target, ignore_errors=True)
            target.parent.mkdir(parents=True, exist_ok=True)
            reports.replace(target)
