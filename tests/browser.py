"""A headless Chromium for tests that look at pages as a person would.

Use the fixture `browser` (in `tests/conftest.py`), and `wait_for` and
`open_page` instead of sleeping.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.common.exceptions import WebDriverException
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support import expected_conditions as ec
from selenium.webdriver.support.ui import WebDriverWait

HOW = "needs a browser: apt-get install chromium chromium-driver"
SWITCHES = (
    "headless",
    "no-sandbox",
    "disable-gpu",
    "disable-quic",
    "no-first-run",
    "disable-background-networking",
    "disable-component-update",
    "disable-sync",
    "window-size=1200,1400",
)
SECONDS = 30


def open_browser(profile: Path) -> Iterator[Chrome]:
    """A browser with an empty profile, closed at the end."""
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not program or not driver:
        pytest.skip(HOW)
    options = ChromeOptions()
    options.binary_location = program
    for switch in (*SWITCHES, f"user-data-dir={profile}"):
        options.add_argument(f"--{switch}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = Chrome(options=options, service=Service(driver))
    try:
        made.set_page_load_timeout(SECONDS)
        yield made
    finally:
        made.quit()


def wait_for(browser: Chrome, selector: str) -> list[WebElement]:
    """The elements that a CSS selector finds, as soon as there is one."""
    waiting = WebDriverWait(browser, SECONDS)
    found = waiting.until(ec.presence_of_all_elements_located(("css selector", selector)), selector)
    return list(found)


def open_page(browser: Chrome, address: str) -> None:
    """Open a page as soon as its server, which may just have been started, answers."""
    waiting = WebDriverWait(browser, 2 * SECONDS, ignored_exceptions=[WebDriverException])
    waiting.until(lambda page: page.get(address) is None, address)
