"""The files of a run's students: written where their bytes differ, kept aside where nobody counts."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from grader.classes.records import FORMER, feedback_path, record_path
from grader.core.files import OutputFile, file_name, writing

REPORTS = "reports"


@dataclass(slots=True)
class Files:
    """Writes the files of students.

    Args:
        out: the output folder.
        are_written: whether any was.
    """

    out: Path
    are_written: bool = False

    def write(self, files: Iterable[OutputFile]) -> None:
        """Write files of a student, each whole or not at all.

        Raises:
            UsageError: when one cannot be written.
        """
        for file in files:
            if not self.are_written:
                self._move_reports()
            self.are_written = True
            file.write(self.out)

    def _move_reports(self) -> None:
        """Keep an earlier run's reports where nobody takes them for those of newer results."""
        reports, target = self.out / REPORTS, self.out / FORMER / REPORTS
        if reports.is_dir():
            with writing(target):
                shutil.rmtree(target, ignore_errors=True)
                target.parent.mkdir(parents=True, exist_ok=True)
                reports.replace(target)

    def move_away(self, students: Iterable[str]) -> None:
        """Keep former students' files, and their pages, where no report looks for them."""
        for student in students:
            page = self.out / REPORTS / "html" / "students" / f"{file_name(student)}.html"
            for path in (record_path(self.out, student), feedback_path(self.out, student), page):
                if path.is_file():
                    target = self.out / FORMER / path.parent.name / path.name
                    with writing(target):
                        target.parent.mkdir(parents=True, exist_ok=True)
                        path.replace(target)
