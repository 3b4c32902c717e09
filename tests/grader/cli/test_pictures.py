"""A picture on a terminal: with colour and without, wide and narrow, in ASCII alone."""

import io
import random

import pytest
from generated_class import picture
from made_results import assignment, check, exercise, result
from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from grader.cli.pictures import render_picture
from grader.cli.render import print_check
from grader.cli.view import Lines
from grader.core.records import Axis, Outcome, Picture

WEIGHTS = Picture(
    what="the weights",
    expected=((1.0, 0.0), (0.25, 0.75)),
    received=((1.0, 0.0), ("nan", "-inf")),
    differs=((False, False), (True, True)),
    first=(1, 0),
    rows=Axis("query", 0, 2, ("Your", "journey")),
    columns=Axis("key", 0, 2, ("Your", "journey")),
    source="printed in document 000, cell 51",
)


def terminal(encoding: str = "utf-8", colours: str | None = None) -> Console:
    """A terminal of that encoding with these colours."""
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    return Console(
        file=file, width=200, force_terminal=True, color_system=colours, no_color=not colours
    )


def lines(shown: Picture, out: Console) -> list[str]:
    """The lines of a picture."""
    return [line.plain for line in render_picture(shown, out, 6)]


def test_expected_and_received_stand_side_by_side() -> None:
    """With their tokens, and brackets around the first difference."""
    assert lines(WEIGHTS, terminal()) == [
        "        expected          received",
        "          Your journe       Your journe",
        "   Your 1.0000      0     1.0000      0",
        "journey[0.2500]0.7500    [   NaN]    −∞",
        "[ ] first difference: query 1 (journey), key 0 (Your)",
        "The expected values are printed in document 000, cell 51.",
    ]


def test_a_vector_fits_a_narrow_terminal() -> None:
    """Its numbers are shorter there, so that its columns stay columns."""
    out = terminal()
    out.width = 60
    shown = lines(picture(random.Random(1), 1, 6), out)
    assert max(map(cell_len, shown)) <= 60 - 6
    assert shown == [
        "              0      1      2      3      4      5",
        "expected[0.0224]0.1412 0.1273 0.0425 0.0826 0.0749",
        "received[   NaN]0.1412 0.1273 0.0425 0.0826 0.0749",
        "[ ] first difference: query 0, key 0",
    ]


def test_where_numbers_have_no_room_there_are_fewer_columns() -> None:
    """Those around the first difference, and a line that says which."""
    drawn = lines(picture(random.Random(1), 2, 12), terminal())
    assert drawn == [
        "(key 0 to 5 of 12)",
        "  expected                          received",
        "     0    1    2    3    4    5        0    1    2    3    4    5",
        "0[ 0.0] 0.1  0.1  0.0  0.0  0.0    [ NaN] 0.1  0.1  0.0  0.0  0.0",
        "1  0.1  0.0  0.0  0.1  0.0  0.1      0.1 −0.0  0.0  0.1  0.0  0.1",
        "[ ] first difference: query 0, key 0",
    ]


def test_columns_give_way_until_the_marked_numbers_look_different() -> None:
    """They differ in the fourth decimal, for which all columns would leave no room."""
    drawn_rows = tuple(tuple(0.1 * (r + c) for c in range(6)) for r in range(2))
    mine = ((*drawn_rows[0][:5], 0.5004), drawn_rows[1])
    shown = Picture(
        what="the weights",
        expected=drawn_rows,
        received=mine,
        differs=((False,) * 5 + (True,), (False,) * 6),
        first=(0, 5),
        rows=Axis("query", 0, 2),
        columns=Axis("key", 0, 6),
    )
    assert lines(shown, terminal()) == [
        "(key 2 to 5 of 6)",
        "  expected                        received",
        "       2      3      4      5          2      3      4      5",
        "0 0.2000 0.3000 0.4000[0.5000]    0.2000 0.3000 0.4000[0.5004]",
        "1 0.3000 0.4000 0.5000 0.6000     0.3000 0.4000 0.5000 0.6000",
        "[ ] first difference: query 0, key 5",
    ]


def test_wide_characters_take_two_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in Chinese and Japanese: the rows below still stand under their titles."""
    words = {"expected": "期待される値", "received": "受け取った値"}
    monkeypatch.setattr("grader.judging.picture_layout._", lambda text: words.get(text, text))
    title, head, *_ = lines(WEIGHTS, terminal())
    assert (title, head) == (
        "        期待される値      受け取った値",
        "          Your journe       Your journe",
    )
    title, _, row, *_ = lines(picture(random.Random(1), 2, 1), terminal())
    assert title.split() == ["期待される値", "受け取った値"]
    assert cell_len(title.partition("受")[0]) == row.rindex("[") + 1
    rows = lines(picture(random.Random(1), 1, 6), terminal())
    assert {cell_len(row.partition("[")[0]) for row in rows[1:3]} == {cell_len(words["expected"])}


def test_without_unicode_there_are_other_signs() -> None:
    """On a Windows code page, say."""
    for encoding in ("cp1252", "ascii", "cp437"):
        text = "\n".join(lines(picture(random.Random(1)), terminal(encoding)))
        assert text.isascii()
    assert lines(WEIGHTS, terminal("cp1252"))[3] == "journey[0.2500]0.7500    [   NaN]  -inf"


@pytest.mark.parametrize(("rows", "columns"), [(6, 6), (12, 12), (1, 6), (1, 12), (12, 2)])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_no_line_is_wider_than_80_columns(rows: int, columns: int, encoding: str) -> None:
    """With the columns before it, whatever its size; the rows all have one width."""
    shown = picture(random.Random(1), rows, columns)
    drawn = lines(shown, terminal(encoding))
    assert max(map(len, drawn)) <= 80 - 6
    assert len(drawn) <= 16


def test_colours_are_those_of_the_values() -> None:
    """Both ink and paper are given, so that any terminal's own colours do."""
    row = render_picture(WEIGHTS, terminal(colours="truecolor"), 6)[3]
    colours = {row.plain[span.start : span.end].strip(): str(span.style) for span in row.spans}
    assert colours == {
        "[": "bold #17202a on #b9b4aa",
        "]": "bold #17202a on #b9b4aa",
        "0.2500": "#17202a on #c6dbef",
        "0.7500": "#ffffff on #2a76b5",
        "NaN": "bold #17202a on #b9b4aa",
        "−∞": "bold #17202a on #b9b4aa",
    }


def test_a_terminal_of_sixteen_colours_gets_none() -> None:
    """They cannot show a scale; numbers can."""
    for colours in (None, "standard"):
        spans = [
            s for line in render_picture(WEIGHTS, terminal(colours=colours), 6) for s in line.spans
        ]
        assert [span for span in spans if " on " in str(span.style)] == []


def test_the_part_that_is_shown_is_named() -> None:
    """Above the picture."""
    cut = replace(WEIGHTS, slice=(("batch entry", 1),), source="")
    drawn = lines(cut, terminal())
    assert drawn[0] == "(batch entry 1)"
    assert drawn[-1] == "[ ] first difference: batch entry 1, query 1 (journey), key 0 (Your)"


def test_a_failure_takes_no_more_than_a_screen() -> None:
    """A picture for the first one, the reason of the next, and of a long message the beginning."""
    shown = replace(picture(random.Random(1)), lines=(2, 4))
    long = "\n".join(f"line {number}" for number in range(300))
    checks = [
        check(f"{n}", Outcome.FAILED, text, title=f"It holds {n}.", picture=one)
        for n, (text, one) in enumerate([(long, shown), (long, shown), (long, None)])
    ]
    out = terminal()
    print_check(result("me", assignment("01_a", exercise("01_a/f", 0, 1, *checks))), out)
    out.file.flush()
    text = out.file.buffer.getvalue().decode()  # type: ignore[attr-defined]
    failures = text.split("✗ It holds ")[1:]
    assert [failure.count("first difference") for failure in failures] == [1, 0, 0]
    assert [failure.count("line 2\n") for failure in failures] == [0, 0, 1]
    assert [failure.count("… (") for failure in failures] == [1, 0, 1]
    assert max(failure.count("\n") for failure in failures) <= 24


@pytest.mark.parametrize("text", ["The scores differ. " * 9, "得分不同。" * 30])
def test_lines_end_without_blanks(text: str) -> None:
    """Where they are broken, too, so that nothing is padded in a file."""
    out = Console(file=io.StringIO(), width=60)
    out.print(Lines(Text(text.strip()), 6))
    lines = out.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert len(lines) > 2
    assert all(line == f"      {line.strip()}" and cell_len(line) <= 60 for line in lines)
