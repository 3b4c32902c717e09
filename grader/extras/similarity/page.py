"""The page of `grader similar`: pairs side by side, with what they share."""

from collections.abc import Sequence
from itertools import groupby

from grader.core.text import clean, location_words
from grader.course.course import Course
from grader.extras.similarity.pairs import Pair
from grader.extras.similarity.traces import Work
from grader.reports.html.pages import render_page

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
