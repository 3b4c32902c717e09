"""What experiments show of a student's own numbers: SVG in a notebook, text in a terminal.

A curve has a value for each step. A map has a row and a column for each position, and values from
0 to 1. The path of this module stands in released notebooks.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

Rows = Sequence[Sequence[float]]

COLUMNS, LINES = 60, 8
"""Of a curve as text."""

EIGHTHS = " ▁▂▃▄▅▆▇█"
SHADES = " ░▒▓█"


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
    shares = [(value - low) / ((high - low) or 1.0) for value in values]
    return str(_templates().curve(values, shares, what, low, high))


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
    return str(_templates().maps(maps, labels))


def _templates() -> Any:
    from grader.reports.html.pages import environment  # a script shows text, and needs none

    return environment().get_template("charts.svg.j2").module


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
