"""How many replicas new topics get; docs/decisions/0003-replication-factor.md says why."""

from __future__ import annotations

from mirror.config import Flow
from mirror.config.options import Option


def replication_factor(flow: Flow, option: Option[int], cluster: str, broker_count: int) -> tuple[int, str]:
    """The factor to ask for, and a notice where it is less than the default because the cluster is small.

    A factor that the file sets is never changed: the brokers refuse what they cannot give, and that is said.
    """
    wanted = flow[option]
    if flow.is_set(option) or wanted <= broker_count:
        return wanted, ""
    brokers = "1 broker" if broker_count == 1 else f"{broker_count} brokers"
    return broker_count, (
        f"{option.name} is {wanted} by default, but cluster {cluster} has {brokers}: "
        f"new topics get {broker_count}; set {option.name} to choose"
    )
