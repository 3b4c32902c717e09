"""A mail server on this computer for tests: it keeps what it is sent."""

import base64
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default


@dataclass
class Mailbox:
    """What a server was sent, and how it behaves.

    Args:
        refused: addresses that it does not take.
        most: after so many messages it hangs up.
        password: what it lets in with; "" for anybody.
        messages: those it took.
        signed_in: who signed in.
        port: where it listens.
    """

    refused: set[str] = field(default_factory=set)
    most: int = 1000
    password: str = ""
    messages: list[EmailMessage] = field(default_factory=list)
    signed_in: list[str] = field(default_factory=list)
    port: int = 0


class _Conversation(socketserver.StreamRequestHandler):
    def say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())

    def handle(self) -> None:
        box: Mailbox = self.server.box  # type: ignore[attr-defined]
        self.say("220 here")
        for line in self.rfile:
            word, _space, rest = line.decode().strip().partition(" ")
            command = word.upper()
            if command == "EHLO":
                self.say("250-here\r\n250 AUTH PLAIN" if box.password else "250 here")
            elif command == "AUTH":
                _, user, password = base64.b64decode(rest.split()[1]).decode().split("\0")
                is_right = password == box.password
                box.signed_in += [user] * is_right
                self.say("235 welcome" if is_right else "535 no")
            elif command == "RCPT":
                address = rest.partition("<")[2].partition(">")[0]
                self.say("550 nobody here" if address in box.refused else "250 fine")
            elif command == "DATA":
                if len(box.messages) >= box.most:
                    return
                self.say("354 go on")
                box.messages.append(self._message())
                self.say("250 taken")
            elif command == "QUIT":
                self.say("221 bye")
                return
            else:
                self.say("250 fine")

    def _message(self) -> EmailMessage:
        lines = []
        for line in self.rfile:
            if line == b".\r\n":
                break
            lines.append(line.removeprefix(b"."))
        made = message_from_bytes(b"".join(lines), policy=default)
        assert isinstance(made, EmailMessage)
        return made


@contextmanager
def mail_server(box: Mailbox) -> Iterator[None]:
    """Listen on a free port of this computer, in another thread."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Conversation) as server:
        server.box = box  # type: ignore[attr-defined]
        server.daemon_threads = True
        box.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()
