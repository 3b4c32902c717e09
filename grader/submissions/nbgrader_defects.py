"""What nbgrader would stumble over in a notebook that was handed in, compared with the released one.

Our own grader reads such notebooks all the same; these are sentences for the instructor who also
runs nbgrader.
"""

from collections import Counter
from dataclasses import dataclass, field

from grader.core.errors import SubmissionError
from grader.submissions.notebooks import cells_of, nbgrader_marks, text_of


@dataclass(frozen=True, slots=True)
class Marked:
    """The cells of a notebook that nbgrader knows by name.

    Args:
        names: how often each stands in the notebook.
        tests: the text of each test cell.
    """

    names: Counter[str] = field(default_factory=Counter)
    tests: dict[str, str] = field(default_factory=dict)


def defects(handed_in: bytes, released: bytes) -> tuple[str, ...]:
    """What nbgrader would stumble over, in sentences; nothing for what is no notebook at all.

    Args:
        handed_in: the student's file.
        released: the notebook as the course hands it out.
    """
    try:
        found, wanted = _marked(handed_in), _marked(released)
    except SubmissionError:
        return ()
    if wanted.names and not found.names:
        return (
            "it has lost nbgrader's marks on its cells: nbgrader would leave every score to be given "
            "by hand",
        )
    doubled = [name for name in wanted.names if found.names[name] > 1]
    gone = [name for name in wanted.names if not found.names[name]]
    tests = [name for name in gone if name in wanted.tests]
    own = [name for name in gone if name not in wanted.tests]
    edited = [n for n, text in wanted.tests.items() if found.tests.get(n, text).strip() != text]
    found_in = (
        (doubled, "stands more than once", "stop here, for the whole class"),
        (tests, "is missing", "leave its score to be given by hand"),
        (own, "is missing", "show no comment on it"),
        (edited, "was changed", "put its own back"),
    )
    return tuple(
        f"the cell {', '.join(names)} {what}: nbgrader would {consequence}"
        for names, what, consequence in found_in
        if names
    )


def _marked(data: bytes) -> Marked:
    marked = Marked()
    for cell in cells_of(data):
        marks = nbgrader_marks(cell) if isinstance(cell, dict) else {}
        name = marks.get("grade_id")
        if not isinstance(name, str):
            continue
        marked.names[name] += 1
        if marks.get("grade") is True and not marks.get("solution"):
            marked.tests[name] = text_of(cell).strip()
    return marked
