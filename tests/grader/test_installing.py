"""The kit, installed as the pages say: from a clone, from a wheel, from a git address, from an index."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from borrowed import borrow_packages

from grader.authoring.new import new_course
from grader.authoring.own_wheel import own_wheel
from grader.core import kit
from grader.core.kit import installing, requirement

SOURCES = ("grader", "docs", "build_kit.py", "pyproject.toml", "README.md", "LICENSE")
MADE = shutil.ignore_patterns("__pycache__")
GIT = "https://example.org/kit"


class Distribution:
    """What is known of an installed distribution: its direct_url.json, and whether it has extras."""

    def __init__(self, noted: dict[str, object] | None, *, extras: bool = True) -> None:
        self.noted, self.extras, self.metadata = noted, extras, self

    def get_all(self, _name: str) -> list[str] | None:
        """Its extras."""
        return ["author"] if self.extras else None

    def read_text(self, _file: str) -> str | None:
        """The file."""
        return json.dumps(self.noted) if self.noted else None


AT: dict[str, object] = {"url": GIT, "vcs_info": {"vcs": "git", "commit_id": "0a1b"}}
HERE: dict[str, object] = {"url": "file:///a%20b/kit", "dir_info": {"editable": True}}


@pytest.mark.parametrize(
    ("noted", "wanted", "said"),
    [
        (None, "grader-kit[author]", ""),
        (AT, f"grader-kit[author] @ git+{GIT}@0a1b", ""),
        (
            {**AT, "subdirectory": "kit"},
            f"grader-kit[author] @ git+{GIT}@0a1b#subdirectory=kit",
            "",
        ),
        ({"url": f"{GIT}/k", "archive_info": {}}, f"grader-kit[author] @ {GIT}/k", ""),
        (HERE, "", "pip install -e '/a b/kit[author]'"),
        ({"url": "file:///a/k.whl", "archive_info": {}}, "", "pip install '/a/k.whl[author]'"),
    ],
)
def test_what_installs_the_kit_names_where_it_came_from(
    monkeypatch: pytest.MonkeyPatch, noted: dict[str, object] | None, wanted: str, said: str
) -> None:
    """As PEP 610 notes it; of files of this machine a new course keeps a wheel."""
    monkeypatch.setattr(kit, "distribution", lambda _name: Distribution(noted))
    assert installing("author") == (said or f"pip install '{wanted}'")
    if wanted:
        assert requirement("author") == wanted
        files = {file.path: file.text for file in new_course("Mine")}
        assert files["requirements.txt"].splitlines()[-1] == wanted
        assert not [path for path in files if path.endswith(".whl")]


def test_a_copy_of_a_student_is_not_where_extras_come_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was installed from a folder, and has none."""
    noted = {"url": "file:///home/ada/attention", "dir_info": {}}
    monkeypatch.setattr(kit, "distribution", lambda _name: Distribution(noted, extras=False))
    assert installing("author") == "pip install 'grader-kit[author]'"


def test_a_kit_of_this_machine_is_kept_as_a_wheel() -> None:
    """With the pages; the same to the byte each time, so that git sees no change."""
    files = {file.path: file for file in new_course("Mine")}
    (path,) = [path for path in files if path.endswith(".whl")]
    assert files["requirements.txt"].text.splitlines()[-1] == f"./{path}[author]"
    assert own_wheel("kit").data == files[path].data
    assert not [file for file in files.values() if str(Path.home()) in file.text]


# What takes a minute each.


@pytest.fixture(scope="module")
def clone(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of the kit, under version control."""
    folder = tmp_path_factory.mktemp("from") / "kit"
    folder.mkdir()
    for name in SOURCES:
        copy = shutil.copytree if (root / name).is_dir() else shutil.copy
        copy(root / name, folder / name, **({"ignore": MADE} if (root / name).is_dir() else {}))
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "-A"], [*author, "commit", "-qm", "The kit"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="module")
def built(clone: Path) -> Path:
    """A folder with the source package and the wheel, as a tag builds them."""
    made = "import build_kit as b; print(b.build_sdist('dist')); print(b.build_wheel('dist'))"
    (clone / "dist").mkdir()
    subprocess.run([sys.executable, "-c", made], cwd=clone, check=True, capture_output=True)
    return clone / "dist"


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment without the kit, and the one that a new course sets up.

    What the kit needs comes from the present one, so that nothing is downloaded.
    """
    for name in ("PIP_NO_DEPS", "PIP_NO_INDEX", "PIP_QUIET", "PIP_FORCE_REINSTALL"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("PIP_NO_BUILD_ISOLATION", "0")
    for name in ("GRADER_COURSE", "VIRTUAL_ENV", "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)
    for environment in ("env", "mine/.venv"):
        subprocess.run([sys.executable, "-m", "venv", tmp_path / environment], check=True)
        borrow_packages(tmp_path / environment)
    return tmp_path / "env" / "bin"


def run(*words: object, folder: Path) -> str:
    """What a command prints that ends well."""
    done = subprocess.run(
        [str(word) for word in words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.proof
@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")
@pytest.mark.parametrize(
    "origin",
    ["wheel", *(pytest.param(one, marks=pytest.mark.long) for one in ("clone", "git", "sdist"))],
)
def test_a_new_course_passes_its_make_test_wherever_the_kit_came_from(
    origin: str, clone: Path, built: Path, empty: Path, tmp_path: Path
) -> None:
    """With the page's commands, in an empty environment, and in the one that the course sets up."""
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    address = {
        "clone": f"{clone}[author]",
        "wheel": f"{wheel}[author]",
        "git": f"git+{clone.as_uri()}",
        "sdist": f"{sdist}[author]",
    }[origin]
    run(empty / "pip", "install", address, folder=tmp_path)
    assert run(empty / "grader", "docs", "authors", folder=tmp_path).startswith("# For authors\n")
    run(empty / "grader", "new", "course", "made", folder=tmp_path)
    shutil.copytree(tmp_path / "made", tmp_path / "mine", dirs_exist_ok=True)
    said = run("make", "test", f"PYTHON={empty / 'python'}", folder=tmp_path / "mine")
    assert "The course keeps its promises." in said
    assert "one_mistake" in said
    inside = run(tmp_path / "mine" / ".venv" / "bin" / "grader", "docs", folder=tmp_path)
    assert str(tmp_path / "mine" / ".venv") in inside


@pytest.mark.proof
def test_the_wheel_of_a_course_has_what_a_built_one_has(built: Path, tmp_path: Path) -> None:
    """Every file of the package, byte for byte; and it is found to be whole."""
    (wheel,) = built.glob("*.whl")
    own_wheel("kit").write(tmp_path)
    (ours,) = (zipfile.ZipFile(path) for path in (tmp_path / "kit").glob("*.whl"))
    theirs = zipfile.ZipFile(wheel)
    assert sorted(ours.namelist()) == sorted(theirs.namelist())
    different = [n for n in ours.namelist() if ours.read(n) != theirs.read(n)]
    assert {Path(name).name for name in different} <= {"RECORD", "WHEEL", "METADATA"}
