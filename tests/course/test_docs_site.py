"""The site of docs/: it has every page, every verb of a check, and builds without a warning.

That the pages' links lead somewhere is tested with the README's (`test_readme.py`).
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from grader.testing.draw import Draw
from grader.testing.judge import Judge
from grader.testing.student import StudentHandle

UNDOCUMENTED = {
    *(
        f"StudentHandle.{verb}"
        for verb in ("again", "calls_to", "constants", "names", "observed", "printed")
    ),
    *(f"StudentHandle.{verb}_request" for verb in ("call", "load", "state")),
}
"""What only messages and `attempt` ask for."""

LOADED = re.compile(r'<(?:link|script|img|iframe)[^>]*\s(?:href|src)="?(?:https?:)?//[^">]*')


@pytest.fixture(scope="module")
def settings(root: Path) -> dict[str, Any]:
    """What mkdocs.yml says."""
    content: dict[str, Any] = yaml.safe_load((root / "mkdocs.yml").read_text("utf-8"))
    return content


def pages_of(nav: Any) -> Iterator[str]:
    """The pages of a table of contents, or of a part of one."""
    if isinstance(nav, str):
        yield nav
        return
    for part in nav.values() if isinstance(nav, dict) else nav:
        yield from pages_of(part)


def test_every_page_is_in_the_table_of_contents(root: Path, settings: dict[str, Any]) -> None:
    """Once, and nothing is there that is no page."""
    pages = sorted(path.relative_to(root / "docs").as_posix() for path in root.glob("docs/**/*.md"))
    assert sorted(pages_of(settings["nav"])) == pages


def test_pages_link_to_pages(root: Path) -> None:
    """The site has only docs/: what lies elsewhere is named, and no link."""
    links = [
        f"{page.name}: {link}"
        for page in root.glob("docs/**/*.md")
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8"))
        if not re.match(r"[a-z]+:|#", link)
        if not (page.parent / link.partition("#")[0]).resolve().is_relative_to(root / "docs")
    ]
    assert links == []


def test_the_reference_has_every_verb(root: Path) -> None:
    """What a check can ask of `student`, `judge` and `draw`."""
    reference = (root / "docs/reference.md").read_text("utf-8")
    verbs = {
        f"{kind.__module__}.{kind.__name__}.{name}"
        for kind in (StudentHandle, Judge, Draw)
        for name, value in vars(kind).items()
        if callable(value) and (name == "__call__" or not name.startswith("_"))
        if f"{kind.__name__}.{name}" not in UNDOCUMENTED
    }
    assert verbs - set(re.findall(r"(?m)^::: (\S+)$", reference)) == set()


@pytest.mark.proof
def test_the_site_is_built_without_a_warning(root: Path, tmp_path: Path) -> None:
    """And loads nothing from a network."""
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path],
        cwd=root,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    pages = list(tmp_path.glob("**/*.html"))
    assert len(pages) > len(list(root.glob("docs/*.md")))  # one more for what is not found
    assert [found for page in pages for found in LOADED.findall(page.read_text("utf-8"))] == []
