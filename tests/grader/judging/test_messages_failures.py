"""The whole messages a student reads when a request did not end well."""

import pytest

from grader.core.records import CodeLocation
from grader.judging.messages import does_not_run, explain_failure
from grader.sandbox.failures import CodeLine
from grader.testing.replies import OUTCOMES, Failure
from grader.testing.student import Call

CALLS = (Call("Heads", (3, 2), {}), Call("Heads", (7,), {}, is_forward=True))
SHOWN = "model = Heads(3, 2)\nmodel(7)\n"
LINE = CodeLine("heads.py", None, 12, "return x @ y")
CELL = CodeLine("heads.ipynb", 4, 2, "return x @ y")


def message_of(failure, calls=CALLS):
    """The message of a failure in the exercise `Heads`."""
    return explain_failure(failure, calls, "Heads")


def raised(type_, message, **rest):
    """The message of an exception, without the calls."""
    return message_of(Failure("exception", type_, message=message, **rest), ())


def test_a_stub_is_said_to_be_one():
    """What is not attempted is shown in one sentence, without calls."""
    assert message_of(Failure("not_attempted", message="01_a/Heads", location=LINE)) == (
        "Heads is not attempted yet: the stub's NotImplementedError is still there."
    )


def test_an_exercise_that_needs_another_says_which():
    """A stub somewhere below is named by its exercise."""
    assert message_of(Failure("blocked", message="01_a/dot")) == (
        "It needs 01_a/dot, which is not written yet."
    )


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        (None, ""),
        (LINE, "\n  at heads.py:12\n    return x @ y"),
        (CELL, "\n  at heads.ipynb, cell 4, line 2:\n    return x @ y"),
    ],
)
def test_an_exception_is_shown_with_the_students_own_line(location, shown):
    """What was called, what was raised, and where."""
    failure = Failure("exception", "RuntimeError", message="sizes differ", location=location)
    assert message_of(failure) == f"{SHOWN}It raised RuntimeError: sizes differ{shown}"


def test_an_exception_in_another_function_is_shown_with_where_it_was_called():
    """What was called may be right; the call is the student's, too."""
    caller = CodeLine("heads.py", None, 30, "return mask(x, d_k)")
    text = raised("RuntimeError", "sizes differ", location=LINE, called=caller)
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


def test_an_exception_without_a_text_is_described_by_its_type():
    """There is no colon without something after it."""
    assert raised("AssertionError", "") == "It raised AssertionError"


def test_a_loop_that_never_ends_is_asked_for():
    """Being out of time is shown with the line that was running."""
    assert message_of(Failure("timeout", message="out of time", location=LINE)) == (
        f"{SHOWN}It took too long.\n  at heads.py:12\n    return x @ y\n"
        "Is there a loop that never ends?"
    )


def test_another_reason_for_being_late_is_shown():
    """A deadline of another kind has its reason behind the colon."""
    assert message_of(Failure("timeout", message="all its time is used up"), ()) == (
        "Loading your file took too long: all its time is used up.\nIs there a loop that never ends?"
    )


def test_too_much_memory_is_shown_with_the_line():
    """Exhausting memory is shown in words, with the line that asked for it."""
    assert message_of(Failure("out_of_memory", "MemoryError", message="12 GiB", location=LINE)) == (
        f"{SHOWN}It asked for more memory than a submission may use.\n"
        "  at heads.py:12\n    return x @ y"
    )


def test_a_process_that_ended_is_shown_with_the_reason():
    """A crash is shown in words of the trusted side."""
    assert message_of(Failure("crashed", message="its process ended")) == (
        f"{SHOWN}The check could not finish: its process ended."
    )
    assert message_of(Failure("crashed"), ()) == "The check could not finish."


# What is missing.


def test_nothing_handed_in_is_shown():
    """No file at all for the exercise."""
    assert message_of(Failure("missing"), ()) == "Nothing was handed in for Heads."


def test_a_file_that_cannot_be_read_is_shown_with_the_reason():
    """The reason is a sentence already."""
    assert message_of(
        Failure("missing", message="heads.ipynb cannot be read: its JSON ends", is_sentence=True)
    ) == ("heads.ipynb cannot be read: its JSON ends.")


def test_a_name_that_is_not_defined_is_shown():
    """A missing definition is shown by its name."""
    assert message_of(Failure("missing", message="Heads")) == "Heads is not defined."


def test_a_misspelt_name_is_recognised():
    """A name that looks like the missing one is asked about."""
    assert message_of(Failure("missing", message="Heads", similar=("heads", "Head"))) == (
        "Heads is not defined.\nDid you mean Heads when you wrote heads?"
    )


def test_a_file_that_stopped_early_is_shown_with_its_line():
    """The name may be missing because a line before it failed."""
    loading = Failure("exception", "SyntaxError", message="invalid syntax", location=CELL)
    assert message_of(Failure("missing", message="Heads", loading=loading)) == (
        "Heads is not defined.\n"
        "A cell failed: SyntaxError: invalid syntax\n"
        "  at heads.ipynb, cell 4, line 2:\n    return x @ y"
    )


def test_what_stopped_a_script_is_not_said_again():
    """It stands above all exercises, and this name is not even written in the file."""
    loading = Failure("exception", "SyntaxError", message="invalid syntax", location=LINE)
    failure = Failure("missing", message="Heads", loading=loading, similar=("Hedas",))
    assert message_of(failure) == (
        "Heads is not defined.\nDid you mean Heads when you wrote Hedas?"
    )


def test_another_name_of_the_exercise_that_is_missing_is_shown():
    """A check may look up more than the exercise's own name; that is a definition, too."""
    assert message_of(Failure("missing", message="CONFIG")) == "CONFIG is not defined."


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


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        (
            CodeLine("heads.py", None, 50, "    return sum(a * b", 15),
            "line 50: SyntaxError: no end\n        return sum(a * b\n                  ^",
        ),
        (
            CodeLine("heads.py", None, 2, "\tx = (", 6),
            "line 2: SyntaxError: no end\n    \tx = (\n    \t    ^",
        ),
        (
            CodeLine("heads.ipynb", 4, 3, "x = (", None),
            "cell 4, line 3: SyntaxError: no end\n    x = (",
        ),
        (CodeLine("heads.py", None, 1, "x = (", 999), "line 1: SyntaxError: no end\n    x = ("),
        (
            CodeLine("heads.py", None, 1, "y" * 300, 250),
            f"line 1: SyntaxError: no end\n    {'y' * 200}… (cut)",
        ),
        (None, "SyntaxError: no end"),
    ],
    ids=["script", "tab", "notebook", "no such column", "long", "nowhere"],
)
def test_a_file_that_does_not_run_is_shown_with_a_caret(location, shown):
    """The line as it is indented, and a caret below the column where one is known."""
    failure = Failure("exception", "SyntaxError", message="no end", location=location)
    assert does_not_run("01_a/heads.py", failure) == f"heads.py does not run: {shown}"


@pytest.mark.parametrize(
    ("text", "is_mark"),
    [("<<<<<<< HEAD", True), ("=======", True), (">>>>>>> main", True), ("<< 3", False)],
)
def test_marks_of_git_are_called_so(text, is_mark):
    """Python says no more than that they are no Python."""
    location = CodeLine("heads.py", None, 12, text)
    failure = Failure("exception", "SyntaxError", message="invalid syntax", location=location)
    assert ("mark of Git" in does_not_run("heads.py", failure)) == is_mark


@pytest.mark.parametrize(
    ("text", "message", "said"),
    [
        ("{\\rtf1", "unexpected character after line continuation character", "as plain text"),
        ("print(\u201chi\u201d)", "invalid character '\u201c' (U+201C)", 'write `"`.'),
        ("x \u2192 y", "invalid character '\u2192' (U+2192)", "Type it anew"),
        ("x / 2 \u00d7 3", "invalid character '\u00d7' (U+00D7)", "the sign \u00d7: write `*`."),
    ],
)
def test_what_a_word_processor_leaves_is_called_so(text, message, said):
    """A file of its own format, and its quotes."""
    location = CodeLine("heads.py", None, 1, text)
    failure = Failure("exception", "SyntaxError", message=message, location=location)
    assert said in does_not_run("heads.py", failure)


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (None, "heads.py stops before Heads is defined: see above."),
        (4, "Cell 4 of heads.py stops before Heads is defined: see above."),
    ],
)
def test_a_name_behind_what_stops_a_file_is_not_called_missing(cell, shown):
    """It is there in the student's eyes."""
    loading = Failure("exception", "SyntaxError", location=CodeLine("heads.py", cell, 1, "x = ("))
    stopped = Failure("missing", message="Heads", loading=loading, stopped="01_a/heads.py")
    assert message_of(stopped) == shown
