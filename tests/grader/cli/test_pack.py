"""Tests of `grader pack` and of `grader check --as-graded`."""

import hashlib
import zipfile
from unittest.mock import Mock

import pytest

from tests.grader.cli.conftest import NOT_SCALED, scores

pytestmark = pytest.mark.slow

SCORES = "assignments/01_scores/scores.py"
sealed = pytest.mark.only_on("linux", reason="a seal needs Linux")


@pytest.fixture
def begun(folder, own):
    """The course with the first assignment solved in its own folder."""
    own(scores="right")
    return folder


@pytest.fixture
def fill(edit):
    """Writes what a notebook leaves open."""
    gap = 'raise NotImplementedError(\\"01_scores/scores: not attempted yet\\")'
    return lambda body: edit("assignments/01_scores/scores.ipynb", gap, body)


def names(archive):
    """What a zip holds."""
    with zipfile.ZipFile(archive) as made:
        return made.namelist()


def test_where_nothing_is_begun_nothing_is_packed(grader, folder) -> None:
    """In one sentence; `--as-graded` says the same."""
    for command in (["pack"], ["check", "--as-graded"]):
        ran = grader(*command)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err == (
            f"There is nothing to hand in yet: no exercise in {folder / 'assignments'} has been "
            "begun.\n"
        )
    assert not (folder / "submission.zip").exists()


@sealed
def test_what_is_begun_is_packed_with_a_receipt(grader, begun) -> None:
    """The file that counts for each assignment, its points, the hash; what is left out is named."""
    for name in ("notes.txt", "picture.svg", ".helper.py.swp"):
        (begun / "assignments/01_scores" / name).write_text("", "utf-8")
    ran = grader("pack")
    assert (ran.code, ran.err) == (0, "")
    digest = hashlib.sha256((begun / "submission.zip").read_bytes()).hexdigest()
    head = f"  {'01_scores':<30} {'scores.py':<34}"
    assert ran.lines == [
        "Written: submission.zip",
        f"SHA-256: {digest}",
        "This counts:",
        f"{head}     2 / 2",
        "Not begun, and left out: 02_mixture",
        "Left out, because the grader does not read it: 01_scores/notes.txt",
        "It ran as it will be graded: sealed, without your other files or the network.",
        "2 of 6 points by the visible checks. Your instructor grades with more.",
        "Hand in submission.zip as it is.",
    ]
    assert names(begun / "submission.zip") == ["01_scores/scores.py"]


def test_the_same_work_is_packed_into_the_same_zip(grader, begun, tmp_path) -> None:
    """Under any name."""
    assert grader("pack", "--out", tmp_path / "one.zip").code == 0
    assert grader("pack", "--out", tmp_path / "two.zip").code == 0
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_where_both_forms_are_filled_the_receipt_says_which_counts(grader, begun, fill) -> None:
    """Though only that one is handed in; so does `check --as-graded`."""
    fill("return queries")
    note = (
        "01_scores/scores.py was read and 01_scores/scores.ipynb was not: a .py file is preferred."
    )
    assert f"    {note}" in grader("pack").lines
    assert f"  {note}" in grader("check", "01", "--as-graded").lines
    assert names(begun / "submission.zip") == ["01_scores/scores.py"]


def test_a_notebook_is_handed_in_where_only_it_is_filled(grader, folder, fill) -> None:
    """And runs from top to bottom."""
    fill("return queries @ keys.T / keys.shape[-1] ** 0.5")
    head = f"  {'01_scores':<30} {'scores.ipynb':<34}"
    assert grader("pack").lines[3] == f"{head}     2 / 2"
    assert names(folder / "submission.zip") == ["01_scores/scores.ipynb"]


def test_a_file_of_ones_own_that_defines_everything_is_handed_in(grader, folder) -> None:
    """Where the released ones are untouched."""
    (folder / "assignments/mine.py").write_text(NOT_SCALED, "utf-8")
    ran = grader("pack")
    assert f"  {'01_scores':<30} {'mine.py':<34}   0.8 / 2" in ran.lines
    assert names(folder / "submission.zip") == ["mine.py"]


@sealed
def test_what_was_packed_is_graded_as_the_folder_is(grade, grader, own, folder, right, tmp_path):
    """With modules of one's own; alone, in a platform's download, unpacked by hand: the same score."""
    own(scores="from .parts.heads import scores\n", mixture="right")
    parts = folder / "assignments/01_scores/parts"
    parts.mkdir()
    (parts / "__init__.py").write_text("", "utf-8")
    (parts / "heads.py").write_text(right, "utf-8")
    archive, download = tmp_path / "submission.zip", tmp_path / "download.zip"
    assert "6 of 6 points by the visible checks." in grader("pack", "--out", archive).out
    assert names(archive) == [
        *("01_scores/parts/__init__.py", "01_scores/parts/heads.py", "01_scores/scores.py"),
        "02_mixture/mixture.py",
    ]
    with zipfile.ZipFile(download, "w") as made:
        made.write(archive, "lovelaceada_12_345_submission.zip")
    with zipfile.ZipFile(archive) as made:
        made.extractall(tmp_path / "class" / "ada")
    for place in (folder / "assignments", archive, download, tmp_path / "class"):
        out = tmp_path / "graded" / place.name
        assert grade("--isolation", "sealed", submissions=place, out=out).code == 0
        assert [*scores(out).values()] == ["6"]


@sealed
def test_as_graded_code_finds_no_file_beside_it(grader, begun) -> None:
    """Which `grader check` alone does not notice."""
    data = begun / "assignments" / "data.txt"
    data.write_text("2", "utf-8")
    reads = f"    half = float(open({str(data)!r}).read()) / 4\n"
    text = (begun / SCORES).read_text("utf-8")
    text = text.replace("    products", f"{reads}    products", 1).replace("** 0.5", "** half")
    (begun / SCORES).write_text(text, "utf-8")
    assert grader("check", "01").code == 0
    ran = grader("check", "01", "--as-graded")
    assert ran.code == 1
    assert "PermissionError" in ran.out
    assert ran.lines[-1] == (
        "It ran as it will be graded: sealed, without your other files or the network."
    )


def test_as_graded_where_nothing_can_be_sealed_says_so(grader, begun, monkeypatch) -> None:
    """The same limits, and what is missing."""
    from grader.judging import seal_probe

    refuse = Mock(side_effect=seal_probe.CannotSealError("not here"))
    monkeypatch.setattr(seal_probe, "sealed_launcher", refuse)
    ran = grader("check", "01", "--as-graded")
    assert ran.code == 0
    assert " ".join(ran.lines[-2:]) == (
        "It ran in a process of its own, with the limits of grading. The grader also refuses your "
        "code other files and the network; this computer cannot."
    )
