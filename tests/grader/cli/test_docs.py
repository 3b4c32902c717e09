"""`grader docs`."""

from grader.cli import docs, view
from grader.core import kit


def test_the_pages_are_listed_with_their_titles(grader) -> None:
    """And where they are."""
    ran = grader("docs")
    assert (ran.code, ran.err) == (0, "")
    assert "authors             For authors" in ran.lines
    assert ran.lines[-1] == f"`grader docs authors` shows one. They are in {kit.docs_folder()}."


def test_a_page_is_printed_as_it_is(grader, root) -> None:
    """Where it is not written to a terminal; the file's name does as well."""
    text = (root / "docs" / "authors.md").read_text("utf-8")
    assert grader("docs", "authors").out == grader("docs", "authors.md").out == text


def test_a_terminal_shows_a_page_laid_out(grader, monkeypatch) -> None:
    """Headings and lists instead of Markdown's signs."""
    screen = view.Console(force_terminal=True, width=80)
    monkeypatch.setattr(docs, "console", lambda: screen)
    shown = grader("docs", "authors").out
    assert "For authors" in shown
    assert "# For authors" not in shown


def test_a_copy_without_pages_says_so(grader, monkeypatch) -> None:
    """The kit in a student's copy has none."""
    monkeypatch.setattr(docs, "docs_folder", lambda: None)
    ran = grader("docs")
    assert (ran.code, ran.err.partition(".")[0]) == (2, "A students' copy has no pages")
