"""What all tests of the kit share: in CI a skipped test is a failure."""

import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let golden results be written anew."""
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="Write the example class's golden results instead of comparing with them.",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where CI says that it is CI."""
    del item
    report = yield
    if report.skipped and os.environ.get("CI"):
        report.outcome = "failed"
        report.longrepr = f"skipped, and in CI that is a failure: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return ROOT


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Any]:
    """A headless Chromium, driven by Selenium; see `tests/browser.py`."""
    from tests.browser import open_browser

    yield from open_browser(tmp_path / "profile")
