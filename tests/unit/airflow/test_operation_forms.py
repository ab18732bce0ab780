"""What an operation's form says becomes what the operation is asked for; what nobody could mean is refused."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flow_files import write_file
from mirror.airflow.operation_operators import Asked, Form
from mirror.airflow.operation_tasks import LISTED, _cut, verified, verify_arguments
from mirror.config import Configuration, load
from mirror.errors import ClusterUnreachable, UsageRefused, VerificationFailed

KNOWN = ("flow", "topics", "newest", "since", "approval")


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    return load(write_file(tmp_path, "airmirror.verify.newest = 500\n"))


def read(configuration: Configuration, **conf: Any) -> Asked:
    params = {"flow": "A->B", "topics": None, "newest": None, "since": None, "approval": False, **conf}
    context: Any = {"params": params, "dag_run": SimpleNamespace(conf=conf)}
    return Form("verify", configuration, configuration.enabled_flows, KNOWN).read(context)


def test_a_form_names_a_flow_and_knows_the_way_home(configuration: Configuration) -> None:
    asked = read(configuration, flow="A->B")
    assert (asked.flow.id, asked.home.id) == ("A->B", "B->A")


@pytest.mark.parametrize(
    ("conf", "words"),
    [
        pytest.param({"topic": "orders"}, "unknown params: topic; known: flow, topics", id="a mistyped name"),
        pytest.param({"flow": "B->A"}, "no enabled flow B->A", id="a flow that is not enabled"),
    ],
)
def test_what_nobody_could_mean_is_refused(configuration: Configuration, conf: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageRefused, match=words):
        read(configuration, **conf)


@pytest.mark.parametrize(
    ("conf", "arguments"),
    [
        pytest.param({}, ["--newest", "500"], id="as the file says"),
        pytest.param({"newest": 20}, ["--newest", "20"], id="so many"),
        pytest.param({"newest": 0}, [], id="everything"),
        pytest.param({"since": "2026-11-01T00:00:00+00:00"}, ["--since-ms", "1793491200000"], id="since"),
        pytest.param({"since": "2026-11-01T00:00:00"}, ["--since-ms", "1793491200000"], id="since, in UTC"),
        # As it was written, not as Python's regex that it became.
        pytest.param({"newest": 0, "topics": r"\Qa.b\E.*"}, ["--topics", r"\Qa.b\E.*"], id="topics"),
    ],
)
def test_a_verifications_form_becomes_its_jobs_arguments(
    configuration: Configuration, conf: dict[str, Any], arguments: list[str]
) -> None:
    assert verify_arguments(read(configuration, **conf)) == arguments


def test_two_ranges_at_once_are_refused(configuration: Configuration) -> None:
    with pytest.raises(UsageRefused, match="cannot both be said"):
        verify_arguments(read(configuration, newest=5, since="2026-11-01T00:00:00+00:00"))


def test_what_a_job_left_is_a_report_or_its_error() -> None:
    report = {
        "flow": "A->B",
        "scope": "everything that was copied",
        "equal": False,
        "records": 9,
        "differences": 2,
        "seconds": 1.5,
        "records_per_second": 6,
        "partitions": [],
        "partitions_not_listed": 0,
        "deviations": [{"part": "settings", "name": "A.orders", "what": "retention.ms is 1 here and 2 there"}],
        "nothing_to_compare": {},
        "notices": [],
    }
    shown = verified(report)
    assert isinstance(shown.error, VerificationFailed)
    assert "retention.ms is 1 here and 2 there" in shown.html
    assert verified({**report, "equal": True, "deviations": []}).error is None
    with pytest.raises(ClusterUnreachable, match="away"):
        verified(ClusterUnreachable("away").to_json())


def test_documents_for_airflows_database_are_short_and_say_what_they_leave_out() -> None:
    document = {"groups": [{"partitions": list(range(LISTED + 7))}] * (LISTED + 2), "flow": "A->B"}
    cut = _cut(document)
    assert (len(cut["groups"]), cut["groups_not_listed"], cut["flow"]) == (LISTED, 2, "A->B")
    assert (len(cut["groups"][0]["partitions"]), cut["groups"][0]["partitions_not_listed"]) == (LISTED, 7)
