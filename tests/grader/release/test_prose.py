"""Tests of the walk through prose, and of how lines are broken."""

import pytest

from grader.core.text import display_width, filled
from grader.release.prose import meaning, translated_code, translated_markdown

MARKDOWN = """\
# A head

Some *words* in
two lines:

$$x = 1$$

- one
- another, in
  two lines

| a | head |
|---|---|
| `b` | 1 |

1. `code` first

```
run this            # and why
```
"""

CODE = '''\
# A comment,
# in two lines.
X = 1  # beside


class Thing:
    """What it is.

    More of it, in
    two lines.

    Args:
        x: the first,
            in two lines.
        y: the second.

    Attributes, in this order:
        a, b: both.

    Returns:
        Shape `(2,)`.

    Example:
        Like this:

        >>> Thing()
        Thing: it
    """

    def run(self) -> None:
        # TODO: write it.
        raise NotImplementedError("stays as it is")
'''


def heard(walk, text):
    """The pieces that a walk meets."""
    pieces = []
    assert walk(text, lambda piece: pieces.append(piece) or piece) == text
    return pieces


def test_markdown_is_walked_piece_by_piece_and_left_to_the_byte():
    """Paragraphs, headings, entries of lists and remarks beside a command; no code, no formula."""
    assert heard(translated_markdown, MARKDOWN) == [
        "A head",
        "Some *words* in two lines:",
        "one",
        "another, in two lines",
        "a | head |",
        "|---|---|",
        "`b` | 1 |",
        "`code` first",
        "and why",
    ]


def test_code_is_walked_piece_by_piece_and_left_to_the_byte():
    """Comments of their own lines; heads, paragraphs and entries of docstrings; no example."""
    assert sorted(heard(translated_code, CODE)) == sorted(
        [
            "A comment, in two lines.",
            "What it is.",
            "More of it, in two lines.",
            "Args:",
            "the first, in two lines.",
            "the second.",
            "Attributes, in this order:",
            "both.",
            "Returns:",
            "Shape `(2,)`.",
            "Example:",
            "Like this:",
            "write it.",
        ]
    )


def test_translations_stand_where_the_words_stood():
    """With the same marks before them, and further lines indented as a docstring wants it."""
    long = "字" * 60
    words = {"the first, in two lines.": long, "write it.": "書く。", "A head": "頭"}
    words["Args:"] = "引数："
    code = translated_code(CODE, lambda piece: words.get(piece, piece))
    assert "    two lines.\n\n    引数：\n        x: " in code
    assert f"        x: {'字' * 44}\n            {'字' * 16}\n        y: the second.\n" in code
    assert "        # TODO: 書く。\n" in code
    assert meaning(code) == meaning(CODE)
    assert translated_markdown(MARKDOWN, lambda p: words.get(p, p)).startswith("# 頭\n\nSome")


@pytest.mark.parametrize("bad", ['say """so""" now', "ends in a backslash \\"])
def test_a_translation_that_changes_the_code_is_refused(bad):
    """Quotes that end a docstring, say."""
    with pytest.raises((ValueError, SyntaxError)):
        translated_code('def f():\n    """Words."""\n', lambda piece: bad)


def test_wide_characters_count_twice():
    """As a terminal shows them."""
    assert [display_width(text) for text in ("abc", "注意力", "ア、イ", "e\u0301")] == [3, 6, 6, 1]


def test_lines_break_between_wide_characters_and_between_words():
    """Never within a word or code, before a closing sign or after an opening one."""
    text = "ここで、「行列」を `scores / d_k` で割る（very good）。"
    assert filled(text, 14) == [
        "ここで、「行",
        "列」を",
        "`scores / d_k`",
        "で割る（very",
        "good）。",
    ]
    assert filled("one two three", 7) == ["one two", "three"]


def test_a_word_between_stars_is_not_broken():
    """Markdown would not see that it is emphasised."""
    assert filled("答えは**行列**、つまり*クエリ*です。", 12) == [
        "答えは",
        "**行列**、つ",
        "まり*クエリ*",
        "です。",
    ]


def test_space_at_the_beginning_of_a_text_stays():
    """It is what sets a line of code off."""
    assert filled("    x  # 合計", 80) == ["    x  # 合計"]
