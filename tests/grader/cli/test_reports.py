"""`--report` of check and grade, `grader release --to …`, and Gradescope's own command."""

import json
import shutil
import subprocess
import sys
import zipfile
from unittest.mock import Mock

import pytest
import yaml

from grader.submissions.protected_files import PROTECTED
from tests.grader.cli.conftest import NOT_SCALED


@pytest.fixture
def platform(monkeypatch, tmp_path):
    """The variables of a job on GitHub, and the files that they name."""
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    return tmp_path


def test_check_reports_to_a_job_on_github(grader, work, platform) -> None:
    """Summary in its file, annotations on standard output, then nothing that is taken for a command."""
    ran = grader("check", "01", "--submission", work(scores="unscaled"), "--report", "github")
    assert ran.code == 1
    first, second, *_, last = ran.lines
    assert first.startswith(
        "::error file=class/mine/scores.py,line=1,title=01_scores/scores%3A not"
    )
    token = second.removeprefix("::stop-commands::")
    assert (len(token), last) == (32, f"::{token}::")
    summary = (platform / "GITHUB_STEP_SUMMARY").read_text("utf-8")
    assert summary.startswith("# Small steps\n\n**0.8 of 2 points**\n")
    assert "scores-not-scaled" in summary


def test_reports_leave_json_alone(grader, work, platform) -> None:
    """Commands go to standard error, where GitHub reads them, too."""
    options = ("--report", "github", "--format", "json")
    ran = grader("check", "01", "--submission", work(scores="unscaled"), *options)
    assert json.loads(ran.out)["format"] == "grader-kit/result/3"
    assert ran.err.startswith("::error ")


def test_check_writes_every_platforms_file(grader, work, folder, platform, schemas) -> None:
    """At the course's folder, or where the platform says."""
    names = ("junit", "classroom50", "gradescope", "csv")
    options = [part for name in names for part in ("--report", name)]
    assert grader("check", "--submission", work(scores="unscaled"), *options).code == 1
    schemas.junit((folder / "junit.xml").read_text("utf-8"))
    fifty = schemas.classroom50((folder / "result.json").read_text("utf-8"))
    scope = schemas.gradescope((folder / "results.json").read_text("utf-8"))
    assert fifty["max-score"] == 6
    assert f"me,{scope['score']},6," in (folder / "scores.csv").read_text("utf-8")


def test_an_undecided_score_leaves_no_old_result(grader, work, folder, platform) -> None:
    """A `result.json` that a student had committed is not taken for this run's."""
    (folder / "result.json").write_text("{}", "utf-8")
    (folder / "tests/checks/01_scores/test_visible.py").unlink()
    ran = grader("check", "01", "--submission", work(scores="unscaled"), "--report", "classroom50")
    assert ran.code == 3
    assert not (folder / "result.json").exists()


# A class.


@pytest.mark.slow
def test_grade_takes_a_platforms_zip_and_writes_reports(grade, right, out, tmp_path) -> None:
    """Canvas's download in; one file per student, and the gradebook's table, out."""
    archive = tmp_path / "submissions.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("lovelaceada_11_1_scores.py", right)
        made.writestr("turingalan_12_2_scores.py", NOT_SCALED)
        made.writestr("../evil_13_3_scores.py", right)
    ran = grade("--report", "canvas", "--report", "gradescope", submissions=archive)
    assert (ran.code, ran.err) == (0, "")
    assert "Left out: '../evil_13_3_scores.py' leads out of the folder." in ran.lines
    assert {path.relative_to(out).as_posix() for path in (out / "reports").rglob("*.*")} == {
        *("reports/gradescope/lovelaceada.json", "reports/gradescope/turingalan.json"),
        *("reports/canvas/feedback.zip", "reports/canvas/gradebook.csv"),
    }
    with zipfile.ZipFile(out / "reports/canvas/feedback.zip") as made:
        assert made.namelist() == [
            *("lovelaceada_11_1_feedback.html", "turingalan_12_2_feedback.html")
        ]
    assert "turingalan,12,,,," in (out / "reports/canvas/gradebook.csv").read_text("utf-8")


# Releases.


def checked(place, *options):
    """`grader check` in a released copy, by the grader that lies in it."""
    done = subprocess.run(
        [sys.executable, "-c", "from grader.cli import main; main()", "check", *options],
        cwd=place,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.proof
def test_a_tampered_check_is_seen(release, folder, tmp_path) -> None:
    """In the summary, on the screen and by the exit code; the untouched repository is fine."""
    released, ran = release("github")
    place = shutil.copytree(released, tmp_path / "github")
    told = ran.out.split("protected files: ")[1][:16]
    for solution in (folder / "solutions").glob("*/*.py"):
        shutil.copy(solution, place / "assignments" / solution.parent.name / solution.name)
    code, out = checked(place, "--report", "github")
    assert (code, f"Protected files are as released (list `{told}`)." in out) == (0, True)
    check = place / "tests" / "checks" / "01_scores" / "test_visible.py"
    check.write_text(check.read_text("utf-8") + "# mine\n", "utf-8")
    (place / "tests" / "checks" / "conftest.py").write_text("", "utf-8")
    code, out = checked(place, "--report", "github")
    assert code == 1
    assert "Protected files are not as released; nothing above counts until then:" in out
    assert "  tests/checks/conftest.py: added" in out


def test_a_student_repository_protects_what_is_not_the_students(release) -> None:
    """Everything but the assignments, the list itself, and what is theirs to change."""
    place, _ = release("github")
    files = {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()}
    listed = {line[66:] for line in (place / PROTECTED).read_text("utf-8").splitlines()}
    free = {name for name in files - listed if not name.startswith("assignments/")}
    assert listed <= files
    assert free == {
        *(PROTECTED, "README.md", "AGENTS.md", "CLAUDE.md", ".gitignore", "LICENSE"),
    }
    assert {".github/workflows/check.yml", ".gitattributes", "grader/cli/__init__.py"} <= listed


def test_a_student_repository_is_the_students_copy_and_a_few_files_more(release) -> None:
    """What is true of what the one gives away is true of the other."""
    copies = {}
    for audience in ("students", "github"):
        place, _ = release(audience)
        files = [path for path in place.rglob("*") if path.is_file()]
        copies[audience] = {p.relative_to(place).as_posix(): p.read_bytes() for p in files}
    more = copies["github"].keys() - copies["students"].keys()
    hidden = (".gitattributes", ".gitignore", ".github/workflows/check.yml")
    assert more == {PROTECTED, *hidden, ".github/ISSUE_TEMPLATE/regrade.yml"}
    form = yaml.safe_load(copies["github"][".github/ISSUE_TEMPLATE/regrade.yml"])
    options = form["body"][0]["attributes"]["options"]
    assert options == ["01_scores/scores", "02_mixture/weights", "02_mixture/Mixture"]
    del copies["students"]["README.md"]
    assert copies["students"].items() <= copies["github"].items()


@pytest.mark.slow
def test_nothing_for_students_has_a_template_for_gradescope(release) -> None:
    """Nor solutions, nor hidden checks."""
    names = {path.name for to in ("students", "github") for path in release(to)[0].rglob("*")}
    assert not names & {"run.sh", "setup.sh", "solutions", "test_hidden.py", "misconceptions.toml"}


# Gradescope.


@pytest.fixture
def autograder(release, tmp_path):
    """A folder laid out as Gradescope's, its zip unpacked, its Python this one."""
    place, ran = release("gradescope")
    assert "The zip holds solutions and hidden checks" in ran.out
    root = tmp_path / "autograder"
    for name in ("submission", "results"):
        (root / name).mkdir(parents=True)
    with zipfile.ZipFile(place / "autograder.zip") as archive:
        archive.extractall(root / "source")
        modes = {info.filename: info.external_attr >> 16 for info in archive.infolist()}
    assert {name for name, mode in modes.items() if mode & 0o111} == {"setup.sh", "run_autograder"}
    shutil.copy(root / "source" / "run_autograder", root / "run_autograder")
    command = root / "source" / "venv" / "bin" / "grader"
    command.parent.mkdir(parents=True)
    command.write_text(
        f"#!/bin/sh\nexec '{sys.executable}' -c 'from grader.cli import main; main()' \"$@\"\n"
    )
    command.chmod(0o755)
    return root


def test_setup_installs_the_course_with_the_newest_python(autograder, tmp_path) -> None:
    """Gradescope runs it as root on an image whose own Python may be too old."""
    shutil.rmtree(autograder / "source" / "venv")
    tools = tmp_path / "tools"
    tools.mkdir()
    tool = f"""\
#!/bin/sh
echo "$(basename "$0") $*" >> '{tmp_path}/calls'
if [ "$1" = -m ]; then
  mkdir -p "$3/bin"
  cp "$0" "$3/bin/pip"
  cp "$0" "$3/bin/grader"
fi
"""
    for name in ("apt-get", "python3.11", "python3.12"):
        (tools / name).write_text(tool)
        (tools / name).chmod(0o755)
    done = subprocess.run(
        ["/bin/bash", autograder / "source" / "setup.sh"],
        env={"PATH": f"{tools}:/usr/bin:/bin", "GRADER_AUTOGRADER": str(autograder)},
        check=False,
        timeout=60,
    )
    assert done.returncode == 0
    assert (tmp_path / "calls").read_text().splitlines()[-3:] == [
        f"python3.12 -m venv {autograder}/source/venv",
        "pip install --constraint constraints.txt .",
        "grader doctor",
    ]
    assert "apt-get" not in (tmp_path / "calls").read_text()


@pytest.fixture
def run_here(autograder, grader, monkeypatch):
    """Runs in this process what `run_autograder` starts."""
    monkeypatch.chdir(autograder / "source" / "course")

    def run():
        ran = grader("gradescope", "--root", autograder)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.startswith("Sealed: ")
        return (autograder / "results" / "results.json").read_text("utf-8")

    return run


@pytest.mark.slow
def test_the_autograder_grades_and_its_results_are_read_back(
    autograder, run_here, right, schemas
) -> None:
    """Files as students upload them: flat, and a whole repository in a zip."""
    place = autograder / "submission"
    (place / "scores.py").write_text(NOT_SCALED)
    record = schemas.gradescope(run_here())
    first = record["tests"][0]
    assert (record["score"], first["name"], first["status"]) == (0.8, "01_scores/scores", "failed")
    assert first["tags"] == ["scores-not-scaled"]
    (place / "scores.py").unlink()
    with zipfile.ZipFile(place / "work.zip", "w") as made:
        made.writestr("repository/assignments/01_scores/scores.py", right)
        made.writestr("repository/grader/other.py", "")
    assert schemas.gradescope(run_here())["score"] == 2


@pytest.mark.slow
def test_a_submission_cannot_reach_what_the_autograder_holds(autograder, run_here, schemas) -> None:
    """Solutions and hidden checks lie on the same machine; the seal keeps them unread."""
    solutions = autograder / "source" / "course" / "solutions"
    evil = (
        "import glob\n"
        "try:\n"
        f"    text = open('{solutions}/01_scores/scores.py').read()\n"
        "except OSError as error:\n"
        "    text = type(error).__name__\n"
        f"found = glob.glob('{solutions}/*/*.py')\n"
        "def scores(queries, keys):\n"
        "    raise ValueError(f'{text} {found}')\n"
    )
    (autograder / "submission" / "scores.py").write_text(evil)
    (autograder / "submission" / "mixture.py").symlink_to(solutions / "02_mixture" / "mixture.py")
    record = schemas.gradescope(run_here())
    assert record["score"] == 0
    assert "ValueError: PermissionError []" in record["tests"][0]["output"]


@pytest.mark.proof
def test_a_hand_in_with_nothing_to_read_is_told_so(autograder, schemas) -> None:
    """A zero with words: Gradescope knows no other way."""
    (autograder / "submission" / "notes.txt").write_text("later")
    (autograder / "results" / "results.json").write_text("old")
    done = subprocess.run(
        ["bash", autograder / "run_autograder"],
        env={"PATH": "/usr/bin:/bin", "GRADER_AUTOGRADER": autograder, "HOME": autograder},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Sealed: ")
    record = schemas.gradescope((autograder / "results" / "results.json").read_text("utf-8"))
    assert (record["score"], record["tests"]) == (0, [])


def test_where_the_kernel_cannot_seal_it_says_so(
    grader, autograder, folder, monkeypatch, schemas
) -> None:
    """To the student, too; and grades without."""
    from grader.judging import seal_probe

    words = "This machine cannot seal student code (no Landlock)."
    refuse = Mock(side_effect=seal_probe.CannotSealError(words))
    monkeypatch.setattr(seal_probe, "sealed_launcher", refuse)
    (autograder / "submission" / "scores.py").write_text(NOT_SCALED)
    ran = grader("gradescope", "--root", autograder)
    assert (ran.code, ran.err) == (0, f"{words}\n")
    record = schemas.gradescope((autograder / "results" / "results.json").read_text("utf-8"))
    assert record["output"].startswith("Graded without a seal: this machine's kernel does not")


@pytest.mark.proof
def test_when_the_grader_itself_fails_there_is_no_score(grader, autograder, folder) -> None:
    """Gradescope then says that the autograder failed; an old result is not left lying."""
    checks = folder / "tests" / "checks" / "01_scores" / "test_hidden.py"
    checks.write_text(f"{checks.read_text('utf-8')}\n)\n", "utf-8")
    (autograder / "submission" / "scores.py").write_text(NOT_SCALED)
    (autograder / "results" / "results.json").write_text("old")
    ran = grader("gradescope", "--root", autograder)
    assert ran.code == 3
    assert "Undecided: a part could not be judged; there is no score." in ran.err
    assert not (autograder / "results" / "results.json").exists()
