"""One entry of the file of decisions is written, and nothing else of the file changes."""

import tomllib

import pytest
from generated_class import generated_class
from hypothesis import given
from hypothesis import strategies as st

from grader.core.errors import UsageError
from grader.core.records import Outcome
from grader.course.course import load_course
from grader.extras.desk.edits import edited
from grader.extras.desk.lines import near_misses

ENTRIES = {
    "overrides": 'student = "a"   # who\npoints = 1\n\n# why\nreason = """\n  [not a table]\n"""\n',
    "comments": 'student = "b"\ntext = "[[overrides]]"\n',
    "labels": 'student = "c"\nlabel = "new"\n',
}
PLACES = st.lists(st.sampled_from([*ENTRIES]), min_size=1, max_size=7)


def file_of(kinds: list[str]) -> str:
    """A file with an entry of each of these kinds, in this order, with comments between them."""
    parts = [f"# before {n}\n[[{kind}]] # {n}\n{ENTRIES[kind]}\n" for n, kind in enumerate(kinds)]
    return "".join(["# Decisions.\n", *parts, "# The end.\n"])


@given(PLACES, st.data(), st.sampled_from(["\n", "\r\n"]))
def test_one_entry_changes_and_every_other_line_stays(kinds, data, newline):
    """In whatever order entries of several kinds stand: changed, added, and taken away."""
    number = data.draw(st.sampled_from(range(len(kinds))))
    kind = kinds[number]
    if kind == "overrides":  # a text in several lines that looks like a table
        with pytest.raises(UsageError, match="cannot be changed here"):
            edited(file_of(kinds), kind, kinds[:number].count(kind), {"points": 2})
        return
    text, position = file_of(kinds).replace("\n", newline), kinds[:number].count(kind)
    lines, values = text.split(newline), {"student": "z", "text": 'Other "words".\n'}
    before = tomllib.loads(text)
    changed = edited(text, kind, position, values)
    after = tomllib.loads(changed)
    assert after[kind][position]["text"] == values["text"]
    assert after[kind][position]["student"] == before[kind][position]["student"]
    after[kind][position] = before[kind][position]
    assert after == before
    kept = [line for line in lines if line.startswith("#")]
    assert [line for line in changed.split(newline) if line.startswith("#")] == kept
    taken = edited(text, kind, position, {})
    assert [line for line in taken.split(newline) if line.startswith("#")] == kept
    del before[kind][position]
    assert tomllib.loads(taken) == {name: value for name, value in before.items() if value}
    assert edited(text, kind, None, values).startswith(text.rstrip())


def test_entries_on_one_line_are_left_to_an_editor():
    """They have no lines of their own."""
    with pytest.raises(UsageError, match="Change it in the file itself"):
        edited('labels = [{student = "a", label = "b"}]\n', "labels", 0, {})


def test_nearly_right_is_what_one_check_alone_keeps_from_full_points(root):
    """And no known mistake explains: nobody would look there else."""
    found = 0
    for result in generated_class(load_course(root), 40):
        named = "".join(why for one in near_misses(result) for _student, why in one.students)
        for exercise in result.exercises:
            failed = [check for check in exercise.checks if check.outcome is not Outcome.PASSED]
            is_near = [check.outcome for check in failed] == [Outcome.FAILED]
            is_near = is_near and not exercise.findings and bool(exercise.max_score)
            assert (f"{exercise.id}: " in named) == is_near
            found += is_near
    assert found
