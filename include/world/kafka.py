"""Kafka clusters of one or three brokers on loopback, from the jars: real ones, and cheap enough for every test.

with KafkaCluster("east", directory) as east:
    produce(east.bootstrap_servers)
    east.brokers[0].kill()
    east.brokers[0].start()          # the same port, the same data
"""

from __future__ import annotations

import base64
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from world import jars, java
from world.certificates import Certificates, make_certificates
from world.ports import free_ports
from world.process import Process, ProcessDied
from world.server_properties import PLAINTEXT, SASL_MECHANISMS, Node, Security, server_properties

_NO_SECURITY = Security()
_READY = "Kafka Server started"
_PORT_TAKEN = "Address already in use"
_ATTEMPTS = 5


class Broker(Process):
    """One broker: a process that can be stopped, killed, frozen and started again on its port and data."""

    def __init__(self, node: Node, command: list[str], *, directory: Path, detach: bool) -> None:
        super().__init__(f"broker-{node.id}", command, directory=directory, detach=detach)
        self.node = node

    def wait_until_ready(self, timeout_s: float = 60) -> None:
        """Wait until it serves clients."""
        self.wait_for_line(_READY, timeout_s)


class KafkaCluster:
    """A cluster below `directory`/`name`; entered it is ready, left it is gone (its data stays)."""

    def __init__(
        self,
        name: str,
        directory: Path,
        *,
        brokers: int = 1,
        properties: Mapping[str, str] | None = None,
        security: Security = _NO_SECURITY,
        heap: str = "384m",
        options: Sequence[str] | None = None,
        detach: bool = False,
    ) -> None:
        self.name = name
        self.directory = directory / name
        self.security = security
        self.brokers: list[Broker] = []
        self._count = brokers
        self._properties = dict(properties or {})
        self._heap = heap
        self._options = options
        self._detach = detach
        self._certificates: Certificates | None = None

    @property
    def bootstrap_servers(self) -> str:
        """The addresses of the door without a lock."""
        return self.bootstrap(PLAINTEXT)

    @property
    def certificates(self) -> Certificates:
        if self._certificates is None:
            raise RuntimeError(f"cluster {self.name} has no TLS listener")
        return self._certificates

    def bootstrap(self, listener: str) -> str:
        """The brokers' addresses at one listener: PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL."""
        return ",".join(f"127.0.0.1:{broker.node.ports[listener]}" for broker in self.brokers)

    def __enter__(self) -> KafkaCluster:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def start(self) -> None:
        """Start every broker and wait until they serve clients."""
        self.launch()
        self.wait_until_ready()

    def launch(self) -> None:
        """Start every broker without waiting: ports are chosen and storage is formatted the first time."""
        if not self.brokers:
            self._lay_out()
        for broker in self.brokers:
            if not broker.is_running():
                broker.start()

    def wait_until_ready(self, timeout_s: float = 60) -> None:
        """Wait until every broker serves clients; a port that was taken meanwhile is changed for another."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                for broker in self.brokers:
                    broker.wait_until_ready(timeout_s)
                return
            except ProcessDied:
                if attempt == _ATTEMPTS or not any(_PORT_TAKEN in broker.log() for broker in self.brokers):
                    raise
                self.kill()
                self._lay_out()
                self.launch()

    def stop(self) -> None:
        """Stop the brokers in order, as an operator would."""
        with ThreadPoolExecutor(max(1, len(self.brokers))) as pool:
            list(pool.map(Broker.stop, self.brokers))

    def kill(self) -> None:
        """kill -9 every broker: quick, and the data is on disk or thrown away anyhow."""
        for broker in self.brokers:
            broker.kill()

    def tool(self, main_class: str, *arguments: str, stdin: str | None = None, timeout_s: float = 60) -> str:
        """Run one of Kafka's own tools against this cluster and return what it printed."""
        servers, logs = self.bootstrap_servers, self.directory
        return run_tool(servers, logs, main_class, *arguments, stdin=stdin, timeout_s=timeout_s)

    def _lay_out(self) -> None:
        """Choose ports, write the brokers' files and format storage that is not yet formatted."""
        self.directory.mkdir(parents=True, exist_ok=True)
        if self.security.needs_certificates and self._certificates is None:
            self._certificates = make_certificates(self.directory / "tls")
        nodes = self._choose_nodes()
        logging = java.logging_file(self.directory)
        self.brokers = []
        for node in nodes:
            path = self.directory / f"server-{node.id}.properties"
            values = server_properties(node, nodes, self.security, self._certificates, self._properties)
            path.write_text("".join(f"{key}={value}\n" for key, value in values.items()))
            command = java.command(
                "kafka.Kafka", str(path), jars=jars.ensure(), logging=logging, heap=self._heap, options=self._options
            )
            self.brokers.append(Broker(node, command, directory=self.directory, detach=self._detach))
        self._format(nodes, logging)

    def _choose_nodes(self) -> list[Node]:
        names = (PLAINTEXT, *self.security.listeners)
        width = len(names) + 1
        ports = free_ports(self._count * width)
        return [
            Node(
                id=number + 1,
                data=self.directory / f"data-{number + 1}",
                controller_port=ports[number * width],
                ports=dict(zip(names, ports[number * width + 1 : (number + 1) * width], strict=True)),
            )
            for number in range(self._count)
        ]

    def _format(self, nodes: list[Node], logging: Path) -> None:
        first = nodes[0]
        if (first.data / "meta.properties").is_file():
            return
        arguments = ["--cluster-id", _uuid(), "--config", str(self.directory / f"server-{first.id}.properties")]
        for name, password in self.security.users.items():
            for mechanism in SASL_MECHANISMS[1:]:
                arguments += ["--add-scram", f"{mechanism}=[name={name},password={password}]"]
        tool = java.command("kafka.tools.StorageTool", "format", *arguments, jars=jars.ensure(), logging=logging)
        java.run(tool)
        for node in nodes[1:]:
            _format_like(first, node)


def run_tool(
    servers: str, logs: Path, main_class: str, *arguments: str, stdin: str | None = None, timeout_s: float = 60
) -> str:
    """Run one of Kafka's own tools against a cluster and return what it printed; its log settings go below `logs`."""
    command = java.command(
        main_class,
        "--bootstrap-server",
        servers,
        *arguments,
        jars=jars.ensure(),
        logging=java.logging_file(logs, "WARN", "SYSTEM_ERR"),
        heap="256m",
    )
    return java.run(command, stdin=stdin, timeout_s=timeout_s)


def _format_like(formatted: Node, node: Node) -> None:
    """Give a node its storage by copying another's: the tool's start takes a second, and only two ids differ."""
    shutil.copytree(formatted.data, node.data)
    path = node.data / "meta.properties"
    own = {"node.id": str(node.id), "directory.id": _uuid()}
    lines = (line.partition("=")[::2] for line in path.read_text().splitlines() if "=" in line)
    path.write_text("".join(f"{key}={own.get(key, value)}\n" for key, value in lines))


def _uuid() -> str:
    # Kafka's form of a UUID; a leading dash would look like an option to its tools.
    while (text := base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")).startswith("-"):
        pass
    return text


def start_together(*clusters: KafkaCluster) -> None:
    """Start several clusters in the time of the slowest."""
    with ThreadPoolExecutor(len(clusters)) as pool:
        list(pool.map(KafkaCluster.start, clusters))


@contextmanager
def running(*clusters: KafkaCluster) -> Iterator[None]:
    """Clusters that run inside and are gone behind; also those that started when another did not."""
    try:
        start_together(*clusters)
        yield
    finally:
        for cluster in clusters:
            cluster.kill()
