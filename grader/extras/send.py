"""`grader send`: everybody's published page, by mail or into their repository, to addresses of the roster alone."""

import os
import re
import smtplib
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from pathlib import Path

import click
from msgspec.structs import replace

from grader.classes.records import PUBLISHED, open_records
from grader.classes.store import Sent, Store
from grader.cli.class_output import named
from grader.cli.shared import FILE, FOLDER, ExitCode, course_option, echo
from grader.core.errors import UsageError
from grader.core.language import _
from grader.core.records import Result
from grader.core.text import clean, hash_of
from grader.course.course import MANIFEST, Course
from grader.extras.feedback_branch import address_of, pusher
from grader.extras.github.report import summary
from grader.intake.roster import Enrolled, read_roster
from grader.judging.results import for_student, record_texts
from grader.reports.html.pages import student_page

PASSWORD = "GRADER_MAIL_PASSWORD"
PAGE = "feedback.html"
ADDRESS = re.compile(r"[^@\s,;<>\"]+@[^@\s,;<>\"]+", re.ASCII)
HERE = ("localhost", "127.0.0.1")
"""Servers to which nothing leaves this computer, so that nothing has to be encrypted on its way."""
SUBMISSION, ENCRYPTED = 587, 465
"""Ports: for messages of users, and the same encrypted from the first byte."""
SECONDS = 30


@dataclass(frozen=True, slots=True)
class Letter:
    """What one student is to be sent.

    Args:
        student: whose it is.
        sent: the address, and what the page says, hashed.
        result: what was published.
        name: the student's, where it is known.
    """

    student: str
    sent: Sent
    result: Result
    name: str


Deliver = Callable[[Letter], str]
"""Sends one page; why it was refused, "" where it was not."""


@dataclass(frozen=True, slots=True)
class Way:
    """How pages come to students.

    Args:
        address: a student's, "" where the roster has none.
        no_address: what is said of those.
        where: by what, or to which place, in words.
        opened: what sends them.
    """

    address: Callable[[Enrolled], str]
    no_address: str
    where: str
    opened: Callable[[], AbstractContextManager[Deliver]]


@click.command()
@click.argument("out", type=FOLDER, required=False)
@click.option("--roster", type=FILE, help="A CSV with columns `student` and `email`.")
@click.option("--server", metavar="HOST[:PORT]", help="Your mail server.  [default port: 587]")
@click.option("--from", "sender", metavar="ADDRESS", help="Your own address.")
@click.option("--user", default="", help="Who signs in at the server.  [default: the address]")
@click.option(
    "--repository",
    metavar="ADDRESS",
    help="Push pages to a branch of repositories instead; {login} stands for a student's login.",
)
@click.option("--dry-run", is_flag=True, help="Say who would be sent a page, and send nothing.")
@click.option("--yes", is_flag=True, help="Send without asking.")
@course_option
def send(
    course: Course,
    out: Path,
    *,
    roster: Path,
    server: str | None,
    sender: str | None,
    repository: str | None,
    user: str,
    dry_run: bool,
    yes: bool,
) -> ExitCode:
    """Send everybody the page that was published last in OUT.

    By mail, to the addresses in the roster's column `email`; or into students' repositories, as a commit
    on the branch `feedback`. Who was sent the same page at the same address is not sent it again. The
    password of your mail account is taken from GRADER_MAIL_PASSWORD; it and the pages only go to a
    server that encrypts, or to one on this computer.

    Exits with 1 when a message or a commit is refused.
    """
    if repository:
        way = _into_repositories(course, repository)
    else:
        if not dry_run:
            _require_mail(server, sender)
        way = _by_mail(course, server or "", sender or "", user)
    records, enrolled = open_records(out / PUBLISHED), {o.student: o for o in read_roster(roster)}
    with Store.to_read(out) as store:
        before = store.sent()
    results = [*records.results()]
    letters = [*_letters(results, enrolled, way)]
    new = [one for one in letters if one.sent not in before.get(one.student, ())]
    again = sum(one.student in before for one in new)
    changed = f", {again} of them changed since they were sent" if again else ""
    sent = f"; {len(letters) - len(new)} were sent before" if len(letters) > len(new) else ""
    echo(f"{records.place}: {_counted(len(new), 'page')} to send{changed}{sent}.")
    for why, students in _left_out(results, enrolled, way).items():
        echo(f"{why}: {clean(named(students))}.")
    if new:
        echo(f"To: {clean(named(f'{one.student} <{one.sent.address}>' for one in new))}.")
    if dry_run or not new:
        return ExitCode.FINE
    if not yes and not click.confirm(f"Send {_counted(len(new), 'page')} {way.where}?"):
        echo("Nothing was sent.")
        return ExitCode.NOT_PASSED
    refused = _send(out, new, way)
    for student, reply in refused.items():
        echo(f"NOT SENT: {clean(f'{student}: {reply}', 300)}", err=True)
    echo(f"Sent: {len(new) - len(refused)}.")
    return ExitCode.NOT_PASSED if refused else ExitCode.FINE


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _letters(
    results: Sequence[Result], enrolled: Mapping[str, Enrolled], way: Way
) -> Iterator[Letter]:
    """What everybody is to be sent who can be sent anything."""
    for result in results:
        if not _why_not(result, enrolled, way):
            one = enrolled[result.student]
            # What decided the outcomes is on no page.
            plain = replace(result, versions={}, course_hash="", isolation=())
            said = Sent(way.address(one), hash_of(record_texts(plain)[1].decode()))
            yield Letter(result.student, said, result, one.name)


def _why_not(result: Result, enrolled: Mapping[str, Enrolled], way: Way) -> str:
    """Why a student is sent nothing; "" where there is no reason."""
    if not result.submitted:
        return "Nothing was handed in, so no page"
    if result.undecided:
        return "Undecided, so no page"
    if result.student not in enrolled:
        return "Not on the roster"
    return "" if way.address(enrolled[result.student]) else way.no_address


def _left_out(
    results: Sequence[Result], enrolled: Mapping[str, Enrolled], way: Way
) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for result in results:
        if why := _why_not(result, enrolled, way):
            found.setdefault(why, []).append(result.student)
    return found


def _send(out: Path, letters: Sequence[Letter], way: Way) -> dict[str, str]:
    """Send pages, and remember each as soon as it has arrived; who was refused, and why.

    Raises:
        UsageError: when nothing more can be sent; what was sent until then is remembered.
    """
    refused: dict[str, str] = {}
    with Store.to_write(out) as store, way.opened() as deliver:
        for number, letter in enumerate(letters):
            try:
                why = deliver(letter)
            except (smtplib.SMTPException, OSError) as error:
                raise UsageError(
                    f"Sending stopped after {_counted(number - len(refused), 'page')}: {error}. Run the same "
                    "command again: it sends what is left."
                ) from error
            if why:
                refused[letter.student] = why
            else:
                store.remember_sent(letter.student, letter.sent, datetime.now(UTC).isoformat())
    return refused


# By mail.


def _require_mail(server: str | None, sender: str | None) -> None:
    """Do nothing where it is said by which server messages go, and from whom.

    Raises:
        UsageError: where it is not.
    """
    if not server or not sender:
        missing = "your mail server, --server" if not server else "your own address, --from"
        key = "mail_server" if not server else "mail_from"
        raise UsageError(
            f"Give {missing}; or set `{key}` under [grade] in {MANIFEST}. To push pages into repositories, give "
            "--repository."
        )
    if not ADDRESS.fullmatch(sender):
        raise UsageError(
            f"--from {clean(sender, 80)} is no address of the form you@school.example."
        )


def _by_mail(course: Course, server: str, sender: str, user: str) -> Way:
    """Messages with the page attached."""

    @contextmanager
    def opened() -> Iterator[Deliver]:
        with _connected(server, user or sender) as connection:

            def deliver(letter: Letter) -> str:
                try:
                    connection.send_message(message(course, letter, sender))
                except smtplib.SMTPRecipientsRefused as error:
                    code, reply = next(iter(error.recipients.values()))
                    return f"{code} {reply.decode('utf-8', 'replace')}"
                return ""

            yield deliver

    return Way(
        lambda one: one.email if ADDRESS.fullmatch(one.email) else "",
        "No address in the roster, or none that is one",
        f"from {sender} by {server}",
        opened,
    )


@contextmanager
def _connected(server: str, user: str) -> Iterator[smtplib.SMTP]:
    """A connection to a mail server, encrypted unless it is on this computer.

    Raises:
        UsageError: when there is none, or it does not let the user in.
    """
    host, _colon, port = server.partition(":")
    number = int(port) if port.isdecimal() else SUBMISSION
    password = os.environ.get(PASSWORD, "")
    with ExitStack() as stack:
        try:
            connection = stack.enter_context(_opened(host, number))
            if number != ENCRYPTED and connection.has_extn("starttls"):
                connection.starttls(context=ssl.create_default_context())
            elif number != ENCRYPTED and host not in HERE:
                raise UsageError(f"{server} does not encrypt, so nothing was sent. Try port 465.")
            if password:
                connection.login(user, password)
        except smtplib.SMTPAuthenticationError as error:
            raise UsageError(
                f"{server} does not let {user} in ({error.smtp_code}). Look at {PASSWORD} and --user."
            ) from error
        except (smtplib.SMTPException, OSError) as error:
            raise UsageError(f"{server} cannot be used: {error}. Nothing was sent.") from error
        yield connection


def _opened(host: str, port: int) -> smtplib.SMTP:
    if port == ENCRYPTED:
        context = ssl.create_default_context()
        return smtplib.SMTP_SSL(host, port, timeout=SECONDS, context=context)
    connection = smtplib.SMTP(host, port, timeout=SECONDS)
    connection.ehlo_or_helo_if_needed()
    return connection


def message(course: Course, letter: Letter, sender: str) -> EmailMessage:
    """One student's page, as the message that they get."""
    made = EmailMessage()
    made["From"], made["To"] = sender, letter.sent.address
    made["Subject"] = _subject(course)
    made["Date"] = formatdate(localtime=True)
    made["Message-ID"] = make_msgid(domain=sender.partition("@")[2])
    made.set_content(
        _("Your page is attached. Save it, and open it in a browser; it needs no network.") + "\n"
    )
    page = _page(course, letter)
    made.add_attachment(page.encode(), maintype="text", subtype="html", filename=PAGE)
    return made


def _subject(course: Course) -> str:
    title = course.text(course.title)
    return " ".join(_("Your feedback: {title}").format(title=title).split())


def _page(course: Course, letter: Letter) -> str:
    graded = course.only([part.id for part in letter.result.assignments])
    return student_page(letter.result, graded, letter.name)


# Into repositories.


def _into_repositories(course: Course, template: str) -> Way:
    """A commit with the page, and with a summary that the platform shows."""

    @contextmanager
    def opened() -> Iterator[Deliver]:
        with pusher() as repository:

            def deliver(letter: Letter) -> str:
                title = course.text(course.title)
                texts = {
                    "README.md": summary(title, for_student(letter.result)),
                    PAGE: _page(course, letter),
                }
                return repository.push(letter.sent.address, texts, _subject(course))

            yield deliver

    return Way(
        lambda one: address_of(template, one),
        "No login in the roster that can be part of an address",
        f"to the branch feedback of {template}",
        opened,
    )
