"""The demo's last words: what was replicated, where to look, what to type next."""

from __future__ import annotations

from pathlib import Path

from mirror.cli.tables import print_table
from world.demo.replicated import Replicated
from world.demo.services import Services
from world.progress import Progress


def print_rows(rows: list[Replicated]) -> None:
    print_table(
        "What was replicated",
        ("flow", "topic", "remote topic", "partitions", "records on source", "records on target", "lag"),
        [
            (
                row.flow,
                row.topic,
                row.remote_topic,
                row.partition_count,
                f"{row.source_records:,}",
                f"{row.target_records:,}",
                f"{row.lag:,}",
            )
            for row in rows
        ],
        right=("partitions", "records on source", "records on target", "lag"),
    )


def print_farewell(rows: list[Replicated], services: Services, progress: Progress) -> None:
    console = progress.console
    console.print()
    print_rows(rows)
    config = _shown(services.config_path)
    servers = services.servers("west")
    console.print(
        f"""Counted by reading every record as a read_committed reader would (kafka-console-consumer --isolation-level
read_committed counts the same). End offsets are higher: transaction markers have offsets too, and so have records of
aborted transactions, which are not copied.

  Airflow    {services.airflow_url}
  log in     admin / {services.passwords["admin"]} (may do all), viewer / {services.passwords["viewer"]} (may look)
  clusters   east {services.servers("east")}, west {servers}

Copies start every minute for as long as it is up. To try:
  how far behind is each topic?      .venv/bin/airmirror --config {config} lag
  why is a topic copied, or not?     .venv/bin/airmirror --config {config} topics east-to-west --dry-run
  the same copy without Airflow      .venv/bin/airmirror --config {config} copy east-to-west
  more data, replicated again        make demo
  stop everything                    make down
""",
        markup=False,
        soft_wrap=True,
    )
    console.print(f"ready after {progress.seconds:.0f} s")


def _shown(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
