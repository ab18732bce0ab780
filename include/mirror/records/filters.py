"""Connect's Filter and its predicates, asked of a record as MM2's chain would ask them.

MM2 hands a record to the chain under its remote topic's name, so that is the name which TopicNameMatches sees; the
pattern must match it whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from mirror.config.java_regex import compile_java
from mirror.config.transforms import FilterRule, PredicateRule, Question
from mirror.records.record import Record


class Asks(Protocol):
    """A predicate: whether something is true of a record."""

    def __call__(self, record: Record) -> bool: ...


def drops(rule: FilterRule) -> Asks:
    """What a Filter drops."""
    asks = _always if rule.predicate is None else _predicate(rule.predicate)
    return partial(_is_not, asks) if rule.negate else asks


def _predicate(rule: PredicateRule) -> Asks:
    match rule.question:
        case Question.TOPIC:
            return _TopicNameMatches(rule.argument)
        case Question.HEADER:
            return partial(_has_header, rule.argument)
        case Question.TOMBSTONE:
            return _is_tombstone


def _always(record: Record) -> bool:
    return True


def _is_not(asks: Asks, record: Record) -> bool:
    return not asks(record)


def _has_header(name: str, record: Record) -> bool:
    return any(key == name for key, _ in record.headers)


def _is_tombstone(record: Record) -> bool:
    return record.value is None


@dataclass(slots=True)
class _TopicNameMatches:
    """Asks for a name once: all records of a topic have the same."""

    pattern: str
    _known: dict[str, bool] = field(default_factory=dict)

    def __call__(self, record: Record) -> bool:
        name = record.remote_topic
        if name not in self._known:
            self._known[name] = compile_java(self.pattern).fullmatch(name) is not None
        return self._known[name]
