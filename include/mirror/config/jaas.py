"""Reads `sasl.jaas.config`: `module flag name="value" ...;`, the options of Java's logins."""

from __future__ import annotations

import re

_OPTION = r"""([\w.$-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s;"']+))"""
_TOKEN = re.compile(rf"\s*(?:{_OPTION}|([\w.$-]+)|(;))", re.DOTALL)


class JaasRefused(Exception):
    """The text is no JAAS line; never says what it holds."""


def login_options(text: str) -> dict[str, str]:
    """The options by name; the module and its flag are read over, because the mechanism says which login it is."""
    found: dict[str, str] = {}
    at = 0
    while text[at:].strip():
        token = _TOKEN.match(text, at)
        if token is None:
            raise JaasRefused(
                f'cannot be read behind {_last(found)}; a " or \\ inside a quoted value is written \\" or \\\\'
            )
        name, double, single, bare, _, end = token.groups()
        if name:
            found[name] = re.sub(r"\\(.)", r"\1", double or single or "", flags=re.DOTALL) or bare or ""
        at = token.end()
        if end and text[at:].strip():
            raise JaasRefused("has more than one login; expected one that ends with its only ;")
    return found


def _last(found: dict[str, str]) -> str:
    return f"{list(found)[-1]}=..." if found else "its beginning"
