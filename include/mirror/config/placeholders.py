"""`${provider:path:key}` expressions: recognised everywhere, resolved here and no earlier than a value is used.

Providers are not here yet; until they are, an expression stays as it is, as MM2 leaves those of unknown providers.
"""

from __future__ import annotations

import re

_EXPRESSION = re.compile(r"\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}")


def has_expression(text: str) -> bool:
    """Whether the value is known only when a provider is asked."""
    return "${" in text and _EXPRESSION.search(text) is not None


def resolve(text: str) -> str:
    """The value with its expressions replaced."""
    return text
