"""Which topics, groups and ids of a flow rights are on, as far as ACLs can name them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from mirror import naming
from mirror.config import Flow
from mirror.config import options as opt
from mirror.config.flows import Side
from mirror.config.mm2_worker import offsets_topic
from mirror.kafka.rights import EVERY, Resource
from mirror.topics.internal import published_syncs
from mirror.wire.control import flow_key

# A name, and a name with `.*` behind it, are all of a regex that an ACL can say.
_NAME = re.compile(r"[A-Za-z0-9_.-]+")


def source_topics(flow: Flow) -> Iterator[Resource]:
    yield from _patterns(flow[opt.TOPICS])
    if flow[opt.HEARTBEATS_REPLICATION_ENABLED]:
        yield from heartbeats(flow)


def remote_topics(flow: Flow) -> Iterator[Resource]:
    """By the prefix that the policy gives them; by the source's names where it gives none."""
    policy, probe = naming.policy_of(flow), "x"
    prefix = policy.format_remote_topic(flow.source, probe).removesuffix(probe)
    if prefix and prefix != probe:
        yield Resource(kind="topic", name=prefix, prefixed=True)
        return
    yield from _patterns(flow[opt.TOPICS])
    if flow[opt.HEARTBEATS_REPLICATION_ENABLED]:
        yield _topic(policy.format_remote_topic(flow.source, policy.heartbeats_topic()))


def _patterns(elements: Iterable[str]) -> Iterator[Resource]:
    """What ACLs can say of a list of names and regexes: names, prefixes, or everything."""
    found: list[Resource] = []
    for element in elements:
        prefix = element.removesuffix(".*")
        if _NAME.fullmatch(element):
            found.append(_topic(element))
        elif prefix != element and _NAME.fullmatch(prefix):
            found.append(Resource(kind="topic", name=prefix, prefixed=True))
        else:
            found = [_topic(EVERY)]
            break
    yield from found


def _topic(name: str) -> Resource:
    return Resource(kind="topic", name=name)


def state_topics(flow: Flow) -> Iterator[Resource]:
    yield _topic(naming.syncs_topic(flow.source))
    yield _topic(naming.control_topic(flow.source))


def checkpoints(flow: Flow) -> Iterator[Resource]:
    yield _topic(naming.policy_of(flow).checkpoints_topic(flow.source))


def heartbeats(flow: Flow) -> Iterator[Resource]:
    yield _topic(naming.policy_of(flow).heartbeats_topic())


def mm2_positions(flow: Flow) -> Iterator[Resource]:
    yield _topic(offsets_topic(flow))


def mm2_syncs(side: Side) -> Callable[[Flow], Iterator[Resource]]:
    """MM2's own offset syncs, on the side where the file has them."""

    def resources(flow: Flow) -> Iterator[Resource]:
        if flow[opt.OFFSET_SYNCS_LOCATION] == side:
            other = flow.target if side == "source" else flow.source
            yield _topic(naming.policy_of(flow).offset_syncs_topic(other))

    return resources


def is_published(side: Side) -> Callable[[Flow], bool]:
    """Whether airmirror publishes MM2's offset syncs on this side."""

    def is_asked(flow: Flow) -> bool:
        published = published_syncs(flow, naming.policy_of(flow))
        alias = flow.source if side == "source" else flow.target
        return flow.enabled and published is not None and published[0] == alias

    return is_asked


def opposite_syncs(flow: Flow) -> Iterator[Resource]:
    yield _topic(naming.syncs_topic(flow.target))


def incoming_states(flow: Flow) -> Iterator[Resource]:
    """Where flows into the source keep what they copied, ours and MM2's."""
    for alias in flow.aliases:
        if alias != flow.source:
            yield _topic(naming.syncs_topic(alias))
            yield _topic(f"mm2-offsets.{alias}.internal")


def hub_states(flow: Flow) -> Iterator[Resource]:
    """Where flows from third clusters into the target keep what they copied."""
    for alias in flow.aliases:
        if alias not in (flow.source, flow.target):
            yield _topic(naming.syncs_topic(alias))


def cluster(_: Flow) -> Iterator[Resource]:
    yield Resource(kind="cluster", name="kafka-cluster")


def every_group(_: Flow) -> Iterator[Resource]:
    yield Resource(kind="group", name=EVERY)


def transactional_ids(flow: Flow) -> Iterator[Resource]:
    yield Resource(kind="transactional-id", name=f"airmirror-{flow_key(flow.id, flow[opt.FLOW_ID])}", prefixed=True)
