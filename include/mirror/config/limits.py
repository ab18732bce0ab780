"""Bends values that Java's clients take together, and librdkafka's do not, to the nearest that it takes."""

from __future__ import annotations

from collections.abc import Callable

Numbers = dict[str, int]
Bend = Callable[[str, int, str], None]  # name, the value to use, why


def bend(kind: str, numbers: Numbers, transaction_timeout_ms: int, use: Bend) -> None:
    """Calls `use` for each number that must be another one; a file that MM2 runs must not fail in a constructor."""
    if kind == "producer":
        _within_the_transaction(numbers, transaction_timeout_ms, use)
    backoff_ms = numbers.get("reconnect.backoff.ms", 100)
    if numbers.get("reconnect.backoff.max.ms", 10_000) < backoff_ms:
        use("reconnect.backoff.max.ms", backoff_ms, "it cannot be under reconnect.backoff.ms")
    fetch_bytes = numbers.get("fetch.max.bytes", 52_428_800)
    if kind == "consumer" and fetch_bytes < 1_000_000:
        # librdkafka wants room for its largest message in every fetch, and takes this for a consumer's.
        use("message.max.bytes", fetch_bytes, "fetch.max.bytes is smaller than it is by default")


def _within_the_transaction(numbers: Numbers, timeout_ms: int, use: Bend) -> None:
    why = "it cannot be over airmirror.transaction.timeout.ms"
    for name in ("socket.timeout.ms", "delivery.timeout.ms"):
        if numbers.get(name, 0) > timeout_ms:
            use(name, timeout_ms, why)
    # Java's 0 and librdkafka's differ: there it means `at once`, here `never`.
    delivery_ms = min(numbers.get("delivery.timeout.ms", timeout_ms) or timeout_ms, timeout_ms)
    if numbers.get("linger.ms", 0) >= delivery_ms:
        use("linger.ms", delivery_ms - 1, "it must be under the time a record may take to be delivered")
