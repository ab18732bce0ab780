"""What a failback came to: a document for programs, and the sections of the page that people read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from mirror.operations.made_there import section_of
from mirror.operations.pages import moment, seconds
from mirror.operations.report import Section, kept_again

# Rows of a table that a person still reads.
ROWS_MAX = 200

_CHOICES = {
    "copy": "they were copied to the target before anything returned",
    "keep": "they stayed, and were copied when all had returned",
    "ignore": "they stay on the source and are never copied",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FailbackReport:
    """Everything that a failback did and found; its members are plain JSON, so that it can be kept and shown again."""

    flow: str
    source: str
    target: str
    operation: str
    started_ms: int
    finished_ms: int
    survivors_choice: str
    # Records that were on the source and had never been copied, by partition and offsets.
    survivors: tuple[Mapping[str, Any], ...] = ()
    returned: int = 0
    copied_forward: int = 0
    partitions: tuple[Mapping[str, Any], ...] = ()
    partitions_not_listed: int = 0
    groups: tuple[Mapping[str, Any], ...] = ()
    # Topics that applications made on the target since the failover: those that returned, and those that stay.
    new_topics: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()

    @property
    def survivor_count(self) -> int:
        return sum(each["records"] for each in self.survivors)

    def to_json(self) -> dict[str, Any]:
        took = (self.finished_ms - self.started_ms) / 1000
        return {**asdict(self), "survivor_count": self.survivor_count, "seconds": round(took, 3)}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        return cls(**kept_again(document, cls.__slots__))

    @property
    def title(self) -> str:
        return f"Failback of {self.flow}, {moment(self.started_ms)}"

    def sections(self) -> tuple[Section, ...]:
        new = section_of(self.new_topics, self.source, self.target, ROWS_MAX)
        found = (self._headline(), self._survivors(), new, self._other_logs(), self._groups(), self._next())
        return tuple(section for section in found if section is not None)

    def _headline(self) -> Section:
        rows = (
            ("returned to the source", f"{self.returned:,} records"),
            ("survivors", f"{self.survivor_count:,} records"),
            ("copied forward at the end", f"{self.copied_forward:,} records"),
            ("took", seconds((self.finished_ms - self.started_ms) / 1000)),
            ("operation", self.operation),
        )
        text = (f"Applications work on {self.source} again; {self.flow} is copied as the file says.", *self.notes)
        return Section(heading="What happened", text=text, headings=("", ""), rows=rows)

    def _survivors(self) -> Section | None:
        if not self.survivors:
            return None
        rows = tuple(
            (
                f"{each['topic']}-{each['partition']}",
                f"{each['records']:,}",
                ", ".join(f"[{run['from']}, {run['to']})" for run in each["runs"][:10]),
            )
            for each in self.survivors[:ROWS_MAX]
        )
        text = (f"Records of {self.source} that had never been copied: {_CHOICES.get(self.survivors_choice, '')}.",)
        return Section(heading="Survivors", text=text, headings=("partition", "records", "offsets"), rows=rows)

    def _other_logs(self) -> Section | None:
        rows = tuple(
            (f"{p['topic']}-{p['partition']}", p["log"], f"{p['boundary']:,}")
            for p in self.partitions
            if p["log"] not in ("the same", "never copied")
        )
        if not rows:
            return None
        return Section(
            heading=f"Seeded again on {self.source}",
            headings=("partition", "its log", "returned from offset"),
            rows=rows[:ROWS_MAX],
        )

    def _groups(self) -> Section:
        rows = [(g["group"], _name(m), f"{m['to']:,}", "") for g in self.groups for m in g["moved"]]
        rows += [
            (g["group"], _name(m), "" if m["offset"] is None else f"{m['offset']:,}", m["reason"])
            for g in self.groups
            for m in g["left_alone"]
        ]
        rows += [(g["group"], "", "", g["error"]["message"]) for g in self.groups if g["error"]]
        return Section(
            heading=f"Consumer groups on {self.source}",
            text=() if rows else ("none",),
            headings=("group", "partition", "goes on at", "left alone, because"),
            rows=tuple(rows[:ROWS_MAX]),
        )

    def _next(self) -> Section:
        return Section(heading="What to type next", commands=self.commands)


def _name(place: Mapping[str, Any]) -> str:
    return f"{place['topic']}-{place['partition']}"
