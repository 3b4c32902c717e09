"""`grader gradescope`: what the autograder's zip runs for each submission on Gradescope."""

import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from grader.core.records import Result
    from grader.course.course import Course
    from grader.sessions.launchers import Launcher

MAX_FILES = 2_000
NOT_SEALED = (
    "Graded without a seal: this machine's kernel does not allow one. "
    "Your code ran in a process of its own, with limits."
)


@click.command(hidden=True)
@click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=Path("/autograder"),
    show_default=True,
    help="Gradescope's folder, with `submission` in it.",
)
def gradescope(root: Path) -> None:
    """Grade `submission` by all checks and write `results/results.json`.

    Exits with 0; or with 3, and without that file, when the grader itself failed: Gradescope then
    gives no score.
    """
    from grader.course.course import find_course, load_course
    from grader.grading.results import for_student
    from grader.reports.gradescope import gradescope as rendered
    from grader.reports.gradescope import nothing_to_read

    course = load_course(find_course(Path.cwd()))
    launcher, preface = _launcher()
    click.echo(preface or f"Sealed: {', '.join(launcher.isolation)}.")
    result = _graded(course, root / "submission", launcher)
    path = root / "results" / "results.json"
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    if not result.submitted:
        path.write_text(nothing_to_read(preface), "utf-8")
        return
    text = rendered(for_student(result), preface=preface)
    if text is None:
        for note in dict.fromkeys(note for a in result.assignments for note in a.notes):
            click.echo(note, err=True)
        click.echo("Undecided: the grader itself failed; there is no score.", err=True)
        raise SystemExit(3)
    path.write_text(text, "utf-8")


def _launcher() -> "tuple[Launcher, str]":
    """Sealed where the kernel allows it; else a child process, and the words to say so."""
    from grader.grading.seal_probe import CannotSealError, sealed_launcher
    from grader.sessions.launchers import default_launcher

    try:
        return sealed_launcher(), ""
    except CannotSealError as error:
        click.echo(str(error), err=True)
        return default_launcher(), NOT_SEALED


def _graded(course: "Course", folder: Path, launcher: "Launcher") -> "Result":
    import tempfile

    from grader.grading.journal import new_seed
    from grader.grading.orders import WorkOrder
    from grader.grading.worker import Worker
    from grader.submissions.platform_zips import Upload, lay_out
    from grader.submissions.student_folders import Student

    files = ((path, PurePosixPath(path.relative_to(folder).as_posix())) for path in _files(folder))
    upload = Upload("submission", files=tuple(files))
    with tempfile.TemporaryDirectory(prefix="grader-submission-") as temporary:
        place = Path(temporary) / "submission"
        for problem in lay_out(course, upload, place):
            click.echo(problem)
        order = WorkOrder(course.root, course.hash, new_seed(), "sealed")
        worker = Worker(order, launcher)
        try:
            return worker.result(Student("submission", place))
        finally:
            worker.close()


def _files(folder: Path) -> list[Path]:
    """What was handed in that can be graded, never through a link."""
    from grader.submissions.safe_zip import WANTED

    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_", "venv")))
        found += [Path(place) / name for name in sorted(names) if name.lower().endswith(WANTED)]
    return [path for path in found if path.is_file() and not path.is_symlink()][:MAX_FILES]
