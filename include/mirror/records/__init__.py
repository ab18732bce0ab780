"""What a flow does to records on their way: which it leaves out, and how the others look on the target.

`transformation_of(flow)` is the one authority on it: the copy applies it, and whoever compares both sides does so too.
It needs neither a cluster nor Spark, and travels to Spark's executors as a value.
"""

from mirror.records.record import LeftOut, Record
from mirror.records.transformation import Transformation, TransformationFailed, transformation_of

__all__ = ["LeftOut", "Record", "Transformation", "TransformationFailed", "transformation_of"]
