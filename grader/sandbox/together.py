"""Several requests in one frame: an instance is made, then it is given values, asked for, called.

What follows the first request is about the instance that this one makes, whose number is not known
when they are sent.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grader.sandbox.wire import Frame, WireFault

TOGETHER = "together"
"""The verb of such a frame."""


def joined(frames: Sequence[Frame], **about: Any) -> Frame:
    """Several frames as one, whose header also says what is known about all of them."""
    parts = [[frame.header, len(frame.payload)] for frame in frames]
    payload = b"".join(frame.payload for frame in frames)
    return Frame({**about, "verb": TOGETHER, "parts": parts}, payload)


def parted(frame: Frame) -> list[Frame]:
    """The frames that one was made of.

    Raises:
        WireFault: when it was made of none.
    """
    parts, left, found = frame.header.get("parts"), frame.payload, []
    for part in parts if isinstance(parts, list) else [None]:
        match part:
            case [dict(header), int(size)] if 0 <= size <= len(left):
                found.append(Frame(header, left[:size]))
                left = left[size:]
            case _:
                raise WireFault("a part of a frame is not a header and a size")
    return found


def in_turn(frame: Frame, reply_to: Callable[[Frame], Frame]) -> Frame:
    """The replies to requests that came together, up to the first that may not be followed.

    That is one that fails, or makes no instance, or leaves values that other parameters may take:
    those are asked for before anything else. Where one fails, so does the whole.
    """
    number, replies, failed = 0, list[Frame](), {}
    for request in parted(frame):
        about = {"instance": number} if replies else {}
        reply = reply_to(Frame({**request.header, **about}, request.payload))
        number = number or _instance_in(reply.header.get("value"))
        replies.append(reply)
        failed = {"failure": reply.header["failure"]} if "failure" in reply.header else {}
        if not number or failed or _is_left(reply.header):
            break
    return joined(replies, **failed)


def has_instances(node: Any) -> bool:
    """Whether a packed value stands for an instance that was made before, or holds one."""
    if isinstance(node, dict):
        return "reference" in node or any(map(has_instances, node.values()))
    return isinstance(node, list) and any(map(has_instances, node))


def _instance_in(value: Any) -> int:
    """The number of the instance that a value stands for; 0 for any other value."""
    match value:
        case {"reference": [int(number), *_kind_and_name]}:
            return number
    return 0


def _is_left(header: Mapping[str, Any]) -> bool:
    """Whether a report on loading names a value and a parameter that may belong together."""
    return "missing" in header.get("report", {}).values() and bool(header["not_given"])
