"""`grader gradescope`: what the autograder's zip runs for each submission on Gradescope."""

import os
import secrets
import tempfile
from contextlib import closing
from pathlib import Path, PurePosixPath

import click

from grader.classes.store import RunSettings
from grader.classes.worker import Worker
from grader.cli.shared import ExitCode, current_course
from grader.core.records import Result
from grader.course.course import Course
from grader.extras.gradescope.report import gradescope as render
from grader.extras.gradescope.report import nothing_to_read
from grader.intake.folders import Student
from grader.intake.platform_zips import Upload, lay_out
from grader.intake.safe_zip import WANTED
from grader.judging import seal_probe
from grader.judging.results import for_student
from grader.sessions import launchers

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
def gradescope(root: Path) -> ExitCode:
    """Grade `submission` by all checks and write `results/results.json`.

    Exits with 0; or with 3, and without that file, when the grader itself failed: Gradescope then
    gives no score.
    """
    course = current_course()
    launcher: launchers.Launcher
    try:
        preface, launcher = "", seal_probe.sealed_launcher(course.packages)
    except seal_probe.CannotSealError as error:
        click.echo(str(error), err=True)
        preface, launcher = NOT_SEALED, launchers.default_launcher(course.packages)
    click.echo(preface or f"Sealed: {', '.join(launcher.isolation)}.")
    result = _graded(course, root / "submission", launcher)
    path = root / "results" / "results.json"
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    text = nothing_to_read(preface)
    if result.submitted:
        record = render(for_student(result), preface=preface)
        if record is None:
            for note in dict.fromkeys(note for a in result.assignments for note in a.notes):
                click.echo(note, err=True)
            click.echo("Undecided: a part could not be judged; there is no score.", err=True)
            return ExitCode.GRADERS_FAULT
        text = record
    path.write_text(text, "utf-8")
    return ExitCode.FINE


def _graded(course: Course, folder: Path, launcher: launchers.Launcher) -> Result:
    files = ((path, PurePosixPath(path.relative_to(folder).as_posix())) for path in _files(folder))
    upload = Upload("submission", files=tuple(files))
    with tempfile.TemporaryDirectory(prefix="grader-submission-") as temporary:
        work = Path(temporary) / "submission"
        for problem in lay_out(course, upload, work):
            click.echo(problem)
        settings = RunSettings(course.root, course.hash, str(secrets.randbits(64)), "sealed")
        with closing(Worker(settings, launcher)) as worker:
            return worker.result(Student("submission", work))


def _files(folder: Path) -> list[Path]:
    """What was handed in that can be graded, never through a link."""
    paths = list[Path]()
    for path, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_", "venv")))
        paths += [Path(path) / name for name in sorted(names) if name.lower().endswith(WANTED)]
    return [path for path in paths if path.is_file() and not path.is_symlink()]
