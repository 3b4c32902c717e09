"""The settings of a term: `[grade]` of course.toml stands for the options of each week."""

import json

import pytest

from grader.course.course import load_course
from tests.grader.cli.conftest import scores

pytestmark = pytest.mark.slow

TERM = """
[grade]
submissions = "handed-in"
out = "graded"
roster = "roster.csv"
policy = "best"
never_lower = "published"
reports = ["canvas"]
assignments = ["01"]
"""


@pytest.fixture
def term(folder, work):
    """A course with settings, and a class of two beside it; answers how to set others."""
    for time, text in (("2027-01-30T10-00-00", "right"), ("2027-01-31T10-00-00", "unscaled")):
        work(f"ada/{time}", scores=text)
    work("bo", scores="unscaled").parent.rename(folder / "handed-in")
    (folder / "roster.csv").write_text("student\nada\nbo\ncem\n", "utf-8")
    before = (folder / "course.toml").read_text("utf-8")

    def write(settings=TERM):
        (folder / "course.toml").write_text(before + settings, "utf-8")

    write()
    return write


@pytest.fixture
def grade(grader):
    """Grades without a seal and in this process."""
    return lambda *options: grader("grade", "--isolation", "process", "--jobs", 1, *options)


def test_a_command_alone_takes_what_the_course_says(term, grade, grader, folder):
    """Also those that look at a run; an option overrides it, and `--no-settings` leaves all out."""
    ran = grade()
    assert (ran.code, ran.err) == (0, "")
    assert "Results are in graded; " in ran.out
    assert scores(folder / "graded") == {"ada": "2", "bo": "0.8", "cem": ""}
    assert (folder / "graded/reports/canvas/gradebook.csv").is_file()
    assert "Published as graded/published/" in grader("publish").out
    assert "not scaled" in grader("explain", "bo", "scores").out
    assert grader("similar").code == 0
    work = folder / "handed-in/bo/scores.py"
    work.write_text("def scores(queries, keys):\n    return keys\n", "utf-8")
    ran = grade("--policy", "last")
    assert "Unlike the run before: --policy last, was best." in ran.out
    assert scores(folder / "graded") == {"ada": "2", "bo": "0.8", "cem": ""}
    assert "Unlike the run before: --policy best, was last." in grade().out
    ran = grade("--no-settings", "handed-in", "--out", "graded")
    words = (
        "Unlike the run before: --policy last, was best; without --roster roster.csv; without --nev"
    )
    assert words in ran.out
    assert scores(folder / "graded") == {"ada": "0.8", "bo": "0"}


def test_the_courses_requests_are_listed(term, grade, grader, folder):
    """By `explain` alone; one student is explained also before anybody asked."""
    manifest = folder / "course.toml"
    text = manifest.read_text("utf-8")
    manifest.write_text(text.replace("[grade]\n", '[grade]\nrequests = "asked.csv"\n'), "utf-8")
    assert grade().code == 0
    assert "not scaled" in grader("explain", "bo", "scores").out
    (folder / "asked.csv").write_text("student,exercise,why\nbo,scores,Please.\n", "utf-8")
    assert "1 of 1 have no decision." in grader("explain").out
    assert "not scaled" in grader("explain", "bo", "scores").out


def test_a_run_publishes_what_it_graded(term, grade, folder):
    """Once for the same results, and not where a score is undecided."""
    assert "Published as graded/published/" in grade("--publish").out
    assert (
        "Nothing is different from what was published: graded/published/" in grade("--publish").out
    )
    (folder / "handed-in/bo/scores.py").write_bytes(b"PK\x03\x04" + bytes(100))
    ran = grade("--publish")
    assert (ran.code, "Not published: a score is undecided." in ran.out) == (3, True)


def test_what_is_set_nowhere_is_asked_for(term, grade, grader):
    """With both ways to give it."""
    term("")
    words = "or set `submissions` under [grade] in course.toml.\n"
    ran = grade()
    assert (ran.code, ran.err.endswith(f"`grader grade SUBMISSIONS`; {words}")) == (2, True)
    ran = grader("publish")
    assert ran.err.startswith("Give the folder of the run, `grader publish OUT`; or set `out`")
    term()
    assert "Give the folder of what the class handed in" in grade("--no-settings").err
    assert grader("publish", "--help").code == 0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('roster = "people.csv"', "grade.roster: there is no people.csv in the course's folder"),
        (
            'reports = ["htm"]',
            "grade.reports[1]: found 'htm'; did you mean 'html'? allowed: canvas",
        ),
        ('policy = "first"', "grade.policy: found 'first'; 'last' or 'best' or"),
        ("history = 1", "grade.history: found 1; true or false is needed"),
        ('rooster = "a"', "grade.rooster: unknown key; did you mean 'roster'? allowed:"),
    ],
)
def test_a_wrong_setting_is_told_with_file_and_key(term, grade, settings, said):
    """Before anything is graded."""
    term(f'[grade]\nsubmissions = "handed-in"\nout = "graded"\n{settings}\n')
    ran = grade()
    assert ran.code == 2
    assert f"course.toml: {said}" in ran.err


def test_settings_are_no_part_of_the_course(term, folder):
    """The same hash, so that the store finds the same outcomes."""
    before = load_course(folder).hash
    term(TERM.replace("best", "last"))
    assert load_course(folder).hash == before


def test_a_copy_without_names_has_the_scores_of_the_class(term, grade, folder):
    """It draws the hidden inputs of the run that `out` names."""
    grade()
    grade("--anonymous", "../keys.csv", "--out", "research")
    seeds = {
        json.loads((folder / out / "summary.json").read_text("utf-8"))["seed"]
        for out in ("graded", "research")
    }
    assert len(seeds) == 1
