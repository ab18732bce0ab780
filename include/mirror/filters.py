"""What a flow takes of topics, groups and settings: MM2's filters, which read lists of names, and the base of own ones.

An own filter says yes or no by the names that Java's interfaces have. Ours also say why.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from mirror.config import Flow, java_regex
from mirror.config import options as opt
from mirror.config.import_paths import own_path
from mirror.config.options import Option
from mirror.custom import load_configured


class _Configurable:
    """An own class is made without arguments and then told what the file says."""

    def configure(self, properties: Mapping[str, str]) -> None:
        """Take what is needed of the flow's properties, by the names they have in the file without `A->B.`."""


class TopicFilter(_Configurable, ABC):
    """Base of `topic.filter.class`. Internal topics, cycles and heartbeats are decided without it."""

    @abstractmethod
    def should_replicate_topic(self, topic: str) -> bool:
        """Whether the source's topic is to be copied."""


class GroupFilter(_Configurable, ABC):
    """Base of `group.filter.class`."""

    @abstractmethod
    def should_replicate_group(self, group: str) -> bool:
        """Whether the source's group is to be translated."""


class ConfigPropertyFilter(_Configurable, ABC):
    """Base of `config.property.filter.class`. Read-only, sensitive and brokers' own settings are never copied."""

    @abstractmethod
    def should_replicate_config_property(self, name: str) -> bool:
        """Whether the setting of a source topic is to be kept equal on its remote topic."""

    def should_replicate_source_default(self, name: str) -> bool:
        """Whether the source's default is written to the remote topic where the source topic does not set it."""
        return False


class Judge(Protocol):
    """Whether a name is taken, and why."""

    def judge(self, name: str) -> tuple[bool, str]: ...


def topic_judge(flow: Flow) -> Judge:
    """The flow's topic filter."""
    if (own := _own(flow, opt.TOPIC_FILTER_CLASS)) is None:
        return NameFilter(include=flow[opt.TOPICS], exclude=flow[opt.TOPICS_EXCLUDE], option="topics")
    made: TopicFilter = load_configured(flow, opt.TOPIC_FILTER_CLASS, TopicFilter, ["should_replicate_topic"])
    return _OwnJudge(made.should_replicate_topic, own)


def group_judge(flow: Flow) -> Judge:
    """The flow's group filter."""
    if (own := _own(flow, opt.GROUP_FILTER_CLASS)) is None:
        return NameFilter(include=flow[opt.GROUPS], exclude=flow[opt.GROUPS_EXCLUDE], option="groups")
    made: GroupFilter = load_configured(flow, opt.GROUP_FILTER_CLASS, GroupFilter, ["should_replicate_group"])
    return _OwnJudge(made.should_replicate_group, own)


def settings_filter(flow: Flow) -> ConfigPropertyFilter:
    """The flow's filter of topic settings."""
    option = opt.CONFIG_PROPERTY_FILTER_CLASS
    if _own(flow, option) is None:
        return ExcludedSettings(
            flow[opt.CONFIG_PROPERTIES_EXCLUDE], from_source=flow[opt.USE_DEFAULTS_FROM] == "source"
        )
    functions = ("should_replicate_config_property", "should_replicate_source_default")
    made: ConfigPropertyFilter = load_configured(flow, option, ConfigPropertyFilter, functions)
    return made


def _own(flow: Flow, option: Option[str]) -> str | None:
    """What to name where an own class decides; None where MM2's does."""
    path = own_path(flow[option])
    return None if path is None else f"{option.name} = {path}"


class _OwnJudge:
    """An own filter's answer, with its name for a reason."""

    def __init__(self, takes: Callable[[str], bool], name: str) -> None:
        self._takes = takes
        self._name = name

    def judge(self, name: str) -> tuple[bool, str]:
        return (True, f"taken by {self._name}") if self._takes(name) else (False, f"left out by {self._name}")


class ExcludedSettings(ConfigPropertyFilter):
    """MM2's filter of settings: all but a list of names and regexes; source's defaults for all settings or for none."""

    def __init__(self, excluded: Sequence[str], *, from_source: bool) -> None:
        self._excluded = java_regex.compile_names(excluded)
        self._from_source = from_source

    def should_replicate_config_property(self, name: str) -> bool:
        return self._excluded.fullmatch(name) is None

    def should_replicate_source_default(self, name: str) -> bool:
        return self._from_source


class NameFilter:
    """A list of names and regexes and a list of exceptions, read as MM2 reads them; exceptions win."""

    def __init__(self, *, include: Sequence[str], exclude: Sequence[str], option: str) -> None:
        self._option = option
        self._include = _Names(include)
        self._exclude = _Names(exclude)

    def judge(self, name: str) -> tuple[bool, str]:
        """Whether the filter accepts the name, and the element that decided."""
        if (excluded_by := self._exclude.match(name)) is not None:
            return False, f"excluded by {self._option}.exclude{excluded_by}"
        if (included_by := self._include.match(name)) is not None:
            return True, f"matches {self._option}{included_by}"
        return False, f"not in {self._option}"


class _Names:
    """One list; all its elements are one regex, as in MM2, so a `(?i)` or an open bracket reaches over commas."""

    def __init__(self, elements: Sequence[str]) -> None:
        self._whole = java_regex.compile_names(elements)
        self._each = tuple((element, _compile_alone(element)) for element in elements)

    def match(self, name: str) -> str | None:
        """None if the list does not match; else the element that does, quoted, or "" where no single one does."""
        if self._whole.fullmatch(name) is None:
            return None
        alone = (element for element, pattern in self._each if pattern is not None and pattern.fullmatch(name))
        found = next(alone, None)
        return "" if found is None else f" `{found}`"


def _compile_alone(element: str) -> re.Pattern[str] | None:
    try:
        return java_regex.compile_names([element])
    except java_regex.RegexRefused:
        return None
