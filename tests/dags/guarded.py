"""A flow whose source is behind TLS and a login, with secrets from every provider; and where they might turn up."""

from __future__ import annotations

import base64
import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import TracebackType

import psutil

from integration.secured import USER, Secured, login

ALIAS = "guarded"
CONNECTION = "guarded_login"
VARIABLE = "GUARDED_TRUST_PASSWORD"


class Guarded:
    """The secrets and the lines of the file; the cluster itself is started by the test that needs it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory / "guarded"
        self.directory.mkdir()
        self.events, self.spark_files = directory / "spark-events", directory / "spark-files"
        self.temporary = directory / "t"  # short, because sockets are made below it
        self.secrets = {name: f"{name}{secrets.token_hex(12)}" for name in ("store", "key", "scram", "wrong")}
        self.secured = Secured(
            self.directory,
            password=self.secrets["scram"],
            store_password=self.secrets["store"],
            key_password=self.secrets["key"],
        )

    @property
    def servers(self) -> str:
        """Known when the cluster runs, long after the file is written."""
        return f"${{file:{self.directory}/guarded.properties:servers}}"

    def lines(self) -> list[str]:
        stores = self.directory / "stores"
        return [
            f"{ALIAS}.security.protocol = SASL_SSL",
            f"{ALIAS}.ssl.truststore.location = {stores}/trust.jks",
            f"{ALIAS}.ssl.truststore.password = ${{env:{VARIABLE}}}",
            f"{ALIAS}.ssl.keystore.location = {stores}/identity.jks",
            f"{ALIAS}.ssl.keystore.password = ${{dir:{self.directory}/mounted:store}}",
            f"{ALIAS}.ssl.key.password = {self.secrets['key']}",
            f"{ALIAS}.sasl.mechanism = SCRAM-SHA-512",
            f"{ALIAS}.sasl.jaas.config = "
            + login("SCRAM-SHA-512", f"${{airflow:{CONNECTION}:login}}", f"${{airflow:{CONNECTION}}}"),
        ]

    def environment(self) -> dict[str, str]:
        """For Airflow: the variable that the file names, and Spark's event log and files where a test finds them."""
        settings = self.directory / "spark-conf"
        for folder in (self.events, self.spark_files, self.temporary, settings):
            folder.mkdir()
        (settings / "spark-defaults.conf").write_text(
            f"spark.eventLog.enabled true\nspark.eventLog.dir file:{self.events}\nspark.eventLog.compress false\n"
            f"spark.local.dir {self.spark_files}\n"
        )
        return {
            VARIABLE: self.secrets["store"],
            "SPARK_CONF_DIR": str(settings),
            "TMPDIR": str(self.temporary),
        }

    def start(self) -> None:
        """The cluster and what the file names."""
        self.secured.__enter__()
        (self.directory / "guarded.properties").write_text(f"servers = {self.secured.cluster.bootstrap('SASL_SSL')}\n")
        (self.directory / "mounted").mkdir()
        (self.directory / "mounted" / "store").write_text(self.secrets["store"] + "\n")
        key = self.secured.cluster.certificates.client.read_text().splitlines()[1]
        self.secrets["private key"] = key

    def connection(self, password: str) -> dict[str, str]:
        return {"connection_id": CONNECTION, "conn_type": "generic", "login": USER, "password": password}


class ProcessList:
    """Every command line that is seen while it watches."""

    def __init__(self) -> None:
        self.lines: set[str] = set()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> ProcessList:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.1):
            for process in psutil.process_iter():
                try:
                    self.lines.add(" ".join(process.cmdline()))
                except psutil.Error:
                    continue


def files_with(folder: Path, word: str) -> list[str]:
    """The files below a folder that have the word in them, as it is or in base64."""
    wanted = [word.encode(), base64.b64encode(word.encode()).rstrip(b"=")[:-1]]
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and any(each in path.read_bytes() for each in wanted):
            found.append(str(path.relative_to(folder)))
    return found


def tables_with(database: Path, word: str) -> list[str]:
    """The tables of Airflow's database that have the word in a row, XComs and rendered fields among them."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        names = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]
        return [name for name in names if any(word in row for row in _rows(connection, name))]


def _rows(connection: sqlite3.Connection, table: str) -> Iterator[str]:
    for row in connection.execute(f'select * from "{table}"'):
        yield " ".join(cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell) for cell in row)
