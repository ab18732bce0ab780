"""MirrorMaker 2 itself, in dedicated mode, as the other side of every comparison.

with MirrorMaker2(text_of_the_properties_file, directory) as mm2:
    ...
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from world import jars, java
from world.process import Process

# What Kafka's own start script gives it: for a comparison of speed, where a quick start would be unfair.
AS_SHIPPED = (
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
)
_MAIN = "org.apache.kafka.connect.mirror.MirrorMaker"
_READY = "Kafka MirrorMaker started"


class MirrorMaker2(Process):
    """One MM2 process for a properties file; `start`, `stop` (SIGTERM), `kill`, `log_path`, `cpu_seconds`."""

    def __init__(
        self,
        properties: str,
        directory: Path,
        *,
        name: str = "mm2",
        heap: str = "512m",
        options: Sequence[str] | None = None,
        arguments: Sequence[str] = (),
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / f"{name}.properties"
        path.touch(mode=0o600)  # it may hold passwords
        path.write_text(properties)
        logging = java.logging_file(directory)
        command = java.command(
            _MAIN, str(path), *arguments, jars=jars.ensure(), logging=logging, heap=heap, options=options
        )
        super().__init__(name, command, directory=directory)

    def __enter__(self) -> MirrorMaker2:
        self.start()
        self.wait_until_ready()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def wait_until_ready(self, timeout_s: float = 90) -> None:
        """Wait until its herders run; its connectors take a few seconds more."""
        self.wait_for_line(_READY, timeout_s)
