"""A flow's filters, its function and the records' provenance, one behind the other, as one value."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mirror import custom
from mirror.config import Flow
from mirror.config import options as opt
from mirror.config.transforms import FilterRule, filters_of
from mirror.records.filters import Asks, drops
from mirror.records.function import FunctionFailed, RecordFunction
from mirror.records.provenance import Provenance, path_of, provenance_of
from mirror.records.record import Headers, LeftOut, Record

TransformationFailed = FunctionFailed


class Transformation:
    """What becomes of a record: the same as often as it is asked, as far as the user's function is so.

    A value that pickles; the function's module is imported where a record first comes to it.
    """

    def __init__(self, filters: tuple[FilterRule, ...], function: str, provenance: Provenance | None) -> None:
        self._filters = filters
        self._provenance = provenance
        self._function_path = function
        self._drops: tuple[Asks, ...] = tuple(map(drops, filters))
        self._function = RecordFunction(function, load_function) if function else None

    def __reduce__(self) -> tuple[Any, ...]:
        return Transformation, (self._filters, self._function_path, self._provenance)

    @property
    def marks_origin(self) -> bool:
        """Whether each copy says which clusters it has been on."""
        return self._provenance is not None

    def brought(self, headers: Headers) -> bool:
        """Whether a record on the target came by this flow; where records tell nothing of it, all did."""
        return self._provenance is None or self._provenance.brought(headers)

    def prepare(self, folder: Path | None) -> None:
        """Load what has to be loaded, so that it fails before anything is claimed or written."""
        if self._function_path:
            load_function(self._function_path, folder)

    def apply(self, record: Record) -> Record | None:
        """The record as the target gets it; None if it is left out. Raises TransformationFailed."""
        outcome = self.outcome(record)
        return None if isinstance(outcome, LeftOut) else outcome

    def outcome(self, record: Record) -> Record | LeftOut:
        """The same, and why a record is left out."""
        provenance = self._provenance
        if provenance is None:
            return self._changed(record)
        # The path is the source's: a function that drops headers must not set a record free to come back.
        path = path_of(record.headers)
        if provenance.is_left_out(record, path):
            return LeftOut.THERE_ALREADY
        changed = self._changed(record)
        return changed if isinstance(changed, LeftOut) else provenance.marked(changed, path)

    def _changed(self, record: Record) -> Record | LeftOut:
        for is_dropped in self._drops:
            if is_dropped(record):
                return LeftOut.DROPPED
        if self._function is None:
            return record
        changed = self._function(record)
        return LeftOut.DROPPED if changed is None else changed


def transformation_of(flow: Flow) -> Transformation | None:
    """What the flow does to the records of its topics; None where it copies each as it is. Heartbeats always are."""
    filters, function, provenance = filters_of(flow), flow[opt.RECORD_FUNCTION], provenance_of(flow)
    return Transformation(filters, function, provenance) if filters or function or provenance else None


def load_function(path: str, folder: Path | None = None) -> Callable[[Record], Any]:
    """The user's function; `folder` is the configuration file's, which executors do not have."""
    found = custom.load(path, option=opt.RECORD_FUNCTION.name, folder=folder)
    if not callable(found):
        raise custom.refused(opt.RECORD_FUNCTION.name, path, "it is no function", next_step="docs/records.md")
    function: Callable[[Record], Any] = found
    return function
