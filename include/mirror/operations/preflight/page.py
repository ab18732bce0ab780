"""The page docs/permissions.md, made from the table.

python -m mirror.operations.preflight.page > docs/permissions.md
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from mirror.config import Flow, load
from mirror.config.flows import Side
from mirror.operations.preflight.for_operations import OPERATIONS
from mirror.operations.preflight.rights import Right, Row, operation_word
from mirror.operations.preflight.table import TABLE, rights_of

PRINCIPAL = "User:airmirror"

_EXAMPLE = """clusters = A, B
A.bootstrap.servers = a.example:9092
B.bootstrap.servers = b.example:9092
A->B.enabled = true
A->B.topics = orders.*, payments
A->B.sync.group.offsets.enabled = true
"""

_HEAD = """# Rights that airmirror needs

On clusters that check rights, airmirror's principal needs what these tables list, and nothing else. `airmirror
preflight FLOW` checks every line and prints the command for each one that is missing. This page is made from the code's
own table (`python -m mirror.operations.preflight.page > docs/permissions.md`); a test runs a whole flow with exactly
these rights, then takes each away and sees that preflight names it.

Kafka's rules keep the list short: READ, WRITE and ALTER bring DESCRIBE with them, and ALTER_CONFIGS brings
DESCRIBE_CONFIGS. A is the source's alias, B the target's. `task` names the tasks of the Dags; the commands `topics`,
`copy`, `groups` and `heartbeats` need the same. Super users, and clusters without an authorizer, need none of it.
"""

_TAIL = """
## What preflight can see, and how

- Rights on topics and groups that exist, and on the clusters, are asked of the brokers. The answer counts super users,
  prefixes and DENY.
- The right to create topics is tried with a request that only validates. The right to a transactional id is tried by
  initialising an id that nobody writes with (`airmirror-A->B-airmirror-preflight`): no broker tells it.
- Rights on what does not exist yet are read from the ACLs, if the principal may list them (DESCRIBE on the cluster) and
  the file names it (`sasl.jaas.config`). Otherwise the result is `unknown`, with the reason.
- A topic that the principal may not describe is in no list of topics. preflight still asks about the names that the
  file spells out, those that were copied before, and those that ACLs mention.
- Where a right to create is missing but the topic is there, that is a warning: whoever makes topics by hand spares it.

## Not needed, but used where it is there

- DESCRIBE_CONFIGS on a cluster: reads the brokers' `message.max.bytes`, so that a remote topic is not given an explicit
  limit it does not need, and whether there is an authorizer at all. Without it Kafka's defaults are assumed.
- IDEMPOTENT_WRITE on the target cluster: only brokers before 2.8 ask for it.

## What the rights do not allow

No right to delete anything, and none to write to the source but where a line of the tables says so
(`offset-syncs.topic.location = source`). The heartbeat of pair B->A is written on A: it belongs to flow B->A, and
`airmirror preflight 'B->A'` lists its rights; `B->A.emit.heartbeats.enabled = false` keeps A untouched.
"""


def render() -> str:
    """The whole page."""
    return "".join((_HEAD, *_table("source"), *_table("target"), *_operations(), *_commands(), _TAIL))


def _table(side: Side) -> Iterator[str]:
    yield f"\n## On the {side}\n\n| right | on | why | task | not needed with |\n|---|---|---|---|---|\n"
    for row in TABLE:
        if row.side == side:
            tasks = ", ".join(f"`{task}`" for task in row.tasks)
            yield f"| {row.operation} | {row.where} | {row.why} | {tasks} | {_spared(row)} |\n"


def _operations() -> Iterator[str]:
    yield (
        "\n## For operations\n\n"
        "A flow runs without these. `verify` needs no more than the flow; `failback` needs the rights of flow B->A.\n\n"
        "| command | right | on | side | why |\n|---|---|---|---|---|\n"
    )
    for row in OPERATIONS:
        yield f"| `{row.tasks[0]}` | {row.operation} | {row.where} | {row.side} | {row.why} |\n"


def _spared(row: Row) -> str:
    words = [f"`{row.spared_by}`"] if row.spared_by and " = " in row.spared_by else [row.spared_by]
    if row.need == "unless made":
        words.append("the topic made by hand")
    return ", ".join(word for word in words if word)


def _commands() -> Iterator[str]:
    yield (
        f"\n## As commands\n\nFor this file, where MM2 has not run before:\n\n```properties\n{_EXAMPLE}```\n\n```sh\n"
    )
    flow = _example()
    asked = [right for right in rights_of(flow) if right.need != "if met"]
    for side, alias in (("source", flow.source), ("target", flow.target)):
        yield f"# on {alias}\n"
        yield from _script([right for right in asked if right.side == side], f"{alias.lower()}.example:9092")
    yield "```\n"


def _script(rights: Iterable[Right], servers: str) -> Iterator[str]:
    """One command per resource, with all operations on it."""
    by_resource = sorted(rights, key=lambda right: right.resource)
    for resource, group in groupby(by_resource, key=lambda right: right.resource):
        operations = " ".join(f"--operation {operation_word(right.operation)}" for right in group)
        yield (
            f"kafka-acls.sh --bootstrap-server {servers} --add --allow-principal {PRINCIPAL} \\\n"
            f"  {operations} {resource.arguments}\n"
        )


def _example() -> Flow:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "mm2.properties"
        path.write_text(_EXAMPLE)
        return load(path).flow("A->B")


if __name__ == "__main__":
    sys.stdout.write(render())
