"""`grader similar`: who shares what hardly anybody else has."""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from grader.classes.records import Records, open_records
from grader.classes.store import Store
from grader.cli.shared import (
    ANYTHING,
    FOLDER,
    ExitCode,
    class_option,
    cores,
    current_course,
    echo,
    echo_json,
    format_option,
)
from grader.cli.view import Lines, console
from grader.core.errors import UsageError
from grader.core.files import table, write_whole
from grader.core.processes import spread
from grader.core.text import clean, location_words
from grader.course.course import Course
from grader.extras.similarity.pairs import Pair, clusters, find_pairs
from grader.extras.similarity.traces import Given, Work, work_of
from grader.intake.read import read_submissions
from grader.intake.tables import read_text
from grader.reports.html.pages import render_page
from grader.submissions.faults import FAULTS, in_words
from grader.submissions.submission import read_submission

NO_PROOF = (
    "This is no proof of anything. Right answers here are short and must look alike; what is listed "
    "is what two share and hardly anybody else has. People who sit together, the same tutor, one "
    "page on the web, or an assistant explain it as well. Look at the code, then ask."
)


@click.command()
@click.argument("run", type=FOLDER, required=False)
@class_option
@click.option(
    "--archive", "archives", type=ANYTHING, multiple=True, help="What an earlier class handed in."
)
@click.option(
    "--ignore",
    type=ANYTHING,
    help="Groups that may work together: one per line, names separated by commas.",
)
@click.option(
    "--first",
    type=click.IntRange(min=1),
    default=40,
    show_default=True,
    help="How many pairs to show.",
)
@click.option("--html", type=ANYTHING, help="Write a page that shows the pairs side by side.")
@click.option(
    "--export", type=FOLDER, help="Write what students added to the stubs, for dolos or JPlag."
)
@format_option
def similar(
    run: Path,
    *,
    submissions: Path,
    archives: tuple[Path, ...],
    ignore: Path | None,
    first: int,
    html: Path | None,
    export: Path | None,
    format_: str,
) -> ExitCode:
    """Show suspiciously similar submissions in the class of RUN.

    Comments, names, strings, cells that students added, and wrong values that no known mistake
    explains. Texts and results are compared; no student code is run. It is evidence to look at,
    never proof, and nothing of it reaches a student's page.
    """
    course = current_course()
    is_text = format_ == "text"
    waiting = console().status("Reading what was handed in …") if is_text else nullcontext()
    with Store.to_read(run), waiting:
        records = open_records(run)
        works, left_out = gather(course, submissions, records, archives, cores())
    if records.texts.keys().isdisjoint(work.student for work in works):
        raise UsageError(
            f"Nobody in {submissions} has a result in {run}. Give what was graded into "
            "it; in place of a run without names, give one with names."
        )
    groups = read_groups(ignore) if ignore else []
    pairs = find_pairs(works, groups)
    connected, shown = clusters(pairs), pairs[:first]
    if is_text:
        _print(console(), works, len(pairs), shown, connected)
    else:
        record = {
            "note": NO_PROOF,
            "students": len(works),
            "not_compared": left_out,
            "pairs": [
                {"students": [pair.one, pair.other], "score": pair.score, "shared": _shared(pair)}
                for pair in pairs
            ],
            "clusters": connected,
        }
        echo_json(record)
    for line in left_out:
        echo(clean(f"Not compared: {line}"), err=True)
    if html:
        write_whole(html, similar_page(course, works, shown, connected, NO_PROOF))
    if export:
        _export(export, course, works)
    if is_text:
        written = [str(path) for path in (html, export) if path]
        if written:
            echo(f"Written: {', '.join(written)}")
    return ExitCode.FINE


def _print(
    out: Console,
    works: Sequence[Work],
    count: int,
    shown: Sequence[Pair],
    connected: Sequence[Sequence[str]],
) -> None:
    archived = sum(work.is_archived for work in works)
    out.print(Lines(Text(NO_PROOF, style="yellow"), 0))
    sharing = "1 pair shares" if count == 1 else f"{count} pairs share"
    earlier = f" and {archived} of earlier years" if archived else ""
    out.print(f"\n{len(works) - archived} students{earlier}; {sharing} rare things.")
    for number, pair in enumerate(shown, 1):
        names = f"{escape(clean(pair.one))} and {escape(clean(pair.other))}"
        out.print(f"\n[bold]{number:3}. {names}[/]  [dim]{pair.score}[/]", soft_wrap=True)
        for shared in pair.shared[:4]:
            trace = shared.trace
            what = ", ".join(filter(None, (trace.kind, trace.where)))
            words = f"{what}: {clean(trace.text, 90)}; {shared.who_else}"
            out.print(Lines(Text(words), 5))
        if len(pair.shared) > 4:
            out.print(Lines(Text(f"and {len(pair.shared) - 4} more", style="dim"), 5))
    for group in connected[:10]:
        names = ", ".join(map(clean, group[:12])) + (", …" if len(group) > 12 else "")
        out.print(f"\n{len(group)} are connected: {escape(names)}", soft_wrap=True)


def _shared(pair: Pair) -> list[dict[str, object]]:
    """What two share, as other programs read it."""
    return [
        {"kind": s.trace.kind, "where": s.trace.where, "what": s.trace.text, "others": s.others}
        for s in pair.shared
    ]


def _export(folder: Path, course: Course, works: Sequence[Work]) -> None:
    """Write everybody's own lines as other programs read them: a folder a student, a file an assignment.

    Args:
        folder: where; `base` in it has what was handed out, `info.csv` what dolos reads.
        course: the course.
        works: everybody's.
    """
    rows = []
    for work in works:
        for id_, lines in work.own.lines.items():
            path = Path("submissions", work.student.replace("/", "_"), f"{id_}.py")
            text = "\n".join(line.text for line in lines)
            write_whole(folder / path, f"{text}\n")
            rows.append([path.relative_to("submissions").as_posix(), work.student])
    for assignment in course.assignments:
        stub = course.paths(assignment).stub
        if stub.is_file():
            write_whole(folder / "base" / f"{assignment.id}.py", stub.read_bytes())
    write_whole(folder / "info.csv", table([["filename", "label"], *rows], is_exact=True))


# What a class, and classes of earlier years, handed in.


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the work of one student after the other.

    Args:
        course: the course.
        given: what each assignment hands out.
        records: those of a run; None where there is none.
        archive: the name of the earlier year that is read, "" for this class.
    """

    course: Course
    given: Mapping[str, Given]
    records: Records | None
    archive: str = ""

    def work(self, student: str, path: Path | None, refused: str) -> Work | str:
        """The work of a student; "" where nothing was handed in, or why it cannot be read.

        Args:
            student: the student's name.
            path: where it lies.
            refused: why that is known to be unreadable; else "".
        """
        if path is None:
            return refused
        try:
            submission = read_submission(self.course, path, student)
            if not submission.sources:
                return next((r.undecided for r in submission.readings.values() if r.undecided), "")
            has_record = self.records is not None and student in self.records.texts
            result = self.records.failures(student) if self.records and has_record else None
            folder = path if path.is_dir() else path.parent
            return work_of(submission, folder, self.given, result, self.archive)
        except FAULTS as error:
            return in_words(error)


def gather(
    course: Course,
    submissions: Path,
    records: Records | None,
    archives: Sequence[Path] = (),
    jobs: int = 1,
) -> tuple[list[Work], list[str]]:
    """The work of a class and of earlier ones, and whose could not be read, with the reason.

    Args:
        course: the course.
        submissions: what the class handed in, as `grader grade` was given it.
        records: those of a run; of students without one only texts are compared.
        archives: what classes of earlier years handed in.
        jobs: how many processes read, where the class is large.

    Raises:
        UsageError: when there is nothing to read.
    """
    reader = Reader(course, {a.id: Given.of(course, a) for a in course.assignments}, records)
    gc.disable()  # there is a million of small things, none of them in a circle
    try:
        found = [*_class(reader, submissions, jobs)]
        names = [archive.resolve().name for archive in archives]
        for number, (archive, name) in enumerate(zip(archives, names, strict=True), 1):
            named = f"{name}_{number}" if name in names[: number - 1] else name
            found += _class(replace(reader, records=None, archive=named), archive, jobs)
    finally:
        gc.enable()
    works = [work for work in found if isinstance(work, Work)]
    if not works:
        raise UsageError(f"{submissions} holds no work.")
    return works, [work for work in found if isinstance(work, str)]


def _class(reader: Reader, submissions: Path, jobs: int) -> Iterator[Work | str]:
    with read_submissions(reader.course, submissions) as intake:
        pieces = [(s.id, s.path if not s.refused else None, s.refused) for s in intake.students]
        with closing(spread(reader.work, pieces, jobs)) as found:
            for (student, *_), work in zip(pieces, found, strict=True):
                if work:
                    yield f"{student}: {work}" if isinstance(work, str) else work


def read_groups(path: Path) -> list[list[str]]:
    """Who was meant to work together: a group a line, set apart by commas.

    Raises:
        UsageError: when the file cannot be read.
    """
    lines = read_text(path, "list of groups").splitlines()
    groups = [line.partition("#")[0].split(",") for line in lines]
    return [[name.strip() for name in group if name.strip()] for group in groups if any(group)]


# The page: pairs side by side, with what they share.

AROUND = 2
"""Lines shown before and after one that is shared."""


Excerpt = tuple[str, list[tuple[int, str, bool]]]
"""Where lines that follow one another begin, and each line's number, text and whether it is shared."""


def similar_page(
    course: Course,
    works: Sequence[Work],
    pairs: Sequence[Pair],
    groups: Sequence[Sequence[str]],
    note: str,
) -> str:
    """The page's whole text.

    Args:
        course: the course.
        works: everybody's.
        pairs: those to show.
        groups: students whom pairs connect.
        note: what it opens with.
    """
    by_student = {work.student: work for work in works}
    return render_page(
        "similar.html.j2",
        title=course.text(course.title),
        note=note,
        students=len(works),
        groups=groups,
        pairs=[
            (pair, _excerpts(pair, by_student[pair.one]), _excerpts(pair, by_student[pair.other]))
            for pair in pairs
        ],
    )


def _excerpts(pair: Pair, work: Work) -> list[Excerpt]:
    """The places of a student's own code with what is shared."""
    own, found = work.own, list[Excerpt]()
    marked = {own.lines_of.get(shared.trace) for shared in pair.shared} - {None}
    for lines in own.lines.values():
        near = {
            n
            for number, line in enumerate(lines)
            if line in marked
            for n in range(number - AROUND, number + AROUND + 1)
        }
        kept = [line for number, line in enumerate(lines) if number in near]
        for (file, cell), group in groupby(kept, key=lambda line: (line.file, line.cell)):
            shown = [(line.number, clean(line.text, 200), line in marked) for line in group]
            found.append((location_words(clean(file), cell, shown[0][0]), shown))
    return found
