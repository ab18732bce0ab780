"""Flows for tests, read from a file as users write it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mirror.config import Flow, load


def write_file(
    directory: Path, lines: str = "", *, clusters: Mapping[str, str] | None = None, flows: tuple[str, ...] = ("A->B",)
) -> Path:
    """An mm2.properties with these clusters (alias to bootstrap servers) and enabled flows, and further lines."""
    clusters = clusters or {"A": "localhost:1", "B": "localhost:2"}
    path = directory / "mm2.properties"
    path.write_text(
        f"clusters = {', '.join(clusters)}\n"
        + "".join(f"{alias}.bootstrap.servers = {servers}\n" for alias, servers in clusters.items())
        + "".join(f"{flow}.enabled = true\n" for flow in flows)
        + lines
    )
    return path


def flow_from(
    directory: Path, lines: str = "", *, clusters: Mapping[str, str] | None = None, flow: str = "A->B"
) -> Flow:
    """One enabled flow of such a file."""
    return load(write_file(directory, lines, clusters=clusters, flows=(flow,))).flow(flow)
