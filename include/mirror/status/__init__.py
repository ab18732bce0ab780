"""What is seen of a flow from outside, as values: read from the clusters, never from what a task believed."""

from mirror.status.lag import FlowLag, PartitionLag, TopicLag
from mirror.status.measure import measure_lag

__all__ = ["FlowLag", "PartitionLag", "TopicLag", "measure_lag"]
