"""Own classes and functions are found beside the file, loaded when needed, and refused in words."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from flow_files import flow_from, write_file
from mirror import custom
from mirror.config import Flow, load
from mirror.errors import ConfigurationRefused
from mirror.filters import group_judge, settings_filter, topic_judge
from mirror.shipping import own_code
from mirror.topics.settings import settings_rule

LOUD = "import pyspark_is_not_here_at_parse_time\n"


def flow_with(directory: Path, code: str, lines: str, *, module: str = "acme.py") -> Flow:
    """A flow whose file has this module beside it."""
    path = directory / module
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(code)
    return flow_from(directory, lines)


EVEN = """
class Even:
    def configure(self, properties):
        self.only = properties["topic.filter.only"]
    def should_replicate_topic(self, topic):
        return topic.startswith(self.only)
"""


def test_a_class_beside_the_file_is_found_configured_and_named_as_the_reason(tmp_path: Path) -> None:
    flow = flow_with(tmp_path, EVEN, "topic.filter.class = acme:Even\nA->B.topic.filter.only = or\n")
    judge = topic_judge(flow)
    assert judge.judge("orders") == (True, "taken by topic.filter.class = acme:Even")
    assert judge.judge("payments") == (False, "left out by topic.filter.class = acme:Even")


def test_reading_the_file_runs_nothing_of_the_users(tmp_path: Path) -> None:
    flow = flow_with(tmp_path, LOUD, "topic.filter.class = acme.inner.deep:X\n", module="acme/inner/deep.py")
    assert str(tmp_path) not in sys.path
    assert not any(name.startswith("acme") for name in sys.modules)
    with pytest.raises(ConfigurationRefused, match="pyspark_is_not_here_at_parse_time"):
        topic_judge(flow)


@pytest.mark.parametrize(
    ("code", "path", "why"),
    [
        ("", "acme:Missing", "acme.py has no Missing"),
        ("raise RuntimeError('no licence')", "acme:X", "RuntimeError: no licence"),
        ("def broken(:", "acme:X", "SyntaxError"),
        ("class X: pass", "acme:X", "it lacks should_replicate_topic"),
        ("class X:\n  should_replicate_topic = len\n  def configure(self, p): raise ValueError('expected acme.key')",
         "acme:X", "expected acme.key"),
        ("from mirror.filters import TopicFilter\nclass X(TopicFilter): pass", "acme:X", "it lacks should_replicate"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_with_the_option_the_reason_and_the_document(
    tmp_path: Path, code: str, path: str, why: str
) -> None:
    flow = flow_with(tmp_path, code, f"topic.filter.class = {path}\n")
    with pytest.raises(ConfigurationRefused, match=r"topic\.filter\.class = acme") as refused:
        topic_judge(flow)
    assert why in refused.value.message
    assert custom.DOCUMENT in refused.value.next_step
    assert (Path(__file__).parents[2] / custom.DOCUMENT).is_file()


def test_all_classes_that_are_not_there_are_told_with_the_files_other_problems(tmp_path: Path) -> None:
    lines = """replication.policy.class = com.acme.Policy
topic.filter.class = acme.filters:Topics
A->B.group.filter.class = com.acme.GroupFilter
config.property.filter.class = Nothing
forwarding.admin.class = org.apache.kafka.clients.admin.KafkaAdminClient
tasks.max = many
"""
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "__init__.py").touch()
    with pytest.raises(ConfigurationRefused) as refused:
        load(write_file(tmp_path, lines))
    told = refused.value.about["problems"]
    assert len(told) == 6
    for part in (
        "mirror.naming.ReplicationPolicy",
        "no module acme.filters beside this file",
        "mirror.filters.GroupFilter",
        "mirror.filters.ConfigPropertyFilter",
        "mirror.kafka.forwarding.ForwardingAdmin",
    ):
        assert sum(part in line and custom.DOCUMENT in line for line in told) == 1


@pytest.mark.parametrize(
    "lines",
    [
        "topic.filter.class = org.apache.kafka.connect.mirror.DefaultTopicFilter",
        "topic.filter.class = class org.apache.kafka.connect.mirror.DefaultTopicFilter",
        "group.filter.class = DefaultGroupFilter",
        "config.property.filter.class = org.apache.kafka.mirror.DefaultConfigPropertyFilter",
        "forwarding.admin.class = org.apache.kafka.clients.admin.ForwardingAdmin",
        "replication.policy.class = org.apache.kafka.connect.mirror.DefaultReplicationPolicy",
    ],
)
def test_mm2s_own_names_mean_the_built_in_ones(tmp_path: Path, lines: str) -> None:
    flow = flow_from(tmp_path, lines)
    assert [*custom.own_paths(flow)] == []
    assert topic_judge(flow).judge("orders") == (True, "matches topics `.*`")
    assert group_judge(flow).judge("connect-x")[0] is False
    assert settings_filter(flow).should_replicate_config_property("retention.ms")


def test_an_own_filter_of_settings_decides_on_settings_and_on_defaults(tmp_path: Path) -> None:
    code = """
from mirror.filters import ConfigPropertyFilter
class OnlyRetention(ConfigPropertyFilter):
    def should_replicate_config_property(self, name):
        return name.startswith("retention.")
    def should_replicate_source_default(self, name):
        return name == "retention.ms"
"""
    rule = settings_rule(flow_with(tmp_path, code, "config.property.filter.class = acme:OnlyRetention\n"))
    assert [rule.is_excluded(name) for name in ("retention.ms", "segment.ms")] == [False, True]
    assert [rule.takes_default(name) for name in ("retention.ms", "retention.bytes")] == [True, False]


def test_own_options_of_own_classes_are_no_unknown_options(tmp_path: Path) -> None:
    lines = (
        "topic.filter.only = a\nA->B.forwarding.admin.url = b\ngroup.filter.team = c\nconfig.property.filter.x = d\n"
    )
    configuration = load(write_file(tmp_path, lines))
    assert configuration.warnings == ()
    assert configuration.flow("A->B").raw["topic.filter.only"] == "a"


@pytest.mark.parametrize(
    ("files", "path", "expected"),
    [
        (["acme.py", "beside.py"], "acme:X", {"acme.py"}),
        (
            ["acme/__init__.py", "acme/in/x.py", "acme/words.txt", "acme/__pycache__/x.pyc"],
            "acme.in.x:X",
            {"acme/__init__.py", "acme/in/x.py", "acme/words.txt"},
        ),
        (["acme/x.py"], "acme.x:X", {"acme/x.py"}),
        (["acme/x.py", "acme/fast.abi3.so"], "acme.x:X", None),
        ([], "collections:OrderedDict", None),
        ([], "mirror.naming:LegacyPolicy", None),
    ],
)
def test_a_job_gets_the_whole_package_or_the_one_module(
    tmp_path: Path, files: list[str], path: str, expected: set[str] | None
) -> None:
    import zipfile

    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    shipped = own_code(flow_from(tmp_path, f"replication.policy.class = {path}\n"), tmp_path)
    if expected is None:
        assert shipped == ()
    else:
        (archive,) = shipped
        assert {name for name in zipfile.ZipFile(archive).namelist() if not name.endswith("/")} == expected


def test_code_that_came_in_a_zip_is_shipped_as_that_zip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import zipfile

    brought = tmp_path / "brought.zip"
    with zipfile.ZipFile(brought, "w") as archive:
        archive.writestr("acme_brought.py", "class X: pass\n")
    monkeypatch.syspath_prepend(str(brought))
    flow = flow_from(tmp_path, "replication.policy.class = acme_brought:X\n")
    assert own_code(flow, tmp_path) == (brought,)
