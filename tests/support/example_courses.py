"""The courses in examples/, copied apart from the kit's own, and run as their authors run them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MADE = ("build", "__pycache__", ".ipynb_checkpoints")


def copy_of(name: str, folder: Path, *without: str) -> Path:
    """A copy of the example course of this name, as this folder, without what was made, and these names."""
    ignored = shutil.ignore_patterns(*MADE, *without)
    return Path(shutil.copytree(ROOT / "examples" / name, folder, ignore=ignored))


def run(course: Path, *arguments: str, code: int = 0) -> str:
    """What a command prints in the course's folder."""
    done = subprocess.run(
        [sys.executable, "-m", "grader.cli", *arguments],
        cwd=course,
        env={name: value for name, value in os.environ.items() if name != "GRADER_COURSE"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=600,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr
