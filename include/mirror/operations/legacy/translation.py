"""From MirrorMaker 1's files and flags to the text of an mm2.properties that does the same; pure.

    bootstrap.servers, security.protocol, ssl.*, sasl.*   source.* or target.*: they are for every client of a cluster
    other options of the client                           source.consumer.*, target.producer.*
    options of MM2 that vendors' guides put there         top level, as they are
    what only MirrorMaker 1's own loop needed             left out
Passwords stay in the old files: the new one refers to them, so that it can be shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mirror.config import client_options, foreign, java_regex
from mirror.config import options as opt
from mirror.config.placeholders import has_expression
from mirror.config.properties import Entry
from mirror.config.scopes import is_security_name
from mirror.config.secrets import is_secret
from mirror.errors import ConfigurationRefused
from mirror.operations.legacy.files import LegacyFiles, LegacyFlags

IDENTITY = "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"
_FILE_PROVIDER = "org.apache.kafka.common.config.provider.FileConfigProvider"

# MirrorMaker 1 copied records and nothing else: no names, settings, rights, groups or heartbeats of its own. It left
# the replication factor of new topics to the brokers, and wrote into whatever topic had the name.
DEFAULTS = {
    opt.REPLICATION_POLICY_CLASS.name: IDENTITY,
    opt.TOPICS_EXCLUDE.name: r"__consumer_offsets, __transaction_state, mm2.*\.internal",
    opt.REPLICATION_FACTOR.name: "-1",
    opt.OFFSET_SYNCS_REPLICATION_FACTOR.name: "-1",
    opt.SYNC_TOPIC_CONFIGS_ENABLED.name: "false",
    opt.SYNC_TOPIC_ACLS_ENABLED.name: "false",
    opt.EMIT_CHECKPOINTS_ENABLED.name: "false",
    opt.EMIT_HEARTBEATS_ENABLED.name: "false",
    opt.HEARTBEATS_REPLICATION_ENABLED.name: "false",
    opt.ON_FOREIGN_DATA.name: "append",
}
# Java's consumers begin at the end unless told otherwise; MM2's, and ours, at the beginning.
_RESET = "auto.offset.reset"
# What belongs to MirrorMaker 1's own loop, or to the old consumer: its successor has no use for it.
_ITS_OWN = re.compile(
    r"group\.id|group\.instance\.id|enable\.auto\.commit|auto\.commit\..*|.*serializer.*|partition\.assignment\.strategy"
    r"|session\.timeout\.ms|heartbeat\.interval\.ms|max\.poll\..*|partitioner\.class|exclude\.internal\.topics"
    r"|group\.protocol|interceptor\.classes|client\.id|max\.in\.flight\.requests\.per\.connection"
)
_OLD_CONSUMER = ("zookeeper.connect", "metadata.broker.list", "broker.list")


@dataclass(frozen=True, slots=True, kw_only=True)
class Translated:
    """The lines of an mm2.properties, and what a person should know about them."""

    source: str
    target: str
    lines: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def flow(self) -> str:
        return f"{self.source}->{self.target}"

    def text(self, *more: str) -> str:
        return "\n".join((*self.lines, *more)) + "\n"


def translate(files: LegacyFiles, flags: LegacyFlags, *, source: str = "source", target: str = "target") -> Translated:
    """The configuration; every problem of files and flags is told at once."""
    problems = [*_problems(files, flags)]
    options = {**_lifted(files, problems)}
    if problems:
        raise ConfigurationRefused(
            "\n".join(problems), next_step="correct them, then run this again", problems=problems
        )
    if flags.include is not None:
        options[opt.TOPICS.name] = names_regex(flags.include)
    if flags.exclude is not None:
        options[opt.TOPICS_EXCLUDE.name] = f"{DEFAULTS[opt.TOPICS_EXCLUDE.name]}, {names_regex(flags.exclude)}"
    options = {**DEFAULTS, opt.TASKS_MAX.name: str(flags.num_streams), **options}
    has_secrets = any(_is_moved_by_reference(e) for e in (*files.consumer.values(), *files.producer.values()))
    lines = (
        f"clusters = {source}, {target}",
        f"{source}->{target}.enabled = true",
        *_section(f"# {files.consumer_path.name}", _cluster(files.consumer, files.consumer_path, source, "consumer")),
        *_section(f"# {files.producer_path.name}", _cluster(files.producer, files.producer_path, target, "producer")),
        *_section("# what MirrorMaker 1 did, and did not", (_line(n, text) for n, text in sorted(options.items()))),
        *(_section("# passwords stay where they are", _providers()) if has_secrets else ()),
    )
    return Translated(source=source, target=target, lines=lines, warnings=tuple(_warnings(files, flags)))


def names_regex(text: str) -> str:
    """A list of topics as MirrorMaker 1 read it: commas are alternatives, quotes around it and blanks are dropped."""
    return text.strip().replace(",", "|").replace(" ", "").strip("\"'")


def _problems(files: LegacyFiles, flags: LegacyFlags) -> Iterator[str]:
    for path, entries, name in (
        (files.consumer_path, files.consumer, "the source's"),
        (files.producer_path, files.producer, "the target's"),
    ):
        old = next((entries[key] for key in _OLD_CONSUMER if key in entries), None)
        if "bootstrap.servers" not in entries:
            instead = f"; {old.key} (line {old.line}) is of clients that brokers no longer serve" if old else ""
            yield f"{path}: expected bootstrap.servers, {name} brokers{instead}"
    if flags.include is None and flags.exclude is None:
        yield "expected --include REGEX (or --whitelist), the topics to replicate"
    for flag, text in (("--include", flags.include), ("--exclude", flags.exclude)):
        try:
            java_regex.compile_java(names_regex(text or ""))
        except java_regex.RegexRefused as refusal:
            yield f"{flag}: {refusal}"
    if flags.num_streams < 1:
        yield f"--num.streams: expected a number of at least 1, not {flags.num_streams}"
    if flags.message_handler:
        yield (
            f"--message.handler {flags.message_handler}: Java classes are not run; a handler that filters or changes "
            "records can be written in Python (airmirror.record.function)"
        )


def _lifted(files: LegacyFiles, problems: list[str]) -> dict[str, str]:
    """Options of MM2's that stand in a client's file; the same one in both must say the same."""
    found: dict[str, str] = {}
    for path, entries in ((files.consumer_path, files.consumer), (files.producer_path, files.producer)):
        for name, entry in entries.items():
            if not _is_mm2_option(name):
                continue
            if found.get(name, entry.value) != entry.value:
                problems.append(f"{path}, line {entry.line}: {name}: the other file says something else")
            found[name] = entry.value
    return found


def _is_mm2_option(name: str) -> bool:
    return name in opt.BY_NAME or name in foreign.BY_NAME


def _cluster(entries: Mapping[str, Entry], path: Path, alias: str, kind: str) -> Iterator[str]:
    for name, entry in entries.items():
        if _is_mm2_option(name) or _ITS_OWN.fullmatch(name):
            continue
        text = f"${{file:{path.absolute()}:{name}}}" if _is_moved_by_reference(entry) else entry.value
        if is_security_name(name):
            yield _line(f"{alias}.{name}", text)
        elif client_options.find(kind, name) is not None:
            yield _line(f"{alias}.{kind}.{name}", text)
    if kind == "consumer" and _RESET not in entries:
        yield _line(f"{alias}.{kind}.{_RESET}", "latest")


def _is_moved_by_reference(entry: Entry) -> bool:
    return is_security_name(entry.key) and is_secret(entry.key) and not has_expression(entry.value)


def _providers() -> Iterator[str]:
    yield "config.providers = file"
    yield f"config.providers.file.class = {_FILE_PROVIDER}"


def _section(title: str, lines: Iterator[str]) -> tuple[str, ...]:
    return ("", title, *lines)


def _line(name: str, value: str) -> str:
    """A line that Java reads back as it was: backslashes doubled, as in every .properties file."""
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n")
    return f"{name} = {escaped}"


def _warnings(files: LegacyFiles, flags: LegacyFlags) -> Iterator[str]:
    for path, entries, kind in (
        (files.consumer_path, files.consumer, "consumer"),
        (files.producer_path, files.producer, "producer"),
    ):
        for name, entry in entries.items():
            known = _is_mm2_option(name) or is_security_name(name) or _ITS_OWN.fullmatch(name)
            if not known and client_options.find(kind, name) is None:
                yield f"{path.name}, line {entry.line}: {name}: no option of a {kind}'s or of MM2's; left out"
    if not flags.abort_on_send_failure:
        yield (
            "--abort.on.send.failure false: MirrorMaker 1 dropped what the target refused; here its partition stops "
            "and is named, the others go on (airmirror resume FLOW --skip-to leaves it out, on record)"
        )
    if flags.rebalance_listener:
        yield f"--consumer.rebalance.listener {flags.rebalance_listener}: has no effect, there is no rebalancing here"
    if _RESET not in files.consumer:
        yield f"{_RESET} is not set: topics without a committed offset begin at their end, as with MirrorMaker 1"
