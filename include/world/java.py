"""How Java is called here: which one, with which memory, which class path and which logging."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

# Quick to start rather than quick in the long run: a test's broker lives for seconds.
_QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")

_LOGGING = """\
rootLogger.level = {level}
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
appender.out.target = {target}
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = [%d] %p %m (%c)%n
"""


def executable() -> str:
    """The java to run: JAVA_HOME's, else the one on the path."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else "java"


def logging_file(directory: Path, level: str = "INFO", target: str = "SYSTEM_OUT") -> Path:
    """A log4j2 configuration that writes everything from `level` on to one stream."""
    path = directory / f"log4j2-{level.lower()}.properties"
    path.write_text(_LOGGING.format(level=level, target=target))
    return path


def archive(jars: Path) -> Path:
    """Where the jars' classes are kept as a JVM has them in memory (world.archive): reading them is half a start."""
    return jars / "classes.jsa"


def quick(jars: Path) -> list[str]:
    """Options for a JVM that is to be there soon, and need not be fast."""
    kept = archive(jars)
    # One that is of another JVM or place is passed over, with a word on stdout that nobody asked for.
    return [*_QUICK, *([f"-XX:SharedArchiveFile={kept}", "-Xlog:disable"] if kept.is_file() else [])]


def command(
    main_class: str,
    *arguments: str,
    jars: Path,
    logging: Path,
    heap: str = "384m",
    options: Sequence[str] | None = None,
) -> list[str]:
    """The command line for a main class of the jars in a directory; without options, quick to start."""
    return [
        executable(),
        f"-Xmx{heap}",
        *(quick(jars) if options is None else options),
        f"-Dlog4j2.configurationFile={logging}",
        "-Djava.awt.headless=true",
        "-cp",
        f"{jars}/*",
        main_class,
        *arguments,
    ]


class ToolFailed(RuntimeError):
    """A Java tool ended with an exit code other than 0; `output` is all it said."""

    def __init__(self, main_class: str, exit_code: int, output: str) -> None:
        super().__init__(f"{main_class} ended with exit code {exit_code}:\n{output}")
        self.exit_code = exit_code
        self.output = output


def run(command: Sequence[str], *, stdin: str | None = None, timeout_s: float = 60) -> str:
    """Run a tool to its end and return its stdout."""
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=timeout_s, check=False)
    if done.returncode:
        main_class = next((part for part in command if part.startswith(("org.", "kafka."))), command[0])
        raise ToolFailed(main_class, done.returncode, done.stdout + done.stderr)
    return done.stdout
