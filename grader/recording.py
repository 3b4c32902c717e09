"""Recordings of the visible checks: what the reference answered, so that students need no solution.

A recording is one frame, compressed. It holds what the reference answered to each request of each
visible check of an assignment, in order.
"""

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.errors import CourseError
from grader.wire import PREFIX, Frame, WireFault, decode_header, encode

FORMAT = "attention-course/recording/1"
MAX_BYTES = 2**28
Traces = dict[str, list[tuple[str, Frame]]]


@dataclass(frozen=True, slots=True)
class Recording:
    """What was recorded for one assignment.

    Args:
        source: the key of the solution's file.
        names: what the solution defines.
        traces: per check, each request's shape and answer.
    """

    source: str
    names: list[str]
    traces: Traces


def write_recording(recording: Recording) -> bytes:
    """A recording as bytes."""
    payloads = []
    traces: dict[str, list[Any]] = {}
    for check, trace in recording.traces.items():
        traces[check] = [[shape, frame.header, len(frame.payload)] for shape, frame in trace]
        payloads += [frame.payload for _, frame in trace]
    header = {
        "format": FORMAT,
        "source": recording.source,
        "names": recording.names,
        "traces": traces,
    }
    return zlib.compress(encode(Frame(header, b"".join(payloads))), level=9)


def read_recording(path: Path) -> Recording:
    """Read a recording.

    Raises:
        CourseError: when the file is missing or damaged.
    """
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(path.read_bytes(), MAX_BYTES)
        header_size, payload_size = PREFIX.unpack_from(data)
        start = PREFIX.size + header_size
        header = decode_header(data[PREFIX.size : start])
        payload = data[start : start + payload_size]
        if header["format"] != FORMAT:
            raise WireFault(f"its format is {header['format']!r}")
        traces, offset = {}, 0
        for check, trace in header["traces"].items():
            frames: list[tuple[str, Frame]] = []
            for shape, answer, size in trace:
                frames.append((shape, Frame(answer, payload[offset : offset + size])))
                offset += size
            traces[check] = frames
        return Recording(header["source"], header["names"], traces)
    except OSError as error:
        raise CourseError(f"{path.name} is missing; the release is incomplete") from error
    except (zlib.error, WireFault, KeyError, ValueError, TypeError, IndexError) as error:
        raise CourseError(f"{path.name} is damaged ({error}); get the release anew") from error
