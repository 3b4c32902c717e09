"""`grader similar`: who shares what hardly anybody else has."""

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from grader.cli.edge import ExitCode
from grader.cli.streams import echo
from grader.cli.view import console, indented
from grader.core.errors import UsageError
from grader.core.files import writing
from grader.core.text import clean
from grader.course.course import Course
from grader.grading.class_files import read_record
from grader.grading.journal import earlier_run
from grader.reports.html.similar_page import similar_page
from grader.similarity.gather import gather, read_groups
from grader.similarity.pairs import Pair, clusters, find_pairs
from grader.similarity.traces import Work

NO_PROOF = (
    "This is no proof of anything. Right answers here are short and must look alike; what is listed "
    "is what two share and hardly anybody else has. People who sit together, the same tutor, one "
    "page on the web, or an assistant explain it as well. Look at the code, then ask."
)


@dataclass(frozen=True, slots=True)
class SimilarOptions:
    """What `grader similar` was asked for, as its help says."""

    run: Path
    submissions: Path
    archives: tuple[Path, ...]
    ignore: Path | None
    first: int
    html: Path | None
    export: Path | None
    format_: str


def run_similar(course: Course, options: SimilarOptions) -> ExitCode:
    """Compare a class with itself and with earlier years, and show the most telling pairs.

    Raises:
        UsageError: when there is no such run, or nothing to compare.
    """
    if earlier_run(options.run) is None:
        raise UsageError(f"{options.run} is no folder that `grader grade --out` wrote.")
    records = sorted((options.run / "results").glob("*.json"))
    results = {path.stem: read_record(path) for path in records}
    works = gather(course, options.submissions, results, options.archives)
    groups = read_groups(options.ignore) if options.ignore else []
    pairs = find_pairs(works, groups)
    shown = pairs[: options.first]
    if options.format_ == "json":
        echo(json.dumps(_json(works, pairs), indent=2, ensure_ascii=False))
    else:
        _print(console(), works, pairs, shown)
    if options.html:
        page = similar_page(course, works, shown, clusters(pairs), NO_PROOF)
        with writing(options.html):
            options.html.write_text(page, "utf-8")
    if options.export:
        export(options.export, course, works)
    if options.format_ == "text":
        written = [str(path) for path in (options.html, options.export) if path]
        if written:
            echo(f"Written: {', '.join(written)}")
    return ExitCode.FINE


def _print(
    out: Console, works: Sequence[Work], pairs: Sequence[Pair], shown: Sequence[Pair]
) -> None:
    archived = sum(work.is_archived for work in works)
    out.print(indented(Text(NO_PROOF, style="yellow"), 0))
    earlier = f" and {archived} of earlier years" if archived else ""
    out.print(f"\n{len(works) - archived} students{earlier}; {len(pairs)} pairs share rare things.")
    for number, pair in enumerate(shown, 1):
        names = f"{escape(clean(pair.one))} and {escape(clean(pair.other))}"
        out.print(f"\n[bold]{number:3}. {names}[/]  [dim]{pair.score}[/]", soft_wrap=True)
        for shared in pair.shared[:4]:
            who = f"; {shared.others} others have it" if shared.others else "; nobody else has it"
            words = (
                f"{shared.trace.kind}, {shared.trace.where}: {clean(shared.trace.text, 90)}{who}"
            )
            out.print(indented(Text(words), 5))
        if len(pair.shared) > 4:
            out.print(indented(Text(f"and {len(pair.shared) - 4} more", style="dim"), 5))
    for group in clusters(pairs)[:10]:
        names = ", ".join(map(clean, group[:12])) + (", …" if len(group) > 12 else "")
        out.print(f"\n{len(group)} are connected: {escape(names)}", soft_wrap=True)


def _json(works: Sequence[Work], pairs: Sequence[Pair]) -> dict[str, object]:
    return {
        "note": NO_PROOF,
        "students": len(works),
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
        "clusters": [[*group] for group in clusters(pairs)],
    }


def export(folder: Path, course: Course, works: Sequence[Work]) -> None:
    """Write everybody's own lines as other programs read them: a folder a student, a file an assignment.

    Args:
        folder: where; `base` in it has what was handed out, `info.csv` what dolos reads.
        course: the course.
        works: everybody's.
    """
    rows = []
    for work in works:
        for id_, lines in work.lines.items():
            path = Path("submissions", work.student.replace("/", "_"), f"{id_}.py")
            text = "\n".join(line.text for line in lines)
            _write(folder / path, f"{text}\n")
            rows.append([path.relative_to("submissions").as_posix(), work.student])
    for assignment in course.assignments:
        stub = course.paths(assignment).stub
        if stub.is_file():
            _write(folder / "base" / f"{assignment.id}.py", stub.read_text("utf-8"))
    with writing(folder / "info.csv"), (folder / "info.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["filename", "label"], *rows])


def _write(path: Path, text: str) -> None:
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
