"""Discover, create and grow the topics of a flow."""

from mirror.topics.changes import apply
from mirror.topics.discovery import discover
from mirror.topics.internal import ensure_internal
from mirror.topics.plan import plan_topics
from mirror.topics.values import ClusterView, Creation, Growth, TopicFailure, TopicPlan, TopicSummary

__all__ = [
    "ClusterView",
    "Creation",
    "Growth",
    "TopicFailure",
    "TopicPlan",
    "TopicSummary",
    "apply",
    "discover",
    "ensure_internal",
    "plan_topics",
]
