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


def test_hints_climb_and_the_last_one_stays(hint):
    """From one call to the next."""
    assert [hint() for _ in range(4)] == [told(1), told(2), told(3), told(3)]


def test_a_name_that_an_assignment_has_too_means_the_exercise(grader):
    """Hints are about exercises."""
    assert grader("hint", "scores").out == told(1)


def test_hints_begin_again_where_asked_to(hint):
    """And climb from there."""
    hint()
    hint()
    assert [hint("--restart"), hint()] == [told(1), told(2)]


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


def test_the_last_hint_is_shown_once_more_where_asked_to(hint):
    """It spends none; before any was shown it is the first."""
    assert [hint("--again"), hint(), hint(), hint("--again")] == [
        told(1),
        told(1),
        told(2),
        told(2),
    ]
    assert hint() == told(3)


def test_all_hints_are_shown_where_asked_to(hint):
    """They are not spent."""
    heads = [
        f"Hint {n} of 3 for 01_scores/scores:\n\n  {text}\n" for n, text in enumerate(HINTS, 1)
    ]
    assert hint("--all") == "\n".join(heads)
    assert hint() == told(1)


def test_the_question_of_the_mistake_last_seen_comes_first(grader, hint, folder):
    """Once, with the hint below it; a mistake that is made again is asked about by `--restart`."""
    path = folder / "assignments" / "01_scores" / "scores.py"
    path.write_text("def scores(queries, keys):\n    return queries @ keys.T\n", "utf-8")
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
    elsewhere = work(scores="def scores(queries, keys):\n    return queries @ keys.T\n")
    grader("check", "01", "--submission", elsewhere)
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


def test_an_assignment_is_answered_with_its_exercises(grader):
    """Hints belong to exercises."""
    ran = grader("hint", "02")
    assert (ran.code, ran.out, ran.err) == (
        2,
        "",
        "'02' is an assignment. Name one of its exercises: weights, Mixture.\n",
    )


def test_an_exercise_without_hints_is_the_courses_problem(grader, folder):
    """In a sentence."""
    (folder / "solutions" / "01_scores" / "hints.toml").write_text("", "utf-8")
    ran = grader("hint", "01_scores/scores")
    assert (ran.code, ran.out, ran.err) == (
        2,
        "",
        "The course has a problem:\n"
        "  solutions/01_scores/hints.toml: scores: found 0 hints; at least 2 are needed\n",
    )
