"""Pages as a report: a student's own page after `check`, everybody's and the class's after `grade`.

Templates are loaded when a page is made, so that `grader --help` stays quick.
"""

from collections.abc import Iterator

from grader.classes.rows import due_summary, row_of
from grader.core.files import OutputFile
from grader.core.language import _, paragraph
from grader.reports.base import Checked, CheckedWork, GradedClass

OWN_PAGE = "feedback.html"


def check(run: CheckedWork) -> Checked:
    """The page of a student's own run, where the command is run."""
    from grader.reports.html.pages import student_page

    said = _("Your page: {file}").format(file=OWN_PAGE)
    page = student_page(run.result, run.course, views=run.views())
    return Checked((OutputFile(OWN_PAGE, page),), (said,))


def grade(run: GradedClass) -> Iterator[OutputFile]:
    """The class report, and a page for each student."""
    from grader.reports.html.pages import pages

    names = {student: one.name for student, one in run.roster.items() if one.name}
    covers = _("Graded {moment}, course {hash}. {covers}").format(
        moment=f"{run.now:%Y-%m-%d %H:%M %Z}", hash=run.course.hash[:12], covers=run.covers
    )
    due = run.course.due_at(run.now)
    so_far = due_summary([row_of(result, "") for result in run.results], due)
    is_partly_due = bool(due.max_score) and due.assignments != run.course.assignments
    if is_partly_due and so_far["mean_score"] is not None:
        sentence = _(
            "Of {max_score} points that were due so far, students have {mean_score} on average."
        )
        covers = paragraph((covers, sentence.format(**so_far)))
    made = pages(run.results, run.course, names, covers)
    return (OutputFile(path, text) for path, text in made)
