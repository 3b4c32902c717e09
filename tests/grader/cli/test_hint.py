"""Tests of `grader hint`: it climbs, and remembers how far."""

import pytest

from grader.progress.store import Memory

LAST = "That is the last one. `--restart` begins again."
HINTS = [
    "What tells how well two vectors fit?",
    "Look at the product of two matrices, and at what a transpose does.",
    "The equation: Q Kᵀ / √d_k.",
]


def told(number):
    """What is said with a hint on the scores."""
    more = "Ask again for the next one." if number < len(HINTS) else LAST
    head = f"Hint {number} of {len(HINTS)} for 01_scores/scores:"
    return f"{head}\n\n  {HINTS[number - 1]}\n\n{more}\n"


@pytest.fixture
def hint(grader):
    """Asks for hints on the scores, and answers what is said."""

    def ask(*options):
        ran = grader("hint", "01_scores/scores", *options)
        assert (ran.code, ran.err) == (0, "")
        return ran.out

    return ask


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        (["", "", "", ""], [1, 2, 3, 3]),
        (["", "", "--restart", ""], [1, 2, 1, 2]),
        (["--again", "", "", "--again", ""], [1, 1, 2, 2, 3]),
    ],
    ids=["climb", "begin again", "once more"],
)
def test_hints_climb_from_one_call_to_the_next(hint, options, numbers):
    """The last one stays; to be shown one once more spends none."""
    assert [hint(*option.split()) for option in options] == [told(number) for number in numbers]


def test_a_name_that_an_assignment_has_too_means_the_exercise(grader):
    """Hints are about exercises."""
    assert grader("hint", "scores").out == told(1)


def test_each_exercise_has_its_own_memory(grader, hint):
    """To ask about one does not spend the hints of another."""
    hint()
    said = grader("hint", "weights").out
    assert said.startswith("Hint 1 of 2 for 02_mixture/weights:\n")
    assert hint() == told(2)


def test_each_copy_of_the_course_has_its_own_memory(hint, folder, tmp_path, monkeypatch):
    """Two students may share a machine's account."""
    hint()
    other = folder.rename(tmp_path / "other")
    monkeypatch.chdir(other)
    assert hint() == told(1)


def test_all_hints_are_shown_where_asked_to(hint):
    """They are not spent."""
    heads = [
        f"Hint {n} of 3 for 01_scores/scores:\n\n  {text}\n" for n, text in enumerate(HINTS, 1)
    ]
    assert hint("--all") == "\n".join(heads)
    assert hint() == told(1)


def test_the_question_of_the_mistake_last_seen_comes_first(grader, hint, own):
    """Once, with the hint below it; a mistake that is made again is asked about by `--restart`."""
    own(scores="unscaled")
    grader("check", "01")
    question = (
        "The last check of 01_scores/scores saw a known mistake:\n"
        "\n"
        "  The scores are not scaled.\n"
        "  What happens to a score when keys get longer?\n"
        "\n"
    )
    assert [hint(), hint(), hint("--restart")] == [question + told(1), told(2), question + told(1)]


def test_only_checks_of_this_copy_are_asked_about(grader, hint, work):
    """Not those of a submission elsewhere."""
    grader("check", "01", "--submission", work(scores="unscaled"))
    assert hint() == told(1)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        '{"hints": 5, "results en": 5, "questions": 5}',
        '{"hints": {"01_scores/scores": -1}, "questions": {"01_scores/scores": 5}}',
        '{"results en": {"01_scores/scores": {"key": "x"}, "02_mixture/weights": 5}}',
    ],
)
def test_a_damaged_memory_is_no_memory(hint, folder, content):
    """Hints begin again, and are remembered anew."""
    path = Memory(folder).path
    path.parent.mkdir(parents=True)
    path.write_text(content, "utf-8")
    assert [hint(), hint()] == [told(1), told(2)]
    assert Memory(folder).hints_shown("01_scores/scores") == 2


def test_a_memory_that_cannot_be_written_is_told(grader, tmp_path):
    """The hint is shown all the same."""
    (tmp_path / "state").write_text("a file where a folder is to be", "utf-8")
    ran = grader("hint", "01_scores/scores")
    assert (ran.code, ran.out) == (0, told(1))
    assert ran.err == "(Which hint comes next could not be remembered.)\n"
