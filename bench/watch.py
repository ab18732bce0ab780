"""Watches the target's end offsets while a program copies: when the first record came, when the last was readable."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from confluent_kafka import KafkaException

from bench.cpu import SessionCpu
from bench.shapes import PARTITION_COUNT
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import TopicPartition
from world.process import Process

# Seconds between two looks: the error of both ends of the measured time.
LOOK_S = 0.025
# Seconds between two looks at the CPU: a process that lives shorter may be missed.
CPU_LOOK_S = 0.1
# Seconds without a change after which a program that never ends by itself has copied everything. Transactions last
# two seconds, so a shorter silence may be only one between two commits.
QUIET_S = 5.0
DEADLINE_S = 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A point in time with the CPU seconds used until then, by the program and by the brokers."""

    at: float
    cpu_s: float
    broker_cpu_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """One copy: its start, the first record on the target, the last one readable there, its end."""

    start: Moment
    first: Moment
    last: Moment
    cpu_s: float


class CopyFailed(RuntimeError):
    """The program ended badly or did not finish; the message ends with its log."""


class Watch:
    """Follows one program's copy of one topic."""

    def __init__(self, target: Cluster, topic: str, process: Process, broker_cpu_s: Callable[[], float]) -> None:
        self._target = target
        self._partitions = [TopicPartition(topic, number) for number in range(PARTITION_COUNT)]
        self._process = process
        self._broker_cpu_s = broker_cpu_s
        self._cpu = SessionCpu(process.pid)
        self._cpu_looked = 0.0

    def follow(self, record_count: int, *, ends: bool) -> Watched:
        """Watch until everything is copied: until the program's end, or until nothing changes any more."""
        start = self._moment()
        deadline = start.at + DEADLINE_S
        while not self._has_records():
            self._rest(deadline, must_run=True)
        first = last = self._moment()
        readable = 0
        while True:
            is_over = not self._process.is_running()
            now_readable = sum(self._target.stable_ends(self._partitions).values())
            if now_readable != readable:
                readable, last = now_readable, self._moment()
            elif is_over or (not ends and readable >= record_count and time.monotonic() - last.at > QUIET_S):
                break
            self._rest(deadline, must_run=not ends)
        self._require_success(ends)
        cpu_s = self._whole_cpu_s(deadline) if ends else last.cpu_s
        return Watched(start=start, first=first, last=last, cpu_s=cpu_s)

    def _has_records(self) -> bool:
        try:
            return any(self._target.high_watermarks(self._partitions).values())
        except KafkaException:
            return False  # the program has yet to make the topic

    def _moment(self) -> Moment:
        return Moment(at=time.monotonic(), cpu_s=self._cpu.seconds(), broker_cpu_s=self._broker_cpu_s())

    def _rest(self, deadline: float, *, must_run: bool) -> None:
        now = time.monotonic()
        if must_run and not self._process.is_running():
            raise CopyFailed(f"{self._process.name} ended before it copied anything:\n{self._process.log()[-4000:]}")
        if now > deadline:
            raise CopyFailed(f"not copied in {DEADLINE_S:.0f} s:\n{self._process.log()[-4000:]}")
        if now - self._cpu_looked > CPU_LOOK_S:
            self._cpu_looked = now
            self._cpu.seconds()
        time.sleep(LOOK_S)

    def _require_success(self, ends: bool) -> None:
        code = self._process.exit_code()
        if ends and code:
            raise CopyFailed(f"{self._process.name} ended with exit code {code}:\n{self._process.log()[-4000:]}")

    def _whole_cpu_s(self, deadline: float) -> float:
        """What it used until its very end: a JVM may outlive by a moment the command that started it."""
        while not self._cpu.is_empty():
            self._rest(deadline, must_run=False)
        return self._cpu.seconds_after_end()
