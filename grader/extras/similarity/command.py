"""`grader similar`: who shares what hardly anybody else has."""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

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
from grader.extras.similarity.pairs import CODE, Pair, Shared, clusters, find_pairs
from grader.extras.similarity.traces import Given, Own, Trace, Work, work_of
from grader.intake.read import read_submissions
from grader.intake.tables import read_text
from grader.reports.html.pages import render_page
from grader.submissions.faults import FAULTS, in_words
from grader.submissions.submission import read_submission

NO_PROOF = (
    "This is no proof of anything. Right answers are short and must look alike; what is listed is "
    "what two share and hardly anybody else has. People who sit together, the same tutor, one page "
    "on the web, or an assistant explain it as well. Look at both texts, then ask."
)
MEANING = (
    "The number says how unlikely it is that two of this class share so much by chance: with 10 more "
    "it is a thousand times less likely."
)
MOST_NEAR = 12
"""Near misses that are shown."""


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

    Comments, names, strings, cells that students added, code of the same structure, the order of
    definitions, and wrong values that no known mistake explains. What almost suffices is listed
    below. Texts and results are compared; no student code is run. It is evidence to look at, never
    proof, and nothing of it reaches a student's page.
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
    pairs, near = find_pairs(works, groups)
    connected, shown = clusters(pairs), pairs[:first]
    if is_text:
        _print(console(), works, len(pairs), shown, near[:MOST_NEAR], connected)
    else:
        record = {
            "note": NO_PROOF,
            "students": len(works),
            "not_compared": left_out,
            "pairs": [_record(pair) for pair in pairs],
            "near_misses": [_record(pair) for pair in near],
            "clusters": connected,
        }
        echo_json(record)
    for line in left_out:
        echo(clean(f"Not compared: {line}"), err=True)
    if html:
        write_whole(html, similar_page(course, works, shown, near[:MOST_NEAR], connected))
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
    near: Sequence[Pair],
    connected: Sequence[Sequence[str]],
) -> None:
    archived = sum(work.is_archived for work in works)
    out.print(Lines(Text(NO_PROOF, style="yellow"), 0))
    sharing = "1 pair shares" if count == 1 else f"{count} pairs share"
    earlier = f" and {archived} of earlier years" if archived else ""
    out.print(f"\n{len(works) - archived} students{earlier}; {sharing} rare things.")
    if shown:
        out.print(Lines(Text(MEANING, style="dim"), 0))
    for number, pair in enumerate(shown, 1):
        out.print(f"\n[bold]{number:3}. {_names(pair)}[/]  [dim]{pair.score}[/]", soft_wrap=True)
        for shared in pair.shared[:4]:
            out.print(Lines(Text(_in_words(shared)), 5))
        if len(pair.shared) > 4:
            out.print(Lines(Text(f"and {len(pair.shared) - 4} more", style="dim"), 5))
    if near:
        out.print("\nNear misses, which share less; most are chance:")
    for pair in near:
        out.print(f"     {_names(pair)}  [dim]{pair.score}[/]", soft_wrap=True)
        out.print(Lines(Text(_in_words(pair.shared[0]), style="dim"), 8))
    for group in connected[:10]:
        names = ", ".join(map(clean, group[:12])) + (", …" if len(group) > 12 else "")
        out.print(f"\n{len(group)} are connected: {escape(names)}", soft_wrap=True)


def _names(pair: Pair) -> str:
    return f"{escape(clean(pair.one))} and {escape(clean(pair.other))}"


def _in_words(shared: Shared) -> str:
    trace = shared.trace
    what = ", ".join(filter(None, (trace.kind, trace.where)))
    return f"{what}: {clean(trace.text, 90)}; {shared.who_else}"


def _record(pair: Pair) -> dict[str, object]:
    """A pair as other programs read it."""
    shared = [
        {
            "kind": entry.trace.kind,
            "where": entry.trace.where,
            "what": entry.trace.text,
            "others": entry.others,
            "score": round(entry.weight, 1),
        }
        for entry in pair.shared
    ]
    return {"students": [pair.one, pair.other], "score": pair.score, "shared": shared}


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


# The page: what each pair shares, as it stands in the work of both.

AROUND = 1
"""Lines shown before and after one that is shared."""
MOST_SHOWN = 12
"""Things shown of a pair."""


class Excerpt(NamedTuple):
    """A piece of a student's work.

    Args:
        where: its place; "" for what stands in no line.
        lines: each line's number, text and whether it is shared.
    """

    where: str
    lines: Sequence[tuple[int | None, str, bool]]


def similar_page(
    course: Course,
    works: Sequence[Work],
    pairs: Sequence[Pair],
    near: Sequence[Pair],
    groups: Sequence[Sequence[str]],
) -> str:
    """The page's whole text.

    Args:
        course: the course.
        works: everybody's.
        pairs: those to show.
        near: near misses, of which less is shown.
        groups: students whom pairs connect.
    """
    by_student = {work.student: work for work in works}
    return render_page(
        "similar.html.j2",
        title=course.text(course.title),
        note=NO_PROOF,
        meaning=MEANING,
        students=len(works),
        groups=groups,
        pairs=[(pair, _evidence(pair, by_student)) for pair in pairs],
        near=near,
    )


def _evidence(
    pair: Pair, works: Mapping[str, Work]
) -> list[tuple[Shared, list[tuple[str, Excerpt]]]]:
    """What two share, with each one's own text; the code of one definition is shown once."""
    both = [(name, works[name].own) for name in (pair.one, pair.other)]
    evidence, seen = list[tuple[Shared, list[tuple[str, Excerpt]]]](), set[tuple[str, str]]()
    for shared in pair.shared[:MOST_SHOWN]:
        trace = shared.trace
        is_shown = trace.kind in CODE and (trace.where, trace.place) in seen
        sides = [] if is_shown else [(name, _excerpt(own, trace)) for name, own in both]
        if trace.kind in CODE:
            seen.add((trace.where, trace.place))
        evidence.append((shared, sides))
    return evidence


def _excerpt(own: Own, trace: Trace) -> Excerpt:
    """How a trace stands in a student's work."""
    text = own.texts[trace]
    if isinstance(text, str):
        return Excerpt("", [(None, clean(line, 400), False) for line in text.splitlines()])
    first = text[0]
    lines = [line for line in chain(*own.lines.values()) if line[:2] == first[:2]]
    near = {line.number + n for line in text for n in range(-AROUND, AROUND + 1)}
    shown = [(n.number, clean(n.text, 200), n in text) for n in lines if n.number in near]
    return Excerpt(location_words(clean(first.file), first.cell, first.number), shown)
