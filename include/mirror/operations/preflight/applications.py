"""Would the target let the source's applications in, if the flow failed over? ACL sync brings readers' rights only."""

from __future__ import annotations

from collections.abc import Sequence

from mirror.config import Flow
from mirror.copy.links import links_of
from mirror.kafka.acls import list_rights
from mirror.kafka.cluster import Cluster
from mirror.operations.preflight.checks import Check
from mirror.operations.preflight.facts import principal_of
from mirror.operations.rights import MissingRight, missing_rights
from mirror.selection import Selector

# Rights named one by one in the reason.
NAMED = 3
_SUBJECT = "applications, after a failover"


def check_applications(flow: Flow, source: Cluster, target: Cluster) -> list[Check]:
    """A warning, and no failure: the flow runs without it, and the day may never come."""
    upstream, downstream = list_rights(source), list_rights(target)
    if upstream is None or downstream is None:
        return []  # where nobody's rights are checked, nobody is turned away
    links = links_of(flow)
    ours = principal_of(links.source_admin)
    servers = str(links.target_admin.get("bootstrap.servers", ""))
    others = [right for right in upstream if right.principal != ours]
    return [judge_applications(flow, missing_rights(Selector(flow), others, downstream, servers=servers))]


def judge_applications(flow: Flow, missing: Sequence[MissingRight]) -> Check:
    if not missing:
        reason = f"{flow.target} grants what {flow.source} does"
        return Check(area="rights", subject=_SUBJECT, status="ok", reason=reason)
    named = "; ".join(str(each.right) for each in missing[:NAMED])
    more = f"; and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
    return Check(
        area="rights",
        subject=_SUBJECT,
        status="warning",
        reason=f"{len(missing)} of their rights are missing on {flow.target}: {named}{more}",
        next_step=missing[0].command,
    )
