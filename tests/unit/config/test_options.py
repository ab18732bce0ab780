"""The option table against what MM2 4.3.1's own classes define."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mirror.config import foreign
from mirror.config import options as opt
from mirror.config.options import Option, Status, default_text

GOLDEN: dict[str, dict[str, str]] = json.loads((Path(__file__).parent / "data" / "mm2-4.3.1-options.json").read_text())[
    "options"
]
SECURITY = {"security.protocol"}  # a client's option: see client_options
# MM2's definition says true; its driver writes false into every flow that does not set it, and so do we.
DRIVER_DEFAULTS = {"enabled": "false"}
TYPES = {
    "BOOLEAN": {"boolean"},
    "INT": {"int"},
    "SHORT": {"short"},
    "LONG": {"long"},
    "LIST": {"list", "list of names and regexes"},
    "CLASS": {"class"},
    "STRING": {"string", "enum"},
}


def golden_default(name: str) -> str:
    text = DRIVER_DEFAULTS.get(name, GOLDEN[name]["default"]).removeprefix("class ")
    if GOLDEN[name]["type"] == "LIST":
        text = text.removeprefix("[").removesuffix("]")
    return "" if text in ("null", "<required>") else text


@pytest.mark.parametrize("name", sorted(GOLDEN.keys() - SECURITY))
def test_every_option_of_mm2_is_known_with_its_type_and_default(name: str) -> None:
    option = foreign.BY_NAME[name]
    assert option.type.label in TYPES[GOLDEN[name]["type"]]
    assert default_text(option) == golden_default(name)
    assert option.status in (Status.USED, Status.NO_EFFECT)


def test_no_name_stands_twice_in_the_table() -> None:
    names = [option.name for option in foreign.TABLE]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("option", foreign.TABLE, ids=lambda option: option.name)
def test_every_option_has_help_and_a_default_of_its_own_type(option: Option[Any]) -> None:
    assert option.help.strip()
    if default_text(option) and option is not opt.CLUSTERS:
        assert option.type.parse(default_text(option)) == option.default


def test_our_own_options_are_those_of_the_contract() -> None:
    own = {o.name: default_text(o) for o in opt.USED if o.name.startswith("airmirror.")}
    assert own == {
        "airmirror.acls.prune": "false",
        "airmirror.copy.schedule": "* * * * *",
        "airmirror.copy.window.seconds": "0",
        "airmirror.copy.max.bytes.per.second": "0",
        "airmirror.copy.commit.interval.ms": "2000",
        "airmirror.copy.commit.bytes": "67108864",
        "airmirror.copy.slots.max": "",
        "airmirror.drill.schedule": "",
        "airmirror.flow.id": "",
        "airmirror.start": "",
        "airmirror.on.gap": "continue",
        "airmirror.on.recreated": "fail",
        "airmirror.on.foreign.data": "fail",
        "airmirror.claim.renew.seconds": "5",
        "airmirror.transaction.timeout.ms": "60000",
        "airmirror.segments.max": "256",
        "airmirror.record.function": "",
        "airmirror.verify.newest": "1000000",
        "airmirror.verify.schedule": "",
        "airmirror.provenance.headers": "false",
    }
