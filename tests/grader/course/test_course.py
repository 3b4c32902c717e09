"""Reading `course.toml`: the values it gives, and every mistake told with its place."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.core.errors import CourseError
from grader.course.course import Assignment, Exercise, LateRule, Limits, load_course
from grader.course.settings import LedgerSettings, OtherNames

SMALLEST = """
[course]
title = "Small"

[[assignments]]
id = "01_first_steps"
title = "First steps"
[assignments.exercises]
dot = 2
"""

FULL = """
[course]
title = "Full"
prefer = "ipynb"

[limits]
load_seconds = 3
request_seconds = 1.5
submission_seconds = 60
memory_mib = 512
output_kib = 8
file_mib = 2
packages = ["matplotlib.pyplot"]

[late]
grace_minutes = 15
percent_per_day = 10

[[assignments]]
id = "01_first_steps"
title = "First steps"
due = 2027-02-01T23:59:00Z
[assignments.exercises]
dot = 2
Layer_v1 = 5

[[assignments]]
id = "02_gpt2_heads"
title = "Heads"
imports = ["01_first_steps"]
[assignments.exercises]
Layer_v1 = 7
"""
COURSE = '[course]\ntitle = "T"\n'

BAD_IDS = (
    *("", "first", "1_first", "001_first", "01-first", "01_First", "01_", "01__a", "01_a_"),
    *("01_1a", "01_first/../../etc", "../01_first", "01_first\\n", " 01_first", "٠١_first", "01_é"),
)


@pytest.fixture
def read(tmp_path):
    """Reads a text, or bytes, as a course's manifest."""

    def read(text):
        data = text if isinstance(text, bytes) else text.encode()
        (tmp_path / "course.toml").write_bytes(data)
        return load_course(tmp_path)

    return read


@pytest.fixture
def problems(read):
    """The problems that reading a manifest finds."""

    def problems(text):
        with pytest.raises(CourseError) as caught:
            read(text)
        return list(caught.value.problems)

    return problems


def assignment(id_, *lines, exercises=("dot = 1",)):
    """One assignment's entry."""
    head = [f'[[assignments]]\nid = "{id_}"\ntitle = "Some title"', *lines]
    return "\n".join([*head, "[assignments.exercises]", *exercises, ""])


def in_course(*lines):
    """The smallest course with more lines about itself."""
    return SMALLEST.replace("[course]\n", "\n".join(["[course]", *lines, ""]), 1)


def test_the_smallest_course_takes_its_defaults(read):
    """What is not decided in the manifest has the default."""
    course = read(SMALLEST)
    assert (course.title, course.prefer) == ("Small", "py")
    assert course.limits == Limits(10.0, 5.0, 120.0, 1024, 64, 16)
    assert course.late == LateRule(0, 0)
    assert course.assignments == (
        Assignment("01_first_steps", "First steps", (Exercise("01_first_steps", "dot", 2),)),
    )


def test_one_line_leaves_optional_assignments_out(read):
    """Their points are extra; what the course adds up to stays the same without them."""
    extra = assignment("02_extra", "optional = true", exercises=("more = 3",))
    course = read(f"{SMALLEST}\n{extra}")
    assert ([a.optional for a in course.assignments], course.max_score) == ([False, True], 2)
    without = read(f"{in_course('optional = false')}\n{extra}")
    assert (len(without.assignments), without.max_score) == (1, 2)


@pytest.mark.parametrize(
    ("file", "text", "needed"),
    [
        ("solutions/a.py", "import math\n", ()),
        ("solutions/a.py", "from torch import nn\n", ("torch",)),
        ("solutions/a.md", "torch", ()),
        ("tests/checks/helpers.py", "import numpy\n", ("numpy", "numpy.random")),
        ("tests/checks/a.py", "def test_f(self, draw):\n    draw.normal(3)\n", ("torch",)),
        ("tests/checks/a.py", "def test_f(self, draw):\n    draw.numbers(3, 0, 9)\n", ()),
        ("tests/checks/a.py", "class TestF(KeepsArguments):\n    shapes = ((3,),)\n", ("torch",)),
        ("tests/checks/a.py", "def test_f(self, printed): ...\n", ("torch",)),
        ("tests/checks/a.py", "# What they draw is printed.\n", ()),
    ],
)
def test_torch_is_imported_beforehand_where_the_course_needs_it(read, tmp_path, file, text, needed):
    """Its solutions and checks say so; what is declared comes besides."""
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text(text, "utf-8")
    course = read(SMALLEST + '\n[limits]\npackages = ["wave"]\n')
    assert course.packages == (*needed, "wave")
    assert "_code" not in vars(course)  # a fork would find solutions and checks there


def test_a_full_course_is_read_in_order(read):
    """Every key has its field, and assignments and exercises keep their order."""
    course = read(FULL)
    first, second = course.assignments
    assert course.prefer == "ipynb"
    limits = Limits(3.0, 1.5, 60.0, 512, 8, 2, packages=("matplotlib.pyplot",))
    assert course.limits == limits
    assert course.late == LateRule(15, 10)
    assert first.due == datetime(2027, 2, 1, 23, 59, tzinfo=UTC)
    assert (first.module, second.module) == ("first_steps", "gpt2_heads")
    assert (first.max_score, second.max_score) == (7, 7)
    assert (first.imports, second.imports) == ((), ("01_first_steps",))
    names = ["01_first_steps/dot", "01_first_steps/Layer_v1", "02_gpt2_heads/Layer_v1"]
    assert list(course.exercises) == names
    assert list(course.by_id) == ["01_first_steps", "02_gpt2_heads"]


def test_a_course_says_which_encodings_files_are_tried_in(read, problems):
    """Western Windows' where it says nothing; only such as code is written in."""
    assert read(SMALLEST).encodings == ("cp1252",)
    named = in_course("encodings = {}")
    assert read(named.format('["gb18030", "cp932"]')).encodings == ("gb18030", "cp932")
    wrong = '["latin-1", "klingon", "utf-16", "rot13", "punycode", "cp037"]'
    needed = "one of Python's text encodings that hold ASCII is needed, like 'cp1252' or 'gb18030'"
    assert problems(named.format(wrong)) == [
        f"course.toml: course.encodings[{number}]: found {name!r}; {needed}"
        for number, name in enumerate(("klingon", "utf-16", "rot13", "punycode", "cp037"), 2)
    ]


def test_all_problems_are_told_at_once_each_with_its_place(problems):
    """One run tells every mistake: place, what was found, what is allowed."""
    text = """
colour = "red"

[course]
titel = "Small"
prefer = "html"
agents_file = "no"

[limits]
load_seconds = -1
memory_mib = 8.5
output_kib = true

[late]
percent_per_day = 101

[[assignments]]
id = "1_first"
title = ""
due = 2027-02-01
imports = "02_second"
[assignments.exercises]
dot = 0.4
cross = "two"
"""
    assert sorted(problems(text)) == sorted(
        [
            "course.toml: colour: unknown key; did you mean 'course'? "
            "allowed: also, arguments, assignments, course, grade, late, ledger, limits, roles, unasked",
            "course.toml: course.title: missing; a text that is not empty is needed",
            "course.toml: course.titel: unknown key; did you mean 'title'? "
            "allowed: about, agents_file, encodings, guide, language, languages, notes, optional, points, prefer, title",
            "course.toml: course.agents_file: found 'no'; true or false is needed",
            "course.toml: course.prefer: found 'html'; 'py' or 'ipynb' is needed",
            "course.toml: limits.load_seconds: found -1; a number above 0 and up to 86400 is needed",
            "course.toml: limits.memory_mib: found 8.5; a whole number of at least 64 is needed",
            "course.toml: limits.output_kib: found True; a whole number of at least 1 is needed",
            "course.toml: late.percent_per_day: found 101; a whole number from 0 to 100 is needed",
            "course.toml: assignments[1].id: found '1_first'; "
            "a text like '01_first_steps' is needed",
            "course.toml: assignments[1].title: found ''; a text that is not empty is needed",
            "course.toml: assignments[1].due: found datetime.date(2027, 2, 1); "
            "a date and time with offset, like 2027-02-01T23:59:00+01:00 is needed",
            "course.toml: assignments[1].imports: found '02_second'; a list of texts is needed",
            "course.toml: assignments[1].exercises.dot: found 0.4; "
            "a whole or half number from 0 to 1000000, like 2 or 2.5, is needed",
            "course.toml: assignments[1].exercises.cross: found 'two'; "
            "a whole or half number from 0 to 1000000, like 2 or 2.5, is needed",
        ]
    )


def test_the_text_of_the_error_is_all_its_problems(read):
    """The exception's own text has a line for each problem."""
    with pytest.raises(CourseError) as caught:
        read("")
    assert str(caught.value).split("\n") == list(caught.value.problems)
    assert set(caught.value.problems) == {
        "course.toml: course.title: missing; a text that is not empty is needed",
        "course.toml: assignments: missing; at least one [[assignments]] table is needed",
    }


@pytest.mark.parametrize("id_", BAD_IDS)
def test_an_id_that_is_no_folder_of_the_course_is_refused(id_, problems):
    """An id is two digits and a lower-case name, so that it can be a folder and a module."""
    found = id_.replace("\\n", "\n")
    assert problems(COURSE + assignment(id_)) == [
        f"course.toml: assignments[1].id: found {found!r}; a text like '01_first_steps' is needed"
    ]


@pytest.mark.parametrize("name", ["a-b", "1a", "a b", "", "a.b", "class"])
def test_an_exercise_that_is_no_python_name_is_told_once(name, problems):
    """A name a student cannot define is one problem, not also an unknown key."""
    (problem,) = problems(f'{SMALLEST}"{name}" = 1\n')
    assert problem.endswith(f"found {name!r}; a Python name is needed")


LENT = "lends: Python code that defines exercises of this assignment is needed"
FIRST = assignment("01_a")
LOOP = [f'imports = ["{id_}"]' for id_ in ("03_c", "01_a", "02_b")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            COURSE + assignment("01_a", exercises=()),
            ["[1].exercises: found a table of 0; at least one exercise with its points is needed"],
        ),
        (
            "assignments = [1, 2]\n" + COURSE,
            [f"[{number}]: found {number}; a table is needed" for number in (1, 2)],
        ),
        ("assignments = []\n" + COURSE, [": found a list of 0; at least one"]),
        (COURSE + assignment("01_a", 'lends = "def other(): ..."'), [f"[1]: {LENT}"]),
        (COURSE + assignment("01_a", 'lends = "def first(:"'), [f"[1]: {LENT}"]),
        # Imports would not know which is meant, and folders carry the order.
        (
            COURSE + FIRST * 2,
            ["[2]: found the id '01_a' again; assignments[1] has it already"],
        ),
        (
            COURSE + FIRST + assignment("02_a"),
            ["[2]: found the module 'a' again; assignments[1] has it already"],
        ),
        (COURSE + FIRST + assignment("01_b"), ["[2]: found the number '01' again; "]),
        (
            COURSE
            + assignment("01_first")
            + assignment("02_b", 'imports = ["01_frist", "x"]\ncompares = ["03_third"]'),
            [
                "[2].imports: found '01_frist', which is no assignment's id; did you mean '01_first",
                "[2].imports: found 'x', which is no assignment's id",
                "[2].compares: found '03_third', which is no assignment's id",
            ],
        ),
        (
            COURSE + assignment("01_a") + assignment("02_b", 'imports = ["02_a"]'),
            ["[2].imports: found '02_a', which is no assignment's id; did you mean '01_a'"],
        ),
        # A loop is written out, from its first assignment back to it; the shortest has one member.
        (
            COURSE + "".join(map(assignment, ("01_a", "02_b", "03_c"), LOOP)),
            ["[1].imports: a loop, 01_a -> 03_c -> 02_b -> 01_a"],
        ),
        (COURSE + assignment("01_a", LOOP[1]), ["[1].imports: a loop, 01_a -> 01_a"]),
    ],
)
def test_assignments_that_cannot_be_are_told(problems, text, said):
    """Each with its place, and with what it collides with."""
    found = problems(text)
    assert len(found) == len(said)
    for problem, start in zip(found, said, strict=True):
        assert problem.startswith(f"course.toml: assignments{start}")


def test_what_is_lent_is_code_that_defines_exercises(read):
    """Later files may receive it."""
    lent = "def dot(x): return x"
    assert read(COURSE + assignment("01_a", f'lends = "{lent}"')).assignments[0].lends == lent


def test_two_roads_to_one_import_are_no_loop(read):
    """A diamond of imports is fine."""
    text = COURSE + FIRST + assignment("02_b", LOOP[1]) + assignment("03_c", LOOP[1])
    text += assignment("04_d", 'imports = ["02_b", "03_c"]')
    assert read(text).by_id["04_d"].imports == ("02_b", "03_c")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        *((data, "") for data in (b"= 1", b"[course", b"\xff\xfe", b"\x00", b"<html>")),
        (b"x = " + b"[" * 5_000, ""),
        (f"{SMALLEST}dot = 3\n".encode(), "dot stands there twice (line 10)"),
    ],
)
def test_what_is_not_toml_is_a_course_error(data, said, problems):
    """One sentence says so, whatever lies there instead; a key twice has its line."""
    (problem,) = problems(data)
    assert problem.startswith("course.toml: it is not TOML in UTF-8: ")
    assert said in problem


def test_a_manifest_that_is_missing_or_too_large_is_not_parsed(problems, tmp_path):
    """A file of more than a mebibyte is no manifest, and a folder without one no course."""
    with pytest.raises(CourseError) as caught:
        load_course(Path(tmp_path))
    assert str(caught.value) == "course.toml: it cannot be read (No such file or directory)"
    assert problems(b"#" * (2**20 + 1)) == [
        "course.toml: found 1048577 bytes; at most 1048576 are read"
    ]


# The ledger.

LEDGER_FILE = "a text like 'tests/printed_tensors.json' is needed"
A_FILE = "file = 'a.json'\n"


def test_a_course_may_have_printed_tensors(read):
    """A file, and how it is shown; without the table there are none."""
    assert read(SMALLEST).ledger is None
    only = read(f"{SMALLEST}\n[ledger]\nfile = 'tests/t.json'\n").ledger
    assert only == LedgerSettings("tests/t.json")
    table = "file = 'a.json'\ndecimals = 2\nsource = \"the book's\"\nlabels = ['x', 'y']\naxes = ['row']"
    found = read(f"{SMALLEST}\n[ledger]\n{table}\n")
    assert found.ledger == LedgerSettings("a.json", 2, "the book's", ("x", "y"), ("row",))
    assert found.ledger_files == (found.root / "a.json",)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("", f"file: missing; {LEDGER_FILE}"),
        *(
            (f"file = {path!r}", f"file: found {path!r}; {LEDGER_FILE}")
            for path in ("../a.json", "/a.json", "a/../b.json", "a.csv")
        ),
        (f"{A_FILE}decimals = 9", "decimals: found 9; a whole number from 0 to 7 is needed"),
        (f"{A_FILE}source = ''", "source: found ''; a text that is not empty is needed"),
        (f"{A_FILE}labels = ['x']", ": labels and axes belong together; found one of them"),
        (f"{A_FILE}lables = []", "lables: unknown key; did you mean 'labels'? allowed: axes, "),
    ],
)
def test_a_wrong_ledger_is_told(problems, table, said):
    """As every other mistake: its place, what was found, what is needed."""
    (problem,) = problems(f"{SMALLEST}\n[ledger]\n{table}\n")
    assert problem.startswith(f"course.toml: ledger.{said}".replace(".:", ":"))


# What is said of the course, and in which languages.


def test_a_course_says_what_it_is_and_what_parameters_stand_for(read):
    """All of it may be left out."""
    course = read(SMALLEST)
    assert (course.about, course.notes, course.languages, course.roles) == ("", (), (), ())
    said = "about = 'Small steps.'\nnotes = ['A b.']\nguide = 'map.md'\nlanguages = ['en', 'de', 'pt_BR', 'de']"
    course = read(f"{in_course(said)}\n[roles]\ngate = ['g', 'gate']\n")
    assert (course.about, course.notes, course.guide) == ("Small steps.", ("A b.",), "map.md")
    assert course.languages == ("de", "pt_BR")
    assert course.roles == (("gate", ("g", "gate")),)


def test_a_course_says_what_others_call_things(read, problems):
    """Exercises, what constructors take, and what these may take besides."""
    assert read(SMALLEST).other_names == OtherNames()
    text = "\n[also]\nNet = ['MLP']\n[arguments]\nsize = ['dim']\n[unasked]\ndropout = 0.0\n"
    names = read(SMALLEST + text).other_names
    expected = (("Net", ("MLP",)),), (("size", ("dim",)),), (("dropout", 0.0),)
    assert names == OtherNames(*expected)
    assert (names.of("size"), names.of("depth")) == (("size", "dim"), ("depth",))
    assert problems(f"{SMALLEST}\n[also]\nNet = ['a b']\n[unasked]\ndropout = 'no'\n") == [
        "course.toml: also.Net[1]: found 'a b'; a text like 'Name' is needed",
        "course.toml: unasked.dropout: found 'no'; a number, true or false is needed",
    ]


def test_a_guide_that_is_not_there_is_told_when_it_is_read(read, tmp_path):
    """Not before: a copy that only grades needs none."""
    course = read(in_course('guide = "map.md"'))
    with pytest.raises(CourseError, match=r"^course.toml: course.guide: there is no file map.md$"):
        assert course.guide_text
    (tmp_path / "map.md").write_text("# Map\n", "utf-8")
    assert course.guide_text == "# Map\n"
    assert read(SMALLEST).guide_text == ""


def test_languages_are_those_of_the_folder_unless_the_manifest_says_them(read, tmp_path):
    """Other things beside them are none."""
    for name in ("ja/LC_MESSAGES", "de/LC_MESSAGES", "notes", "Old/LC_MESSAGES"):
        (tmp_path / "translations" / name).mkdir(parents=True)
    assert read(SMALLEST).languages == ("de", "ja")
    assert read(in_course('languages = ["ja"]')).languages == ("ja",)


def test_wrong_words_are_told(problems):
    """Each with its place."""
    text = in_course('about = ""', 'languages = "ja"')
    assert problems(f"{text}\n[roles]\ngate = ['G']\nin = ['x']\n") == [
        "course.toml: course.languages: found 'ja'; a list of texts is needed",
        "course.toml: course.about: found ''; a text that is not empty is needed",
        "course.toml: roles.gate[1]: found 'G'; a text like 'out' is needed",
        "course.toml: roles.in: found 'in'; a Python name is needed",
    ]
