"""Where the Kafka client's own lines go: to Python's logging, not past it to the terminal."""

from __future__ import annotations

import logging

CLIENT_LOG = logging.getLogger("mirror.kafka.client")


class _OnlyWhenAsked(logging.Filter):
    """Broken connections and loading coordinators are the client's daily life: it retries, and we tell what fails.

    The same goes for refused certificates and tokens, of which it tells many times a second.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno <= logging.WARNING or record.getMessage().startswith(("FAIL", "SSL", "OIDC", "ERROR")):
            return logging.getLogger("mirror").isEnabledFor(logging.DEBUG)
        return True


CLIENT_LOG.addFilter(_OnlyWhenAsked())
