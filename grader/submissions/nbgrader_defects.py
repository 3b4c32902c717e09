"""What nbgrader would stumble over in a notebook that was handed in, compared with the released one.

Our own grader reads such notebooks all the same; these are sentences for the instructor who also
runs nbgrader.
"""

from collections import Counter

from grader.core.errors import SubmissionError
from grader.submissions.notebooks import cells_of, nbgrader_marks, notebook_text, text_of


def is_defect(note: str) -> bool:
    """Whether a note is such a sentence."""
    return ": nbgrader would " in note


def defects(handed_in: bytes, released: bytes) -> tuple[str, ...]:
    """What nbgrader would stumble over, in sentences; nothing for what is no notebook at all.

    Args:
        handed_in: the student's file.
        released: the notebook as the course hands it out.
    """
    try:
        (found, texts), (wanted, tests) = _marked(handed_in), _marked(released)
    except SubmissionError:
        return ()
    if wanted and not found:
        return (
            "it has lost nbgrader's marks on its cells: nbgrader would leave every score to be given "
            "by hand",
        )
    doubled = [name for name in wanted if found[name] > 1]
    gone = [name for name in wanted if not found[name]]
    gone_tests = [name for name in gone if name in tests]
    own = [name for name in gone if name not in tests]
    edited = [name for name, text in tests.items() if texts.get(name, text) != text]
    found_in = (
        (
            doubled,
            ("stands more than once", "stand more than once"),
            "stop here, for the whole class",
        ),
        (gone_tests, ("is missing", "are missing"), "leave the score to be given by hand"),
        (own, ("is missing", "are missing"), "show no comment there"),
        (edited, ("was changed", "were changed"), "put its own back"),
    )
    return tuple(
        f"the cell{'s' * (len(names) > 1)} {', '.join(names)} {fault[len(names) > 1]}: nbgrader would "
        f"{consequence}"
        for names, fault, consequence in found_in
        if names
    )


def _marked(data: bytes) -> tuple[Counter[str], dict[str, str]]:
    """How often each name that nbgrader gave stands in a notebook, and each test cell's text."""
    found = (c for c in cells_of(notebook_text(data).text) if isinstance(c, dict))
    cells = [(nbgrader_marks(cell), text_of(cell).strip()) for cell in found]
    named = [(m["grade_id"], m, text) for m, text in cells if isinstance(m.get("grade_id"), str)]
    tests = {n: text for n, m, text in named if m.get("grade") is True and not m.get("solution")}
    return Counter(name for name, *_ in named), tests
