"""Writes docs/configuration.md from the tables, so that the page cannot say anything else than the code does.

python -m mirror.config.reference > docs/configuration.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from mirror.config import client_options, foreign
from mirror.config import options as opt
from mirror.config.client_options import ClientOption
from mirror.config.options import Option, Status, default_text

_HEAD = """# Configuration

<!-- Made from the option tables by `python -m mirror.config.reference`; change it there. -->

One `mm2.properties`, as MirrorMaker 2 reads it, is the whole configuration. `airmirror --config FILE ...` or
`AIRMIRROR_CONFIG` names it; `airmirror config FLOW` prints every effective value and the line it came from.
Options that start with `airmirror.` are ours; MM2 ignores them, so one file serves both.

## The file

- Java's properties syntax: `key = value`, `#` or `!` begins a comment line, a backslash at a line's end continues it,
  and a backslash in a value is written twice (`orders\\\\.v[0-9]+`). Of a key that is set twice the last line counts.
- Quotes and comments behind a value are no syntax: MM2 reads them as part of the value. airmirror understands what was
  meant, and warns.
- `clusters` names the aliases. `ALIAS.x` is about one cluster, `A->B.x` about one flow, `x` about all flows;
  `A->B.x` wins over `x`.
- Flows exist between all pairs of clusters for heartbeats; those with `A->B.enabled = true` are replicated.
- A file with mistakes is refused whole, with every problem at once. Names that nobody knows are warnings, because MM2
  ignores them too.
- `${provider:path:key}` is kept as it is until the value is used: see [credentials.md](credentials.md). Only options
  that decide which flows and Dags there are must be written themselves.

## Clients

"""

_AFTER_FORMS = """Two options of the source's consumer are the copy's own: `auto.offset.reset` (`earliest` unless the
file says `latest`) decides where a partition without position begins, and `isolation.level` is `read_committed` unless
the file says otherwise.
"""

_FORMS = (
    ("`ALIAS.bootstrap.servers`, `ALIAS.security.protocol`, `ALIAS.ssl.*`, `ALIAS.sasl.*`",
        "every client of the cluster; without `ALIAS.`: of all clusters"),
    ("`ALIAS.consumer.x`, `ALIAS.producer.x`, `ALIAS.admin.x`",
        "the clients of one kind that talk to the cluster"),
    ("`A->B.consumer.x`, `A->B.producer.x`, `A->B.admin.x`",
        "clients of one flow, both sides; weaker than `ALIAS.consumer.x`, as in MM2"),
    ("`A->B.source.consumer.x`, `A->B.target.producer.x`, ...",
        "clients of one flow on one side; stronger"),
    ("`A->B.producer.override.x`, `A->B.admin.override.x`",
        "the target's producer and administrative client; strongest"),
)  # fmt: skip

_STORES = """[credentials.md](credentials.md) has an example of each, and what is said when one is wrong. Stores of all
three kinds are read when a client is made and become text (`ssl.ca.pem`, `ssl.certificate.pem`, `ssl.key.pem`), so that
Spark's executors need no file; what a store is, is told by its contents. `sasl.jaas.config` is read for its user name
and password (PLAIN, SCRAM), client id and secret (OAUTHBEARER), principal and keytab (GSSAPI, which needs a librdkafka
built with Kerberos).
"""


def render() -> str:
    """The whole page."""
    own = [option for option in opt.USED if option.name.startswith(opt.OWN_PREFIX)]
    mm2 = [option for option in opt.USED if option not in own]
    idle = [option for option in foreign.FOREIGN if option.status is Status.NO_EFFECT]
    gone = [option for option in foreign.FOREIGN if option.status is not Status.NO_EFFECT]
    parts = [
        _HEAD + _table(("written as", "counts for"), _FORMS) + "\n" + _AFTER_FORMS,
        "## MM2's options\n\nDefaults are those of MM2 4.3.\n\n" + _options(mm2),
        "## airmirror's options\n\n" + _options(own),
        "## Java client options\n\n" + _clients(),
        "## Security options\n\n" + _security() + "\n" + _STORES,
        "## Understood, without effect here\n\nThey belong to Kafka Connect, which airmirror does not run.\n\n"
        + _options(idle),
        "## Old names, and names that never were\n\n" + _gone(gone),
    ]
    return "\n".join(parts)


def _table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(headings)
    lines = [head, ["---"] * len(head), *(list(row) for row in rows)]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _options(options: Iterable[Option[Any]]) -> str:
    return _table(
        ("option", "type", "default", "where", "since", "meaning"),
        (
            (_code(o.name), o.type.label, _code(default_text(o)), _code(o.scope.value), o.since, o.help)
            for o in options
        ),
    )  # fmt: skip


def _clients() -> str:
    return _table(
        ("Java option", "clients", "librdkafka"),
        ((_code(o.name), ", ".join(o.kinds), _counterpart(o)) for o in client_options.OPTIONS),
    )


def _counterpart(option: ClientOption) -> str:
    return _code(option.target) if option.target else f"none: {option.why}"


def _security() -> str:
    def rows() -> Iterator[tuple[str, str]]:
        for name in client_options.SECURITY:
            yield _code(name), "used"
        for name, why in client_options.SECURITY_WITHOUT_COUNTERPART.items():
            yield _code(name), f"none: {why}"

    return _table(("Java option", "librdkafka"), rows())


def _gone(options: Iterable[Option[Any]]) -> str:
    return _table(
        ("option", "what became of it", "write instead"),
        ((_code(o.name), f"{o.status.value}. {o.help}", _code(o.instead)) for o in options),
    )


if __name__ == "__main__":
    sys.stdout.write(render())
