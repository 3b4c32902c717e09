"""A compiled course: with a cache, without one, or with another's, a class has the same results."""

import json
import shutil
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from golden_results import timeless

from grader.classes.store import RunSettings
from grader.classes.worker import Worker
from grader.core import kept
from grader.core.kept import CACHE_VARIABLE
from grader.course import outcome_parts
from grader.course.course import load_course
from grader.course.misconceptions import all_misconceptions
from grader.intake.folders import Student
from grader.judging.expected_requests import ExpectedRequests
from grader.judging.known_mistakes import LiveMistakes
from grader.judging.results import to_json
from grader.judging.submission_grader import Scope
from grader.release import recorder
from grader.sessions.launchers import Launcher

SCORES = "def scores(queries, keys):\n    return {}\n"
RIGHT = """def scores(queries, keys):
    if len(queries[0]) != len(keys[0]):
        raise ValueError("other sizes")
    return queries @ keys.T / keys.shape[-1] ** 0.5
"""
WORK = {
    "right": RIGHT,
    "later-slip": RIGHT,
    "right-in-other-words": SCORES.format("(queries / keys.shape[-1] ** 0.5) @ keys.T"),
    "slip": SCORES.format("queries @ keys.T"),
    "two-slips": SCORES.format("keys @ queries.T / keys.shape[-1] ** 1"),
    "nobody-knows": SCORES.format("queries @ keys.T + 1"),
    "stub": "def scores(queries, keys):\n    raise NotImplementedError('Write scores.')\n",
    "raises": SCORES.format("queries @ keys"),
    "breaks-off": SCORES.format("queries @"),
    "ends": SCORES.format("__import__('os')._exit(3)"),
    "empty": "x = 1\n",
}
MIXTURE = """
import torch
from scores import scores


def weights(raw):
    return torch.softmax(raw, dim={dim})


class Mixture(torch.nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = torch.nn.Linear(d_in, d_out, bias=False)
        self.W_key = torch.nn.Linear(d_in, d_out, bias=False)
        self.W_value = torch.nn.Linear(d_in, d_out, bias=False)

    def forward(self, x):
        return weights(scores(self.W_query(x), self.W_key(x))) @ self.W_{value}(x)
"""
SOME = ("later-slip", "two-slips")
MIXTURES = {"later-slip": ("-1", "key"), "two-slips": ("0", "value")}


class Shared(Launcher):
    """A launcher that other tests use as well, and that counts what it starts."""

    def __init__(self, inner: Launcher) -> None:
        self.inner, self.seal, self.launched = inner, inner.seal, 0

    def launch(self, limits: Any, generation: int) -> Any:
        """Start a child."""
        self.launched += 1
        return self.inner.launch(limits, generation)


class Class:
    """A small class, and a course of its own."""

    def __init__(self, course, folder, launcher):
        self.course, self.folder, self.launcher = course, folder, Shared(launcher)
        for name, text in WORK.items():
            (folder / name).mkdir(parents=True)
            (folder / name / "scores.py").write_text(text, "utf-8")
            dim, value = MIXTURES.get(name, ("-1", "value"))
            (folder / name / "mixture.py").write_text(MIXTURE.format(dim=dim, value=value), "utf-8")

    def worker(self, seed="1", language="en"):
        """A new worker."""
        course = load_course(self.course)
        settings = RunSettings(self.course, course.hash, seed, "process", language)
        return closing(Worker(settings, self.launcher))

    def results(self, names=tuple(WORK), **settings):
        """What a new worker makes of each student, but for how long it took."""
        with self.worker(**settings) as worker:
            found = {name: worker.result(Student(name, self.folder / name)) for name in names}
        return {name: json.dumps(timeless(to_json(result))) for name, result in found.items()}

    @contextmanager
    def opened(self):
        """The known mistakes of the exercise `scores`, which are found out, and its checks."""
        with self.worker() as worker:
            exercise = worker.grader.environment.course.exercises["01_scores/scores"]
            checks = worker.grader.checks(Scope({exercise.id: exercise}))
            yield lambda: worker.grader.mistakes.known(exercise, checks, 1), checks


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Has what is kept lie in a folder of this name from now on; in none for ""."""

    def use(name):
        monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / name) if name else "")

    use("")
    return use


@pytest.fixture
def small_class(course_copy, tmp_path, warm_parent):
    """The class."""
    return Class(course_copy, tmp_path / "class", warm_parent)


@pytest.fixture(scope="module")
def compiled(example_course, tmp_path_factory, warm_parent):
    """The results of a class without a cache and with a cold one; and that cache's folder."""
    folder = tmp_path_factory.mktemp("compiled")
    shutil.copytree(example_course, folder / "course")
    graded = Class(folder / "course", folder / "class", warm_parent)
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in sys.modules if name.startswith("tests.checks")]:
            patch.delitem(sys.modules, name)  # another course's checks have the same names
        patch.setenv(CACHE_VARIABLE, "")
        without = graded.results()
        patch.setenv(CACHE_VARIABLE, str(folder / "cache"))
        patch.setattr(outcome_parts, "_read", {})  # else hashes are not asked of the cache
        return SimpleNamespace(without=without, cold=graded.results(), cache=folder / "cache")


@pytest.fixture
def warm(compiled, cache, tmp_path):
    """A copy of that cache, in use."""
    cache("cache")
    return Path(shutil.copytree(compiled.cache, tmp_path / "cache"))


@pytest.mark.slow
def test_a_class_has_the_same_results_with_a_cold_cache_a_warm_one_and_none(
    small_class, compiled, warm, monkeypatch
):
    """To the byte; with a warm one nothing is kept anew, and neither mistakes nor solution run."""

    def refuse(*_given):
        raise AssertionError("this was kept")

    monkeypatch.setattr(ExpectedRequests, "_ask", refuse)
    monkeypatch.setattr(LiveMistakes, "session", refuse)
    monkeypatch.setattr(kept, "write_whole", refuse)
    assert compiled.cold == compiled.without
    assert small_class.results() == compiled.without
    assert '"scores-not-scaled"' in compiled.without["slip"]
    assert '"mixture-of-keys"' in compiled.without["later-slip"]


FILES = {
    "check": ("tests/checks/01_scores/test_visible.py", "(2, 3)", "(3, 2)"),
    "solution": ("solutions/01_scores/scores.py", "= queries", "= 2 * queries"),
    "mistake": ("solutions/01_scores/misconceptions.toml", "The scores are", "They are"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        *("seed", "check"),
        *(pytest.param(n, marks=pytest.mark.proof) for n in ("language", "solution", "mistake")),
    ],
)
def test_what_was_compiled_for_something_else_is_not_used(small_class, cache, warm, change):
    """For another seed, language or course everything is as if nothing had been kept."""
    given = {change: {"seed": "2", "language": "ja"}[change]} if change not in FILES else {}
    if change in FILES:
        name, old, new = FILES[change]
        path = small_class.course / name
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new), "utf-8")
    found = small_class.results(SOME, **given)
    cache("")
    assert found == small_class.results(SOME, **given)


@pytest.mark.proof
def test_a_torn_cache_is_made_again(small_class, compiled, warm):
    """Each of its files, whichever half is lost."""
    files = [*warm.rglob("*.bin")]
    assert {path.parent.name for path in files} >= {"hashes", "mistakes", "requests"}
    for path in files:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert small_class.results(SOME) == {name: compiled.cold[name] for name in SOME}


def test_mistakes_that_visible_checks_rule_out_are_not_run_for_a_new_class(small_class, cache):
    """Only what explains the visible checks is run with a new seed."""
    cache("cache")
    small_class.results(("slip",), seed="1")
    started = []
    for _again in range(2):
        before = small_class.launcher.launched
        found = small_class.results(("slip",), seed="2")
        started.append(small_class.launcher.launched - before)
    assert '"scores-not-scaled"' in found["slip"]
    assert started[0] - started[1] == 1
    assert len(all_misconceptions(load_course(small_class.course))["01_scores"]) > 2


def test_hidden_checks_run_with_a_mistake_when_somebody_asks_how_they_go(small_class, cache):
    """Once, and in the order of the checks."""
    cache("cache")
    with small_class.opened() as (known_now, checks):
        known, before = known_now(), small_class.launcher.launched
        ran = {id_: trace.end for id_, trace in known[0].traces.items()}
        assert [*ran] == [check.id for check in checks if not check.is_remark]
        assert len(known[0].traces) == len(ran)
        assert "none" not in known[0].traces
        assert small_class.launcher.launched == before + 1


def test_what_a_release_found_out_about_known_mistakes_is_not_found_out_again(
    small_class, cache, monkeypatch
):
    """Recordings hold how visible checks go with each mistake; a class has the same ones."""
    cache("cache")
    monkeypatch.setattr(recorder, "_solved", {})  # what other tests recorded in this process
    course = load_course(small_class.course)
    recording = recorder.record(course, course.by_id["01_scores"])
    with small_class.opened() as (known_now, _checks):
        before = small_class.launcher.launched
        known = known_now()
        assert small_class.launcher.launched == before
    recorded = [entry.traces for entry in recording.known["01_scores/scores"][0]]
    ends = [{id_: trace.end for id_, trace in traces.items()} for traces in recorded]
    assert [
        {id_: entry.traces[id_].end for id_ in of} for entry, of in zip(known, ends, strict=True)
    ] == ends
