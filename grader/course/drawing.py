"""The picture of an assignment, as its author describes it: maps of numbers, boxes, steps.

`solutions/<assignment>/picture.py` has a function `picture()` that returns a `Drawing`. Each text in
it may be translated, but for shapes, the labels of rows and columns, and what is all in backticks.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

Values = Sequence[Sequence[float | None]]
"""Rows of numbers; None leaves a cell empty."""

TINTS = ("", "blue", "orange")
"""The colours of boxes; "" for grey."""


@dataclass(frozen=True, slots=True)
class Map:
    """Numbers in cells, each in a colour that says how large it is.

    Args:
        name: what the numbers are; above the cells.
        values: row by row, like a tensor's `tolist()`.
        shape: their shape, or another line that is never translated.
        rows: the label of each row.
        columns: the label of each column.
        groups: for each column what it belongs to; it then decides the colour.
        marked: cells with a border, as (row, column).
        sums: a heading for the sum of each row; "" for no sums.
        decimals: how many are shown.
        most: the number with the strongest colour; 0 for the largest.
        note: what is said below.
        span: how wide it is beside others of its row.
        of: the names of what it is made of; an arrow comes from each.
    """

    name: str
    values: Values
    shape: str = ""
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()
    groups: Sequence[str] = ()
    marked: Sequence[tuple[int, int]] = ()
    sums: str = ""
    decimals: int = 2
    most: float = 0.0
    note: str = ""
    span: int = 1
    of: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Box:
    """A tensor by its name and shape.

    Args:
        name: what it is.
        shape: its shape, or another line that is never translated.
        note: what is said below, like how it is made.
        tint: "blue", "orange" or "" for grey.
        span: how wide it is beside others of its row.
        of: the names of what it is made of; an arrow comes from each.
    """

    name: str
    shape: str = ""
    note: str = ""
    tint: str = ""
    span: int = 1
    of: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Gap:
    """Nothing, so that others of a row are narrower, and arrows go past them."""

    span: int = 1


@dataclass(frozen=True, slots=True)
class Step:
    """What is done between two rows, in words; an arrow points to the next row."""

    text: str


Panel = Map | Box | Gap
Row = Step | Sequence[Panel]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture: rows from top to bottom.

    Args:
        title: the one thing that it says.
        rows: each with panels side by side, or a step to the next one.
        caption: what is said below.
    """

    title: str
    rows: Sequence[Row]
    caption: str = ""

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn.

        Raises:
            ValueError: with what is wrong.
        """
        known: set[str] = set()
        for row in self.rows:
            if isinstance(row, Step):
                continue
            for panel in row:
                _refuse_faulty(panel, known)
            known |= {panel.name for panel in row if not isinstance(panel, Gap)}


def _refuse_faulty(panel: Panel, known: set[str]) -> None:
    if isinstance(panel, Gap):
        return
    for name in panel.of:
        if name not in known:
            raise ValueError(f"{panel.name!r} is made of {name!r}, and no row above has that name")
    if isinstance(panel, Box):
        if panel.tint not in TINTS:
            raise ValueError(f"{panel.name!r}: the tint {panel.tint!r} is none of {TINTS}")
        return
    counts = {len(row) for row in panel.values}
    if len(counts) != 1 or 0 in counts:
        raise ValueError(f"{panel.name!r}: its rows are not of one length")
    (columns,) = counts
    checked: tuple[tuple[str, Sequence[str], int], ...] = (
        ("rows", panel.rows, len(panel.values)),
        ("columns", panel.columns, columns),
        ("columns", panel.groups, columns),
    )
    for what, labels, count in checked:
        if labels and len(labels) != count:
            raise ValueError(f"{panel.name!r}: {len(labels)} labels for {count} {what}")


def panels(row: Row) -> Iterator[Map | Box]:
    """What is drawn in a row."""
    if not isinstance(row, Step):
        yield from (panel for panel in row if not isinstance(panel, Gap))


def translated_drawing(drawing: Drawing, say: Callable[[str], str]) -> Drawing:
    """A drawing whose texts are in another language; code in backticks stays.

    Args:
        drawing: the drawing.
        say: translates a text.
    """

    def words(text: str) -> str:
        is_code = text.startswith("`") and text.endswith("`") and text.count("`") == 2
        return say(text) if text and not is_code else text

    def panel_said(panel: Panel) -> Panel:
        if isinstance(panel, Gap):
            return panel
        of = tuple(map(words, panel.of))
        new = replace(panel, name=words(panel.name), note=words(panel.note), of=of)
        if isinstance(new, Box):
            return new
        return replace(new, sums=words(new.sums), groups=tuple(map(words, new.groups)))

    rows = tuple(
        Step(words(row.text)) if isinstance(row, Step) else tuple(map(panel_said, row))
        for row in drawing.rows
    )
    return Drawing(words(drawing.title), rows, words(drawing.caption))
