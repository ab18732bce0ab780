"""`airmirror config`: each effective value and the line it came from, secrets masked."""

from __future__ import annotations

import argparse
import json
from typing import Any

from mirror.cli.arguments import add_command, add_flow_argument, add_json_argument, chosen_flows, load_configuration
from mirror.cli.tables import print_table
from mirror.config import Configuration, Flow, Notice
from mirror.config import options as opt
from mirror.config.clients import CLIENTS, ClientValue, client_values
from mirror.config.secrets import shown
from mirror.errors import PersonMustAct

HELP = "print each effective value and the line it came from"


def add_parser(commands: Any) -> None:
    parser = add_command(commands, "config", run, HELP, HELP)
    add_flow_argument(parser, optional=True)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    configuration = load_configuration(args)
    chosen = chosen_flows(configuration, args) if args.flow or configuration.enabled_flows else configuration.flows
    flows = [describe(flow) for flow in chosen]
    if args.json:
        print(json.dumps(_document(configuration, flows), indent=2))
        return 0
    for flow in flows:
        _print_flow(flow)
    _print_notices(configuration.notices)
    return 0


def _document(configuration: Configuration, flows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "file": str(configuration.path),
        "clusters": list(configuration.clusters),
        "flows": flows,
        "warnings": [str(notice) for notice in configuration.warnings],
        "notices": [str(notice) for notice in configuration.notices],
    }


def describe(flow: Flow) -> dict[str, Any]:
    """A flow's options, its clients' settings and what was found about them, fit to be shown."""
    return {
        "flow": flow.id,
        "enabled": flow.enabled,
        "options": [_option_row(flow, option) for option in opt.USED if option is not opt.CLUSTERS],
        "clients": {f"{side} {kind}": _client_rows(flow, side, kind) for side, kind in CLIENTS},
        "notices": [str(notice) for notice in flow.client_notices()],
    }


def _option_row(flow: Flow, option: opt.Option[Any]) -> dict[str, str]:
    return {"name": option.name, "value": shown(option.name, flow.text(option)), "from": str(flow.origin(option))}


def _client_rows(flow: Flow, side: Any, kind: Any) -> list[dict[str, str]]:
    try:
        values = client_values(flow, side, kind)
    except PersonMustAct as error:
        return [{"name": "cannot be used", "value": error.message, "java_option": "", "from": ""}]
    return [
        {
            "name": value.name,
            "value": _shown(value),
            "java_option": value.java_name,
            "from": "airmirror" if value.origin.is_default else str(value.origin),
        }
        for value in values
    ]


def _shown(value: ClientValue) -> str:
    """What a provider answered is not for the terminal: the expression is, unless something secret stands around it."""
    if value.expression:
        return shown(value.java_name, value.expression)
    return shown(value.name, str(value.value).lower() if isinstance(value.value, bool) else value.value)


def _print_flow(flow: dict[str, Any]) -> None:
    _print_rows(f"{flow['flow']}: options", ("option", "value", "from"), flow["options"])
    for client, rows in flow["clients"].items():
        _print_rows(f"{flow['flow']}: {client}", ("librdkafka", "value", "Java option", "from"), rows)
    for notice in flow["notices"]:
        print(f"notice: {notice}")


def _print_rows(title: str, headings: tuple[str, ...], rows: list[dict[str, str]]) -> None:
    dim = [row["from"] in ("default", "airmirror") for row in rows]
    print_table(title, headings, [list(row.values()) for row in rows], wrapped=("value",), dim=dim)


def _print_notices(notices: tuple[Notice, ...]) -> None:
    for notice in notices:
        print(f"notice: {notice}")
