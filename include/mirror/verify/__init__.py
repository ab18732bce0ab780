"""Both sides of a flow compared, record by record and in all that goes with them; changes nothing."""

from mirror.verify.differences import Difference
from mirror.verify.plan import VerifyPlan
from mirror.verify.report import Deviation, PartitionReport, VerifyReport
from mirror.verify.run import VerifyRequest, plan_verify, run_verify

__all__ = [
    "Deviation",
    "Difference",
    "PartitionReport",
    "VerifyPlan",
    "VerifyReport",
    "VerifyRequest",
    "plan_verify",
    "run_verify",
]
