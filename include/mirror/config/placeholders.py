"""`${provider:path:key}` expressions: what is one, and which options may not be one; who answers is in providers."""

from __future__ import annotations

import re

from mirror.config import options as opt

# Kafka's own pattern: provider, path with its colon, path, key.
EXPRESSION = re.compile(r"\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}")

# MM2 reads these raw when it decides which flows exist: there a blank behind `true` means false.
READ_RAW = (opt.ENABLED.name, opt.EMIT_HEARTBEATS_ENABLED.name)
# Airflow makes Dags from these when it parses their file, on a machine that may know none of the providers' secrets.
MAKES_DAGS = frozenset(
    option.name
    for option in (
        opt.COPY_SCHEDULE, opt.COPY_WINDOW_SECONDS, opt.REFRESH_TOPICS_ENABLED, opt.REFRESH_TOPICS_INTERVAL,
        opt.SYNC_TOPIC_CONFIGS_ENABLED, opt.SYNC_TOPIC_CONFIGS_INTERVAL, opt.SYNC_TOPIC_ACLS_ENABLED,
        opt.SYNC_TOPIC_ACLS_INTERVAL, opt.EMIT_CHECKPOINTS_ENABLED, opt.EMIT_CHECKPOINTS_INTERVAL,
        opt.SYNC_GROUP_OFFSETS_ENABLED, opt.SYNC_GROUP_OFFSETS_INTERVAL, opt.EMIT_HEARTBEATS_INTERVAL,
    )
)  # fmt: skip


def has_expression(text: str) -> bool:
    """Whether the value is known only when a provider is asked."""
    return "${" in text and EXPRESSION.search(text) is not None
