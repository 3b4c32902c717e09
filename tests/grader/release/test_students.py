"""Tests of what a students' copy is installed with."""

import json
import re
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from grader.authoring.translations import course_messages
from grader.core.language import languages
from grader.course.course import load_course
from grader.release.students import template

NAME = re.compile(r"[A-Za-z0-9_-]+")


def test_an_old_python_is_refused_for_what_it_is(root: Path) -> None:
    """What the kit asks for is bound to its Python, or an old pip speaks of conflicting versions."""
    about = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    bound = {}
    for line in (root / "constraints.txt").read_text("utf-8").splitlines():
        pinned, _, condition = line.partition(" ; ")
        bound[pinned.partition("==")[0].lower()] = condition
    condition = about["requires-python"].replace(">=", 'python_version >= "') + '"'
    asked = [NAME.match(one)[0].lower() for one in about["dependencies"]]  # type: ignore[index]
    assert {name: bound[name] for name in asked} == dict.fromkeys(asked, condition)


@pytest.mark.parametrize("code", languages())
def test_the_readme_has_a_way_for_each_system(root: Path, code: str) -> None:
    """Linux and macOS, Windows without activation, uv; no address of an index."""
    text = template(replace(load_course(root), language=code), "release/students_readme.md")
    unix, windows, uv, work = re.findall(r"```\n(.*?)```", text, re.DOTALL)
    assert unix.startswith("python3 -m venv .venv\nsource .venv/bin/activate ")
    assert windows.splitlines()[1].startswith(".venv\\Scripts\\python -m pip install -c ")
    assert "activate" not in windows
    assert "--torch-backend cpu" in uv
    assert "grader pack " in work
    assert "PIP_EXTRA_INDEX_URL" in text
    assert "://" not in text


def test_a_dev_container_installs_what_the_readme_says(root: Path) -> None:
    """The processor's torch, and a kernel for notebooks."""
    content = json.loads(template(load_course(root), "release/devcontainer.json"))
    assert content["image"] == "python:3.12"
    assert content["postCreateCommand"].endswith(
        "--torch-backend cpu -c constraints.txt . ipykernel"
    )


def test_the_readme_says_of_a_course_what_it_says_of_itself(root: Path) -> None:
    """Its paragraph and its notes, and its own names; nothing is left of what it does not say."""
    course = load_course(root / "tests" / "example_course")
    bare = template(course, "release/students_readme.md")
    assert bare.startswith("# Small steps\n\nYou fill in functions")
    assert "first differ.\n- Points here" in bare
    assert "`assignments/01_scores/scores.py`" in bare
    assert "\ngrader hint scores                   # a hint" in bare
    told = replace(course, about="Two steps.", notes=("A note.", "Another."))
    text = template(told, "release/students_readme.md")
    assert text.startswith("# Small steps\n\nTwo steps.\n\nYou fill in functions")
    assert "- A note.\n- Another.\n- Points here" in text
    assert "{{" not in bare + text


def test_the_readme_ends_with_the_guide_of_the_course(root: Path, tmp_path: Path) -> None:
    """Where it has one, in the language of the release."""
    course = load_course(root / "tests" / "example_course")
    shutil.copytree(course.root, tmp_path, dirs_exist_ok=True)
    (tmp_path / "map.md").write_text("## The map\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", "utf-8")
    bare = template(course, "release/students_readme.md")
    told = replace(course, root=tmp_path, guide="map.md")
    text = template(told, "release/students_readme.md")
    assert text == f"{bare}\n## The map\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    said = [message.id for message in course_messages(told) if message.file == "map.md"]
    assert said == ["The map", "a | b |"]
