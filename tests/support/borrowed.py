"""The packages of the present environment, for another one that is empty."""

import shutil
import sys
from pathlib import Path


def borrow_packages(venv: Path) -> None:
    """Let an environment see the packages of this one, behind its own."""
    (packages,) = venv.glob("lib/python*/site-packages")
    shutil.rmtree(packages / "setuptools", ignore_errors=True)  # an old one on Python 3.11
    here = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "borrowed.pth").write_text("\n".join(here) + "\n", "utf-8")
