"""What experiments show of a student's own numbers: SVG in a notebook, text in a terminal.

A curve has a value for each step. A map has a row and a column for each position, and values from
0 to 1. The path of this module stands in released notebooks.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise

Rows = Sequence[Sequence[float]]

WIDTH, HEIGHT, MARGIN = 640, 220, 48
"""Of a curve, in the units of its SVG."""

CELL, LABEL, GAP = 11, 18, 24
"""Of a map: a cell's side, what its labels take, and what lies between two maps."""

COLUMNS, LINES = 60, 8
"""Of a curve as text."""

EIGHTHS = " ▁▂▃▄▅▆▇█"
SHADES = " ░▒▓█"

STYLE = (
    "<style>text{font:11px sans-serif;fill:#333}.line{stroke:#2060b0;fill:none;stroke-width:2}"
    ".axis{stroke:#888;fill:none}.cell{fill:#2060b0}"
    "@media (prefers-color-scheme:dark){text{fill:#ddd}.line{stroke:#7ab0f0}.cell{fill:#7ab0f0}}"
    "</style>"
)


def progress(values: Iterable[float], total: int, what: str) -> Iterator[float]:
    """The same values; meanwhile a bar shows how many there were, and the last one.

    Args:
        values: one for each step.
        total: how many there will be.
        what: what a value is.
    """
    for step, value in enumerate(values, 1):
        if step == total or step % max(1, total // 40) == 0:
            bar = "█" * (30 * step // total)
            end = "\n" if step == total else ""
            print(f"\r{bar:░<30} {step}/{total}  {what} {value:.4f} ", end=end, flush=True)
        yield value


def show_curve(values: Sequence[float], what: str) -> None:
    """Show a curve with a value for each step: in a notebook as a picture, else as text.

    Args:
        values: at least one.
        what: what a value is.
    """
    _show(curve_svg(values, what), curve_text(values, what))


def show_maps(maps: Mapping[str, Rows], labels: Sequence[str]) -> None:
    """Show maps with a row and a column for each position, and values from 0 to 1.

    Args:
        maps: by what each is called.
        labels: one for each position.
    """
    _show(maps_svg(maps, labels), maps_text(maps, labels))


def _show(svg: str, text: str) -> None:
    find = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = find() if find is not None else None
    if not hasattr(shell, "kernel"):
        print(text)
        return
    from IPython.display import display

    display({"text/html": svg, "text/plain": text}, raw=True)


def curve_svg(values: Sequence[float], what: str) -> str:
    """A curve as SVG.

    Args:
        values: at least one.
        what: what the values are.
    """
    low, high = min(0.0, *values), max(values)
    span = (high - low) or 1.0
    across, down = WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN
    points = " ".join(
        f"{MARGIN + across * step / max(1, len(values) - 1):.1f},"
        f"{HEIGHT - MARGIN - down * (value - low) / span:.1f}"
        for step, value in enumerate(values)
    )
    corner, end = HEIGHT - MARGIN, WIDTH - MARGIN
    parts = (
        f'<path class="axis" d="M{MARGIN},{MARGIN}V{corner}H{end}"/>',
        f'<polyline class="line" points="{points}"/>',
        _text(MARGIN, MARGIN - 14, what, "start"),
        _text(MARGIN - 6, MARGIN + 4, f"{high:.3g}", "end"),
        _text(MARGIN - 6, corner + 4, f"{low:.3g}", "end"),
        _text(MARGIN, corner + 18, "1", "middle"),
        _text(end, corner + 18, str(len(values)), "middle"),
    )
    title = f"{what}: {values[0]:.3g} → {values[-1]:.3g}"
    return _svg(WIDTH, HEIGHT, title, "".join(parts))


def curve_text(values: Sequence[float], what: str) -> str:
    """The same as text: a column for each run of steps, as high as their mean."""
    count = min(COLUMNS, len(values))
    cuts = [len(values) * number // count for number in range(count + 1)]
    means = [sum(values[a:b]) / (b - a) for a, b in pairwise(cuts)]
    low, high = min(0.0, *means), max(means)
    heights = [round((mean - low) / ((high - low) or 1.0) * 8 * LINES) for mean in means]
    lines = [
        "".join(EIGHTHS[max(0, min(8, height - 8 * line))] for height in heights)
        for line in reversed(range(LINES))
    ]
    edges = {0: f"{high:.3g}", LINES - 1: f"{low:.3g}"}
    body = [f"{edges.get(number, ''):>8} │{line.rstrip()}" for number, line in enumerate(lines)]
    steps = f"{'1':<{max(1, count - len(str(len(values))))}}{len(values)}"
    return "\n".join([what, *body, f"{'':>8} └{'─' * count}", f"{'':>8}  {steps}"])


def maps_svg(maps: Mapping[str, Rows], labels: Sequence[str]) -> str:
    """Maps as one SVG, two side by side.

    Args:
        maps: by what each is called.
        labels: one for each position.
    """
    side = LABEL * 2 + CELL * len(labels)
    parts = []
    for number, (name, rows) in enumerate(maps.items()):
        x, y = (side + GAP) * (number % 2), (side + GAP) * (number // 2)
        parts.append(f'<g transform="translate({x},{y})">{_map_svg(name, rows, labels)}</g>')
    wide, high = min(2, len(maps)), (len(maps) + 1) // 2
    return _svg(wide * (side + GAP), high * (side + GAP), ", ".join(maps), "".join(parts))


def _map_svg(name: str, rows: Rows, labels: Sequence[str]) -> str:
    size = CELL * len(labels)
    parts = [
        _text(LABEL, 11, name, "start"),
        f'<rect class="axis" x="{LABEL}" y="{2 * LABEL}" width="{size}" height="{size}"/>',
    ]
    for number, label in enumerate(labels):
        middle = number * CELL + CELL / 2
        parts.append(_text(LABEL + middle, 2 * LABEL - 4, label, "middle"))
        parts.append(_text(LABEL - 8, 2 * LABEL + middle + 4, label, "middle"))
    parts += [
        f'<rect class="cell" x="{LABEL + CELL * column}" y="{2 * LABEL + CELL * row}" '
        f'width="{CELL}" height="{CELL}" opacity="{value:.2f}"/>'
        for row, values in enumerate(rows)
        for column, value in enumerate(values)
        if value >= 0.01
    ]
    return "".join(parts)


def maps_text(maps: Mapping[str, Rows], labels: Sequence[str]) -> str:
    """The same as text: two characters for each cell, the darker the larger its value."""
    blocks = []
    for name, rows in maps.items():
        body = [
            f"{label} " + "".join(2 * SHADES[round(4 * max(0.0, min(1.0, v)))] for v in row)
            for label, row in zip(labels, rows, strict=True)
        ]
        head = "  " + "".join(f"{label:<2}" for label in labels)
        blocks.append("\n".join(line.rstrip() for line in (name, head, *body)))
    return "\n\n".join(blocks)


def _svg(width: float, height: float, title: str, inner: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'style="max-width:{width}px;width:100%"><title>{escape(title)}</title>{STYLE}{inner}</svg>'
    )


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>'
