"""From a group's upstream offset to where it goes on downstream, by what is stored; pure, and never late.

Looked at in this order: is the remote log the one that was copied into; what do our segments say; what is known of the
time before them (where copying began, or MM2's own syncs); does the target still hold it.
"""

from __future__ import annotations

from mirror.groups.ground import Ground
from mirror.groups.mixed import HubStates, Mixing, back_through, by_way_of, earliest
from mirror.groups.values import Answer, unknown
from mirror.kafka.values import TopicDescription, TopicPartition
from mirror.wire.control import FirstPosition
from mirror.wire.history import Early, Exact, Translation, Unknown
from mirror.wire.partition_state import PartitionState

THINNED = "the history is thinned here"
EXACT = "in a kept segment"


def stored_answer(ground: Ground, partition: TopicPartition, offset: int) -> Answer:
    """Where a group at this offset goes on, without looking at any record."""
    if partition not in ground.remotes:
        return unknown(f"not copied: {ground.not_copied.get(partition.topic, 'not selected')}")
    remote = ground.remotes[partition]
    described = ground.target_topics.get(remote.topic)
    if described is None or remote.partition >= described.partition_count:
        return unknown(f"{remote} does not exist on {ground.target}")
    if partition.topic in ground.returning:
        answer = _back(ground, partition, remote, offset)
    else:
        answer = _forth(ground, partition, remote, offset)
        if (mixing := ground.mixing.get(partition.topic)) is not None:
            answer = _mixed(ground, partition, offset, answer, mixing)
    return _inside_log(ground, remote, answer)


def is_looked_at(ground: Ground, partition: TopicPartition, offset: int, answer: Answer) -> bool:
    """Whether looking at the records of both sides can make the answer better."""
    if not isinstance(answer.translation, Early):
        return False
    if answer.translation.downstream <= ground.target_starts.get(ground.remotes[partition], 0):
        return False  # its copy may be deleted, and what equals it be another
    if partition.topic in ground.mixing:
        return False  # the record's own place says nothing of others that lie before it
    returns = partition.topic in ground.returning
    state = ground.opposite_states.get(ground.remotes[partition]) if returns else ground.states.get(partition)
    if state is not None and state.is_transformed:
        return False  # what was dropped or changed on the way equals nothing, or another record
    if state is not None and state.returned.segments:
        return False  # early on purpose: the very record lies behind others that its group has not seen
    if returns:
        return True
    # Ahead of the copy there is nothing to find; before the source's log start its own record is gone, and the next
    # one that is left would skip copies that the target still holds.
    return state is not None and ground.source_starts.get(partition, offset + 1) <= offset < state.position


def _forth(ground: Ground, partition: TopicPartition, remote: TopicPartition, offset: int) -> Answer:
    state = ground.states.get(partition)
    if state is None:
        return _before_any_copy(ground, partition, remote, offset)
    stale = _other_log(ground, state, partition.topic, remote.topic)
    if stale:
        return unknown(stale)
    found = state.translate(offset)
    if isinstance(found, Unknown):
        return _before_history(ground, partition, state, offset, found)
    if offset > state.position:
        return Answer(found, f"ahead of the copy, which stands at {state.position}")
    if isinstance(found, Early):
        return Answer(found, THINNED)
    return Answer(found, EXACT if offset < state.position else "at the end of what is copied")


def _mixed(ground: Ground, partition: TopicPartition, offset: int, forth: Answer, mixing: Mixing) -> Answer:
    """The answer in a topic that other flows write too: none of their records may be skipped either."""
    if mixing.unknown:
        return unknown(mixing.unknown)
    answers = [forth.translation]
    if mixing.from_target:
        answers.append(_from_target(ground, partition, offset))
    for hub in sorted(mixing.hubs):
        states = ground.hub_states.get(hub, HubStates())
        if _is_made_anew(states.to_source.get(partition), ground.source_topics.get(partition.topic)) or _is_made_anew(
            states.to_target.get(partition), ground.target_topics.get(partition.topic)
        ):
            return unknown(f"{partition.topic} was made anew since it was copied from {hub}")
        if (found := by_way_of(states, partition, offset)) is not None:
            answers.append(found)
    together = earliest(answers)
    if isinstance(together, Unknown):
        return unknown(forth.reason if together is forth.translation else together.reason)
    return Answer(together, forth.reason if together == forth.translation else "the first that any flow has for it")


def _from_target(ground: Ground, partition: TopicPartition, offset: int) -> Translation:
    """The target's first record that the group has not seen: what the opposite flow brought last before the offset."""
    remote = ground.remotes[partition]
    state = ground.opposite_states.get(remote)
    if state is None:
        start, end = ground.target_starts.get(remote, 0), ground.target_ends.get(remote, 0)
        return Early(start, max(end - start, 0))  # it has seen none of them
    if _is_copied_from_anew(ground, partition, remote, state):
        return Unknown(f"{partition.topic} was made anew since it was copied")
    found = back_through(state, offset)
    if isinstance(found, Unknown):
        return found
    return Early(found.offset, found.at_most) if found.at_most else Exact(found.offset)


def _is_made_anew(state: PartitionState | None, topic: TopicDescription | None) -> bool:
    """Whether a flow copied into a log that is gone."""
    before = state.target_topic_id if state is not None else ""
    return bool(before) and (topic is None or bool(topic.id and topic.id != before))


def _other_log(ground: Ground, state: PartitionState, topic: str, remote_topic: str) -> str:
    sides = (
        ("source", topic, state.source_topic_id, ground.source_topics.get(topic)),
        ("target", remote_topic, state.target_topic_id, ground.target_topics.get(remote_topic)),
    )
    for side, name, before, now in sides:
        if now is None:
            return f"{name} does not exist on the {side} any more"
        if before and now.id and before != now.id:
            return f"{name} was made anew on the {side} since the last copy"
    return ""


def _before_any_copy(ground: Ground, partition: TopicPartition, remote: TopicPartition, offset: int) -> Answer:
    """No state: copying has a first position, or has never been asked to begin."""
    first = _first_position(ground, partition, ground.source_topics.get(partition.topic))
    end = ground.earlier_ends.get(remote)
    if first is None or end is None:
        return unknown("nothing was copied from this partition yet")
    if offset > first.position:
        return Answer(Early(end, offset - first.position), f"ahead of the copy, which stands at {first.position}")
    if first.chosen_by == "mm2" and offset < first.position:
        return _by_mm2(ground, partition, offset, end)
    if first.chosen_by == "mm2":
        return Answer(Exact(end), "at the end of what MM2 copied")
    return Answer(Exact(end), f"nothing before offset {first.position} is to be copied")


def _before_history(
    ground: Ground, partition: TopicPartition, state: PartitionState, offset: int, found: Unknown
) -> Answer:
    """The offset lies before our segments: was anything copied there at all, and by whom?"""
    segments = state.history.segments
    known_end = segments[0].downstream_start if segments else state.downstream_end
    first = _first_position(ground, partition, ground.source_topics.get(partition.topic))
    if first is not None and first.chosen_by != "mm2":
        if state.holds_all_copies:
            return Answer(Exact(known_end), f"nothing before offset {first.position} was copied")
        return Answer(found, found.reason)
    return _by_mm2(ground, partition, offset, known_end)


def _by_mm2(ground: Ground, partition: TopicPartition, offset: int, known_end: int) -> Answer:
    store = ground.mm2_syncs.get(partition)
    if store is None:
        return unknown("it lies before what airmirror copied, and MM2 left no offset syncs for it")
    found = store.bracket(offset, known_end=known_end)
    if isinstance(found, Unknown):
        return unknown("it lies before what airmirror copied, and before MM2's offset syncs")
    return Answer(found, "from MM2's own offset syncs")


def _first_position(ground: Ground, partition: TopicPartition, topic: TopicDescription | None) -> FirstPosition | None:
    first = ground.first_positions.get(partition)
    if first is None or topic is None or (first.source_topic_id and topic.id and first.source_topic_id != topic.id):
        return None
    return first


def _back(ground: Ground, partition: TopicPartition, original: TopicPartition, offset: int) -> Answer:
    """A topic that came from the target: the opposite flow's history, read backwards, leads to the original record."""
    state = ground.opposite_states.get(original)
    if state is None:
        return unknown(f"it came from {ground.target}, but no flow of airmirror's copied it")
    if _is_copied_from_anew(ground, partition, original, state):
        return unknown(f"{partition.topic} or {original.topic} was made anew since it was copied")
    found = state.translate_back(offset)
    if isinstance(found, Unknown):
        return Answer(found, found.reason)
    translation: Translation = Early(found.offset, found.at_most) if found.at_most else Exact(found.offset)
    return Answer(translation, f"back to where it came from, {original.topic}")


def _is_copied_from_anew(
    ground: Ground, partition: TopicPartition, original: TopicPartition, opposite: PartitionState
) -> bool:
    """Whether the opposite flow's topics, its source being our target, are others than those it copied."""
    ids = (
        (ground.source_topics.get(partition.topic), opposite.target_topic_id),
        (ground.target_topics.get(original.topic), opposite.source_topic_id),
    )
    return any(now is None or bool(before and now.id and now.id != before) for now, before in ids)


def _inside_log(ground: Ground, remote: TopicPartition, answer: Answer) -> Answer:
    """An offset outside the target's log would send the group wherever its reset policy says."""
    found = answer.translation
    if isinstance(found, Unknown):
        return answer
    start, end = ground.target_starts.get(remote), ground.target_ends.get(remote)
    if start is None or end is None:
        return unknown(f"{remote} on {ground.target} has no leader")
    if found.downstream > end:
        return unknown(f"{remote} on {ground.target} ends at {end}: it lost records that were copied")
    if found.downstream >= start:
        return answer
    left = max(found.downstream + answer.early_by - start, 0)
    translation: Translation = Early(start, left) if left else Exact(start)
    return Answer(translation, f"the first record that {ground.target} has not deleted")
