"""How large the batches on a broker's disk are, as Kafka's own tool tells it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from world import jars, java

_BATCH = re.compile(r"^baseOffset: \d+ lastOffset: \d+ count: (\d+) .* size: (\d+) .*compresscodec: (\w+)")
# Bytes of the log that are looked at: enough for hundreds of batches of every shape.
_LOOK_BYTES = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSizes:
    """The mean batch of a log."""

    batch_count: int
    mean_bytes: float
    mean_records: float
    compression: str

    def __str__(self) -> str:
        return f"{self.mean_bytes:,.0f} bytes, {self.mean_records:.1f} records, {self.compression}"


def sizes(lines: Iterable[str]) -> BatchSizes:
    """The mean over the batches that DumpLogSegments printed; the last one, which is not full, left out."""
    found = [match for line in lines if (match := _BATCH.match(line))]
    full = found[:-1] or found
    if not full:
        raise ValueError("DumpLogSegments printed no batch")
    return BatchSizes(
        batch_count=len(full),
        mean_bytes=sum(int(batch[2]) for batch in full) / len(full),
        mean_records=sum(int(batch[1]) for batch in full) / len(full),
        compression=full[0][3].lower(),
    )


def sizes_on_disk(data: Path, topic: str) -> BatchSizes:
    """The mean batch of partition 0 of a topic below a broker's data directory."""
    segment = min((data / f"{topic}-0").glob("*.log"))
    command = java.command(
        "org.apache.kafka.tools.DumpLogSegments",
        "--files",
        str(segment),
        "--max-bytes",
        str(_LOOK_BYTES),
        jars=jars.ensure(),
        logging=java.logging_file(data.parent, "WARN", "SYSTEM_ERR"),
    )
    return sizes(java.run(command, timeout_s=120).splitlines())
