"""The whole messages a student reads when a request did not end well."""

from dataclasses import replace

import pytest

from grader.core.records import CodeLocation
from grader.judging.messages import does_not_run, explain_failure
from grader.sandbox.failures import CodeLine
from grader.testing.replies import OUTCOMES, Failure
from grader.testing.student import Call

CALLS = (Call("Heads", (3, 2), {}), Call("Heads", (7,), {}, is_forward=True))
SHOWN = "model = Heads(3, 2)\nmodel(7)\n"
LINE = CodeLine("heads.py", None, 12, "return x @ y")
AT_LINE = "\n  at heads.py:12\n    return x @ y"
CELL = CodeLine("heads.ipynb", 4, 2, "return x @ y")
AT_CELL = "\n  at heads.ipynb, cell 4, line 2:\n    return x @ y"


def message_of(failure, calls=CALLS):
    """The message of a failure in the exercise `Heads`."""
    return explain_failure(failure, calls, "Heads")


def missing(message="Heads", at=None, **rest):
    """A name that is missing, and the line that stopped its file, where one did."""
    loading = at and Failure("exception", "SyntaxError", message="no end", location=at)
    return Failure("missing", message=message, loading=loading, **rest)


def error(message="", location=None):
    """An exception of the student's."""
    return Failure("exception", "RuntimeError", message=message, location=location)


@pytest.mark.parametrize(
    ("failure", "text"),
    [
        (error("sizes"), f"{SHOWN}It raised RuntimeError: sizes"),
        (error("sizes", LINE), f"{SHOWN}It raised RuntimeError: sizes{AT_LINE}"),
        (error("sizes", CELL), f"{SHOWN}It raised RuntimeError: sizes{AT_CELL}"),
        (error(), f"{SHOWN}It raised RuntimeError"),
        (
            Failure("timeout", message="out of time", location=LINE),
            f"{SHOWN}It took too long.{AT_LINE}\nIs there a loop that never ends?",
        ),
        (
            Failure("out_of_memory", "MemoryError", message="12 GiB", location=LINE),
            f"{SHOWN}It asked for more memory than a submission may use.{AT_LINE}",
        ),
        (Failure("crashed", message="it ended"), f"{SHOWN}The check could not finish: it ended."),
    ],
)
def test_how_a_request_ended_is_shown_with_what_was_called(failure, text):
    """And with the student's own line, where one is known."""
    assert message_of(failure) == text


@pytest.mark.parametrize(
    ("failure", "text"),
    [
        (
            Failure("not_attempted", message="01_a/Heads", location=LINE),
            "Heads is not attempted yet: the stub's NotImplementedError is still there.",
        ),
        (
            Failure("blocked", message="01_a/dot"),
            "It needs 01_a/dot, which is not written yet.",
        ),
        (Failure("missing"), "Nothing was handed in for Heads."),
        (missing("a.ipynb: its JSON ends", is_sentence=True), "a.ipynb: its JSON ends."),
        (missing(), "Heads is not defined."),
        (missing("CONFIG"), "CONFIG is not defined."),
        (
            missing(similar=("heads", "Head")),
            "Heads is not defined.\nDid you mean Heads when you wrote heads?",
        ),
        (missing(at=CELL), f"Heads is not defined.\nA cell failed: SyntaxError: no end{AT_CELL}"),
        (  # what stopped a script stands above all exercises
            missing(at=LINE, similar=("Hedas",)),
            "Heads is not defined.\nDid you mean Heads when you wrote Hedas?",
        ),
        (
            missing(at=LINE, stopped="01_a/heads.py"),
            "heads.py stops before Heads is defined: see above.",
        ),
        (
            missing(at=CELL, stopped="01_a/heads.py"),
            "Cell 4 of heads.py stops before Heads is defined: see above.",
        ),
    ],
)
def test_what_is_missing_or_was_not_run_is_told_in_words(failure, text):
    """Without calls; with what to do about it, where that is known."""
    assert message_of(failure) == text


def test_what_ended_before_a_call_is_shown_without_one():
    """The file was being loaded, or nobody knows what ran."""
    assert message_of(Failure("crashed"), ()) == "The check could not finish."
    late = message_of(Failure("timeout", message="all its time is used up"), ())
    assert late.startswith("Loading your file took too long: all its time is used up.\n")


def test_an_exception_in_another_function_is_shown_with_where_it_was_called():
    """What was called may be right; the call is the student's, too."""
    caller = CodeLine("heads.py", None, 30, "return mask(x, d_k)")
    text = message_of(replace(error("sizes differ", LINE), called=caller), ())
    assert text == (
        "It raised RuntimeError: sizes differ\n  at heads.py:12\n    return x @ y\n"
        "It was called from here:\n  at heads.py:30\n    return mask(x, d_k)"
    )
    failure = Failure("exception", "RuntimeError", location=LINE, called=caller)
    for file, shown in (("01_a/heads.py", "01_a/heads.py"), ("01_a/other.py", "heads.py")):
        text = explain_failure(failure, (), "Heads", CodeLocation(file, 12))
        assert f"\n  at {shown}:30\n" in text
    text = explain_failure(failure, (), "Heads", CodeLocation("01_a/heads.py", 30))
    assert "\n  at 01_a/heads.py:12\n" in text


# Text that is not ours.

NASTY = "\x1b[31m" + "x" * 5_000


@pytest.mark.parametrize("kind", list(OUTCOMES))
def test_no_failure_writes_its_own_message(kind):
    """Whatever a failure carries, its message has a bounded size and no control characters."""
    location = CodeLine(NASTY, 3, 2, NASTY)
    loading = Failure("exception", NASTY, message=NASTY, location=location)
    for message in (NASTY, "Heads", ""):
        failure = Failure(kind, NASTY, (NASTY,), message, location, True, loading, (NASTY,))
        text = message_of(failure)
        assert "\x1b" not in text
        assert len(text) < 3_000


@pytest.mark.parametrize("kind", list(OUTCOMES))
def test_every_kind_of_failure_has_an_outcome_and_a_message(kind):
    """Each kind is shown in a sentence that ends, and none is empty."""
    text = message_of(Failure(kind, "ValueError", message="It"), ())
    assert text[0].isupper()
    assert text.endswith((".", "?", ": It"))


# A file that does not run.

FAILED = "SyntaxError: no end"


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        (
            CodeLine("heads.py", None, 50, "    return sum(a * b", 15),
            f"line 50: {FAILED}\n        return sum(a * b\n                  ^",
        ),
        (
            CodeLine("heads.py", None, 2, "\tx = (", 6),
            f"line 2: {FAILED}\n    \tx = (\n    \t    ^",
        ),
        (CodeLine("a.ipynb", 4, 3, "x = (", None), f"cell 4, line 3: {FAILED}\n    x = ("),
        (CodeLine("heads.py", None, 1, "x = (", 999), f"line 1: {FAILED}\n    x = ("),
        (
            CodeLine("heads.py", None, 1, "y" * 300, 250),
            f"line 1: {FAILED}\n    {'y' * 200}… (cut)",
        ),
        (None, FAILED),
    ],
    ids=["script", "tab", "notebook", "no such column", "long", "nowhere"],
)
def test_a_file_that_does_not_run_is_shown_with_a_caret(location, shown):
    """The line as it is indented, and a caret below the column where one is known."""
    failure = Failure("exception", "SyntaxError", message="no end", location=location)
    assert does_not_run("01_a/heads.py", failure) == f"heads.py does not run: {shown}"


@pytest.mark.parametrize(
    ("text", "message", "said"),
    [
        ("<<<<<<< HEAD", "invalid syntax", "mark of Git"),
        ("=======", "invalid syntax", "mark of Git"),
        (">>>>>>> main", "invalid syntax", "mark of Git"),
        ("<< 3", "invalid syntax", ""),
        ("{\\rtf1", "unexpected character after line continuation character", "as plain text"),
        ("print(\u201chi\u201d)", "invalid character '\u201c' (U+201C)", 'write `"`.'),
        ("x \u2192 y", "invalid character '\u2192' (U+2192)", "Type it anew"),
        ("x / 2 \u00d7 3", "invalid character '\u00d7' (U+00D7)", "the sign \u00d7: write `*`."),
    ],
)
def test_what_git_or_a_word_processor_leaves_is_called_so(text, message, said):
    """Python says no more than that it is no Python."""
    location = CodeLine("heads.py", None, 1, text)
    failure = Failure("exception", "SyntaxError", message=message, location=location)
    told = does_not_run("heads.py", failure)
    assert said in told if said else told.endswith(text)
