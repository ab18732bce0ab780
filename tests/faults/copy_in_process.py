"""A copy whose slots are threads of its own process, for faults to which Spark adds nothing but its start.

Arguments: the file, the flow, what to do about a living claim, the window in seconds.
Prints where the library came from and the result; exits with 0 done, 1 failed, 3 superseded or fenced.
"""

from __future__ import annotations

import json
import sys

import mirror
from mirror.config import load
from mirror.copy.driver import CopyRequest, run_copy
from mirror.copy.execution import InProcessExecutor
from mirror.errors import MirrorError, StopNow

SLOTS = 2
EXIT_FAILED, EXIT_STOPPED = 1, 3


def main() -> int:
    path, flow, on_held, window_s = sys.argv[1:]
    print(mirror.__file__, flush=True)
    request = CopyRequest(on_held=on_held, window_s=float(window_s))
    try:
        result = run_copy(load(path).flow(flow), request, lambda: InProcessExecutor(SLOTS))
        print(json.dumps(result.to_json()), flush=True)
        result.raise_if_incomplete()
    except StopNow as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        return EXIT_STOPPED
    except MirrorError as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        return EXIT_FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
