"""`grader send`: everybody's published page by mail, to the addresses of the roster alone."""

import os
import re
import smtplib
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
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
from grader.course.course import Course
from grader.intake.roster import Enrolled, read_roster
from grader.judging.results import record_texts
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


@click.command()
@click.argument("out", type=FOLDER, required=False)
@click.option("--roster", type=FILE, help="A CSV with columns `student` and `email`.")
@click.option("--server", metavar="HOST[:PORT]", help="Your mail server.  [default port: 587]")
@click.option("--from", "sender", metavar="ADDRESS", help="Your own address.")
@click.option("--user", default="", help="Who signs in at the server.  [default: the address]")
@click.option("--dry-run", is_flag=True, help="Say who would be sent a page, and send nothing.")
@click.option("--yes", is_flag=True, help="Send without asking.")
@course_option
def send(
    course: Course,
    out: Path,
    *,
    roster: Path,
    server: str,
    sender: str,
    user: str,
    dry_run: bool,
    yes: bool,
) -> ExitCode:
    """Send everybody the page that was published last in OUT, by mail.

    Addresses are those of the roster's column `email`. Who was sent the same page at the same address
    is not sent it again. The password of your mail account is taken from GRADER_MAIL_PASSWORD; it and the
    pages only go to a server that encrypts, or to one on this computer.

    Exits with 1 when the server refuses a message.
    """
    if not ADDRESS.fullmatch(sender):
        raise UsageError(
            f"--from {clean(sender, 80)} is no address of the form you@school.example."
        )
    records, enrolled = open_records(out / PUBLISHED), {o.student: o for o in read_roster(roster)}
    with Store.to_read(out) as store:
        before = store.sent()
    results = [*records.results()]
    letters = [*_letters(results, enrolled)]
    new = [one for one in letters if before.get(one.student) != one.sent]
    again = sum(one.student in before for one in new)
    echo(
        f"{records.place}: {_counted(len(new), 'page')} to send, {again} of them changed since they were sent; "
        f"{len(letters) - len(new)} were sent before."
    )
    for why, students in _left_out(results, enrolled).items():
        echo(f"{why}: {clean(named(students))}.")
    if new:
        echo(f"To: {clean(named(f'{one.student} <{one.sent.address}>' for one in new))}.")
    if dry_run or not new:
        return ExitCode.FINE
    if not yes and not click.confirm(
        f"Send {_counted(len(new), 'message')} from {sender} by {server}?"
    ):
        echo("Nothing was sent.")
        return ExitCode.NOT_PASSED
    refused = _send(course, out, new, (server, sender, user))
    for student, reply in refused.items():
        echo(f"NOT SENT: {clean(f'{student}: {reply}', 300)}", err=True)
    echo(f"Sent: {len(new) - len(refused)}.")
    return ExitCode.NOT_PASSED if refused else ExitCode.FINE


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _letters(results: Sequence[Result], enrolled: Mapping[str, Enrolled]) -> Iterator[Letter]:
    """What everybody is to be sent who can be sent anything."""
    for result in results:
        if not _why_not(result, enrolled):
            one = enrolled[result.student]
            # What decided the outcomes is on no page.
            plain = replace(result, versions={}, course_hash="", isolation=())
            said = Sent(one.email, hash_of(record_texts(plain)[1]))
            yield Letter(result.student, said, result, one.name)


def _why_not(result: Result, enrolled: Mapping[str, Enrolled]) -> str:
    """Why a student is sent nothing; "" where there is no reason."""
    if not result.submitted:
        return "Nothing was handed in, so no page"
    if result.undecided:
        return "Undecided, so no page"
    if result.student not in enrolled:
        return "Not on the roster"
    address = enrolled[result.student].email
    return "" if ADDRESS.fullmatch(address) else "No address in the roster, or none that is one"


def _left_out(
    results: Sequence[Result], enrolled: Mapping[str, Enrolled]
) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for result in results:
        if why := _why_not(result, enrolled):
            found.setdefault(why, []).append(result.student)
    return found


def _send(
    course: Course, out: Path, letters: Sequence[Letter], how: tuple[str, str, str]
) -> dict[str, str]:
    """Send messages, and remember each as soon as the server has it; who was refused, and why.

    Raises:
        UsageError: when the server cannot be used; what was sent until then is remembered.
    """
    server, sender, user = how
    refused = {}
    with Store.to_write(out) as store, _connected(server, user or sender) as connection:
        for number, letter in enumerate(letters):
            try:
                connection.send_message(message(course, letter, sender))
            except smtplib.SMTPRecipientsRefused as error:
                code, reply = next(iter(error.recipients.values()))
                refused[letter.student] = f"{code} {reply.decode('utf-8', 'replace')}"
            except (smtplib.SMTPException, OSError) as error:
                raise UsageError(
                    f"{server} stopped after {_counted(number - len(refused), 'message')}: {error}. Run the same "
                    "command again: it sends what is left."
                ) from error
            else:
                store.remember_sent(letter.student, letter.sent, datetime.now(UTC).isoformat())
    return refused


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
    title = course.text(course.title)
    made = EmailMessage()
    made["From"], made["To"] = sender, letter.sent.address
    made["Subject"] = " ".join(_("Your feedback: {title}").format(title=title).split())
    made["Date"] = formatdate(localtime=True)
    made["Message-ID"] = make_msgid(domain=sender.partition("@")[2])
    made.set_content(
        _("Your page is attached. Save it, and open it in a browser; it needs no network.") + "\n"
    )
    graded = course.only([part.id for part in letter.result.assignments])
    page = student_page(letter.result, graded, letter.name)
    made.add_attachment(page.encode(), maintype="text", subtype="html", filename=PAGE)
    return made
