"""Proof that flows live: a heartbeat on every pair's target, copied on with the topics, and how old the newest is."""

from mirror.heartbeats.ages import HeartbeatAge, read_ages
from mirror.heartbeats.copies import copy_heartbeats
from mirror.heartbeats.emit import emit

__all__ = ["HeartbeatAge", "copy_heartbeats", "emit", "read_ages"]
