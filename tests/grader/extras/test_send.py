"""Tests of `grader send`, with a mail server on this computer."""

import subprocess

import pytest
from mail_server import Mailbox, mail_server

from grader.extras import send

pytestmark = pytest.mark.slow

NOT_SCALED = "def scores(queries, keys):\n    return queries @ keys.T\n"
ROSTER = """student,name,email
ada,Ada L.,ada@school.example
bo,,bo@school.example
cem,,cem@school.example
dee,,"dee@school.example
Bcc: all@school.example"
"""


@pytest.fixture
def box(monkeypatch):
    """What a server here is sent."""
    monkeypatch.delenv(send.PASSWORD, raising=False)
    made = Mailbox()
    with mail_server(made):
        yield made


@pytest.fixture
def grade(grader, work, folder):
    """Grades a class of four beside the course, and publishes it where that is said."""
    work("ada", scores="right", mixture="right")
    work("bo", scores=NOT_SCALED)
    work("cem")
    work("dee", scores="right")
    students = work("eve", scores="right").parent
    (folder / "roster.csv").write_text(ROSTER, "utf-8")
    here = ("--isolation", "process", "--jobs", 1, "--roster", "roster.csv")
    return lambda *options: grader("grade", students, "--out", "out", *here, *options)


@pytest.fixture
def mail(grader, box):
    """Sends what was published."""

    def run(*options):
        how = ("--server", f"127.0.0.1:{box.port}", "--from", "me@school.example")
        return grader("send", "out", "--roster", "roster.csv", *how, *options)

    return run


def test_everybody_gets_their_page_once(grade, mail, box, work):
    """First it is said who would; a page that changed is sent again, and no other."""
    grade("--publish")
    ran = mail("--dry-run")
    place, *lines = ran.lines
    assert place.endswith(": 2 pages to send.")
    assert lines == [
        "Nothing was handed in, so no page: cem.",
        "No address in the roster, or none that is one: dee.",
        "Not on the roster: eve.",
        "To: ada <ada@school.example>, bo <bo@school.example>.",
    ]
    assert (ran.code, box.messages) == (0, [])
    ran = mail("--yes")
    assert (ran.code, ran.err, ran.lines[-1]) == (0, "", "Sent: 2.")
    ada, bo = box.messages
    assert (ada["To"], bo["To"]) == ("ada@school.example", "bo@school.example")
    assert (ada["From"], ada["Subject"]) == ("me@school.example", "Your feedback: Small steps")
    (page,) = ada.iter_attachments()
    assert page.get_filename() == "feedback.html"
    assert "Ada L. (ada)" in page.get_content()
    assert "2 were sent before." in mail("--yes").lines[0]
    work("bo", scores="right")
    grade("--publish")
    assert ": 1 page to send, 1 of them changed since" in mail("--yes").lines[0]
    assert [one["To"] for one in box.messages[2:]] == ["bo@school.example"]


def test_who_has_another_address_gets_it_there(grade, mail, box, folder):
    """The first one may have been wrong."""
    grade("--publish")
    mail("--yes")
    (folder / "roster.csv").write_text(ROSTER.replace("bo@school", "berg@school"), "utf-8")
    assert ": 1 page to send" in mail("--yes").lines[0]
    assert [one["To"] for one in box.messages[2:]] == ["berg@school.example"]


def test_what_was_not_published_is_not_sent(grade, mail, box):
    """Results of a run are not yet what students receive."""
    grade()
    ran = mail("--yes")
    assert (ran.code, "Nothing was published." in ran.err, box.messages) == (2, True, [])


def test_a_server_that_stops_is_gone_on_with(grade, mail, box):
    """Nobody gets a page twice."""
    grade("--publish")
    box.most = 1
    ran = mail("--yes")
    assert (ran.code, "Sending stopped after 1 page: " in ran.err) == (2, True)
    box.most = 9
    assert mail("--yes").lines[-1] == "Sent: 1."
    assert [one["To"] for one in box.messages] == ["ada@school.example", "bo@school.example"]


def test_who_is_refused_is_named(grade, mail, box):
    """The others get theirs; it is tried again the next time."""
    grade("--publish")
    box.refused = {"ada@school.example"}
    ran = mail("--yes")
    assert (ran.code, ran.lines[-1]) == (1, "Sent: 1.")
    assert ran.err == "NOT SENT: ada: 550 nobody here\n"
    box.refused = set()
    assert (mail("--yes").code, len(box.messages)) == (0, 2)


def test_the_password_is_the_environments(grade, mail, box, monkeypatch):
    """A wrong one is told without it."""
    grade("--publish")
    box.password = "horse"
    monkeypatch.setenv(send.PASSWORD, "battery")
    ran = mail("--yes")
    assert (ran.code, "does not let me@school.example in (535)." in ran.err) == (2, True)
    assert "battery" not in ran.err
    monkeypatch.setenv(send.PASSWORD, "horse")
    assert mail("--yes", "--user", "me").code == 0
    assert box.signed_in == ["me"]


def test_nothing_goes_to_a_server_that_does_not_encrypt(grade, mail, box, monkeypatch):
    """Pages are private; nor to one that is not there."""
    grade("--publish")
    monkeypatch.setattr(send, "HERE", ())
    ran = mail("--yes")
    assert (ran.code, "does not encrypt, so nothing was sent." in ran.err) == (2, True)
    box.port = 1
    ran = mail("--yes")
    assert (ran.code, "127.0.0.1:1 cannot be used: " in ran.err) == (2, True)
    assert box.messages == []


def test_it_asks_before_it_sends(grade, mail, box, monkeypatch):
    """No is no."""
    grade("--publish")
    monkeypatch.setattr("click.confirm", lambda *_, **__: False)
    ran = mail()
    assert (ran.code, ran.lines[-1], box.messages) == (1, "Nothing was sent.", [])
    ran = mail("--from", "me")
    assert "--from me is no address of the form you@school.example." in ran.err


# Into repositories.


@pytest.fixture
def git(tmp_path):
    """Runs git in a bare repository of this class; without arguments it makes one."""

    def run(name, *arguments):
        folder = tmp_path / "repositories" / f"attention-{name}.git"
        folder.parent.mkdir(exist_ok=True)
        command = ["git", f"--git-dir={folder}", *(arguments or ("init", "--quiet", "--bare"))]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    return run


@pytest.fixture
def push(grader, tmp_path, folder):
    """Pushes what was published into repositories that are named by logins."""
    lines = ["student,login", "ada,ada-l", "bo,bo", "cem,cem", "dee,../dee", "eve,eve"]
    (folder / "logins.csv").write_text("\n".join(lines), "utf-8")
    where = tmp_path / "repositories" / "attention-{login}.git"

    def run(*options, to=where):
        return grader("send", "out", "--roster", "logins.csv", "--repository", to, *options)

    return run


def test_a_page_is_a_commit_on_a_branch_of_the_students_repository(grade, push, git, work):
    """What changes is the next commit; what is on other branches stays, and nothing is checked out."""
    for name in ("ada-l", "bo", "eve"):
        git(name)
    grade("--publish")
    ran = push("--dry-run")
    assert ran.lines[1:3] == [
        "Nothing was handed in, so no page: cem.",
        "No login in the roster that can be part of an address: dee.",
    ]
    assert (ran.code, git("bo", "branch")) == (0, "")
    ran = push("--yes")
    assert (ran.code, ran.err, ran.lines[-1]) == (0, "", "Sent: 3.")
    assert git("bo", "ls-tree", "--name-only", "feedback").split() == ["README.md", "feedback.html"]
    assert "scores-not-scaled" in git("bo", "show", "feedback:README.md")
    assert git("ada-l", "show", "feedback:feedback.html").startswith("<!doctype html>")
    assert git("ada-l", "log", "--format=%s", "feedback") == "Your feedback: Small steps\n"
    assert "3 were sent before." in push("--yes").lines[0]
    work("bo", scores="right")
    grade("--publish")
    assert push("--yes").lines[-1] == "Sent: 1."
    counts = [git(name, "rev-list", "--count", "feedback").strip() for name in ("bo", "eve")]
    assert counts == ["2", "1"]


def test_before_pages_are_pushed_it_is_asked(grade, push, git, monkeypatch):
    """With the address as it was given; who says no pushes nothing."""
    git("ada-l")
    grade("--publish")
    asked = []
    monkeypatch.setattr("click.confirm", lambda question, **_: asked.append(question))
    ran = push()
    assert (ran.code, ran.err, ran.lines[-1]) == (1, "", "Nothing was sent.")
    (question,) = asked
    assert question.startswith("Send 3 pages to the branch feedback of ")
    assert question.endswith("attention-{login}.git?")
    assert git("ada-l", "branch") == ""


def test_a_repository_that_is_not_there_is_named(grade, push, git):
    """The others get their pages; it is tried again the next time."""
    git("bo")
    git("eve")
    grade("--publish")
    ran = push("--yes")
    assert (ran.code, ran.lines[-1]) == (1, "Sent: 2.")
    assert ran.err.startswith("NOT SENT: ada: fatal: ")
    git("ada-l")
    assert push("--yes").lines[-1] == "Sent: 1."


@pytest.mark.parametrize(
    "address", ["https://github.com/school/attention.git", "--upload-pack={login}"]
)
def test_an_address_without_a_login_or_of_an_option_is_refused(grade, push, address):
    """Everybody's page would go to the same place, or git would run something."""
    grade("--publish")
    ran = push("--yes", f"--repository={address}")
    assert (ran.code, "write {login} where a student's login belongs" in ran.err) == (2, True)


def test_it_is_said_how_pages_can_be_sent(grade, grader):
    """Neither a server nor repositories are known, which does not matter before anything is sent."""
    grade("--publish")
    ran = grader("send", "out", "--roster", "roster.csv", "--dry-run")
    assert (ran.code, "To: " in ran.out) == (0, True)
    ran = grader("send", "out", "--roster", "roster.csv")
    assert (ran.code, "Give your mail server, --server; or set `mail_server`" in ran.err) == (
        2,
        True,
    )
    assert "give --repository." in ran.err
