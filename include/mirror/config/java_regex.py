"""Java regular expressions of topic and group filters, said in Python's `re`; refused where it cannot say them."""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from collections.abc import Sequence

# POSIX and java.lang.Character classes that topic and group names can meet, as the inside of a character class.
_PROPERTIES = {
    "Lower": "a-z", "Upper": "A-Z", "Alpha": "a-zA-Z", "Digit": "0-9", "Alnum": "a-zA-Z0-9", "ASCII": r"\x00-\x7F",
    "Punct": r"!-/:-@\[-`{-~", "Graph": "!-~", "Print": " -~", "Blank": r" \t", "Cntrl": r"\x00-\x1F\x7F",
    "XDigit": "0-9a-fA-F", "Space": r" \t\n\x0B\f\r",
}  # fmt: skip
_CLASS_ESCAPES = {"h": r" \t\xA0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000", "v": r"\n\x0B\f\r\x85\u2028\u2029"}
_ANCHORS = {"z": r"\Z", "Z": r"(?=\n?\Z)", "H": f"[^{_CLASS_ESCAPES['h']}]", "V": f"[^{_CLASS_ESCAPES['v']}]"}
# Java's \d, \w and \s are ASCII; with re.ASCII so are Python's, except that its \s has no vertical tab to lose.
_PLAIN_ESCAPES = frozenset("dDwWsSbBAtnrfa")
_REPETITION = re.compile(r"\{[0-9]+(,[0-9]*)?\}")
_FLAGS = frozenset("imsx")


@functools.cache
def _property_class(name: str) -> str:
    """The inside of a character class for a POSIX class or a Unicode category; empty for others."""
    if name in _PROPERTIES:
        return _PROPERTIES[name]
    category = {"IsDigit": "Nd", "IsLetter": "L"}.get(name, name.removeprefix("Is"))
    if not re.fullmatch(r"[LMNPSZC][a-z]?", category):
        return ""
    # Looked up only for files that name one: it takes a tenth of a second.
    codes = [code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)).startswith(category)]
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in ranges)


class RegexRefused(ValueError):
    """The pattern is wrong, or means something in Java that Python's `re` cannot say."""


def compile_names(elements: Sequence[str]) -> re.Pattern[str]:
    """One pattern for a list of names and regexes, joined with `|` as MM2 does; use its `fullmatch`."""
    return compile_java("|".join(elements))


def compile_java(pattern: str) -> re.Pattern[str]:
    """The Java pattern as a compiled Python one."""
    translated = translate(pattern)
    try:
        return re.compile(translated, re.ASCII)
    except (re.error, OverflowError) as error:
        reason = error.msg if isinstance(error, re.error) else str(error)
        raise RegexRefused(f'"{pattern}" is no valid regular expression: {reason}') from None


def translate(pattern: str) -> str:
    """The Java pattern in Python's syntax, not yet compiled."""
    return _Translation(pattern).run()


class _Translation:
    """Walks over one pattern; `out` is what Python reads."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.out: list[str] = []
        # Per open group: the inline flags switched on inside it, each of which is an open `(?flags:`.
        self.flags: list[list[str]] = [[]]

    def run(self) -> str:
        while self.at < len(self.pattern):
            self._step()
        if len(self.flags) > 1:
            raise self._refused("a parenthesis is not closed")
        self._close_flags()
        return "".join(self.out)

    def _step(self) -> None:
        char = self.pattern[self.at]
        if char == "\\":
            self.out.append(self._escape(in_class=False))
        elif char == "[":
            self.out.append(self._character_class())
        elif char == "(":
            self._open_group()
        elif char == ")":
            if len(self.flags) == 1:
                raise self._refused("a parenthesis is closed that was never opened")
            self._close_flags()
            self.flags.pop()
            self._take(")")
        elif char == "|":
            # Flags reach over `|` to the end of the group in Java; a Python group would not let it through.
            self.out.append(")" * len(self.flags[-1]) + "|" + "".join(f"(?{flags}:" for flags in self.flags[-1]))
            self.at += 1
        elif char in "*+?" and not self._has_something_to_repeat():
            raise self._refused(f"nothing stands before {char}")
        elif char == "{" and not _REPETITION.match(self.pattern, self.at):
            raise self._refused("{ begins no repetition such as {2,3}")
        else:
            self._take(char)

    def _has_something_to_repeat(self) -> bool:
        before = self.pattern[: self.at]
        return bool(before) and (not before.endswith(("|", "(")) or before.endswith(("\\|", "\\(")))

    def _take(self, text: str) -> None:
        self.out.append(text)
        self.at += len(text)

    def _refused(self, reason: str) -> RegexRefused:
        return RegexRefused(f'"{self.pattern}" cannot be used: {reason}')

    def _close_flags(self) -> None:
        self.out.append(")" * len(self.flags[-1]))

    def _open_group(self) -> None:
        inline = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])").match(self.pattern, self.at)
        if inline:
            self._open_flags(inline)
            return
        named = re.compile(r"\(\?<([a-zA-Z][a-zA-Z0-9]*)>").match(self.pattern, self.at)
        self.flags.append([])
        if named:
            self.out.append(f"(?P<{named[1]}>")
            self.at = named.end()
            return
        special = re.compile(r"\(\?(=|!|<=|<!|>)").match(self.pattern, self.at)
        self._take(special[0] if special else "(")

    def _open_flags(self, inline: re.Match[str]) -> None:
        on, off, end = inline[1].replace("d", "").replace("u", ""), inline[2] or "", inline[3]
        if unknown := (set(on) | set(off)) - _FLAGS:
            raise self._refused(f"the flag {min(unknown)} in {inline[0]} has no counterpart")
        self.at = inline.end()
        words = f"{on}-{off}" if off else on
        if end == ":":
            self.flags.append([])
            self.out.append(f"(?{words}:")
        elif words:
            self.flags[-1].append(words)
            self.out.append(f"(?{words}:")

    def _escape(self, *, in_class: bool) -> str:
        escaped = self.pattern[self.at + 1 : self.at + 2]
        if not escaped:
            raise self._refused("it ends with a backslash")
        if escaped == "Q":
            return self._quotation()
        if escaped in "pP":
            return self._property(negated=escaped == "P", in_class=in_class)
        start, self.at = self.at, self.at + 2
        if escaped in _CLASS_ESCAPES:
            inside = _CLASS_ESCAPES[escaped]
            return inside if in_class else f"[{inside}]"
        if escaped in "xu0c":
            return self._code(start, escaped)
        if escaped == "k" and not in_class:
            return self._named_reference(start)
        return self._single_escape(escaped, in_class=in_class)

    def _single_escape(self, escaped: str, *, in_class: bool) -> str:
        if escaped in _ANCHORS and not in_class:
            return _ANCHORS[escaped]
        if escaped in "123456789":
            if self.pattern[self.at : self.at + 1].isdigit():
                raise self._refused(
                    f"\\{escaped} is followed by a digit, which only Java can tell from a longer number"
                )
            return "\\" + escaped
        if escaped in _PLAIN_ESCAPES:
            return "\\" + escaped
        if escaped == "e":
            return r"\x1B"
        if escaped.isascii() and escaped.isalpha():
            raise self._refused(f"\\{escaped} has no counterpart")
        return re.escape(escaped)

    def _quotation(self) -> str:
        end = self.pattern.find("\\E", self.at + 2)
        text = self.pattern[self.at + 2 : end if end >= 0 else None]
        self.at = end + 2 if end >= 0 else len(self.pattern)
        return re.escape(text)

    def _property(self, *, negated: bool, in_class: bool) -> str:
        named = re.compile(r"\\[pP](?:\{(\w+)\}|(\w))").match(self.pattern, self.at)
        inside = _property_class(named[1] or named[2]) if named else ""
        if not named or not inside:
            raise self._refused(f"{named[0] if named else self.pattern[self.at : self.at + 2]} has no counterpart")
        self.at = named.end()
        if in_class:
            return inside
        return f"[^{inside}]" if negated else f"[{inside}]"

    def _code(self, start: int, kind: str) -> str:
        forms = {
            "x": r"\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]+)\})",
            "u": r"\\u([0-9A-Fa-f]{4})",
            "0": r"\\0([0-3]?[0-7]{1,2})",
            "c": r"\\c([@-_])",
        }
        found = re.compile(forms[kind]).match(self.pattern, start)
        if not found:
            raise self._refused(f"\\{kind} is not followed by a character's code")
        self.at = found.end()
        digits = next(group for group in found.groups() if group)
        code = ord(digits) ^ 64 if kind == "c" else int(digits, 8 if kind == "0" else 16)
        return re.escape(chr(code))

    def _named_reference(self, start: int) -> str:
        found = re.compile(r"\\k<([a-zA-Z][a-zA-Z0-9]*)>").match(self.pattern, start)
        if not found:
            raise self._refused(r"\k is not followed by <name>")
        self.at = found.end()
        return f"(?P={found[1]})"

    def _character_class(self) -> str:
        """One class as something that matches one character; `&&` becomes lookaheads."""
        self.at += 1
        negated = self.pattern.startswith("^", self.at)
        self.at += negated
        operands = [self._class_union(is_first=True)]
        while self.pattern.startswith("&&", self.at):
            self.at += 2
            operands.append(self._class_union(is_first=False))
        self.at += 1
        if len(operands) == 1 and operands[0].startswith("["):
            return f"[^{operands[0][1:]}" if negated else operands[0]
        whole = "".join(f"(?={operand})" for operand in operands[1:]) + operands[0]
        return rf"(?:(?!{whole})[\s\S])" if negated else f"(?:{whole})"

    def _class_union(self, *, is_first: bool) -> str:
        """What stands in a class up to `&&` or its end: plain characters, and classes nested among them."""
        plain: list[str] = []
        nested: list[str] = []
        while not self.pattern.startswith("&&", self.at):
            if self.pattern.startswith("]", self.at) and (plain or nested or not is_first):
                break
            if self.at >= len(self.pattern):
                raise self._refused("a [ is not closed")
            if self.pattern[self.at] == "[":
                nested.append(self._character_class())
            elif self.pattern[self.at : self.at + 2] in (r"\P", r"\H", r"\V"):
                nested.append(self._escape(in_class=False))
            else:
                plain.append(self._class_part(plain))
        if not plain and not nested:
            raise self._refused("an operand of && is empty")
        if not nested:
            return f"[{''.join(plain)}]"
        alternatives = ["[" + "".join(plain) + "]", *nested] if plain else nested
        return f"(?:{'|'.join(alternatives)})"

    def _class_part(self, before: list[str]) -> str:
        char = self.pattern[self.at]
        if char == "\\":
            return self._escape(in_class=True)
        self.at += 1
        # Python warns of these as future set operations.
        return "\\" + char if char in "&~|[" or (char == "-" and before[-1:] == ["-"]) else char
