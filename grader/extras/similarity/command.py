"""`grader similar`: who shares what hardly anybody else has."""

import json
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from grader.classes.records import open_records
from grader.classes.store import Store
from grader.cli.shared import (
    ANYTHING,
    FOLDER,
    ExitCode,
    class_option,
    cores,
    current_course,
    echo,
    format_option,
)
from grader.cli.view import console, indented
from grader.core.errors import UsageError
from grader.core.files import table, write_whole
from grader.core.text import clean
from grader.course.course import Course
from grader.extras.similarity.gather import gather, read_groups
from grader.extras.similarity.page import similar_page
from grader.extras.similarity.pairs import Pair, clusters, find_pairs
from grader.extras.similarity.traces import Work

NO_PROOF = (
    "This is no proof of anything. Right answers here are short and must look alike; what is listed "
    "is what two share and hardly anybody else has. People who sit together, the same tutor, one "
    "page on the web, or an assistant explain it as well. Look at the code, then ask."
)


@click.command()
@click.argument("run", type=FOLDER)
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
        _print(console(), works, pairs, shown, connected)
    else:
        echo(json.dumps(_json(works, pairs, connected, left_out), indent=2, ensure_ascii=False))
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
    pairs: Sequence[Pair],
    shown: Sequence[Pair],
    connected: Sequence[Sequence[str]],
) -> None:
    archived = sum(work.is_archived for work in works)
    out.print(indented(Text(NO_PROOF, style="yellow"), 0))
    earlier = f" and {archived} of earlier years" if archived else ""
    out.print(f"\n{len(works) - archived} students{earlier}; {_pairs(len(pairs))} rare things.")
    for number, pair in enumerate(shown, 1):
        names = f"{escape(clean(pair.one))} and {escape(clean(pair.other))}"
        out.print(f"\n[bold]{number:3}. {names}[/]  [dim]{pair.score}[/]", soft_wrap=True)
        for shared in pair.shared[:4]:
            trace = shared.trace
            what = ", ".join(filter(None, (trace.kind, trace.where)))
            words = f"{what}: {clean(trace.text, 90)}; {shared.who_else}"
            out.print(indented(Text(words), 5))
        if len(pair.shared) > 4:
            out.print(indented(Text(f"and {len(pair.shared) - 4} more", style="dim"), 5))
    for group in connected[:10]:
        names = ", ".join(map(clean, group[:12])) + (", …" if len(group) > 12 else "")
        out.print(f"\n{len(group)} are connected: {escape(names)}", soft_wrap=True)


def _pairs(count: int) -> str:
    return "1 pair shares" if count == 1 else f"{count} pairs share"


def _json(
    works: Sequence[Work],
    pairs: Sequence[Pair],
    connected: Sequence[Sequence[str]],
    left_out: Sequence[str],
) -> dict[str, object]:
    return {
        "note": NO_PROOF,
        "students": len(works),
        "not_compared": [*left_out],
        "pairs": [
            {
                "students": [pair.one, pair.other],
                "score": pair.score,
                "shared": [
                    {
                        "kind": str(shared.trace.kind),
                        "where": shared.trace.where,
                        "what": shared.trace.text,
                        "others": shared.others,
                    }
                    for shared in pair.shared
                ],
            }
            for pair in pairs
        ],
        "clusters": [[*group] for group in connected],
    }


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
