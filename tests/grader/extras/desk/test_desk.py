"""The desk: each form is one entry of `decisions.toml`, whose scores follow at once; and who is let in."""

import json
import signal
import subprocess
import sys
import tomllib

import pytest
from desk_server import STUDENT, Client

from grader.classes.records import earlier_options
from grader.classes.store import Store
from grader.core.errors import UsageError
from grader.course.course import load_course
from grader.extras.desk.desk import Desk
from grader.intake.read import read_submissions
from tests.grader.classes.conftest import HIDDEN, STUDENTS, files_in
from tests.grader.extras.desk.conftest import FILE, SCORES


@pytest.fixture
def client(address):
    """A window that was let in."""
    return Client(address).enter()


ABOUT = {"exercise": SCORES}
FORMS = {
    "overrides": (
        {"about": SCORES, "points": "1,25", "reason": 'By hand: "ok".'},
        {**ABOUT, "points": 1.25, "reason": 'By hand: "ok".'},
        "points from your instructor: 1.25; by the checks",
    ),
    "comments": (
        {"about": SCORES, "text": "Well <b>done</b>,\r\nreally."},
        {**ABOUT, "text": "Well <b>done</b>,\nreally."},
        "From your instructor, on scores: Well <b>done</b>",
    ),
    "extensions": (
        {"about": "01_scores", "days": "3", "reason": "ill"},
        {"assignment": "01_scores", "days": 3, "reason": "ill"},
        "Your due date for this assignment: 2027-02-04 00:00",
    ),
    "exemptions": (
        {"about": SCORES},
        {"exercises": [SCORES]},
        "This assignment does not count for you.",
    ),
    "labels": ({"label": "part time"}, {"label": "part time"}, ""),
    "resolved": (
        {"about": SCORES, "reason": "It stays."},
        {**ABOUT, "reason": "It stays."},
        "scores: your request was looked at. It stays.",
    ),
}


@pytest.mark.parametrize("kind", FORMS)
def test_a_form_is_one_entry_of_the_file(room, client, kind):
    """What the student reads follows at once; taken away, all is as it was."""
    (fields, entry, said), student = FORMS[kind], STUDENTS[9]
    before = room.path.read_bytes(), room.feedback(student)
    answer = client.decide(student, kind, **fields)
    assert (answer.status, room.decided(kind, student)) == (303, [{"student": student, **entry}])
    assert said in json.dumps(json.loads(room.feedback(student)), ensure_ascii=False)
    assert room.path.read_bytes().startswith(before[0].rstrip())
    assert "Written." in client.ask(answer.headers["Location"]).words
    client.ask("/decide", client.form(student, kind, number=-1) | {"remove": "0"})
    assert room.decided(kind, student) == []
    assert room.feedback(student) == before[1]


def test_a_group_is_formed_on_the_page_of_one_and_left_on_that_of_another(room, client):
    """Both have the better work at once; who is not in the class is refused, and stays typed."""
    one, other = STUDENTS[13], STUDENTS[14]
    before = room.path.read_text("utf-8"), room.feedback(one), room.feedback(other)
    refused = client.decide(one, "groups", about="01_scores", others="nobody")
    assert (refused.status, 'name="others" required value="nobody"' in refused.text) == (422, True)
    answer = client.decide(one, "groups", about="01_scores", others=f" {other},")
    entry = tomllib.loads(room.path.read_text("utf-8"))["groups"][-1]
    assert entry == {"students": [one, other], "assignment": "01_scores"}
    assert len({room.result(name).assignments[0].score for name in (one, other)}) == 1
    assert {room.feedback(one), room.feedback(other)} != {*before[1:]}
    assert f"Group 01_scores {one}, {other}" in client.ask(answer.headers["Location"]).words
    client.ask("/decide", client.form(other, "groups", number=-1))
    now = room.path.read_text("utf-8"), room.feedback(one), room.feedback(other)
    assert (now[0].rstrip(), *now[1:]) == (before[0].rstrip(), *before[1:])


def test_a_later_run_finds_nothing_to_change(room, client):
    """Its results are the desk's to the byte: of a group, too, and with an end of its own for one."""
    client.decide(STUDENTS[0], "overrides", about=SCORES, points="0.5", reason="So.")
    client.decide(STUDENTS[10], "extensions", about="01_scores", until="2027-02-09T12:30")
    client.decide(STUDENTS[11], "labels", label="again")
    (entry,) = room.decided("extensions", STUDENTS[10])
    assert entry["until"].isoformat() == "2027-02-09T12:30:00+00:00"
    files, graded = room.run.files(), room.run.graded.total()
    assert room.grade() == files
    assert room.run.graded.total() == graded


def test_comments_and_the_order_of_the_file_stay(room, client):
    """An entry that is changed keeps its place, its comments, and how it names the exercise."""
    student = STUDENTS[2]
    client.decide(student, "extensions", about="01_scores", days="5", reason="still ill")
    written = FILE.replace("days = 2\n", 'days = 5\nreason = "still ill"\n')
    assert room.path.read_text("utf-8").startswith(written)


def test_of_two_windows_the_second_is_shown_what_holds_now(room, client, address):
    """Nothing of it is written, nothing that was typed is lost; sent again, it is."""
    student, other = STUDENTS[12], Client(address).enter()
    mine = {"about": SCORES, "points": "2", "reason": "Second."}
    form = other.form(student, "overrides")
    client.decide(student, "overrides", about=SCORES, points="1", reason="First.")
    refused = other.ask("/decide", form | mine)
    assert refused.status == 409
    assert "This changed since you opened it. Nothing of yours was written" in refused.words
    assert "First." in refused.words
    assert 'value="Second."' in refused.text
    assert room.decided("overrides", student)[0]["reason"] == "First."
    assert other.decide(student, "overrides", **mine).status == 303
    assert room.decided("overrides", student)[0]["reason"] == "Second."


def test_windows_on_two_students_are_not_in_each_others_way(room, client, address):
    """Both are written."""
    one, other = STUDENTS[13], STUDENTS[14]
    form = Client(address).enter()
    second = form.form(other, "comments") | {"about": SCORES, "text": "Both."}
    client.decide(one, "comments", about=SCORES, text="One.")
    assert form.ask("/decide", second).status == 303
    assert room.decided("comments", one)
    assert room.decided("comments", other)


def test_what_is_written_into_the_file_by_hand_is_read_anew(room, client):
    """Also while a form is open: what was decided meanwhile is shown first."""
    student = STUDENTS[15]
    form = client.form(student, "comments") | {"about": SCORES, "text": "Mine."}
    entry = f'\n[[overrides]]\nstudent = "{student}"\nexercise = "scores"\npoints = 0.75\n'
    with room.path.open("a", encoding="utf-8") as file:
        file.write(f'{entry}reason = "Hand."\n')
    assert "0.75" in client.ask(STUDENT.format(student, "01_scores")).words
    assert client.ask("/decide", form).status == 409
    client.decide(student, "comments", about=SCORES, text="Mine.")
    assert "points from your instructor: 0.75" in room.feedback(student)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"about": SCORES, "points": "many", "reason": "x"}, "'many' is no number."),
        ({"about": SCORES, "points": "7", "reason": "x"}, "01_scores/scores is worth 2"),
        ({"about": SCORES, "points": "1"}, "reason: missing"),
        ({"about": "09_no/such", "points": "1", "reason": "x"}, "09_no"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(room, client, fields, said):
    """Nothing is written, and what was typed stays."""
    before = room.path.read_bytes()
    answer = client.decide(STUDENTS[16], "overrides", **fields)
    assert answer.status == 422
    assert said in answer.words
    assert "overrides[" not in answer.words  # nobody counts entries of a file that a form writes
    assert room.path.read_bytes() == before


@pytest.fixture
def write(room):
    """Writes the file of decisions by hand; afterwards it is as it was."""
    text = room.path.read_bytes()
    yield lambda before, after: room.path.write_bytes(before + text + after)
    room.path.write_bytes(text)


@pytest.mark.parametrize(
    ("before", "after", "form"),
    [
        (b"exemptions = []\n", b"", ("exemptions", {"about": SCORES, "reason": "x"})),
        (b"", b"[[overrides]\n", ("comments", {"about": SCORES, "text": "No."})),
    ],
    ids=["a list on one line takes no table", "broken already"],
)
def test_a_file_that_would_be_no_toml_is_left_alone(room, client, write, before, after, form):
    """The page says what is wrong in it."""
    kind, fields = form
    sent = client.form(STUDENTS[16], kind) | fields
    write(before, after)
    text = room.path.read_bytes()
    assert not after or "decisions.toml: it is not TOML" in client.ask("/").words
    answer = client.ask("/decide", sent)
    assert (answer.status, "it is not TOML" in answer.words) == (422, True)
    assert room.path.read_bytes() == text


def test_while_another_command_works_in_the_folder_nothing_is_written(room, client):
    """A sentence says so."""
    form = client.form(STUDENTS[16], "comments") | {"about": SCORES, "text": "Later."}
    with Store.to_write(room.run.out, is_run=False):
        assert client.ask("/").status == 200
        refused = client.ask("/decide", form)
    assert "Another grader command is working" in refused.words
    assert room.decided("comments", STUDENTS[16]) == []


def test_a_request_is_shown_until_it_is_answered(room, client):
    """On the map, and with the student."""
    asks = f"Regrade requests 1 They ask to have a look at their points. {STUDENTS[9]}"
    assert asks in client.ask("/").words
    assert "&lt;i&gt;Look&lt;/i&gt;" in client.ask(STUDENT.format(STUDENTS[9], "01_scores")).text
    text = room.desk.requests.read_text("utf-8")
    room.desk.requests.write_text("who\n", "utf-8")
    assert "have no columns student, exercise, why" in client.ask("/").words
    room.desk.requests.unlink()  # nobody has asked yet
    answer = client.ask("/")
    assert answer.status == 200
    assert "Regrade requests" not in answer.words
    room.desk.requests.write_text(text, "utf-8")


def test_nothing_of_a_students_is_ever_live(client):
    """Not their code, and not their name."""
    page = client.ask("/").text
    assert "<img src=x" not in page
    page = client.ask("/student?student=%22%3E%3Cimg+src%3Dx+onerror%3Dalert%281%29%3E")
    assert page.status == 200
    assert "<img src=x" not in page.text
    assert "&lt;script&gt;document.title = &#39;live&#39;&lt;/script&gt;&lt;/pre&gt;" in page.text
    assert page.text.count("<script") == 1
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'; script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy


@pytest.mark.parametrize(
    ("headers", "fields"),
    [
        ({"Host": "desk.example:80"}, {}),
        ({"Origin": "http://desk.example"}, {}),
        ({"Origin": "null"}, {}),
        ({"Origin": None}, {}),
        ({"Cookie": ""}, {}),
        ({}, {"_xsrf": ""}),
        ({}, {"_xsrf": "2|aaaaaaaa|bbbb|1"}),
    ],
)
def test_forms_of_other_pages_are_refused(room, client, headers, fields):
    """Whatever name leads here, and without what only this browser, or the page, has."""
    before = room.path.read_bytes()
    form = client.form(STUDENTS[17], "comments") | {"about": SCORES, "text": "Not I."} | fields
    answer = client.ask("/decide", form, **headers)
    assert (answer.status, room.path.read_bytes()) == (403, before)


@pytest.mark.parametrize(
    "path", ["/", "/?token=guessed", "/student?student=a", "/desk.js", "/nowhere"]
)
def test_who_has_no_secret_sees_nothing(address, path):
    """Not even whether there is such a page."""
    answer = Client(address).ask(path)
    assert (answer.status, "Set-Cookie" in answer.headers) == (403, False)
    assert answer.text == "Not from here. Open the address that `grader desk` printed."


def test_the_secret_stays_in_no_address(address):
    """It is exchanged for a cookie that no script and no other page gets."""
    client = Client(address)
    answer = client.ask("/" + address.rpartition("/")[2])
    cookie = answer.headers["Set-Cookie"]
    assert (answer.status, answer.headers["Location"]) == (302, "/")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert address.partition("token=")[2] not in cookie


def test_the_address_that_a_browser_is_started_with_opens_the_desk_once(addresses):
    """Everybody on the computer can read it in the list of processes."""
    printed, started = addresses
    query = started.rpartition("/")[2]
    assert Client(printed).ask(f"/{query}").status == 302
    assert Client(printed).ask(f"/{query}").status == 403


def test_it_is_published_from_the_map(room, client):
    """As `grader publish` does; a second time nothing is different."""
    form = {"_xsrf": client.form(STUDENTS[17], "comments")["_xsrf"]}
    assert "Published as " in client.ask("/publish", form).words
    assert "Nothing is different from what was published" in client.ask("/publish", form).words


# The command.

DESK = 'submissions = "../class"\nout = "out"\nreports = ["html", "canvas"]\nroster = "roster.csv"\npolicy = "best"\n'


@pytest.fixture
def graded(grader, work, folder):
    """A class of four, of whom one handed in twice and one never, whose settings stand in course.toml, graded with pages."""
    not_scaled = "def scores(queries, keys):\n    return queries @ keys.T\n"
    for place, text in (
        ("ada/2027-01-30T10-00-00Z", "right"),
        ("ada/2027-01-31T10-00-00Z", not_scaled),
        ("bo", not_scaled),
        ("cem", "right"),
    ):
        work(place, scores=text)
    (folder / "roster.csv").write_text("student,name\nada,Ada L.\nbo,\ncem,\ndee,\n", "utf-8")
    manifest = folder / "course.toml"
    manifest.write_text(f"[grade]\n{DESK}\n" + manifest.read_text("utf-8"), "utf-8")
    run = lambda *options: grader("grade", "--isolation", "process", "--jobs", 1, *options)  # noqa: E731
    assert run().code == 0
    return run


@pytest.mark.slow
def test_what_a_run_made_follows_as_a_run_would_write_it(graded, folder):
    """Results, tables, and pages: a later run with the same settings writes the same bytes."""
    out = folder / "out"
    course, options = load_course(folder), earlier_options(out)
    assert options is not None
    with read_submissions(course, folder.parent / "class", folder / "roster.csv") as intake:
        desk = Desk(course, out, options, intake, folder / "decisions.toml")
        for student, points in (("bo", "1.5"), ("dee", "0.5"), ("ada", "1")):
            fields = {"student": student, "about": SCORES, "points": points, "reason": "Seen."}
            desk.decide("overrides", fields, desk.basis(student))
        page = out / "reports" / "html" / "students" / "bo.html"
        assert "Seen." in page.read_text("utf-8")
        assert not (out / "reports" / "canvas").exists()
        assert desk.publish()[-1].startswith("Published as ")
    files = files_in(out)
    assert "reports/canvas/gradebook.csv" in files
    assert graded().code == 0
    again = files_in(out)
    index = "reports/html/index.html"
    assert {name for name in again if again[name] != files.get(name)} <= {
        index
    }  # it has the moment
    assert again.keys() == files.keys()
    graded("--policy", "last")
    with pytest.raises(UsageError, match="was graded in another way"):
        desk.refresh()


@pytest.mark.slow
@pytest.mark.only_on("linux", "darwin", reason="Ctrl-C of another process")
def test_the_command_answers_until_ctrl_c(graded, folder):
    """At a free port, where nothing is opened; then it says that it ended."""
    command = [sys.executable, "-m", "grader.cli", "desk", "--no-browser"]
    gradebook = folder / "out" / "reports" / "canvas" / "gradebook.csv"
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as desk:
        assert desk.stdout is not None
        line, ends = desk.stdout.readline(), desk.stdout.readline()
        try:
            client = Client(line.split()[-1]).enter()
            assert "Ada L." in client.ask("/").words
            assert "Nothing was handed in for it." in client.ask("/student?student=dee").words
            counting = client.ask("/student?student=ada").words
            assert "return products / keys.shape[-1] ** 0.5" in counting
            assert "not what was graded" not in counting
            points = {"about": SCORES, "points": "1", "reason": "Seen."}
            assert client.decide("bo", "overrides", **points).status == 303
            assert not gradebook.exists()
        finally:
            desk.send_signal(signal.SIGINT)
        out, err = desk.communicate(timeout=60)
    assert (ends, out) == ("Ctrl-C ends it.\n", "The desk is closed.\n")
    assert (desk.returncode, err, gradebook.exists()) == (0, "", True)


@pytest.mark.slow
def test_a_class_that_was_graded_otherwise_is_graded_first(graded, grader, folder):
    """Nobody decides on what a run would not come to any more."""
    with (folder / HIDDEN.format("01_scores")).open("a", encoding="utf-8") as file:
        file.write("HARDER = 1\n")
    ran = grader("desk", "--no-browser")
    assert (ran.code, ran.err) == (
        2,
        "Something changed since the run: its checks. Run `grader grade` again, then open the desk.\n",
    )
    assert grader("desk", folder / "nowhere").err.startswith(f"{folder / 'nowhere'} holds no run.")
