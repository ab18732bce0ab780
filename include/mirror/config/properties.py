"""Reads Java's `.properties` syntax as Java does, and remembers the line of every key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE_END = re.compile(r"\r\n|\n|\r")
_BLANKS = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One key of the file, unescaped, with the line it starts on; `mistake` names a malformed escape."""

    key: str
    value: str
    line: int
    mistake: str = ""


def parse(data: bytes, encoding: str = "iso-8859-1") -> list[Entry]:
    """Every entry in the order of the file, duplicates included."""
    return [_entry(line, text) for line, text in _logical_lines(data.decode(encoding))]


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their continuations joined; comments and blank lines left out."""
    joined, start = "", 0
    for number, natural in enumerate(_LINE_END.split(text), 1):
        line = natural.lstrip(_BLANKS)
        if not joined:  # also after a line that is a lone backslash, as Java has it
            start = 0
            if not line or line[0] in "#!":
                continue
            start = number
        if _ends_with_odd_backslashes(line):
            joined += line[:-1]
            continue
        yield start, joined + line
        joined, start = "", 0
    if joined:
        yield start, joined


def _ends_with_odd_backslashes(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _entry(line: int, text: str) -> Entry:
    end = _key_end(text)
    rest = text[end:].lstrip(_BLANKS)
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(_BLANKS)
    mistake = ""
    try:
        key, value = _unescape(text[:end]), _unescape(rest)
    except ValueError as error:
        key, value, mistake = text[:end], rest, str(error)
    return Entry(key=key, value=value, line=line, mistake=mistake)


def _key_end(text: str) -> int:
    """The index of the first unescaped `=`, `:` or blank."""
    index = 0
    while index < len(text):
        if text[index] == "\\":
            index += 2
            continue
        if text[index] in "=:" or text[index] in _BLANKS:
            return index
        index += 1
    return len(text)


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    out: list[str] = []
    index = 0
    while index < len(text):
        char = text[index]
        index += 1
        if char != "\\":
            out.append(char)
            continue
        escaped = text[index : index + 1]
        index += 1
        if escaped == "u":
            digits = text[index : index + 4]
            if not re.fullmatch(r"[0-9A-Fa-f]{4}", digits):
                raise ValueError(rf"expected four hexadecimal digits after \u, got \u{digits}")
            out.append(chr(int(digits, 16)))
            index += 4
        else:
            out.append(_ESCAPES.get(escaped, escaped))
    # Java's strings are UTF-16: a pair of \u escapes may stand for one character.
    return "".join(out).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
