"""Topic ids as 16 bytes and as Kafka writes them: 22 letters of URL-safe base64, empty where unknown."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from binascii import Error, a2b_base64

from mirror.wire.primitives import unreadable

ID_BYTES = 16
_NO_ID = bytes(ID_BYTES)
# librdkafka prints ids in the standard alphabet, Kafka in the URL-safe one.
_STANDARD_LETTERS = str.maketrans("-_", "+/")


def encode_topic_id(text: str) -> bytes:
    """The bytes of an id in either alphabet."""
    if not text:
        return _NO_ID
    try:
        raw = a2b_base64(text.translate(_STANDARD_LETTERS) + "==", strict_mode=True)
    except (Error, ValueError) as cause:
        raise ValueError(f"{text!r} is not a topic id") from cause
    if len(raw) != ID_BYTES:
        raise ValueError(f"{text!r} is not a topic id: {len(raw)} bytes")
    return raw


def decode_topic_id(raw: bytes) -> str:
    """Kafka's text of an id; Kafka's zero id means that there is none."""
    if len(raw) != ID_BYTES:
        raise unreadable(f"a topic id of {len(raw)} bytes")
    return "" if raw == _NO_ID else urlsafe_b64encode(raw)[:-2].decode()
