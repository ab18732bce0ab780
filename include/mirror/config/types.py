"""The kinds of values that options have: how their text is read, and what was expected where it cannot be."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeVar

from mirror.config.cron import check_cron
from mirror.config.java_regex import RegexRefused, compile_java, compile_names
from mirror.config.secrets import Secret
from mirror.config.starts import Start, parse_start

T_co = TypeVar("T_co", covariant=True)
Warn = Callable[[str], None]
Schedule = str | timedelta | None


def _silent(_message: str) -> None: ...


class ValueMistake(ValueError):
    """The text is not what the option expects; the message says what is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueType(Generic[T_co]):
    """One kind of value.

    `convert` raises ValueError: without a message `expected` is said, with one that message.
    `is_free_text` marks values in which a `#` or a quote may be meant, so that they are left alone.
    """

    label: str
    expected: str
    convert: Callable[[str, Warn], T_co]
    is_free_text: bool = False

    def parse(self, text: str, warn: Warn = _silent) -> T_co:
        try:
            return self.convert(text.strip(), warn)
        except ValueError as error:
            raise ValueMistake(str(error) or self.expected) from None


def _bool(text: str, _warn: Warn) -> bool:
    lowered = text.lower()
    if lowered not in ("true", "false"):
        raise ValueError
    return lowered == "true"


BOOL = ValueType(label="boolean", expected="expected true or false", convert=_bool)


def whole(*, least: int | None = None, most: int = 2**31 - 1, label: str = "int", hint: str = "") -> ValueType[int]:
    """Whole numbers within a range."""
    expected = "expected a whole number" + ("" if least is None else f" of at least {least}") + hint
    lower = -(2**63) if least is None else least

    def convert(text: str, _warn: Warn) -> int:
        if not re.fullmatch(r"[+-]?[0-9]+", text):
            raise ValueError
        number = int(text)
        if number > most:
            raise ValueError(f"expected a whole number of at most {most}")
        if number < lower:
            raise ValueError
        return number

    return ValueType(label=label, expected=expected, convert=convert)


def interval(switch: str) -> ValueType[int]:
    """Seconds between two runs of a job; MM2 cannot run one every 0 s, and `switch` is the clear way to stop it."""
    hint = f" (seconds; to switch the job off, write {switch} = false)" if switch else " (seconds)"
    return whole(least=1, most=2**63 - 1, label="long", hint=hint)


def at_least_one_or_default(text: str, _warn: Warn) -> int:
    """A replication factor: 1 or more, or -1 for the brokers' default."""
    number = int(text) if re.fullmatch(r"-?[0-9]+", text) else 0
    if not (number == -1 or 1 <= number <= 2**15 - 1):
        raise ValueError
    return number


def replication_factor(label: str) -> ValueType[int]:
    expected = "expected a whole number of at least 1, or -1 for the brokers' default"
    return ValueType(label=label, expected=expected, convert=at_least_one_or_default)


def _optional_whole(text: str, warn: Warn) -> int | None:
    return _SLOTS.convert(text, warn) if text else None


_SLOTS = whole(least=1)
OPTIONAL_WHOLE: ValueType[int | None] = ValueType(label="int", expected=_SLOTS.expected, convert=_optional_whole)


def _string(text: str, _warn: Warn) -> str:
    return text


STRING = ValueType(label="string", expected="expected text", convert=_string, is_free_text=True)
PASSWORD = ValueType(
    label="password", expected="expected text", convert=lambda text, _warn: Secret(text), is_free_text=True
)


def one_of(*words: str, any_case: bool = False) -> ValueType[str]:
    """One word of a few."""

    def convert(text: str, _warn: Warn) -> str:
        found = [word for word in words if word == text or (any_case and word.lower() == text.lower())]
        if not found:
            raise ValueError
        return found[0]

    return ValueType(label="enum", expected=f"expected one of {', '.join(words)}", convert=convert)


def _separator(text: str, _warn: Warn) -> str:
    if not re.fullmatch(r"[a-zA-Z0-9._-]+", text):
        raise ValueError
    return text


SEPARATOR = ValueType(
    label="string", expected="expected characters that topic names may have: letters, digits, . _ -", convert=_separator
)


def split_list(text: str, warn: Warn) -> tuple[str, ...]:
    """A comma list as MM2 4.2 and newer read it: an empty element is a mistake, a second mention is dropped."""
    if not text:
        return ()
    elements = [element.strip() for element in text.split(",")]
    if "" in elements:
        raise ValueError("expected a list without empty elements (two commas, or one at an end)")
    unquoted = [strip_quotes(element) for element in elements]
    if unquoted != elements:
        warn("quotes around list elements are not part of the syntax; understood without them")
    kept = tuple(dict.fromkeys(unquoted))
    if len(kept) < len(unquoted):
        repeated = sorted({element for element in unquoted if unquoted.count(element) > 1})
        warn(f"{', '.join(repeated)} is listed more than once; once is enough")
    return kept


def strip_quotes(text: str) -> str:
    """The text without one pair of quotes around all of it."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'" and text[0] not in text[1:-1]:
        return text[1:-1]
    return text


LIST = ValueType(label="list", expected="expected a comma-separated list", convert=split_list)


def _non_empty_list(text: str, warn: Warn) -> tuple[str, ...]:
    elements = split_list(text, warn)
    if not elements:
        raise ValueError
    return elements


NON_EMPTY_LIST = ValueType(
    label="list", expected="expected a comma-separated list with at least one element", convert=_non_empty_list
)


def _bootstrap(text: str, warn: Warn) -> tuple[str, ...]:
    servers = _non_empty_list(text, warn)
    for server in servers:
        port = re.fullmatch(r"(?:[A-Z_]+://)?(?:\[[0-9a-fA-F:.%]+\]|[\w.%-]+):([0-9]{1,5})", server)
        if not port or not 0 < int(port[1]) < 65536:
            raise ValueError
    return servers


BOOTSTRAP = ValueType(label="list", expected="expected host:port, ... of the brokers", convert=_bootstrap)


def _regex_list(text: str, warn: Warn) -> tuple[str, ...]:
    elements = tuple(_mend_glob(element, warn) for element in split_list(text, warn))
    try:
        compile_names(elements)
    except RegexRefused:
        # Joined they are one pattern, as in MM2; the message is clearer about the element that breaks it.
        for element in elements:
            compile_java(element)
        raise
    return elements


def _mend_glob(element: str, warn: Warn) -> str:
    if not element.startswith("*"):
        return element
    warn(f"{element} is no valid regular expression; understood as .{element}")
    return "." + element


REGEX_LIST = ValueType(
    label="list of names and regexes",
    expected="expected a comma-separated list of names and regular expressions",
    convert=_regex_list,
)

JAVA_CLASS = r"[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*"


def _class_name(text: str, _warn: Warn) -> str:
    name = text.removeprefix("class ")
    if name and not re.fullmatch(JAVA_CLASS + r"(:[A-Za-z_]\w*)?", name):
        raise ValueError
    return name


CLASS = ValueType(label="class", expected="expected the name of a class", convert=_class_name)


def _function(text: str, _warn: Warn) -> str:
    if text and not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", text):
        raise ValueError
    return text


FUNCTION = ValueType(
    label="function", expected="expected a Python function as package.module:function", convert=_function
)
# What may name code of the user's own.
IMPORTED = (CLASS, FUNCTION)


def _schedule(text: str, _warn: Warn) -> Schedule:
    if text.lower() == "none":
        return None
    if re.fullmatch(r"[0-9]+", text):
        if int(text) == 0:
            raise ValueError
        return timedelta(seconds=int(text))
    check_cron(text)
    return text


SCHEDULE: ValueType[Schedule] = ValueType(
    label="cron or seconds",
    expected='expected five cron fields such as "*/5 * * * *", a whole number of seconds of at least 1, or none',
    convert=_schedule,
)

START: ValueType[Start | None] = ValueType(
    label="timestamp or offsets",
    expected="expected a time such as 2025-01-31T12:00:00Z, or topic:partition:offset,...",
    convert=lambda text, _warn: parse_start(text),
)


def _flow_id(text: str, _warn: Warn) -> str:
    if not re.fullmatch(r"[a-zA-Z0-9._-]{0,64}", text):
        raise ValueError
    return text


FLOW_ID = ValueType(
    label="string",
    expected="expected at most 64 of letters, digits, . _ -, because ids are made of it",
    convert=_flow_id,
)
