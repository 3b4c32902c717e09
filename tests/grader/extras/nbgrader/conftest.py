"""Helpers of nbgrader's tests: the example course, gradebooks to write into, nbgrader's commands."""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest
from browser import chromium, visit
from sqlalchemy import create_engine, text

from grader.cli import cli
from grader.extras.nbgrader.store import database_url

HOW = (
    "needs a PostgreSQL server: `source .ci/services && start_services` starts a private one and "
    "sets GRADER_TEST_POSTGRES; `stop_services` ends it"
)


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a command."""

    code: int
    out: str
    err: str


def environment_of(folder: Path) -> dict[str, str]:
    """What a program sees that is to run in a folder, away from this user's settings."""
    home = folder.parent / "home"
    own = {f"JUPYTER_{kind}_DIR": str(home / kind) for kind in ("CONFIG", "DATA", "RUNTIME")}
    environment = {k: v for k, v in os.environ.items() if k != "GRADER_COURSE"}
    # nbgrader calls alembic by name, and its kernels leave temporary folders behind.
    binaries = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    own |= {"IPYTHONDIR": str(home / "ipython"), "TMPDIR": str(home), "PATH": binaries}
    home.mkdir(exist_ok=True)
    return {**environment, **own}


def run_python(folder: Path, *arguments: str) -> Ran:
    """Run Python in a folder."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment_of(folder),
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def grader_here(folder: Path, *command: str) -> Ran:
    """Run one of the kit's commands in a folder, in this process, which has imported torch already."""
    out, err = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.delenv("GRADER_COURSE", raising=False)
        for name in [name for name in sys.modules if name.startswith("tests.checks")]:
            patch.delitem(sys.modules, name)  # another course's checks have the same names
        with pytest.raises(SystemExit) as ended:
            cli.main([*command], prog_name="grader")
    return Ran(int(ended.value.code or 0), out.getvalue(), err.getvalue())


def nbgrader(folder: Path, *command: str) -> Ran:
    """Run one of nbgrader's commands in a folder; it has to work."""
    done = run_python(folder, "-m", "nbgrader", *command)
    assert done.code == 0, done.err
    return done


ONE_AFTER_THE_OTHER = """
import json, sys
from contextlib import suppress
from jupyter_core.application import NoStart
from nbgrader.apps import NbGraderApp
for command in json.loads(sys.argv[1]):
    app = NbGraderApp()
    app.initialize(command)
    with suppress(NoStart):  # a command that has a command of its own raises it at its end
        app.start()
    app.subapp.clear_instance()
"""


def nbgrader_commands(folder: Path, *commands: tuple[str, ...]) -> str:
    """Run several of nbgrader's commands in one process; what they said on stderr."""
    done = run_python(folder, "-c", ONE_AFTER_THE_OTHER, json.dumps(commands))
    assert done.code == 0, done.err
    return done.err


@pytest.fixture(scope="session")
def course_folder(example_course: Path) -> Path:
    """The example course, for tests that only read it."""
    return example_course


def postgresql() -> Iterator[str]:
    """A new database on the server that the tests were given."""
    server = os.environ.get("GRADER_TEST_POSTGRES")
    if not server:
        pytest.skip(HOW)
    url, name = database_url(server), f"gradebook_{uuid4().hex}"
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield url.set(database=name).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.proof)])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where a gradebook is: a file, and a database on a real server."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'gradebook.db'}"
    else:
        yield from postgresql()


__all__ = ["chromium", "visit"]
