"""Several errors of one command, told together."""

from __future__ import annotations

from collections.abc import Sequence

from mirror.errors import MirrorError, PersonMustAct, TryAgain


def raise_joined(errors: Sequence[MirrorError]) -> None:
    """All errors as one, so that none hides another; to be tried again only if each of them can."""
    if len(errors) <= 1:
        for error in errors:
            raise error
        return
    kind = TryAgain if all(isinstance(error, TryAgain) for error in errors) else PersonMustAct
    steps = list(dict.fromkeys(error.next_step for error in errors if error.next_step))
    raise kind("\n".join(error.message for error in errors), next_step="; ".join(steps))
