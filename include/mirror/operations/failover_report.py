"""What a failover came to: a document for programs, and the sections of the page that people read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from mirror.operations.pages import moment, seconds
from mirror.operations.report import Section, kept_again

# Partitions and groups in the record on the target; the rest are counted. A record has at most a megabyte.
KEPT = 1000
# Rows of a table that a person still reads.
ROWS_MAX = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class FailoverReport:
    """Everything that a failover did and found; its members are plain JSON, so that it can be kept and shown again."""

    flow: str
    source: str
    target: str
    operation: str
    mode: str  # planned | unplanned
    started_ms: int
    finished_ms: int
    # The source's state up to this moment is on the target, as far as was seen; None where nothing tells.
    recovery_point_ms: int | None
    # The newest heartbeat that came from the source.
    source_alive_ms: int | None
    missing_at_least: int
    partitions: tuple[Mapping[str, Any], ...] = ()
    partitions_not_listed: int = 0
    groups: tuple[Mapping[str, Any], ...] = ()
    groups_not_moved_reason: str = ""
    verified: Mapping[str, Any] = field(default_factory=dict)
    rights: tuple[Mapping[str, Any], ...] = ()
    rights_known: str = ""
    notes: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()

    @property
    def recovery_seconds(self) -> float:
        return (self.finished_ms - self.started_ms) / 1000

    @property
    def left_alone(self) -> tuple[Mapping[str, Any], ...]:
        return tuple(g for g in self.groups if g["outcome"] in ("left alone", "failed"))

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "recovery_seconds": round(self.recovery_seconds, 3)}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        return cls(**kept_again(document, cls.__slots__))

    @property
    def title(self) -> str:
        return f"Failover of {self.flow}, {self.mode}, {moment(self.started_ms)}"

    def sections(self) -> tuple[Section, ...]:
        found = (self._headline(), self._partitions(), self._groups(), self._not_moved(), self._rights(), self._next())
        return tuple(section for section in found if section is not None)

    def _headline(self) -> Section:
        point = moment(self.recovery_point_ms)
        text = [f"Applications work on {self.target} from now on. Nothing is copied along {self.flow} until failback."]
        if self.missing_at_least:
            text.append(
                f"At least {self.missing_at_least:,} offsets of {self.source} are not on {self.target}, as of when it "
                "was last seen; what was written on it after that moment is not counted. The table says where."
            )
        else:
            text.append(f"Everything that was seen on {self.source} is on {self.target}.")
        rows = (
            ("recovery point", point if self.missing_at_least else f"{point} (the source as last seen)"),
            ("recovery time", seconds(self.recovery_seconds)),
            ("last sign of life of the source", moment(self.source_alive_ms)),
            ("verified", str(self.verified.get("summary", "not done"))),
            ("operation", self.operation),
        )
        return Section(heading="What happened", text=(*text, *self.notes), headings=("", ""), rows=rows)

    def _partitions(self) -> Section:
        worst = sorted(self.partitions, key=lambda p: -p["missing_at_least"])[:ROWS_MAX]
        rows = tuple(
            (
                f"{p['topic']}-{p['partition']}",
                f"{p['remote_topic']}-{p['partition']}",
                f"{p['position']:,}",
                f"at least {p['missing_at_least']:,}, as of {moment(p['seen_ms'])}" if p["missing_at_least"] else "0",
                moment(p["newest_record_ms"]) if p["newest_record_ms"] else "",
            )
            for p in worst
        )
        more = len(self.partitions) + self.partitions_not_listed - len(worst)
        return Section(
            heading="Partitions",
            text=(f"and {more:,} more, with less missing",) if more else (),
            headings=("on the source", "on the target", "copied up to", "missing", "newest record copied"),
            rows=rows,
        )

    def _groups(self) -> Section:
        rows = [
            (g["group"], g["outcome"], f"{m['topic']}-{m['partition']}", f"{m['to']:,}")
            for g in self.groups
            for m in g["moved"]
        ]
        rows += [
            (g["group"], "stands already", f"{m['topic']}-{m['partition']}", f"{m['offset']:,}")
            for g in self.groups
            if g["outcome"] == "in place"
            for m in g["left_alone"]
            if m["offset"] is not None
        ]
        text = (self.groups_not_moved_reason,) if self.groups_not_moved_reason else ()
        return Section(
            heading=f"Consumer groups on {self.target}",
            text=text or (() if rows else ("none",)),
            headings=("group", "", "partition", "goes on at"),
            rows=tuple(rows[:ROWS_MAX]),
        )

    def _not_moved(self) -> Section | None:
        rows = [
            (g["group"], f"{m['topic']}-{m['partition']}", m["reason"])
            for g in self.groups
            for m in g["left_alone"]
            if g["outcome"] != "in place" and m["reason"] != "it is there already"
        ]
        rows += [(g["group"], "", g["error"]["message"]) for g in self.groups if g["error"]]
        if not rows:
            return None
        return Section(
            heading="Not moved, and why", headings=("group", "partition", "why"), rows=tuple(rows[:ROWS_MAX])
        )

    def _rights(self) -> Section:
        rows = tuple(
            (r["principal"], r["operation"], f"{r['resource']} {r['name']}", r["reason"])
            for r in self.rights[:ROWS_MAX]
        )
        return Section(
            heading=f"Applications that {self.target} would refuse",
            text=(self.rights_known,) if self.rights_known else (),
            headings=("who", "wants to", "what", "why not"),
            rows=rows,
            commands=tuple(r["command"] for r in self.rights[:ROWS_MAX] if r["reason"].startswith("nothing")),
        )

    def _next(self) -> Section:
        return Section(heading="What to type next", commands=self.commands)
