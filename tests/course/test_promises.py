"""The course itself keeps its promises."""

from pathlib import Path

import pytest

from grader.authoring import file_proofs
from grader.authoring import validate as validation
from grader.authoring.mistake_proofs import LEAST_SEPARATION
from grader.authoring.validate import validate
from grader.course.course import load_course
from grader.release.stubs import generate
from grader.release.students import check_files

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("release")]


ELSEWHERE = (
    file_proofs.stubs_are_current,
    file_proofs.stubs_do_the_same_in_every_language,
    file_proofs.open_translations,
)
"""Proofs on all texts of the course; other files of tests hold what they hold."""


def test_an_exercise_keeps_the_promises(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of the others is broken, `make proof` says; but no stub and no check tells a solution."""
    course = load_course(root)
    proofs = [proof for proof in validation.PROOFS if proof.find not in ELSEWHERE]
    monkeypatch.setattr(validation, "PROOFS", proofs)
    handed_out = (*generate(course), *check_files(course, course.assignments))
    assert list(file_proofs.secrets_in(course, handed_out)) == []
    report = validate(course, ("06/dropout_scale",))
    assert report.faults == []
    assert sum(row.recognised for row in report.rows) == sum(r.misconceptions for r in report.rows)


@pytest.mark.long
@pytest.mark.proof
def test_the_course_keeps_its_promises(root: Path) -> None:
    """Stubs, solutions, misconceptions, ledger, files, points and release are as they should be.

    Each misconception is named by the visible checks alone, which is what students have; but for
    two that only a hidden check can tell from right code.
    """
    report = validate(load_course(root), translations=True)
    assert report.faults == []
    known = sum(row.misconceptions for row in report.rows)
    assert known >= 250
    assert sum(row.recognised for row in report.rows) == known
    assert sum(row.recognised_visibly for row in report.rows) == known - 2
    assert min(row.separation for row in report.rows) >= LEAST_SEPARATION
