"""The one place where the Kafka client's errors become ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import KafkaError, KafkaException

from mirror.errors import (
    ClusterBusy,
    ClusterUnreachable,
    CredentialsRefused,
    FencedByNewerRun,
    MirrorError,
    NotAuthorized,
    RecordRefused,
    TopicNotFound,
)
from mirror.kafka.refusals import meaning_of

_E = KafkaError

UNREACHABLE = (
    _E._TRANSPORT,
    _E._ALL_BROKERS_DOWN,
    _E._TIMED_OUT,
    _E._TIMED_OUT_QUEUE,
    _E._RESOLVE,
    _E._MSG_TIMED_OUT,
    _E.NETWORK_EXCEPTION,
    _E.REQUEST_TIMED_OUT,
)
BUSY = (
    _E.COORDINATOR_LOAD_IN_PROGRESS,
    _E.COORDINATOR_NOT_AVAILABLE,
    _E.NOT_COORDINATOR,
    _E.LEADER_NOT_AVAILABLE,
    _E.NOT_LEADER_FOR_PARTITION,
    _E.REPLICA_NOT_AVAILABLE,
    _E.BROKER_NOT_AVAILABLE,
    _E.NOT_CONTROLLER,
    _E.NOT_ENOUGH_REPLICAS,
    _E.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    _E.CONCURRENT_TRANSACTIONS,
    _E.THROTTLING_QUOTA_EXCEEDED,
    _E.KAFKA_STORAGE_ERROR,
    _E.OUT_OF_ORDER_SEQUENCE_NUMBER,
    _E.UNKNOWN_LEADER_EPOCH,
    _E.FENCED_LEADER_EPOCH,
    _E._NOENT,  # "no leaders found", while the only broker of a partition is away
)
_NOT_LET_IN = (_E.SASL_AUTHENTICATION_FAILED, _E._AUTHENTICATION, _E._SSL)
DENIED = (
    _E.TOPIC_AUTHORIZATION_FAILED,
    _E.GROUP_AUTHORIZATION_FAILED,
    _E.CLUSTER_AUTHORIZATION_FAILED,
    _E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    *_NOT_LET_IN,
)
MISSING = (_E.UNKNOWN_TOPIC_OR_PART, _E._UNKNOWN_TOPIC, _E._UNKNOWN_PARTITION, _E.UNKNOWN_TOPIC_ID)
FENCED = (_E._FENCED, _E.INVALID_PRODUCER_EPOCH, _E.PRODUCER_FENCED)
REFUSED = (_E.MSG_SIZE_TOO_LARGE, _E.INVALID_TIMESTAMP, _E.INVALID_RECORD, _E.INVALID_MSG, _E.POLICY_VIOLATION)

_KINDS: tuple[tuple[tuple[int, ...], type[MirrorError]], ...] = (
    (UNREACHABLE, ClusterUnreachable),
    (BUSY, ClusterBusy),
    (DENIED, NotAuthorized),
    (MISSING, TopicNotFound),
    (FENCED, FencedByNewerRun),
    (REFUSED, RecordRefused),
)

_NEXT_STEP: dict[type[MirrorError], str] = {
    ClusterUnreachable: "check {cluster}.bootstrap.servers and that its brokers are up, then run this again",
    ClusterBusy: "nothing to do but run this again",
    NotAuthorized: "grant the right to the principal of {cluster}, then run this again",
    TopicNotFound: "run `airmirror topics FLOW`, then this again",
}


def error_of(error: KafkaError, action: str, cluster: str) -> MirrorError | None:
    """Our error for the client's, or None where we know no better word than the client's own."""
    refusal = meaning_of(error.name(), error.str(), action, cluster)
    if isinstance(refusal, CredentialsRefused):  # what only looks like one is a broken connection like any other
        return refusal
    for codes, kind in _KINDS:
        if error.code() in codes:
            next_step = _NEXT_STEP.get(kind, "").format(cluster=cluster)
            message = f"could not {action} on cluster {cluster}: {error.name()}: {error.str()}"
            return kind(message, next_step=next_step, cluster=cluster, code=error.name())
    if error.retriable():
        return ClusterBusy(f"could not {action} on cluster {cluster}: {error.name()}: {error.str()}", cluster=cluster)
    return None


def kafka_error_in(error: BaseException) -> KafkaError | None:
    """The client's error inside an exception; the client wraps a pending fatal one into a SystemError."""
    if isinstance(error, SystemError) and isinstance(error.__cause__, KafkaException):
        error = error.__cause__
    if isinstance(error, KafkaException) and error.args and isinstance(error.args[0], KafkaError):
        return error.args[0]
    return None


@contextmanager
def kafka_call(action: str, cluster: str) -> Iterator[None]:
    """Give the client's errors a name, a place and a next step; what is unknown passes untouched."""
    try:
        yield
    except (KafkaException, SystemError) as error:
        inner = kafka_error_in(error)
        known = error_of(inner, action, cluster) if inner is not None else None
        if known is None:
            raise
        raise known from error
