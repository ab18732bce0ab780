"""Free ports on loopback."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack

# Below the range from which systems take ports for outgoing connections: one of those must not sit on a
# broker's port while the broker is down for a moment.
_RANGE = range(20000, 32000)


def free_ports(count: int) -> list[int]:
    """Different ports that nobody listens on now."""
    ports: list[int] = []
    with ExitStack() as held:
        while len(ports) < count:
            probe = held.enter_context(socket.socket())
            port = random.choice(_RANGE)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            ports.append(port)
    return ports
