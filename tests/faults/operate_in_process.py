"""A failover or failback whose copies are threads of its own process, to be killed at any of its points.

Arguments: the file, the flow, the operation (failover, planned or failback). Prints the report.
"""

from __future__ import annotations

import json
import sys

from mirror.config import load
from mirror.operations.failback import run_failback
from mirror.operations.failback_request import FailbackRequest
from mirror.operations.failover import run_failover
from mirror.operations.failover_plan import FailoverRequest

SILENCE_S = 0.3


def main() -> int:
    path, name, operation = sys.argv[1:]
    configuration = load(path)
    flow = configuration.flow(name)
    if operation == "failback":
        home = configuration.opposite(flow)
        document = run_failback(flow, home, FailbackRequest(silence_s=SILENCE_S)).to_json()
    else:
        document = run_failover(flow, FailoverRequest(planned=operation == "planned", silence_s=SILENCE_S)).to_json()
    print(json.dumps(document), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
