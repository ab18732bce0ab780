"""Kafka's jars (broker, MirrorMaker 2, tools), fetched without Maven by the Ivy that pyspark ships.

They are no dependency of airmirror itself: only the demo, the tests and the bench run brokers and MM2.
`python -m world.jars` fetches them and says how far it is; `ensure()` returns at once when they are there.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ET
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from world import java, project

KAFKA_VERSION = "4.3.1"
SCALA_VERSION = "2.13"
_LOG4J_VERSION = "2.25.4"  # the one that kafka-server brings: only the bridge to slf4j is missing there

MODULES = (
    ("org.apache.kafka", f"kafka_{SCALA_VERSION}", KAFKA_VERSION),
    ("org.apache.kafka", "kafka-tools", KAFKA_VERSION),
    ("org.apache.kafka", "connect-mirror", KAFKA_VERSION),
    ("org.apache.kafka", "connect-mirror-client", KAFKA_VERSION),
    ("org.apache.logging.log4j", "log4j-slf4j-impl", _LOG4J_VERSION),
)

Say = Callable[[str], None]


def directory() -> Path:
    """Where the jars are once fetched."""
    return project.root() / ".kafka" / KAFKA_VERSION


def ensure(say: Say = lambda _: None) -> Path:
    """Fetch the jars unless they are complete; two callers at once fetch them once."""
    home = directory()
    if _is_complete(home):
        return home
    home.parent.mkdir(exist_ok=True)
    with (home.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_complete(home):
            _fetch(home, say)
    return home


def _wanted() -> str:
    return hashlib.sha256(repr(MODULES).encode()).hexdigest()


def _is_complete(home: Path) -> bool:
    marker = home / "complete"
    return marker.is_file() and marker.read_text() == _wanted()


def _fetch(home: Path, say: Say) -> None:
    # Ivy's cache stays until all is there, so that a broken download goes on where it stopped.
    cache = home.parent / "ivy-cache"
    with tempfile.TemporaryDirectory(dir=home.parent) as scratch:
        fetched = Path(scratch) / "jars"
        say(f"fetching Kafka {KAFKA_VERSION} (brokers, MirrorMaker 2, tools), about 60 MB")
        _run_ivy(Path(scratch), fetched, cache, say)
        (fetched / "complete").write_text(_wanted())
        shutil.rmtree(home, ignore_errors=True)
        fetched.rename(home)
    shutil.rmtree(cache, ignore_errors=True)


def _run_ivy(scratch: Path, into: Path, cache: Path, say: Say) -> None:
    settings, wish = scratch / "settings.xml", scratch / "ivy.xml"
    settings.write_text(_settings_xml(_mirror_of_maven_settings()))
    wish.write_text(_wish_xml())
    command = [
        java.executable(),
        *_proxy_options(),
        "-jar",
        str(_ivy_jar()),
        "-settings",
        str(settings),
        "-cache",
        str(cache),
    ]
    command += ["-ivy", str(wish), "-confs", "default", "-types", "jar", "bundle"]
    command += ["-retrieve", f"{into}/[artifact]-[revision](-[classifier]).[ext]"]
    lines: list[str] = []
    count = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as ivy:
        for line in ivy.stdout or ():
            lines.append(line)
            if line.startswith("\t[SUCCESSFUL ]"):
                count += 1
                say(f"  {count:3} {line.split('!')[-1].strip()}")
    if ivy.returncode or not any(into.glob(f"kafka_*-{KAFKA_VERSION}.jar")):
        raise RuntimeError(f"Ivy could not fetch Kafka's jars (exit {ivy.returncode}):\n{''.join(lines[-40:])}")


def _ivy_jar() -> Path:
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise RuntimeError("pyspark is not installed here, and its Ivy fetches the jars: run `make setup`")
    return next((Path(spec.origin).parent / "jars").glob("ivy-*.jar"))


def _wish_xml() -> str:
    module = ET.Element("ivy-module", version="2.0")
    ET.SubElement(module, "info", organisation="airmirror", module="world")
    ET.SubElement(ET.SubElement(module, "configurations"), "conf", name="default")
    dependencies = ET.SubElement(module, "dependencies")
    for org, name, rev in MODULES:
        ET.SubElement(dependencies, "dependency", org=org, name=name, rev=rev, conf="default->default")
    return ET.tostring(module, encoding="unicode")


def _settings_xml(mirror: str | None) -> str:
    settings = ET.Element("ivysettings")
    ET.SubElement(settings, "settings", defaultResolver="maven")
    resolver = ET.SubElement(ET.SubElement(settings, "resolvers"), "ibiblio", name="maven", m2compatible="true")
    if mirror:  # without a root, Ivy's own default is Maven's central repository
        resolver.set("root", mirror)
    return ET.tostring(settings, encoding="unicode")


def _mirror_of_maven_settings() -> str | None:
    """The mirror that this machine's own Maven settings name for the central repository, if any."""
    path = Path.home() / ".m2" / "settings.xml"
    if not path.is_file():
        return None
    for element in ET.parse(path).iter():
        if element.tag.rpartition("}")[2] == "mirror":
            fields = {child.tag.rpartition("}")[2]: (child.text or "").strip() for child in element}
            covered = {name.strip() for name in fields.get("mirrorOf", "").split(",")}
            if covered & {"*", "central", "external:*"} and "url" in fields:
                return fields["url"]
    return None


def _proxy_options() -> list[str]:
    """What the environment says about proxies, in Java's words: the JVM does not read http_proxy itself."""
    options = []
    for scheme, address in urllib.request.getproxies().items():
        proxy = urllib.parse.urlsplit(address)
        if scheme in ("http", "https") and proxy.hostname:
            options += [f"-D{scheme}.proxyHost={proxy.hostname}", f"-D{scheme}.proxyPort={proxy.port or 80}"]
    return options


if __name__ == "__main__":
    sys.stdout.write(f"{ensure(lambda text: print(text, flush=True))}\n")
