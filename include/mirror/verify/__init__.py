"""Both sides of a flow compared, record by record and in all that goes with them; changes nothing."""

from mirror.verify.differences import Difference
from mirror.verify.report import Deviation, PartitionReport, VerifyReport
from mirror.verify.run import VerifyRequest, run_verify

__all__ = ["Deviation", "Difference", "PartitionReport", "VerifyReport", "VerifyRequest", "run_verify"]
