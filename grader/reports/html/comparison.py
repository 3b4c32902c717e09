"""A page on two runs side by side, for instructors: in English, as the commands speak of it."""

from grader.classes.compare import Comparison, by_check, signed
from grader.core.text import clean
from grader.reports.html.pages import environment


def comparison_page(found: Comparison, old: str, new: str) -> str:
    """The page's whole text.

    Args:
        found: what differs.
        old: the earlier run, as it is called.
        new: the later one.
    """
    template = environment().get_template("comparison.html.j2")
    return template.render(
        language="en",
        title=f"{clean(old)} → {clean(new)}",
        found=found,
        effects=by_check(found),
        signed=signed,
    )
