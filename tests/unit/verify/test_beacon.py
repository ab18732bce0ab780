"""Tasks tell their way, and the driver hears only its own."""

from __future__ import annotations

import json
import socket
import time

from mirror.verify.beacon import Beacon, Listener, Way


def heard(listener: Listener, wanted: Way) -> Way:
    give_up = time.monotonic() + 10
    while (way := listener.heard()) != wanted and time.monotonic() < give_up:
        time.sleep(0.01)
    return way


def test_the_newest_word_of_each_task_counts_and_strangers_do_not() -> None:
    with Listener() as listener:
        beacons = [Beacon(number, listener.address) for number in range(2)]
        beacons[0].tell(Way(5, 5, 0), at_once=True)
        beacons[0].tell(Way(10, 9, 1), at_once=True)
        beacons[1].tell(Way(3, 3, 0), at_once=True)
        assert heard(listener, Way(13, 12, 1)) == Way(13, 12, 1)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            for said in (b"no json", json.dumps({"word": "guess", "task": 0, "way": [99, 99, 99]}).encode(), b"[1]"):
                stranger.sendto(said, (listener.address.host, listener.address.port))
        beacons[1].tell(Way(4, 4, 0), at_once=True)
        assert heard(listener, Way(14, 13, 1)) == Way(14, 13, 1)
        for beacon in beacons:
            beacon.close()


def test_a_task_says_no_more_than_can_be_seen() -> None:
    with Listener() as listener:
        beacon = Beacon(0, listener.address)
        for n in range(1000):
            beacon.tell(Way(n, n, 0))
        beacon.tell(Way(7, 7, 7), at_once=True)
        assert heard(listener, Way(7, 7, 7)) == Way(7, 7, 7)
        beacon.close()


def test_an_address_that_is_not_this_machines_is_listened_to_on_all() -> None:
    with Listener("203.0.113.9") as listener:
        assert listener.address.host == "203.0.113.9"
        beacon = Beacon(0, listener.address._replace(host="127.0.0.1"))
        beacon.tell(Way(1, 1, 0), at_once=True)
        assert heard(listener, Way(1, 1, 0)) == Way(1, 1, 0)
        beacon.close()
    Beacon(0, None).tell(Way(1, 1, 1), at_once=True)
