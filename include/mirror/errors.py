"""Everything that can go wrong, by what is to be done about it.

    MirrorError
    ├── TryAgain                   another try can help: a retry is scheduled
    │   ├── ClusterUnreachable
    │   ├── ClusterBusy
    │   ├── GroupInUse
    │   └── AttemptsExhausted
    ├── PersonMustAct              another try meets the same wall: a person decides
    │   ├── ConfigurationRefused
    │   ├── UnknownFlow
    │   ├── UsageRefused
    │   ├── NotAuthorized
    │   ├── PreflightFailed
    │   ├── CredentialsRefused
    │   ├── TopicNotFound
    │   ├── TopicRefused
    │   ├── PositionUnknown
    │   ├── ForeignData
    │   ├── RecordsLost
    │   ├── TopicRecreated
    │   ├── LogTruncated
    │   ├── RecordRefused
    │   ├── RecordFunctionFailed
    │   ├── StateUnreadable
    │   ├── GroupRefused
    │   ├── StillWritten
    │   ├── CopyIncomplete
    │   ├── DrillFailed
    │   └── VerificationFailed
    └── StopNow                    another run owns the flow: this one must write nothing more
        ├── FencedByNewerRun
        ├── ClaimHeld
        └── FlowNotForward

Each carries what it is about as fields and ends with the next command to type. No error carries a record's
contents or a client's settings. They pickle, because Spark's tasks return them to the driver.
"""

from __future__ import annotations

from typing import Any


class MirrorError(Exception):
    """An error that airmirror understands: what happened, where, and what to do next."""

    kind = "error"

    def __init__(self, message: str, *, next_step: str = "", **about: Any) -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step
        self.about: dict[str, Any] = about

    def __str__(self) -> str:
        return f"{self.message}\n  next: {self.next_step}" if self.next_step else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, self.next_step, self.about)

    def to_json(self) -> dict[str, Any]:
        """The error as a small document for results, summaries and `--json`."""
        return {
            "error": type(self).__name__,
            "kind": self.kind,
            "message": self.message,
            "next_step": self.next_step,
            **self.about,
        }


def _rebuild(cls: type[MirrorError], message: str, next_step: str, about: dict[str, Any]) -> MirrorError:
    error = cls.__new__(cls)
    MirrorError.__init__(error, message, next_step=next_step, **about)
    return error


class TryAgain(MirrorError):
    """Network, leader change, coordinator loading, throttled: the same call may succeed later."""

    kind = "try again"


class ClusterUnreachable(TryAgain):
    """No broker of the cluster answered in time."""


class ClusterBusy(TryAgain):
    """A broker answered that it cannot do this now."""


class GroupInUse(TryAgain):
    """The group has members on the target, and only they may commit."""


class AttemptsExhausted(TryAgain):
    """A slot met abortable errors more often than it may try in place."""


class PersonMustAct(MirrorError):
    """Rights, names, configuration, data: nothing changes until a person decides."""

    kind = "a person must act"


class ConfigurationRefused(PersonMustAct):
    """The file has problems; `about["problems"]` lists them all, one line each."""


class UnknownFlow(PersonMustAct):
    """The file has no such flow."""


class UsageRefused(PersonMustAct):
    """The command was called with arguments that make no sense together."""


class NotAuthorized(PersonMustAct):
    """The principal lacks a right for what was tried."""


class PreflightFailed(PersonMustAct):
    """Something that a flow needs before it runs is not there; `about["checks"]` lists all of it."""


class CredentialsRefused(PersonMustAct):
    """A cluster does not let us in, or we do not trust it: a login, a certificate, a protocol that does not fit."""


class TopicNotFound(PersonMustAct):
    """A topic that must exist does not."""


class TopicRefused(PersonMustAct):
    """The target did not create or grow a topic."""


class PositionUnknown(PersonMustAct):
    """Nothing says where to go on in a partition."""


class ForeignData(PersonMustAct):
    """A remote topic already holds records that no known replicator put there."""


class RecordsLost(PersonMustAct):
    """Upstream records are gone before they were copied, and the file says to stop then."""


class TopicRecreated(PersonMustAct):
    """A topic was deleted and made again under its name."""


class LogTruncated(PersonMustAct):
    """The source's log no longer holds what was copied from it."""


class RecordRefused(PersonMustAct):
    """The target, or its client, cannot take one record; its partition stops before it."""


class RecordFunctionFailed(PersonMustAct):
    """The user's record function raised, or gave back what is no record; its partition stops before that record."""


class StateUnreadable(PersonMustAct):
    """A record of an internal topic is not in its format, or in one of a newer airmirror."""


class GroupRefused(PersonMustAct):
    """Brokers did not give or take the offsets of groups; the other groups went on."""


class StillWritten(PersonMustAct):
    """A cluster that applications are to leave still gets records."""


class CopyIncomplete(PersonMustAct):
    """A copy ended and some partitions were left out; `about["partitions"]` says which and why."""


class DrillFailed(PersonMustAct):
    """A rehearsed failover showed that groups would not go on at the right record."""


class VerificationFailed(PersonMustAct):
    """Source and target are not the same, or a part of them could not be compared."""


class StopNow(MirrorError):
    """Another run owns the flow or the slot."""

    kind = "stop now"


class FencedByNewerRun(StopNow):
    """A newer run initialised this slot's transactional id, or wrote its claim."""


class ClaimHeld(StopNow):
    """A living run of the same flow holds the claim."""


class FlowNotForward(StopNow):
    """The flow is failed over, or on its way back: only the operation that turned it may write."""
