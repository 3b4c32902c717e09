"""Writes frames to a stream and reads them; sizes are checked before anything is allocated.

It runs on both sides, beside student code as well.
"""

from dataclasses import dataclass
from typing import Protocol

from grader.sandbox.wire import (
    MAX_HEADER_BYTES,
    MAX_PAYLOAD_BYTES,
    PREFIX,
    Frame,
    WireFault,
    decode_header,
    encode,
)

READ_BYTES = 65_536


class Stream(Protocol):
    """What frames are read from and written to; a socket is one."""

    def recv_into(self, buffer: memoryview, /) -> int:
        """Read up to `len(buffer)` bytes; 0 at the end."""

    def sendall(self, data: bytes, /) -> None:
        """Write all of it."""


def send(stream: Stream, frame: Frame) -> None:
    """Write a frame."""
    stream.sendall(encode(frame))


@dataclass(frozen=True, slots=True)
class Raw:
    """A frame as it arrived, of sizes that may travel; its header is not decoded yet."""

    header: bytes
    payload: bytes

    def frame(self) -> Frame:
        """The frame.

        Raises:
            WireFault: when its header is not a JSON object.
        """
        return Frame(decode_header(self.header), self.payload)


class Reader:
    """Reads frames from a stream; bytes beyond one frame are kept for the next."""

    def __init__(self) -> None:
        self.buffer = bytearray(READ_BYTES)
        self.start = self.end = 0

    def receive(self, stream: Stream) -> Raw:
        """Read a frame; its sizes are checked before anything is allocated.

        Raises:
            EOFError: at the end of the stream.
            WireFault: when the frame announces more than may travel.
        """
        header_size, payload_size = PREFIX.unpack(self._take(stream, PREFIX.size))
        if header_size > MAX_HEADER_BYTES or payload_size > MAX_PAYLOAD_BYTES:
            raise WireFault("a frame announces more bytes than may travel")
        data = self._take(stream, header_size + payload_size)
        return Raw(data[:header_size], data[header_size:])

    def _take(self, stream: Stream, size: int) -> bytes:
        """The next bytes; those that are not there yet are read along with what follows them."""
        held = self.end - self.start
        if held >= size:
            taken = bytes(self.buffer[self.start : self.start + size])
            self.start += size
            return taken
        if size > READ_BYTES:
            return self._take_long(stream, size)
        self.buffer[:held] = self.buffer[self.start : self.end]
        self.start, self.end = 0, held
        with memoryview(self.buffer) as view:
            while self.end < size:
                self.end += _some(stream, view[self.end :])
        return self._take(stream, size)

    def _take_long(self, stream: Stream, size: int) -> bytes:
        taken = bytearray(size)
        held = self.end - self.start
        taken[:held] = self.buffer[self.start : self.end]
        self.start = self.end = 0
        with memoryview(taken) as view:
            while held < size:
                held += _some(stream, view[held:])
        return bytes(taken)


def _some(stream: Stream, view: memoryview) -> int:
    count = stream.recv_into(view)
    if count == 0:
        raise EOFError("the stream ended inside a frame")
    return count
