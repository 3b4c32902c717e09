"""Recordings of the visible checks: the reference's replies, so that students need no solution.

A recording is one frame, compressed. It has the reference's reply to each request of each visible
check of an assignment, in order.
"""

import struct
import zlib
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

from msgspec import convert, to_builtins

from grader.core.errors import CourseError
from grader.core.kit import KIT_NAME
from grader.core.records import Mistake
from grader.course.styles import Style
from grader.judging.diagnosis import Known, Trace
from grader.sandbox.wire import PREFIX, Frame, Packer, Unpacker, WireFault, decode_header, encode
from grader.sessions.reference_sessions import Transcripts

FORMAT = f"{KIT_NAME}/recording/8"
MAX_BYTES = 2**28


@dataclass(frozen=True, slots=True)
class Recording:
    """What was recorded for one assignment.

    Args:
        source: the key of the solution's file.
        names: what the solution defines.
        classes: what its classes take, as loading it reports that.
        transcripts: per check, each request's shape and the reply.
        known: per exercise, how its checks end with one known mistake and with two.
        hints: per exercise, by its short name.
        decided: per exercise, the points that visible checks decide; others are for hidden ones.
        styles: right ways to write an exercise, by its short name, for who has solved it.
        builds_on: per exercise, the ids of the earlier ones that its solution calls.
    """

    source: str
    names: list[str]
    classes: dict[str, Any]
    transcripts: Transcripts
    known: dict[str, tuple[list[Known], list[Known]]]
    hints: dict[str, tuple[str, ...]]
    decided: dict[str, float]
    styles: dict[str, tuple[Style, ...]] = field(default_factory=dict)
    builds_on: dict[str, tuple[str, ...]] = field(default_factory=dict)


def write_recording(recording: Recording) -> bytes:
    """A recording as bytes."""
    payloads: list[bytes] = []
    transcripts: dict[str, list[Any]] = {}
    for check, replies in recording.transcripts.items():
        transcripts[check] = [[shape, frame.header, len(frame.payload)] for shape, frame in replies]
        payloads += [frame.payload for _, frame in replies]
    header = {
        "format": FORMAT,
        "source": recording.source,
        "names": recording.names,
        "classes": recording.classes,
        "traces": transcripts,
        "hints": {name: list(texts) for name, texts in recording.hints.items()},
        "decided": recording.decided,
        "styles": {name: [*map(astuple, some)] for name, some in recording.styles.items()},
        "builds_on": {exercise: list(ids) for exercise, ids in recording.builds_on.items()},
        "known": {
            exercise: [[_known_node(entry, payloads) for entry in entries] for entries in both]
            for exercise, both in recording.known.items()
        },
    }
    return zlib.compress(encode(Frame(header, b"".join(payloads))), level=9)


def write_known(entries: list[Known]) -> bytes:
    """Known mistakes, and how checks go with them, as bytes."""
    payloads: list[bytes] = []
    nodes = [[*_known_node(entry, payloads), entry.is_over] for entry in entries]
    return zlib.compress(encode(Frame({"known": nodes}, b"".join(payloads))), level=1)


def read_known(data: bytes) -> list[Known]:
    """What `write_known` made."""
    header, reader = opened(zlib.decompress(data))
    return [_known(node, reader) for node in header["known"]]


def read_recording(path: Path) -> Recording:
    """Read a recording.

    Raises:
        CourseError: when the file is missing or damaged.
    """
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(path.read_bytes(), MAX_BYTES)
        if not unpacker.eof:
            raise WireFault("it breaks off")
        header, reader = opened(data)
        if header["format"] != FORMAT:
            raise WireFault(f"its format is {header['format']!r}")
        transcripts = {
            check: [(shape, Frame(reply, reader.take(size))) for shape, reply, size in replies]
            for check, replies in header["traces"].items()
        }
        known = {
            exercise: ([_known(n, reader) for n in singles], [_known(n, reader) for n in pairs])
            for exercise, (singles, pairs) in header["known"].items()
        }
        hints = {name: tuple(texts) for name, texts in header["hints"].items()}
        decided = {exercise: float(points) for exercise, points in header["decided"].items()}
        styles = {name: tuple(Style(*one) for one in s) for name, s in header["styles"].items()}
        solution = header["source"], header["names"], header["classes"]
        parts = {exercise: tuple(ids) for exercise, ids in header["builds_on"].items()}
        return Recording(*solution, transcripts, known, hints, decided, styles, parts)
    except OSError as error:
        raise CourseError(f"{path.name} is missing; the release is incomplete") from error
    except (zlib.error, struct.error, LookupError, ValueError, TypeError, AttributeError) as error:
        raise CourseError(f"{path.name} is damaged ({error}); get the release again") from error


@dataclass(slots=True)
class _Reader:
    """Hands out the payload piece by piece."""

    payload: bytes
    offset: int = 0

    def take(self, size: int) -> bytes:
        if not 0 <= size <= len(self.payload) - self.offset:
            raise WireFault("it lacks bytes")
        self.offset += size
        return self.payload[self.offset - size : self.offset]


def opened(data: bytes) -> tuple[dict[str, Any], _Reader]:
    """The header of a frame, and what hands out its payload."""
    header_size, payload_size = PREFIX.unpack_from(data)
    start = PREFIX.size + header_size
    return decode_header(data[PREFIX.size : start]), _Reader(data[start : start + payload_size])


def _known_node(entry: Known, payloads: list[bytes]) -> list[Any]:
    """A known mistake as JSON; its tensors' bytes go to the payloads."""
    nodes = []
    for check, trace in entry.traces.items():
        packer = Packer()
        values = packer.pack([list(trace.judged), list(trace.replied)])
        nodes.append([check, trace.end, values, packer.size])
        payloads.append(packer.payload())
    return [to_builtins(entry.mistakes), nodes]


def _known(node: list[Any], reader: _Reader) -> Known:
    mistakes, nodes, *is_over = node
    traces = {}
    for check, end, values, size in nodes:
        unpacker = Unpacker(reader.take(size))
        judged, replied = unpacker.unpack(values)
        traces[check] = Trace(end, tuple(judged), replied=tuple(replied))
    return Known(convert(mistakes, tuple[Mistake, ...]), traces, *is_over)
