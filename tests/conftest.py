"""What all tests of the kit share: in CI a skipped test is a failure."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from grader import language

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


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test begins in English, whatever language the one before it chose."""
    monkeypatch.setenv(language.VARIABLE, language.SOURCE)
    language.use(language.SOURCE)


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return ROOT
