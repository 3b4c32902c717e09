"""What experiments show: a bar, a curve and maps, as text and as SVG."""

import xml.etree.ElementTree as ET
from types import SimpleNamespace

import IPython
import pytest

from grader import charts

CURVE = [4.0, 2.0, 1.0, 0.0]
CURVE_AS_TEXT = """loss
       4 │█
         │█
         │█
         │█
         │██
         │██
         │███
       0 │███
         └────
          1  4"""
MAPS = {"one <head>": [[1.0, 0.0], [0.5, 0.5]]}
MAP_AS_TEXT = """one <head>
  a b
a ██
b ▒▒▒▒"""


def test_in_a_terminal_charts_are_text(capsys: pytest.CaptureFixture[str]) -> None:
    """A column for each run of steps; two characters for each cell."""
    charts.show_curve(CURVE, "loss")
    charts.show_maps(MAPS, "ab")
    assert capsys.readouterr().out == f"{CURVE_AS_TEXT}\n{MAP_AS_TEXT}\n"


def test_in_a_notebook_they_are_svg_with_the_text_beside_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """For readers that show no pictures."""
    shown: list[dict[str, str]] = []
    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(kernel=True))
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    charts.show_curve(CURVE, "loss")
    charts.show_maps(MAPS, "ab")
    assert [data["text/plain"] for data in shown] == [CURVE_AS_TEXT, MAP_AS_TEXT]
    curve, maps = (ET.fromstring(data["text/html"]) for data in shown)
    titles = [svg.findtext("{http://www.w3.org/2000/svg}title") for svg in (curve, maps)]
    assert titles == ["loss: 4 → 0", "one <head>"]
    cells = [part for part in maps.iter() if part.get("class") == "cell"]
    assert [cell.get("opacity") for cell in cells] == ["1.00", "0.50", "0.50"]


@pytest.mark.parametrize("values", [[0.0], [2.0, 2.0], [float(n) for n in range(200)]])
def test_a_curve_of_any_length_fits(values: list[float]) -> None:
    """A single value, values that are all the same, more steps than columns."""
    lines = charts.curve_text(values, "loss").splitlines()
    assert max(map(len, lines)) <= 10 + charts.COLUMNS
    assert lines[-1].endswith(str(len(values)))
    ET.fromstring(charts.curve_svg(values, "loss"))


def test_a_bar_shows_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """At most 40 times, the last step among them; the values go on as they are."""
    assert list(charts.progress(map(float, range(90)), 90, "loss")) == list(map(float, range(90)))
    steps = capsys.readouterr().out.split("\r")[1:]
    assert len(steps) <= 46
    assert steps[0].split() == ["░" * 30, "2/90", "loss", "1.0000"]
    assert steps[-1] == "█" * 30 + " 90/90  loss 89.0000 \n"
