"""Tests of what a copy is installed by: it is made from the kit that is installed here."""

import subprocess
import sys
import tomllib
import zipfile
from email import message_from_bytes
from importlib.metadata import distribution, version
from pathlib import Path

from grader.core.kit import KIT_NAME
from grader.course.course import load_course
from grader.release.students import (
    KITS_LICENSE,
    NO_CONSTRAINTS,
    installed_files,
    package_files,
    project_files,
)

BUILD = "from flit_core.buildapi import build_wheel; print(build_wheel('built'))"


def made(folder: Path, **how: bool) -> dict[str, str]:
    """The files of a course's project, by path."""
    return {file.path: file.text for file in project_files(load_course(folder), **how)}


def test_a_course_of_its_own_has_a_project_that_installs_the_grader(course_copy: Path) -> None:
    """Whatever project the course itself may be; it has the kit's name, version and needs."""
    (course_copy / "pyproject.toml").write_text("[project]\nname = 'another'\n", "utf-8")
    project = tomllib.loads(made(course_copy)["pyproject.toml"])
    kit = distribution(KIT_NAME)
    assert (project["project"]["name"], project["project"]["version"]) == (KIT_NAME, kit.version)
    assert project["project"]["scripts"] == {"grader": "grader.cli:main"}
    needs = [one for one in kit.requires or () if "extra" not in one]
    assert project["project"]["dependencies"] == needs
    assert any(one.startswith("torch") for one in needs)


def test_where_an_instructor_keeps_a_class_is_in_no_copy(course_copy: Path) -> None:
    """`[grade]` goes, wherever it stands; the rest of the manifest stays as it is."""
    path = course_copy / "course.toml"
    before = path.read_text("utf-8")
    (head, title) = before.split("[course]")
    path.write_text(f'{head}[grade]\nout = "secret"\n\n[course]{title}', "utf-8")
    (released,) = (f for f in installed_files(load_course(course_copy)) if f.path == path.name)
    assert released.text == before


def test_the_project_asks_for_what_the_kits_own_asks_for(root: Path, course_copy: Path) -> None:
    """As far as what is installed here is up to date."""
    ours = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    theirs = tomllib.loads(made(course_copy)["pyproject.toml"])
    assert theirs["build-system"]["requires"] == ours["build-system"]["requires"]
    assert theirs["tool"]["flit"]["module"] == ours["tool"]["flit"]["module"]
    same = "name", "version", "description", "requires-python", "license", "scripts"
    for key in (*same, "entry-points"):
        assert theirs["project"][key] == ours["project"][key]
    asked = (sorted(one["project"]["dependencies"]) for one in (ours, theirs))
    assert len({",".join(sorted(",".join(one).split(","))) for one in asked}) == 1


def test_licences_and_pinned_versions_are_the_courses_where_it_has_them(course_copy: Path) -> None:
    """The kit's own licence lies beside the kit's code, in any case."""
    files = made(course_copy)
    assert files["LICENSE"] == "The course's own.\n"
    assert files["constraints.txt"] == NO_CONSTRAINTS
    (course_copy / "LICENSE").unlink()
    (course_copy / "constraints.txt").write_text("torch==2.13.0\n", "utf-8")
    files = made(course_copy)
    assert "LICENSE" not in files
    assert files["constraints.txt"] == "torch==2.13.0\n"
    assert "Apache License" in files[KITS_LICENSE]


def test_what_is_written_is_a_project_that_builds(course_copy: Path, tmp_path: Path) -> None:
    """With the grader that lies in it, its command and its licence."""
    for file in (*installed_files(load_course(course_copy)), *package_files()):
        file.write(tmp_path)
    (tmp_path / "built").mkdir()
    ran = subprocess.run(
        [sys.executable, "-c", BUILD], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    wheel = zipfile.ZipFile(tmp_path / "built" / ran.stdout.strip())
    info = f"grader_kit-{distribution(KIT_NAME).version}.dist-info"
    assert {"grader/cli/__init__.py", f"{info}/licenses/grader/LICENSE"} <= {*wheel.namelist()}
    doors = wheel.read(f"{info}/entry_points.txt").decode()
    assert doors == distribution(KIT_NAME).read_text("entry_points.txt")
    assert "[console_scripts]\ngrader=grader.cli:main\n" in doors
    assert message_from_bytes(wheel.read(f"{info}/METADATA"))["Name"] == KIT_NAME


# What the course imports itself.

IMPORTS = "import os\nimport yaml.nodes\nfrom lxml import etree\nimport numpy\nimport scores\nimport not_there\n"


def dependencies(course: Path, **how: bool) -> list[str]:
    """What its project asks for beyond the kit."""
    needs = [one for one in distribution(KIT_NAME).requires or () if "extra" not in one]
    project = tomllib.loads(made(course, **how)["pyproject.toml"])
    return [one for one in project["project"]["dependencies"] if one not in needs]


def test_what_a_course_imports_is_asked_for(course_copy: Path) -> None:
    """By the name of what is installed, from its version on; not Python's own, nor the course's."""
    assert dependencies(course_copy) == []
    solution = course_copy / "solutions" / "02_mixture" / "mixture.py"
    solution.write_text(IMPORTS + solution.read_text("utf-8"), "utf-8")
    lxml, pyyaml = (".".join(version(name).split(".")[:2]) for name in ("lxml", "PyYAML"))
    assert dependencies(course_copy) == [f"PyYAML>={pyyaml}", f"lxml>={lxml}", "not_there"]


def test_what_only_hidden_checks_import_is_asked_for_where_they_run(course_copy: Path) -> None:
    """And what course.toml names for students, everywhere."""
    checks = course_copy / "tests" / "checks" / "01_scores" / "test_hidden.py"
    checks.write_text("import lxml\n" + checks.read_text("utf-8"), "utf-8")
    with (course_copy / "course.toml").open("a") as file:
        file.write('\n[limits]\npackages = ["yaml.nodes"]\n')
    for hidden, names in ((False, ["PyYAML"]), (True, ["PyYAML", "lxml"])):
        asked = dependencies(course_copy, hidden=hidden)
        assert [one.partition(">")[0] for one in asked] == names
