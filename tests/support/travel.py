"""A value's way to another process, without the process."""

from typing import Any

from grader.sandbox.wire import PREFIX, Frame, Packer, Unpacker, decode_header, encode


def travelled(value: object) -> Any:
    """What arrives of a value that is sent through a frame's bytes."""
    packer = Packer()
    data = encode(Frame({"value": packer.pack(value)}, packer.payload()))
    length = len(data) - packer.size
    unpacker = Unpacker(data[length:])
    arrived = unpacker.unpack(decode_header(data[PREFIX.size : length])["value"])
    unpacker.finish()
    return arrived
