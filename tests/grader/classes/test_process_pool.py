"""Workers are forks of what forks the children: these have nothing in their memory of what workers know."""

import hashlib

import pytest

from grader.classes.process_pool import grade_locally
from grader.classes.store import RunSettings
from grader.core.kept import CACHE_VARIABLE
from grader.course.course import load_course
from grader.intake.folders import Student

SECRETS = ("seed-4f1c9a7be2d0", "environment-83b6e05d1c7f")
BEGINNING = 6
LOOKS = """
import hashlib
import re

FOUND = []
MADE = [text[::-1].encode() for text in {made!r}]
BEGINNINGS = {beginnings!r}
DIGESTS = {digests!r}


def looked():
    if FOUND:  # once is enough; who has found nothing looks again, at each call
        return FOUND
    found = []
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            span, rights = line.split()[:2]
            start, end = (int(number, 16) for number in span.split("-"))
            if not rights.startswith("rw"):
                continue
            try:
                memory.seek(start)
                data = memory.read(end - start)
            except OSError:
                continue
            for beginning, (size, digest) in zip(BEGINNINGS, DIGESTS):
                for match in re.finditer(beginning, data):
                    text = data[match.start() : match.start() + size]
                    if hashlib.sha256(text).hexdigest() == digest:
                        found.append(size)
    FOUND.extend(found)
    return found


def scores(queries, keys):
    return queries @ keys.T / keys.shape[-1] ** 0.5 * (1 + len(looked()))
"""


def student(folder, made=()):
    """One who looks through the memory of the process, and is right where nothing is found.

    Args:
        folder: where the work is written.
        made: what its own code puts there, backwards.
    """
    encoded = [secret.encode() for secret in SECRETS]
    digests = [(len(secret), hashlib.sha256(secret).hexdigest()) for secret in encoded]
    beginnings = [secret[:BEGINNING] for secret in encoded]
    folder.mkdir()
    text = LOOKS.format(beginnings=beginnings, digests=digests, made=made)
    (folder / "scores.py").write_text(text, "utf-8")
    return Student(folder.name, folder)


@pytest.mark.slow
@pytest.mark.only_on("linux", reason="elsewhere workers are no forks")
def test_a_child_has_neither_the_seed_nor_the_environment_of_its_worker(
    course_copy, tmp_path, monkeypatch
):
    """What a worker is told after it was forked is not in the memory of children; what they make is."""
    seed, environment = SECRETS
    monkeypatch.setenv("SECRET", environment)
    course = load_course(course_copy)
    settings = RunSettings(course.root, course.hash, seed, "process")
    backwards = tuple(secret[::-1] for secret in SECRETS)
    students = [student(tmp_path / "looks"), student(tmp_path / "finds", backwards)]
    results = {who.id: result for who, result in grade_locally(settings, students, 1)}
    ends = {
        id_: {check.outcome.value for check in result.exercises[0].checks if check.weight}
        for id_, result in results.items()
    }
    assert ends == {"looks": {"passed"}, "finds": {"passed", "failed"}}


@pytest.mark.slow
def test_a_worker_says_which_known_mistakes_it_runs(course_copy, tmp_path, monkeypatch):
    """Once, for the first who gets an exercise wrong."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    course, told = load_course(course_copy), []
    settings = RunSettings(course.root, course.hash, "1", "process")
    students = [Student(name, tmp_path / name) for name in ("first", "second")]
    for one in students:
        one.path.mkdir()
        (one.path / "scores.py").write_text(
            "def scores(queries, keys):\n    return queries @ keys.T\n"
        )
    assert len(list(grade_locally(settings, students, 1, lambda *what: told.append(what)))) == 2
    assert told[0] == ("01_scores/scores", 3)
    assert len(told) == len(set(told))
