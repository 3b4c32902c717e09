"""Views for the example course: a text of three words, and one exercise's scores."""

from pathlib import Path

from grader.course.course import CHECKS, Course, load_course

SHARED = """\
from grader.testing import ExampleText

EXAMPLE = ExampleText("One small step", [[0.0, 1.0], [0.5, 0.5], [1.0, 0.25]])
"""
HEAD = """\
from grader.testing import N_, view

"""
VIEW = '''\
@view(
    "scores",
    N_("Scores of the first word"),
    look=N_("They grow with the query."),
    ask=N_("By how much?"),
    moves={"size": [1, 2]},
)
def first(student, text, heat, size):
    """Scores of the first word."""
    value = student.call("scores", size * text.vectors[:1], text.vectors).value
    return heat(value, rows=text.words[:1], columns=text.words, axes=["query", "key"])
'''


def write_views(folder: Path, view: str = VIEW) -> Course:
    """Give the example course a text and a view."""
    (folder / CHECKS / "views.py").write_text(SHARED, "utf-8")
    (folder / CHECKS / "01_scores" / "views.py").write_text(HEAD + view, "utf-8")
    return load_course(folder)
