"""Discover, create and grow the topics of a flow, and keep their settings and ACLs as the source's."""

from mirror.topics.acls import AclPlan, AclSummary, apply_acls, compare_acls
from mirror.topics.changes import apply
from mirror.topics.discovery import discover
from mirror.topics.internal import ensure_internal
from mirror.topics.plan import plan_topics
from mirror.topics.settings_sync import SettingsPlan, SettingsSummary, apply_settings, compare_settings
from mirror.topics.values import ClusterView, Creation, Growth, Switched, TopicFailure, TopicPlan, TopicSummary

__all__ = [
    "AclPlan",
    "AclSummary",
    "ClusterView",
    "Creation",
    "Growth",
    "SettingsPlan",
    "SettingsSummary",
    "Switched",
    "TopicFailure",
    "TopicPlan",
    "TopicSummary",
    "apply",
    "apply_acls",
    "apply_settings",
    "compare_acls",
    "compare_settings",
    "discover",
    "ensure_internal",
    "plan_topics",
]
