"""The README's picture is what a student sees today; what it links to is there."""

import html
import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from grader.course.course import load_course

PICTURE = "docs/check.svg"
BROKEN = ("masked_fill(mask.bool(), -torch.inf)", "masked_fill(mask.bool(), 0.0)")
WIDTH = 92


def seen(root: Path, folder: Path) -> str:
    """What `grader check` shows a student who hides scores behind a zero, as SVG."""
    text = (root / "solutions/05_causal_mask/causal_mask.py").read_text("utf-8")
    assert BROKEN[0] in text
    (folder / "causal_mask.py").write_text(text.replace(*BROKEN), "utf-8")
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "grader.cli", "check", "mask_scores"),
            *("--submission", "causal_mask.py", "--lang", "en"),
        ],
        cwd=folder,
        env=os.environ
        | {"GRADER_COURSE": str(root), "COLUMNS": str(WIDTH)}
        | {"FORCE_COLOR": "1", "COLORTERM": "truecolor", "TERM": "xterm-256color"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1, ran.stderr
    screen = Console(record=True, width=WIDTH, file=StringIO())
    screen.print(Text.from_ansi("$ grader check mask_scores\n" + ran.stdout))
    return screen.export_svg(title="grader check", unique_id="check")


def words(svg: str) -> list[str]:
    """The text of a picture, without what another version of rich draws otherwise."""
    return html.unescape(re.sub(r"(?s)<style>.*?</style>|<[^>]*>", " ", svg)).split()


@pytest.mark.slow
def test_the_picture_shows_what_students_see(
    root: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """`make golden` draws it anew."""
    drawn = seen(root, tmp_path)
    if request.config.getoption("--update-golden"):
        (root / PICTURE).write_text(drawn, "utf-8")
    assert words((root / PICTURE).read_text("utf-8")) == words(drawn)


def test_the_table_of_assignments_is_the_course(root: Path) -> None:
    """Titles, exercises and points."""
    rows = [
        f"| {a.id[:2]} | {a.title} | {len(a.exercises)} | {sum(e.points for e in a.exercises)} |"
        for a in load_course(root).assignments
    ]
    assert "\n".join(rows) in (root / "README.md").read_text("utf-8")


def test_what_documents_link_to_is_there(root: Path) -> None:
    """Files beside them, and headings in them."""
    broken = []
    for page in (root / "README.md", root / "CONTRIBUTING.md", *(root / "docs").glob("*.md")):
        prose = re.sub(r"(?ms)^```.*?^```", "", page.read_text("utf-8"))
        for link in re.findall(r"\]\(([^)\s]+)\)", prose):
            path, _, heading = link.partition("#")
            if re.match(r"[a-z]+:", link):
                continue
            target = (page.parent / path) if path else page
            if not target.exists() or (
                heading and heading not in headings(target.read_text("utf-8"))
            ):
                broken.append(f"{page.name}: {link}")
    assert not broken


def headings(text: str) -> list[str]:
    """What a link may name in a page."""
    found = re.findall(r"(?m)^#+ (.*)$", text)
    return [re.sub(r"[^\w\- ]", "", line.lower()).strip().replace(" ", "-") for line in found]
