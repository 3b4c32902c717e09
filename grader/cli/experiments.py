"""What a notebook's experiment says where it cannot run."""

from grader.core.language import _
from grader.sandbox.failures import stub_exercise


def why_not(error: Exception) -> str:
    """Why an experiment did not run."""
    stub = stub_exercise(str(error))
    if stub is not None:
        sentence = _("{exercise} is still to be written. Run this cell again when it is solved.")
        return sentence.format(exercise=stub)
    if isinstance(error, NameError) and error.name:
        return _("{name} is not defined here: run the cells above first.").format(name=error.name)
    sentence = _(
        "The experiment ended in {error}. It needs what is written above it: run it again when "
        "those exercises are solved."
    )
    return sentence.format(error=f"{type(error).__name__}: {error}".rstrip(": "))
