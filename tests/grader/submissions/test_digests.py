"""Digests of a hand-in: what is read for an assignment, and all it can reach, is the same where they are."""

import ast
import os
import re
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grader.course.course import Course
from grader.sandbox.failures import stub_message
from grader.sandbox.loader import Loader
from grader.submissions.digests import digests
from grader.submissions.submission import read_submission
from tests.grader.submissions.conftest import assignment_of, course_of, notebook

NAMES = {
    "01_first": ("one", "LIMIT"),
    "02_second": ("two", "shared"),
    "03_third": ("three", "shared"),
}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Three assignments, two of which have a name in common, with stubs."""
    root = tmp_path_factory.mktemp("course")
    for id_ in NAMES:
        stub = root / "assignments" / id_ / f"{id_[3:]}.py"
        stub.parent.mkdir(parents=True)
        stub.write_text(stub_of(id_), "utf-8")
    return course_of(root, *(assignment_of(id_, *names) for id_, names in NAMES.items()))


def stub_of(id_: str) -> str:
    """An assignment as it is handed out."""
    return "".join(
        f'def {name}():\n    raise NotImplementedError("{stub_message(f"{id_}/{name}")}")\n'
        for name in NAMES[id_]
    )


TWO = b"def two():\n    return 1\n"
NOWHERE = b"a link to nowhere"
SNIPPETS = [
    *(f"def {name}():\n    return 1\n" for name in ("one", "two", "three", "shared")),
    *map(stub_of, NAMES),
    *("LIMIT = 3\n", "x = 1\n", "# one, two\n", "def one():\r    return 2\r"),
    *("from first import one\n", "import second\n", "from third import *\n", "import helper\n"),
    *("from pkg import helper\n", "import pkg.first\n", "from . import helper\n"),
    *("from .helper import x\n", "from \\\n  first import one\n", "class two: pass\n"),
    *("from . import (\n  second,\n  helper)\n", "import ﬁrst\n", "# größe\n"),
    '__import__("fi" + "rst")\n',
]
ODD = ["def one(): 'é'\n".encode("cp1252"), "import first\n".encode("utf-16"), NOWHERE]
PATHS = """
01_first/first.py, 01_first/first.ipynb, 01_First (1)/first.py, 01_first/helper.py,
02_second/second.py, 02_second/first.py, 02_second/helper.py, 02_second/test_x.py,
03_third/third.py, 03_third/_helper.py, 03_third/deep/er/helper.py, 03_third/third.ipynb,
first.py, second.ipynb, helper.py, all.py, pkg/__init__.py, pkg/helper.py, pkg/first.py,
other/second.py, 01_first/first.py.txt, third.py.txt, 03_third/__init__.py, timestamp.txt,
01_first/timestamp.txt, 02_second/setup.py, Third.py, first (2).py, 01_first/pyvenv.cfg,
other/pyvenv.cfg, .hidden/first.py, 02_second/second.py/first.py
"""
PATHS = re.split(r",\s+", PATHS.strip())
CONTENTS = st.sampled_from([b"", bytes(9), *ODD]) | st.lists(
    st.sampled_from(SNIPPETS), max_size=3
).map(lambda parts: "".join(parts).encode())
FOLDERS = st.dictionaries(st.sampled_from(PATHS), CONTENTS, max_size=7)
CHANGES = st.lists(st.tuples(st.sampled_from(PATHS), st.none() | CONTENTS), min_size=1, max_size=2)


def write(folder: Path, files: dict[str, bytes]) -> None:
    """Write a student's files; a notebook has its code in one cell."""
    folder.mkdir()
    for name, content in files.items():
        path = folder / name
        if os.path.lexists(path) or any(p.is_file() or p.is_symlink() for p in path.parents):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if content == NOWHERE:
            path.symlink_to("/nowhere/at/all")
        elif name.endswith(".ipynb") and content.isascii() and content.strip(b"\0"):
            path.write_text(notebook(content.decode()), "utf-8")
        else:
            path.write_bytes(content)


def seen(course: Course, folder: Path) -> dict[str, object]:
    """By assignment, its reading and every file that its code can reach, with what it imports."""
    submission = read_submission(course, folder, "ada")
    loader = Loader()
    headers = {key: source.header() for key, source in submission.sources.items()}
    loader.add(headers, submission.modules)
    found: dict[str, object] = {}
    for id_, reading in submission.readings.items():
        files, ahead = {}, [*reading.sources]
        while ahead:
            key = ahead.pop()
            if key in files or key.endswith("/"):
                continue
            wanted = {
                name: loader._key(*name, key) for name in imports(submission.sources[key].text, key)
            }
            files[key] = submission.sources[key], wanted
            ahead += [other for other in wanted.values() if other]
            ahead += [f for other in wanted.values() if (f := f"{other}__init__.py") in headers]
        known = (reading.own, reading.is_untouched, reading.passed_over)
        found[id_] = replace(reading, submitted_at=None), known, files
    return found


def imports(text: str, key: str) -> set[tuple[str, str]]:
    """The names that a file imports, each with the folder in which it is looked up first."""
    found, folders = set(), key.split("/")[:-1]
    lines = text.replace("\\\n", " ")
    try:
        nodes = [*ast.walk(ast.parse(lines))]
    except (SyntaxError, ValueError):
        return set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {(part, "/".join(folders)) for a in node.names for part in prefixes(a.name)}
        if isinstance(node, ast.ImportFrom):
            up = folders[: len(folders) - max(0, node.level - 1)]
            names = [*prefixes(node.module or "")]
            names += [
                f"{node.module or ''}.{a.name}".strip(".") for a in node.names if a.name != "*"
            ]
            found |= {(name, "/".join(up)) for name in names}
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "__import__":
            found |= {("first", "/".join(folders))}
    return found


def prefixes(name: str) -> list[str]:
    """Each part of a dotted name with what stands before it."""
    parts = name.split(".")
    return [".".join(parts[:size]) for size in range(1, len(parts) + 1) if name]


@pytest.mark.parametrize(
    "examples",
    [pytest.param(100, marks=pytest.mark.slow), pytest.param(400, marks=pytest.mark.proof)],
)
def test_what_is_read_is_the_same_where_the_digest_is(course, examples):
    """Whatever is added, changed or removed: each note, each source, and what these import."""

    @settings(max_examples=examples)
    @given(FOLDERS, CHANGES)
    @example({"02_second/second.py": b"x = 1\n"}, [("03_third/helper.py", TWO)])
    def try_it(files, changes):
        read_twice(course, files, changes)

    try_it()


def read_twice(course, files, changes):
    """Read a folder before and after some changes: assignments of the same digest have read the same."""
    after = dict(files)
    for path, content in changes:
        after.pop(path, None)
        if content is not None:
            after[path] = content
    with tempfile.TemporaryDirectory() as scratch:
        one, two = (Path(scratch) / name / "ada" for name in ("one", "two"))
        for path, content in ((one, files), (two, after)):
            path.parent.mkdir()
            write(path, content)
        before, now = digests(course, one), digests(course, two)
        read_before, read_now = seen(course, one), seen(course, two)
    same = [id_ for id_ in NAMES if before.by_assignment[id_] == now.by_assignment[id_]]
    assert {id_: read_before[id_] for id_ in same} == {id_: read_now[id_] for id_ in same}


@pytest.fixture
def folder(tmp_path):
    """A student's folder with a file for each assignment."""
    write(
        tmp_path / "ada",
        {f"{id_}/{id_[3:]}.py": stub_of(id_).replace("not att", "att").encode() for id_ in NAMES},
    )
    return tmp_path / "ada"


@pytest.fixture
def changed(course, folder):
    """Writes a file, and answers of which assignments the digest is another one then."""

    def change(path, content=b"x = 1\n"):
        before = digests(course, folder)
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        now = digests(course, folder)
        both = before.by_assignment, now.by_assignment
        return [id_[:2] for id_ in NAMES if both[0][id_] != both[1][id_]]

    return change


@pytest.mark.parametrize(
    ("path", "content", "touched"),
    [
        ("01_first/first.py", b"def one():\n    return 2\n", ["01"]),
        ("01_first/first.ipynb", b"{}", ["01"]),
        ("01_first/notes.py", b"x = 1\n", ["01"]),
        ("01_first/first.py.txt", b"", ["01"]),
        ("01_first/timestamp.txt", b"2027-01-31 12:00:00 UTC", []),
        ("01_first/timestamp.txt", b"yesterday", ["01"]),
        ("other/first.py", b"x = 1\n", ["01"]),
        ("02_second/first.py", b"x = 1\n", ["01", "02"]),
        ("helpers.py", b"x = 1\n", ["01", "02", "03"]),
        ("pkg/helpers.py", b"x = 1\n", ["01", "02", "03"]),
    ],
)
def test_a_file_touches_the_assignments_that_can_see_it(changed, path, content, touched):
    """And no other one: a file of the next assignment grades nothing again."""
    assert changed(path, content) == touched


SHARED = b"\n\ndef shared():\n    return 1\n"
SECOND = "02_second/second.py"


@pytest.mark.parametrize(
    ("second", "path", "content", "touched"),
    [
        # By a module's name, by one of the student's own, and by one that is not written out.
        (b"from first import one\n" + TWO + SHARED, "01_first/first.py", b"", ["01", "02"]),
        (b"import tools\n" + TWO + SHARED, "01_first/tools.py", b"x = 2\n", ["01", "02"]),
        (TWO + SHARED + b"__import__('thi' + 'rd')\n", "03_third/third.py", b"", ["02", "03"]),
        # A file saved in the folder of another assignment is read for its own one, which lacks it.
        (SHARED, "01_first/tools.py", TWO, ["01", "02"]),
        (TWO + SHARED, "01_first/tools.py", TWO, ["01"]),
    ],
)
def test_an_assignment_depends_on_what_it_imports_and_lacks(
    changed, second, path, content, touched
):
    """And no other one does."""
    changed(SECOND, second)
    assert changed(path, content) == touched


def test_what_is_judged_together_depends_on_the_same_files(course, folder):
    """Checks look at the work for what an assignment compares, and for what it imports."""
    first, second, third = course.assignments
    known = replace(second, compares=("01_first",)), replace(third, imports=("02_second",))
    course = replace(course, assignments=(first, *known))
    before = digests(course, folder).by_assignment
    (folder / "01_first/first.py").write_text("def one():\n    return 3\n", "utf-8")
    now = digests(course, folder).by_assignment
    assert [id_ for id_ in NAMES if before[id_] != now[id_]] == [*NAMES]


def test_where_not_all_is_read_everything_matters(changed, folder):
    """The two hundredth file may stand before the one that counts."""
    for number in range(210):
        (folder / f"f{number:03}.py").write_text("x = 1\n", "utf-8")
    assert changed("03_third/third.py") == ["01", "02", "03"]


def test_a_file_that_cannot_be_read_is_another_state(course, folder, monkeypatch):
    """A folder is not, which is told; nor is what lies in it the same."""
    before = digests(course, folder).by_assignment
    (folder / "01_first" / "first.py").unlink()
    (folder / "01_first" / "first.py").symlink_to(folder / "nowhere.py")
    now = digests(course, folder).by_assignment
    assert [id_ for id_ in NAMES if before[id_] != now[id_]] == ["01_first"]


def test_a_single_file_has_one_digest(course, tmp_path):
    """It may be read for each assignment."""
    path = tmp_path / "ada.py"
    path.write_text("x = 1\n", "utf-8")
    made = digests(course, path)
    assert len({*made.by_assignment.values()}) == 1
    path.write_text("x = 2\n", "utf-8")
    now = digests(course, path).by_assignment
    assert not {*now.values()} & {*made.by_assignment.values()}
