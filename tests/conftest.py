"""What all tests of the kit share: in CI a skipped test is a failure."""

import gc
import json
import os
import shutil
import signal
import sys
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from grader.core import language
from grader.core.kept import CACHE_VARIABLE

ROOT = Path(__file__).parents[1]
MEMORY = Path("/dev/shm")
ROOM = 4 * 2**30
"""Tests write half a GiB of small files: where there is this much room, in memory and not on a disk."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let golden results be written anew."""
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="Write golden results instead of comparing with them.",
    )


def pytest_configure() -> None:
    """Keep recordings away from the user's own, and hear Ctrl-C also in the background.

    What a run in the background starts would be deaf to it.
    """
    os.environ.setdefault(CACHE_VARIABLE, str(ROOT / "build" / "cache"))
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    # A busy machine takes its time: no test of properties is judged by it.
    hypothesis.settings.register_profile("kit", deadline=None)
    hypothesis.settings.load_profile("kit")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Half as many workers again as there are processors: many tests wait for a deadline."""
    return (os.cpu_count() or 1) * 3 // 2 or 1


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


RANKS = ("xdist_group", "proof", "slow")


@pytest.hookimpl(trylast=True)  # after files were shuffled
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Groups come first, then long tests, so that no worker is left alone with one at the end.

    What needs another system than this one is not selected.
    """
    elsewhere = [item for item in items if not _runs_here(item)]
    config.hook.pytest_deselected(items=elsewhere)
    items[:] = sorted((item for item in items if item not in elsewhere), key=_rank)


def _runs_here(item: pytest.Item) -> bool:
    """Whether each `only_on` of a test names this system."""
    return all(sys.platform in mark.args for mark in item.iter_markers("only_on"))


def _rank(item: pytest.Item) -> int:
    found = (rank for rank, name in enumerate(RANKS) if item.get_closest_marker(name))
    return next(found, len(RANKS))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file on one worker, and so those of files that share something expensive."""
    if config.getvalue("dist") != "loadfile":
        return None
    from groups import Groups

    return Groups(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among thousands of tests: they all stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test begins in English, and so does what the next one needs before it begins."""
    monkeypatch.setenv(language.VARIABLE, language.DEFAULT_LANGUAGE)
    language.use(language.DEFAULT_LANGUAGE)
    yield
    language.use(language.DEFAULT_LANGUAGE)


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return ROOT


@pytest.fixture(scope="session", autouse=True)
def warm_start() -> Iterator[None]:
    """Warm parents are forks of one process that has imported torch, where that is the same."""
    if sys.platform != "linux":
        yield
        return
    from warm_start import WarmStart

    from grader.sessions import launchers

    with pytest.MonkeyPatch.context() as patch:
        start = WarmStart(launchers._start_interpreter, launchers._environment)
        patch.setattr(launchers, "_start_interpreter", start)
        yield


# The example course, made once: what tests change is a copy.


@pytest.fixture(scope="session")
def example_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small complete course, with stubs, notebooks and a licence; to be read only."""
    from grader.course.course import load_course
    from grader.release.stubs import generate

    folder = tmp_path_factory.mktemp("example") / "course"
    shutil.copytree(ROOT / "tests" / "example_course", folder)
    (folder / "LICENSE").write_text("The course's own.\n", "utf-8")
    for file in generate(load_course(folder)):
        file.write(folder)
    return folder


@pytest.fixture
def course_copy(example_course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example course for this test alone, with checks of its own."""
    for name in [name for name in sys.modules if name.startswith("tests.checks")]:
        monkeypatch.delitem(sys.modules, name)  # another course's checks have the same names
    folder = tmp_path / "course"
    shutil.copytree(example_course, folder)
    return folder


# Every platform's form of a result, read back.


@dataclass(frozen=True, slots=True)
class Schemas:
    """Reads reports back; one that breaks its platform's schema fails the test.

    Args:
        folder: where the schemas are.
    """

    folder: Path

    def classroom50(self, text: str) -> dict[str, Any]:
        """A `result.json`."""
        return self._json("classroom50", json.loads(text))

    def gradescope(self, text: str) -> dict[str, Any]:
        """A `results.json`."""
        return self._json("gradescope", json.loads(text))

    def junit(self, text: str) -> Any:
        """JUnit XML, as its root element."""
        from lxml import etree

        tree = etree.fromstring(text.encode())
        etree.XMLSchema(file=str(self.folder / "junit.xsd")).assertValid(tree)
        return tree

    def _json(self, name: str, record: dict[str, Any]) -> dict[str, Any]:
        import jsonschema  # a second of importing, which few tests need

        schema = json.loads((self.folder / f"{name}.json").read_text("utf-8"))
        jsonschema.validate(record, schema, cls=jsonschema.Draft202012Validator)
        return record


@pytest.fixture(scope="session")
def schemas() -> Schemas:
    """The platforms' schemas."""
    return Schemas(ROOT / "tests" / "schemas")
