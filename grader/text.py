"""Text that came from student code, made fit to be shown."""

import re

MAX_STUDENT_TEXT = 600
CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)
SURROGATE = re.compile(r"[\ud800-\udfff]")


def clean(text: str, limit: int = MAX_STUDENT_TEXT) -> str:
    """The text cut to size, with control characters and halves of characters escaped."""
    whole = len(text)
    text = CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text[:limit])
    text = SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return f"{text[:limit]}… (cut)" if max(whole, len(text)) > limit else text
