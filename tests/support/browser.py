"""A headless browser for tests of what people see. Needs Chromium or Chrome on the machine."""

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
DESKTOP = (1280, 900)
PHONE = (390, 844)
ELSEWHERE = re.compile(r"https?://(?!127\.0\.0\.1[:/])")


@dataclass(slots=True)
class Visit:
    """A page that is open, and what it did that it should not.

    Args:
        page: playwright's page.
        complaints: errors and warnings on the console, and exceptions.
        requests: addresses it asked for, besides its own.
    """

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


Open = Callable[..., Visit]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser for the tests of one module.

    Not for the whole session: playwright's event loop would be in the way of others.
    """
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("there is no Chromium here; install Debian's package `chromium`")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Any) -> Iterator[Open]:
    """Opens a file or an address as a page: how wide, dark or light, with or without scripts."""
    contexts = []

    def open_page(
        place: Path | str,
        size: tuple[int, int] = DESKTOP,
        *,
        dark: bool = False,
        scripts: bool = True,
    ) -> Visit:
        width, height = size
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
        )
        contexts.append(context)
        made = Visit(context.new_page())
        made.page.on(
            "console",
            lambda said: said.type in ("error", "warning") and made.complaints.append(said.text),
        )
        made.page.on("pageerror", lambda error: made.complaints.append(str(error)))
        made.page.on("request", lambda request: made.requests.append(request.url))
        made.page.route(ELSEWHERE, lambda route: route.abort())  # no waiting for a network
        address = place.as_uri() if isinstance(place, Path) else place
        made.page.goto(address)
        made.requests.remove(address)
        return made

    yield open_page
    for context in contexts:
        context.close()
