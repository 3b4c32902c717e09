"""A class of twelve through a term, for the page in docs/ that shows one: on disk, step by step."""

import shutil
from collections.abc import Mapping
from pathlib import Path

NAMES = ("ada", "bo", "cem", "dee", "eli", "fay", "gus", "hal", "ida", "jon", "kim", "lea")
SCALED, PRODUCTS = "products / keys.shape[-1] ** 0.5", "queries @ keys.T"
EDITS: Mapping[str, tuple[str, str]] = {
    "not scaled": (SCALED, "products"),
    "without the root": ("** 0.5", "** 1"),
    "keys first": (PRODUCTS, "keys @ queries.T"),
    "doubled": (PRODUCTS, f"2 * {PRODUCTS}"),
}
"""What students write instead, by what is wrong."""
WRONG = {
    "bo": "not scaled",
    "fay": "without the root",
    "gus": "not scaled",
    "hal": "doubled",
    "jon": "doubled",
    "kim": "keys first",
}
LATE = {"cem": "2026-02-02T09-00-00Z", "ida": "2026-02-03T09-00-00Z"}
IN_TIME, AGAIN, LAST = "2026-01-31T20-00-00Z", "2026-02-01T10-00-00Z", "2026-02-27T20-00-00Z"


def written(course: Path, module: str, wrong: str = "") -> str:
    """A file as a student hands it in.

    Args:
        course: the folder of the course.
        module: the file's name without its ending.
        wrong: a key of `EDITS`; "" for what is right.
    """
    (solution,) = course.glob(f"solutions/*/{module}.py")
    lines = solution.read_text("utf-8").splitlines(keepends=True)
    text = "".join(line for line in lines if "###" not in line and "TODO" not in line)
    copied = "# as shown in the lekture\n" if wrong == "doubled" else ""
    return copied + (text.replace(*EDITS[wrong]) if wrong else text)


def begin(course: Path) -> None:
    """Give the course due dates, a roster, requests, and everybody's first assignment; eli's is dee's."""
    manifest = (course / "course.toml").read_text("utf-8")
    for old, new in {
        "points = 6\n": "points = 6\n\n[late]\npercent_per_day = 10\n",
        'id = "01_scores"\n': 'id = "01_scores"\ndue = 2026-02-01T00:00:00Z\n',
        'id = "02_mixture"\n': 'id = "02_mixture"\ndue = 2026-03-01T00:00:00Z\n',
    }.items():
        assert manifest.count(old) == 1
        manifest = manifest.replace(old, new)
    (course / "course.toml").write_text(manifest, "utf-8")
    rows = (
        f"{name},{name.title()} Example,{name}@school.example,{700 + number},"
        f"{'AB'[number % 2]},{'Uma' if number < 6 else 'Ole'}"
        for number, name in enumerate(NAMES)
    )
    roster = "\n".join(("student,name,email,id,section,tutor", *rows))
    (course / "roster.csv").write_text(f"{roster}\n", "utf-8")
    (course / "requests.csv").write_text(
        "student,exercise,why\nhal,scores,Right but for a factor.\ngus,scores,Why is it 0.8?\n",
        "utf-8",
    )
    for name in NAMES:
        if name != "eli":
            time = LATE.get(name, IN_TIME)
            hand_in(course, name, time, scores=written(course, "scores", WRONG.get(name, "")))


def hand_in(course: Path, student: str, time: str, **files: str) -> None:
    """Add an attempt.

    Args:
        course: the folder of the course, which holds `handed-in/`.
        student: whose.
        time: when.
        files: the text of each file, by its name without its ending.
    """
    folder = course / "handed-in" / student / time
    folder.mkdir(parents=True)
    for module, text in files.items():
        (folder / f"{module}.py").write_text(text, "utf-8")


def again(course: Path) -> None:
    """Two hand in a second time: bo is right now, fay makes it worse."""
    hand_in(course, "bo", AGAIN, scores=written(course, "scores"))
    hand_in(course, "fay", AGAIN, scores=written(course, "scores", "not scaled"))


def mended(course: Path) -> None:
    """Another state of the course beside it, as a clone is, whose hidden check asks for less."""
    better = course.resolve().parent / "mended"
    left = shutil.ignore_patterns("graded", "handed-in", "decisions.toml")
    shutil.copytree(course, better, ignore=left)
    path = better / "tests" / "checks" / "01_scores" / "test_hidden.py"
    text, sizes = path.read_text("utf-8"), "HIDDEN_SIZES = (4, 6, 5)"
    assert sizes in text
    path.write_text(text.replace(sizes, "HIDDEN_SIZES = (4, 6, 1)"), "utf-8")


def last(course: Path) -> None:
    """Everybody hands in the second assignment; what an earlier class handed in lies beside the course."""
    for name in NAMES:
        if name != "eli":
            (*_, before) = sorted((course / "handed-in" / name).iterdir())
            first = (before / "scores.py").read_text("utf-8")
            hand_in(course, name, LAST, scores=first, mixture=written(course, "mixture"))
    earlier = course.resolve().parent / "2025" / "handed-in"
    shutil.copytree(course / "handed-in" / "hal" / LAST, earlier / "zoe")
