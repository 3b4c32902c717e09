"""Tests of misconceptions as data: what is read, what is refused, and how edits are made."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.core.errors import CourseError
from grader.core.records import Mistake, MistakeKind
from grader.course.misconceptions import Misconception, edited, read_misconceptions

FILE = "solutions/01_first/misconceptions.toml"
PLACE = f"{FILE}: misconceptions[1]"
TEXT = "def one() -> int:\n    return 1 + 0\n"
ENTRY = {
    "id": "two",
    "exercise": "one",
    "find": "return 1\n",
    "replace": "return 2\n",
    "symptom": "It is two.",
    "question": "How many is one?",
    "kind": "step",
}


def edit(find, replace, id_="a"):
    """A misconception of which only the edit counts."""
    return Misconception(id_, "", "", MistakeKind.SLIP, "01_first/one", find, replace)


@pytest.fixture
def read(small_course):
    """Reads a file of misconceptions of these entries, or of this text."""

    def make(*entries, text=None):
        assignment = small_course.assignments[0]
        path = small_course.paths(assignment).misconceptions
        lines = []
        for entry in entries:
            lines += ["[[misconceptions]]"]
            lines += [f'{key} = """{value}"""' for key, value in entry.items()]
        path.write_text("\n".join(lines) if text is None else text, "utf-8")
        return read_misconceptions(small_course, assignment)

    return make


@pytest.fixture
def problems(read):
    """What is wrong with a file of misconceptions."""

    def make(*entries, text=None):
        with pytest.raises(CourseError) as caught:
            read(*entries, text=text)
        return list(caught.value.problems)

    return make


# Reading.


def test_an_assignment_without_a_file_has_no_misconceptions(small_course):
    """`grader validate` tells that it is missing; reading does not stop for it."""
    assert read_misconceptions(small_course, small_course.assignments[0]) == ()


def test_a_misconception_is_an_edit_and_its_words(read):
    """With the exercise's full id, and its own name; it may take text away."""
    (found,) = read(ENTRY)
    words = ("two", "It is two.", "How many is one?", MistakeKind.STEP)
    assert found == Misconception(*words, "01_first/one", "return 1\n", "return 2\n")
    assert found.mistake == Mistake(*words)
    (found,) = read({**ENTRY, "find": "return 1", "replace": ""})
    assert found.replace == ""


@pytest.mark.parametrize("key", ["id", "exercise", "find", "symptom", "question"])
def test_each_word_of_a_misconception_is_needed(problems, key):
    """A text that is missing, and one that is empty."""
    place = f"{PLACE}.{key}"
    without = {name: value for name, value in ENTRY.items() if name != key}
    assert problems(without) == [f"{place}: missing; a text that is not empty is needed"]
    assert problems({**ENTRY, key: ""}) == [
        f"{place}: found ''; a text that is not empty is needed"
    ]


ONCE = "`find` matches {} times in the solution; once is needed"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"find": "one"}, f" (two): {ONCE.format(3)}"),
        ({"find": "zero"}, f" (two): {ONCE.format(0)}"),
        ({"find": "return  1"}, f" (two): {ONCE.format(0)}"),
        ({"replace": ENTRY["find"]}, " (two): `find` and `replace` are the same"),
        (
            {"exercise": "once"},
            " (two): found the exercise 'once'; did you mean 'one'? allowed: one",
        ),
    ],
)
def test_an_edit_changes_what_stands_once_in_an_exercise(problems, change, said):
    """In the solution's text as it is, to the byte."""
    assert problems({**ENTRY, **change}) == [f"{PLACE}{said}"]


def test_matches_that_overlap_count_each(small_course, problems):
    """The first of them would be edited, and nobody said so."""
    path = small_course.paths(small_course.assignments[0]).solution
    path.write_text(path.read_text("utf-8").replace("return 1", "return (((1)))"), "utf-8")
    assert problems({**ENTRY, "find": "(("}) == [f"{PLACE} (two): {ONCE.format(2)}"]


def test_all_problems_of_a_file_are_told_at_once(problems):
    """With their places."""
    found = problems({**ENTRY, "find": "zero"}, {**ENTRY, "quesiton": "?"})
    assert found[0].startswith(
        f"{FILE}: misconceptions[2].quesiton: unknown key; did you mean 'question'?"
    )
    assert found[1:] == [
        f"{PLACE} (two): {ONCE.format(0)}",
        f"{FILE}: misconceptions[2]: found the id 'two' again; misconceptions[1] has it already",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "misconceptions: missing; at least one [[misconceptions]] table is needed"),
        (
            "[[misconceptions]\n",
            "it is not TOML in UTF-8: "
            "Expected ']]' at the end of an array declaration (at line 1, column 17)",
        ),
    ],
)
def test_a_file_without_misconceptions_is_told_with_its_assignment(problems, text, said):
    """There is no exercise that nobody gets wrong."""
    assert problems(text=text) == [f"{FILE}: {said}"]


# Editing.


@pytest.mark.parametrize("swap", [False, True])
def test_two_edits_are_made_in_the_text_as_it_was(swap):
    """Whatever their order, and although the first puts in what the second looks for."""
    both = [edit("one", "+ 0"), edit("+ 0", "one")]
    assert edited(TEXT, *(both[::-1] if swap else both)) == (
        "def + 0() -> int:\n    return 1 one\n"
    )


@settings(max_examples=60)
@given(st.data())
def test_edits_are_made_where_they_belong_or_not_at_all(data):
    """Each on its own piece of the text; two that overlap cannot be made at once."""
    size = 12
    text = "".join(chr(ord("a") + position) for position in range(size))
    edits, spans = [], []
    for number in range(data.draw(st.integers(0, 3))):
        start = data.draw(st.integers(0, size - 1))
        end = data.draw(st.integers(start + 1, size))
        spans.append((start, end))
        edits.append(edit(text[start:end], str(number) * data.draw(st.integers(0, 4))))
    taken = [position for start, end in spans for position in range(start, end)]
    changed = edited(text, *edits)
    if len(set(taken)) < len(taken):
        assert changed is None
    else:
        pieces = [c if i not in taken else "" for i, c in enumerate(text)]
        for (start, _), one in zip(spans, edits, strict=True):
            pieces[start] = one.replace
        assert changed == "".join(pieces)
