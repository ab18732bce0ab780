"""What brokers say while a client tries to connect, and when that is enough to stop waiting."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException

from mirror.config.secrets import MASK, is_secret
from mirror.errors import ConfigurationRefused, CredentialsRefused, MirrorError
from mirror.kafka.client_log import CLIENT_LOG
from mirror.kafka.errors import error_of
from mirror.kafka.refusals import CLOSED, meaning_of

T = TypeVar("T")

# Seconds to go on after a refusal: one broker of several may refuse while it starts, and another answer meanwhile.
PATIENCE_S = 3.0
# And after what only looks like a listener of another protocol: a broker that restarts looks the same.
DOUBT_S = 8.0


class Connection:
    """One client's connections: remembers why they failed since it last had an answer.

    It is the client's `error_cb` and its `logger`, because some reasons are only logged.
    """

    def __init__(self, alias: str, logger: logging.Logger = CLIENT_LOG) -> None:
        self.alias = alias
        self._logger = logger
        self.has_answered = False
        self._last: KafkaError | None = None
        self._reason: tuple[str, str] | None = None
        self._since = 0.0

    def settings(self) -> dict[str, Any]:
        """What to give to the client's constructor."""
        return {"error_cb": self.failed, "logger": self}

    def failed(self, error: KafkaError) -> None:
        self._last = error
        self._remember(error.name(), error.str())

    def log(self, level: int, message: str, *arguments: object) -> None:
        text = message % arguments if arguments else message
        if CLOSED in text:
            self._remember("_TRANSPORT", text.rpartition("]: ")[2])
        self._logger.log(level, message, *arguments)

    def _remember(self, code: str, text: str) -> None:
        meaning = meaning_of(code, text, "", "")
        # Behind an answer the protocol is known to fit: a connection that is closed then is a broker that goes down.
        if isinstance(meaning, CredentialsRefused) or (meaning is not None and not self.has_answered):
            if self._reason is None:
                self._since = time.monotonic()
            self._reason = (code, text)
        elif code == "_TRANSPORT":
            self._reason = None  # nobody there at all: a broker that is down, not one that refuses

    def answered(self) -> None:
        """A broker answered: what failed before was passing."""
        self.has_answered = True
        self._reason = self._last = None

    def reason(self, action: str) -> MirrorError | None:
        """Why nothing is answered, as far as the connection said it."""
        if self._reason is not None:
            return meaning_of(*self._reason, action, self.alias)
        return error_of(self._last, action, self.alias) if self._last is not None else None

    def raise_if_refused(self, action: str) -> None:
        """End a wait that leads nowhere."""
        if self._reason is None:
            return
        error = meaning_of(*self._reason, action, self.alias)
        patience = PATIENCE_S if isinstance(error, CredentialsRefused) else DOUBT_S
        if error is not None and time.monotonic() - self._since >= patience:
            raise error

    def first_answer(self, action: str, call: Callable[[], T], poll: Callable[[float], object]) -> T:
        """Make a call that blocks, and end it early where brokers refuse; `poll` serves the client's callbacks."""
        if self.has_answered:
            return call()
        outcome: Future[T] = Future()

        def run() -> None:
            try:
                outcome.set_result(call())
            except BaseException as error:  # noqa: BLE001 - handed to the waiting thread, which raises it
                outcome.set_exception(error)

        threading.Thread(target=run, name=f"first-answer-{self.alias}", daemon=True).start()
        while not outcome.done():
            poll(0.02)
            self.raise_if_refused(action)
        return outcome.result()


@contextmanager
def making_a_client(alias: str, settings: Mapping[str, Any]) -> Iterator[None]:
    """Say what is wrong with a client's settings, without any secret of theirs."""
    try:
        yield
    except KafkaException as error:
        text = str(error.args[0].str() if error.args and isinstance(error.args[0], KafkaError) else error)
        kerberos = "No provider for SASL mechanism GSSAPI" in text
        for name, value in settings.items():
            if is_secret(name) and isinstance(value, str) and value:
                text = text.replace(value, MASK)
        next_step = (
            "install confluent-kafka built with Kerberos (docs/credentials.md says how), or use another sasl.mechanism"
            if kerberos
            else f"airmirror config shows the settings of {alias} and where each comes from"
        )
        raise ConfigurationRefused(
            f"no client can be made for cluster {alias}: {text}", next_step=next_step, cluster=alias
        ) from None
