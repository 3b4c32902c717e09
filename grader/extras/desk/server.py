"""The desk's server: on this computer alone, behind a secret, and only for its own pages."""

import asyncio
from collections.abc import Callable
from importlib.resources import files
from secrets import compare_digest, token_urlsafe
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, HTTPError, RequestHandler

from grader.core.errors import CourseError, GraderError, UsageError
from grader.core.language import _
from grader.extras.desk.desk import ConflictError, Desk
from grader.extras.desk.edits import OF_STUDENTS
from grader.extras.desk.pages import address, map_page, student_page

HOST = "127.0.0.1"
MOST_BYTES = 2**18
"""Of what a form may send."""
SCRIPTS = {
    "class.js": ("grader.reports.html", "templates/class.js"),
    "desk.js": ("grader.extras.desk", "templates/desk.js"),
}
HEADERS = {
    # Styles stand in the pages, as in reports; scripts come from here alone, and no page has one in it.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; "
    "img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Page(RequestHandler):
    """What every address has: who may ask, and how errors are said."""

    desk: Desk

    def initialize(self, desk: Desk) -> None:
        """Take the class."""
        self.desk = desk

    def set_default_headers(self) -> None:
        """Nothing of a page is live that is not the desk's, and nothing is kept."""
        self.clear_header("Server")
        for name, value in HEADERS.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        """Refuse who is not the browser that was given the secret, and forms of other pages."""
        hosts = {f"{name}:{self.settings['port']}" for name in (HOST, "localhost")}
        if self.request.host not in hosts:  # another name that was made to lead here
            raise HTTPError(403)
        if self.request.method == "POST":
            origin = self.request.headers.get("Origin", "")
            if origin != f"http://{self.request.host}":
                raise HTTPError(403)
        if self.request.method == "GET" and self.settings["tokens"].opens(self.field("token")):
            self.set_cookie(
                self.settings["cookie"], self.settings["session"], httponly=True, samesite="Strict"
            )
            self.redirect("/")  # so that the secret stays in no history
            return
        session = self.get_cookie(self.settings["cookie"], "") or ""
        if not compare_digest(session.encode(), self.settings["session"].encode()):
            raise HTTPError(403)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """A sentence, without anything that was sent."""
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        sentences = {
            403: _("Not from here. Open the address that `grader desk` printed."),
            404: _("There is no such page."),
            500: _("The desk failed; the terminal says why."),
        }
        self.finish(sentences.get(status_code, self._reason))

    def show(self, page: Callable[..., str], *args: Any, status: int = 200, **content: Any) -> None:
        """Write a page with the form's own secret, after what changed on disk was read."""
        problem = content.pop("problem", "")
        try:
            self.desk.refresh()
        except (UsageError, CourseError) as error:
            problem = problem or f"{error}"
        self.set_status(status)
        secret = self.xsrf_form_html()
        self.finish(page(self.desk, *args, xsrf=secret, problem=problem, **content))

    def field(self, name: str, default: str = "") -> str:
        """What a field of a form or an address says."""
        return self.get_argument(name, default, strip=False) or default

    def student(self) -> str:
        """The student whom a form or an address names.

        Raises:
            HTTPError: when nobody in the class is called so.
        """
        student = self.field("student")
        if student not in self.desk.lines:
            raise HTTPError(404)
        return student


class MapPage(Page):
    """The class."""

    def get(self) -> None:
        """Show the map."""
        self.show(map_page)


class StudentPage(Page):
    """One student."""

    def get(self) -> None:
        """Show the work beside the feedback."""
        said = (_("Written."),) if self.field("written") else ()
        self.show(student_page, self.student(), self.field("assignment"), said=said)


class Decide(Page):
    """One decision."""

    def post(self) -> None:
        """Write it, and show the student again; where it is refused, with what was typed."""
        student, assignment, kind = self.student(), self.field("assignment"), self.field("kind")
        names = [name for name in self.request.body_arguments if not name.startswith("_")]
        fields = {name: self.field(name).replace("\r\n", "\n").strip() for name in names}
        fields = {name: text for name, text in fields.items() if text} | {"student": student}
        if kind not in OF_STUDENTS:
            raise HTTPError(400)
        try:
            self.desk.decide(kind, fields, self.field("basis"))
        except (ConflictError, UsageError, CourseError) as error:
            status = 409 if isinstance(error, ConflictError) else 422
            problem = f"{error}"
            self.show(
                student_page, student, assignment, status=status, filled=fields, problem=problem
            )
        else:
            self.redirect(f"{address(student, assignment)}&written=1", status=303)


class Publish(Page):
    """What students receive."""

    def post(self) -> None:
        """Publish, and say what came of it."""
        try:
            said = self.desk.publish()
        except GraderError as error:
            self.show(map_page, problem=f"{error}", status=409)
        else:
            self.show(map_page, said=said)


class Script(Page):
    """A script of the desk's own."""

    def get(self, name: str) -> None:
        """Send it."""
        package, path = SCRIPTS[name]
        self.set_header("Content-Type", "text/javascript; charset=utf-8")
        self.finish((files(package) / path).read_bytes())


class Tokens:
    """The secrets of an address: one for people, and one that opens the desk once.

    A program that is started with an address shows it to everybody on the computer.
    """

    def __init__(self) -> None:
        self.lasting, self.once = token_urlsafe(32), token_urlsafe(32)

    def opens(self, given: str) -> bool:
        """Whether who gives this is let in."""
        if compare_digest(given.encode(), self.once.encode()):
            self.once = token_urlsafe(32)
            return True
        return compare_digest(given.encode(), self.lasting.encode())


def application(desk: Desk, port: int, tokens: Tokens) -> Application:
    """What answers at a port, to who has a secret."""
    arguments = {"desk": desk}
    return Application(
        [
            ("/", MapPage, arguments),
            ("/student", StudentPage, arguments),
            ("/decide", Decide, arguments),
            ("/publish", Publish, arguments),
            (rf"/({'|'.join(SCRIPTS)})", Script, arguments),
        ],
        default_handler_class=Missing,
        default_handler_args=arguments,
        port=port,
        tokens=tokens,
        session=token_urlsafe(32),
        cookie=f"desk-{port}",  # cookies know no ports: two desks would take each other's
        xsrf_cookies=True,
        xsrf_cookie_name=f"xsrf-{port}",
        xsrf_cookie_kwargs={"httponly": True, "samesite": "Strict"},
        log_function=lambda handler: None,
    )


class Missing(Page):
    """Any other address."""

    def get(self) -> None:
        """Say so."""
        raise HTTPError(404)


async def serve(desk: Desk, port: int, ready: Callable[[str, str], None]) -> None:
    """Answer until it is cancelled.

    Args:
        desk: the class.
        port: where; 0 for any that is free.
        ready: is told the address with its secret, and one that opens the desk once.

    Raises:
        UsageError: when the port is taken.
    """
    try:
        sockets = bind_sockets(port, HOST)
    except OSError as error:
        raise UsageError(
            f"Port {port} cannot be used ({error.strerror}). Give another --port, or none."
        ) from error
    number, tokens = sockets[0].getsockname()[1], Tokens()
    server = HTTPServer(
        application(desk, number, tokens), max_body_size=MOST_BYTES, max_buffer_size=MOST_BYTES
    )
    server.add_sockets(sockets)
    try:
        place = f"http://{HOST}:{number}/?token="
        ready(f"{place}{tokens.lasting}", f"{place}{tokens.once}")
        await asyncio.Event().wait()
    finally:
        server.stop()
        await server.close_all_connections()
