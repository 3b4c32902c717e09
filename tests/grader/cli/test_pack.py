"""Tests of `grader pack` and of `grader check --as-graded`."""

import csv
import hashlib
import zipfile

import pytest

pytestmark = pytest.mark.slow

SCORES = "assignments/01_scores/scores.py"
SENTINEL = 'raise NotImplementedError(\\"01_scores/scores: not attempted yet\\")'
"""As it stands in a notebook's file."""
UNSCALED = "def scores(queries, keys):\n    return queries @ keys.T\n"
sealed = pytest.mark.only_on("linux", reason="a seal needs Linux")


@pytest.fixture
def begun(folder):
    """The course with the first assignment solved in its own folder."""
    right = (folder / "solutions/01_scores/scores.py").read_text("utf-8")
    (folder / SCORES).write_text(right, "utf-8")
    return folder


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
    (begun / "assignments/01_scores/notes.txt").write_text("", "utf-8")
    (begun / "assignments/01_scores/picture.svg").write_text("", "utf-8")
    (begun / "assignments/01_scores/.helper.py.swp").write_text("", "utf-8")
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
    with zipfile.ZipFile(begun / "submission.zip") as made:
        assert made.namelist() == ["01_scores/scores.py"]
        assert made.read("01_scores/scores.py") == (begun / SCORES).read_bytes()


def test_the_same_work_is_packed_into_the_same_zip(grader, begun, tmp_path) -> None:
    """Under any name; a name that is no zip's is refused."""
    assert grader("pack", "--out", tmp_path / "one.zip").code == 0
    assert grader("pack", "--out", tmp_path / "two.zip").code == 0
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    ran = grader("pack", "--out", "work.txt")
    assert (ran.code, ran.err) == (2, "work.txt is no name for a zip; write NAME.zip.\n")


def test_where_both_forms_are_filled_the_receipt_says_which_counts(grader, begun) -> None:
    """Though only that one is handed in; so does `check --as-graded`."""
    notebook = begun / "assignments/01_scores/scores.ipynb"
    text = notebook.read_text("utf-8")
    assert SENTINEL in text
    notebook.write_text(text.replace(SENTINEL, "return queries"), "utf-8")
    note = (
        "01_scores/scores.py was read and 01_scores/scores.ipynb was not: a .py file is preferred."
    )
    assert f"    {note}" in grader("pack").lines
    assert f"  {note}" in grader("check", "01", "--as-graded").lines
    with zipfile.ZipFile(begun / "submission.zip") as made:
        assert made.namelist() == ["01_scores/scores.py"]


def test_a_notebook_is_handed_in_where_only_it_is_filled(grader, folder) -> None:
    """And runs from top to bottom."""
    notebook = folder / "assignments/01_scores/scores.ipynb"
    body = "return queries @ keys.T / keys.shape[-1] ** 0.5"
    notebook.write_text(notebook.read_text("utf-8").replace(SENTINEL, body), "utf-8")
    head = f"  {'01_scores':<30} {'scores.ipynb':<34}"
    assert grader("pack").lines[3] == f"{head}     2 / 2"
    with zipfile.ZipFile(folder / "submission.zip") as made:
        assert made.namelist() == ["01_scores/scores.ipynb"]


def test_modules_of_ones_own_are_handed_in(grader, begun) -> None:
    """What a file imports from beside it comes with it, from a folder, too."""
    text = "from .parts.heads import scores\n"
    (begun / SCORES).write_text(text, "utf-8")
    parts = begun / "assignments/01_scores/parts"
    parts.mkdir()
    (parts / "__init__.py").write_text("", "utf-8")
    right = (begun / "solutions/01_scores/scores.py").read_text("utf-8")
    (parts / "heads.py").write_text(right, "utf-8")
    ran = grader("pack")
    assert "2 of 6 points by the visible checks." in " ".join(ran.out.split())
    with zipfile.ZipFile(begun / "submission.zip") as made:
        assert made.namelist() == [
            "01_scores/parts/__init__.py",
            "01_scores/parts/heads.py",
            "01_scores/scores.py",
        ]


def test_a_file_of_ones_own_that_defines_everything_is_handed_in(grader, folder) -> None:
    """Where the released ones are untouched."""
    (folder / "assignments/mine.py").write_text(UNSCALED, "utf-8")
    ran = grader("pack")
    assert f"  {'01_scores':<30} {'mine.py':<34}   0.8 / 2" in ran.lines
    assert "0.8 of 6 points by the visible checks. Your instructor grades with more." in ran.lines
    with zipfile.ZipFile(folder / "submission.zip") as made:
        assert made.namelist() == ["mine.py"]


def test_what_was_packed_is_graded_as_the_folder_is(grader, begun, tmp_path) -> None:
    """Alone, in a platform's download, unpacked by hand: the same score."""
    (begun / "assignments/02_mixture/mixture.py").write_text(
        "import scores\n\n\ndef weights(queries, keys):\n    return scores.scores(queries, keys)\n",
        "utf-8",
    )
    archive = tmp_path / "submission.zip"
    assert grader("pack", "--out", archive).code == 0
    with zipfile.ZipFile(tmp_path / "download.zip", "w") as made:
        made.write(archive, "lovelaceada_12_345_submission.zip")
    with zipfile.ZipFile(archive) as made:
        made.extractall(tmp_path / "class" / "ada")
    scores = {}
    handed_in = {
        "folder": begun / "assignments",
        "alone": archive,
        "download": tmp_path / "download.zip",
        "unpacked": tmp_path / "class",
    }
    for name, place in handed_in.items():
        out = tmp_path / "graded" / name
        options = ("--out", out, "--seed", "1", "--jobs", "1", "--quiet")
        assert grader("grade", place, *options).code == 0
        with (out / "scores.csv").open(encoding="utf-8") as file:
            (row,) = csv.DictReader(file)
        scores[name] = [value for key, value in row.items() if "/" in key or key == "score"]
    assert scores["folder"][0] == "2"
    assert scores == dict.fromkeys(handed_in, scores["folder"])


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

    def refuse(_packages):
        raise seal_probe.CannotSealError("not here")

    monkeypatch.setattr(seal_probe, "sealed_launcher", refuse)
    ran = grader("check", "01", "--as-graded")
    assert ran.code == 0
    assert " ".join(ran.lines[-2:]) == (
        "It ran in a process of its own, with the limits of grading. The grader also refuses your "
        "code other files and the network; this computer cannot."
    )


def test_as_graded_and_debug_exclude_each_other(grader) -> None:
    """In one sentence."""
    ran = grader("check", "--as-graded", "--debug")
    assert (ran.code, ran.err) == (
        2,
        "--debug and --as-graded exclude each other: give one of them.\n",
    )
