"""Where records tell which clusters they have been on, every flow that brings some must keep it up."""

from __future__ import annotations

from mirror.config import options as opt
from mirror.config.flows import Flow, is_true
from mirror.config.import_paths import built_in_name
from mirror.config.problems import Findings

_KEEPS_NAMES = ("IdentityReplicationPolicy", "LegacyReplicationPolicy")


def check(flows: tuple[Flow, ...], findings: Findings) -> None:
    """Tells each flow that would make others forget where records came from, and pairs that would go round for ever.

    A record that reaches a cluster without the header counts there as the cluster's own: a flow that goes on from there
    would bring it to clusters that have it.
    """
    enabled = [flow for flow in flows if flow.enabled]
    for onward in enabled:
        if not _has_headers(onward):
            continue
        for flow in enabled:
            if flow.target == onward.source and not _has_headers(flow):
                findings.problem(
                    onward.origin(opt.PROVENANCE_HEADERS),
                    f"expected it for {flow.id} too: {onward.id} would copy on what {flow.id} brings to {flow.target} "
                    f"as if it came from there; write {flow.id}.{opt.PROVENANCE_HEADERS.name} = true",
                )
    for flow in enabled:
        back = next((other for other in enabled if (other.source, other.target) == (flow.target, flow.source)), None)
        if back is None or flow.id > back.id or not (_keeps_names(flow) and _keeps_names(back)):
            continue
        if not (_has_headers(flow) or _has_headers(back)):
            findings.warn(
                flow.origin(opt.REPLICATION_POLICY_CLASS),
                f"{flow.id} and {back.id} both keep names: a topic that both copy would send its records round for "
                f"ever; write {opt.PROVENANCE_HEADERS.name} = true, or topics that differ",
            )


def _has_headers(flow: Flow) -> bool:
    return is_true(flow.settings.get(opt.PROVENANCE_HEADERS.name), default=False)


def _keeps_names(flow: Flow) -> bool:
    policy = flow.settings.get(opt.REPLICATION_POLICY_CLASS.name)
    return policy is not None and built_in_name(policy.text) in _KEEPS_NAMES
