"""Connect's transforms as the file names them: the Filters of a flow and what each asks, or every reason why not.

    transforms = drop
    transforms.drop.type = org.apache.kafka.connect.transforms.Filter
    transforms.drop.predicate = isTest
    predicates = isTest
    predicates.isTest.type = org.apache.kafka.connect.transforms.predicates.HasHeaderKey
    predicates.isTest.name = test

The rules between these lines are Connect's own. All other transforms are refused: they are Java classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from mirror.config import options as opt
from mirror.config import types as t
from mirror.config.flows import Flow
from mirror.config.java_regex import RegexRefused, compile_java
from mirror.config.placeholders import has_expression
from mirror.config.problems import Findings, Origin, Severity, did_you_mean
from mirror.config.providers import resolve
from mirror.config.scopes import TRANSFORM_PREFIXES, Setting
from mirror.errors import ConfigurationRefused

FILTER = "org.apache.kafka.connect.transforms.Filter"
_PREDICATES = "org.apache.kafka.connect.transforms.predicates."
_OWN_FUNCTION = "for anything else write a Python function: airmirror.record.function = package.module:function"


class Question(Enum):
    """What a predicate asks of a record, by the name of Connect's class, and the option that it needs."""

    TOPIC = "TopicNameMatches"
    HEADER = "HasHeaderKey"
    TOMBSTONE = "RecordIsTombstone"

    @property
    def option(self) -> str:
        return {Question.TOPIC: "pattern", Question.HEADER: "name"}.get(self, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class PredicateRule:
    """One predicate: its question, and the pattern or header name that belongs to it."""

    question: Question
    argument: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterRule:
    """One Filter: drops what its predicate is true of, or with `negate` what it is not true of; without one, all."""

    name: str
    predicate: PredicateRule | None
    negate: bool = False


def filters_of(flow: Flow) -> tuple[FilterRule, ...]:
    """The flow's Filters in the order of the file; refused with all problems where an expression hid them."""
    findings = Findings()
    settings = {
        name: Setting(text=resolve(setting, flow.settings), origin=setting.origin)
        for name, setting in _own(flow.settings).items()
    }
    rules = _Chain(settings, findings).filters()
    if problems := [str(problem) for problem in findings.of(Severity.PROBLEM)]:
        raise ConfigurationRefused("\n".join(problems), flow=flow.id, problems=problems)
    return rules


def check(flow: Flow, findings: Findings) -> None:
    """Tells every problem of a flow's transforms; what an expression hides is looked at when it is used."""
    settings = _own(flow.settings)
    for name, setting in settings.items():
        if name.startswith(TRANSFORM_PREFIXES) and setting.origin.key == name:
            findings.note(setting.origin, f"MM2 drops it here and wants A->B.{name}; airmirror honours both")
    if not any(has_expression(setting.text) for setting in settings.values()):
        _Chain(settings, findings).filters()


def _own(settings: Mapping[str, Setting]) -> dict[str, Setting]:
    lists = (opt.TRANSFORMS.name, opt.PREDICATES.name)
    return {name: s for name, s in settings.items() if name in lists or name.startswith(TRANSFORM_PREFIXES)}


class _Chain:
    """Reads one flow's transforms; goes on behind each problem, so that all are told."""

    def __init__(self, settings: Mapping[str, Setting], findings: Findings) -> None:
        self._settings = settings
        self._findings = findings

    def filters(self) -> tuple[FilterRule, ...]:
        names, asked = self._names(opt.TRANSFORMS), self._names(opt.PREDICATES)
        predicates = {name: self._predicate(name) for name in asked}
        self._strangers("transforms", names)
        self._strangers("predicates", asked)
        return tuple(rule for name in names if (rule := self._filter(name, predicates)))

    def _names(self, option: opt.Option[tuple[str, ...]]) -> tuple[str, ...]:
        setting = self._settings.get(option.name)
        try:
            return option.type.parse(setting.text) if setting else ()
        except t.ValueMistake:
            return ()  # told where the line itself was read

    def _filter(self, name: str, predicates: Mapping[str, PredicateRule | None]) -> FilterRule | None:
        prefix = f"transforms.{name}."
        known = ("type", "predicate", "negate", "plugin.version")
        type_ = self._class(opt.TRANSFORMS, prefix, FILTER)
        if type_ is None:
            return None
        if type_ not in (FILTER, "Filter"):
            self._problem(prefix + "type", f'expected {FILTER}, the only one that runs here, got "{type_}"; '
                + _OWN_FUNCTION)  # fmt: skip
            return None
        self._unknown(prefix, known)
        asked, negate = self._settings.get(prefix + "predicate"), self._settings.get(prefix + "negate")
        if negate and negate.text.lower() not in ("true", "false"):
            self._problem(prefix + "negate", f'expected true or false, got "{negate.text}"')
        if asked is None:
            if negate:
                self._problem(prefix + "negate", f"expected {prefix}predicate beside it, which it would negate")
            self._findings.warn(self._origin(opt.TRANSFORMS.name), f"{name} has no predicate and drops every record")
        elif asked.text not in predicates:
            hint = did_you_mean(asked.text, predicates)
            self._problem(prefix + "predicate", f'expected a name listed in predicates, got "{asked.text}"{hint}')
            return None
        return FilterRule(
            name=name,
            predicate=predicates[asked.text] if asked else None,
            negate=bool(negate and negate.text.lower() == "true"),
        )

    def _predicate(self, name: str) -> PredicateRule | None:
        prefix = f"predicates.{name}."
        classes = {question.value: question for question in Question}
        type_ = self._class(opt.PREDICATES, prefix, _PREDICATES + "TopicNameMatches")
        if type_ is None:
            return None
        question = classes.get(type_.removeprefix(_PREDICATES))
        if question is None:
            self._problem(prefix + "type", f"expected {_PREDICATES}{{{','.join(classes)}}}, "
                f'got "{type_}"; {_OWN_FUNCTION}')  # fmt: skip
            return None
        self._unknown(prefix, ("type", "plugin.version", *filter(None, (question.option,))))
        if not question.option:
            return PredicateRule(question=question)
        argument = self._settings.get(prefix + question.option)
        if argument is None or not argument.text:
            self._problem(prefix + question.option, f"expected what {question.value} looks for",
                beside=prefix + "type")  # fmt: skip
            return None
        if question is Question.TOPIC:
            self._check_pattern(prefix + question.option, argument.text)
        return PredicateRule(question=question, argument=argument.text)

    def _class(self, option: opt.Option[tuple[str, ...]], prefix: str, example: str) -> str | None:
        setting = self._settings.get(prefix + "type")
        if setting is None or not setting.text:
            self._problem(prefix + "type", f"expected a class, such as {example}", beside=option.name)
            return None
        return setting.text.removeprefix("class ")

    def _check_pattern(self, key: str, pattern: str) -> None:
        try:
            compile_java(pattern)
        except RegexRefused as refused:
            self._problem(key, f"expected a regular expression; {refused}")

    def _strangers(self, family: str, names: tuple[str, ...]) -> None:
        """Lines of transforms that no list names: Connect ignores them, and whoever wrote them does not know."""
        for key in self._keys(f"{family}."):
            if not any(key.startswith(f"{family}.{name}.") for name in names):
                written = key.removeprefix(f"{family}.").partition(".")[0]
                hint = did_you_mean(written, names)
                self._findings.warn(self._origin(key), f"{written} is not listed in {family}; ignored{hint}")

    def _unknown(self, prefix: str, known: tuple[str, ...]) -> None:
        for key in self._keys(prefix):
            if (option := key.removeprefix(prefix)) not in known:
                self._findings.warn(self._origin(key), f"unknown option, ignored{did_you_mean(option, known)}")

    def _keys(self, prefix: str) -> Iterator[str]:
        return (key for key in self._settings if key.startswith(prefix))

    def _origin(self, key: str) -> Origin:
        return self._settings[key].origin

    def _problem(self, key: str, message: str, *, beside: str = "") -> None:
        """Told at the line itself, or where it is missing at the line that asks for it, under the missing key."""
        if key in self._settings:
            self._findings.problem(self._origin(key), message)
        else:
            asking = self._origin(beside)
            scope = asking.key[: len(asking.key) - len(beside)]
            self._findings.problem(Origin(file=asking.file, line=asking.line, key=scope + key), message)
