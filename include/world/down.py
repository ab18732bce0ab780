"""`make down`: ends what `make demo` and `make up` started, and everything that those started."""

from __future__ import annotations

import sys

from world.running import Busy, alone, demo_home, stop_services, up_home


def main() -> int:
    stopped: list[str] = []
    for home in (demo_home(), up_home()):
        if not home.is_dir():
            continue
        try:
            with alone(home):
                stopped += stop_services(home)
        except Busy as busy:
            print(f"down: {busy}: end it first (Ctrl-C stops what it started)", file=sys.stderr)
            return 1
    print(f"stopped {', '.join(stopped)}" if stopped else "nothing is running")
    return 0


if __name__ == "__main__":
    sys.exit(main())
