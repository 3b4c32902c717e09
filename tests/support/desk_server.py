"""A desk that answers in a thread of its own, and a client that sends its forms as a browser does."""

import asyncio
import html
import http.client
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from grader.extras.desk.desk import Desk
from grader.extras.desk.server import serve

STUDENT = "/student?student={}&assignment={}"


@contextmanager
def served(desk: Desk) -> Iterator[list[str]]:
    """A desk that answers; its address with the secret, and one that opens it once."""
    addresses: list[str] = []
    is_ready, ends = threading.Event(), list[Any]()

    def ready(*both: str) -> None:
        addresses.extend(both)
        is_ready.set()

    async def run() -> None:
        task = asyncio.ensure_future(serve(desk, 0, ready))
        ends.append((asyncio.get_running_loop(), task))
        await asyncio.wait([task])

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    assert is_ready.wait(30)
    yield addresses
    ((loop, task),) = ends
    loop.call_soon_threadsafe(task.cancel)
    thread.join(30)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def words(self) -> str:
        """What a person reads."""
        return " ".join(
            html.unescape(re.sub(r"(?s)<style>.*?</style>|<[^>]*>", " ", self.text)).split()
        )


@dataclass(slots=True)
class Client:
    """A window of a browser.

    Args:
        address: the desk's, with its secret; without it nobody is let in.
        cookies: what the desk set.
    """

    address: str
    cookies: dict[str, str] = field(default_factory=dict)

    def ask(
        self, path: str, form: Mapping[str, str] | None = None, **headers: str | None
    ) -> Answer:
        """Open a page, or send a form; a header of None is left out."""
        host = urlsplit(self.address).netloc
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        sent = {"Host": host, "Cookie": cookie}
        if form is not None:
            sent |= {
                "Content-Type": "application/x-www-form-urlencoded",
                "Origin": f"http://{host}",
            }
        sent |= headers  # type: ignore[arg-type]
        connection = http.client.HTTPConnection(host, timeout=60)
        body = None if form is None else urlencode(form)
        chosen = {name: value for name, value in sent.items() if value is not None}
        connection.request("GET" if form is None else "POST", path, body, chosen)
        answer = connection.getresponse()
        text = answer.read().decode()
        for line in answer.headers.get_all("Set-Cookie", []):
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name] = value
        connection.close()
        return Answer(answer.status, dict(answer.headers), text)

    def enter(self) -> "Client":
        """Open the address that the command printed."""
        parts = urlsplit(self.address)
        assert self.ask(f"{parts.path}?{parts.query}").status == 302
        return self

    def form(
        self, student: str, kind: str, assignment: str = "01_scores", number: int = 0
    ) -> dict[str, str]:
        """The hidden fields of a form on a student's page: of a kind the first, or another one."""
        page = self.ask(STUDENT.format(student, assignment)).text
        forms = re.findall(r'(?s)<form method="post" action="/decide">(.*?)</form>', page)
        found = [
            {
                name: html.unescape(value)
                for name, value in re.findall(r'type="hidden" name="(\w+)" value="(.*?)"', text)
            }
            for text in forms
        ]
        return [fields for fields in found if fields["kind"] == kind][number]

    def decide(self, student: str, kind: str, **fields: str) -> Answer:
        """Fill a form in and send it."""
        return self.ask("/decide", self.form(student, kind) | fields)
