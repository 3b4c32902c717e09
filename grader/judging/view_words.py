"""What is said beside a view's heat maps, on a terminal and on a page."""

from grader.core.language import N_, _, listed
from grader.core.views import ViewResult

NOT_SOLVED = N_("Not solved yet: this is what your code gives now.")


def look_words(result: ViewResult) -> str:
    """What to look for; of work that is not solved, what holds once it is."""
    if result.is_solved:
        return result.look
    return _("Once it is solved: {look}").format(look=result.look)


def setting_words(result: ViewResult, state: int) -> str:
    """What can be moved, and where it is, like “p = 0.5”."""
    pairs = zip(result.sliders, result.setting(state), strict=True)
    return listed(f"{slider.name} = {value}" for slider, value in pairs)
