"""Connect's Filters are understood by their MM2 option names; whatever cannot run is refused, all of it at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from mirror.config import Configuration
from mirror.config.configuration import parse
from mirror.config.transforms import FilterRule, PredicateRule, Question, filters_of
from mirror.errors import ConfigurationRefused

HEAD = "clusters = A, B\nA.bootstrap.servers = a:1\nB.bootstrap.servers = b:1\nA->B.enabled = true\n"
SMT = "org.apache.kafka.connect.transforms"
TOMBSTONES = f"""
A->B.transforms = drop
A->B.transforms.drop.type = {SMT}.Filter
A->B.transforms.drop.predicate = gone
A->B.predicates = gone
A->B.predicates.gone.type = {SMT}.predicates.RecordIsTombstone
"""


def loaded(text: str) -> Configuration:
    return parse((HEAD + text).encode(), Path("mm2.properties"))


def filters(text: str) -> tuple[FilterRule, ...]:
    return filters_of(loaded(text).flow("A->B"))


def problems_of(text: str) -> list[str]:
    with pytest.raises(ConfigurationRefused) as caught:
        loaded(text)
    found: list[str] = caught.value.about["problems"]
    return found


def test_a_chain_of_filters_is_read_in_its_order() -> None:
    text = f"""
        transforms = keepOrders, noTests
        predicates = isOrders, isTest
        transforms.keepOrders.type = {SMT}.Filter
        transforms.keepOrders.predicate = isOrders
        transforms.keepOrders.negate = TRUE
        transforms.noTests.type = Filter
        transforms.noTests.predicate = isTest
        predicates.isOrders.type = {SMT}.predicates.TopicNameMatches
        predicates.isOrders.pattern = A\\\\.orders.*
        predicates.isTest.type = HasHeaderKey
        predicates.isTest.name = test
    """
    first = FilterRule(
        name="keepOrders", predicate=PredicateRule(question=Question.TOPIC, argument=r"A\.orders.*"), negate=True
    )
    second = FilterRule(name="noTests", predicate=PredicateRule(question=Question.HEADER, argument="test"))
    assert filters(text) == (first, second)


def test_each_flow_has_its_own_filters_and_those_of_the_top_level() -> None:
    both = loaded(TOMBSTONES + "B->A.enabled = true\n")
    assert len(filters_of(both.flow("A->B"))) == 1
    assert filters_of(both.flow("B->A")) == ()
    everywhere = loaded(TOMBSTONES.replace("A->B.", "") + "B->A.enabled = true\n")
    assert filters_of(everywhere.flow("A->B")) == filters_of(everywhere.flow("B->A")) != ()
    assert any("MM2 drops it here and wants A->B.transforms.drop.type" in str(n) for n in everywhere.notices)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("drop.type = " + SMT + ".Filter", ""), "A->B.transforms.drop.type: expected a class, such as"),
        ((SMT + ".Filter", SMT + ".RegexRouter"), "airmirror.record.function = package.module:function"),
        (("predicate = gone", "predicate = gonne"), 'listed in predicates, got "gonne"; did you mean gone?'),
        (("RecordIsTombstone", "IsEven"), "TopicNameMatches,HasHeaderKey,RecordIsTombstone"),
        (("RecordIsTombstone", "HasHeaderKey"), "A->B.predicates.gone.name: expected what HasHeaderKey looks for"),
        (("RecordIsTombstone", "TopicNameMatches"), "A->B.predicates.gone.pattern: expected what TopicNameMatches"),
        (("RecordIsTombstone", "TopicNameMatches\nA->B.predicates.gone.pattern = ["), "regular expression"),
        (("gone\nA", "gone\nA->B.transforms.drop.negate = no\nA"), 'expected true or false, got "no"'),
        (("drop.predicate = gone", "drop.negate = true"), "expected transforms.drop.predicate beside it"),
    ],
)
def test_a_chain_that_cannot_run_is_refused(change: tuple[str, str], said: str) -> None:
    assert change[0] in TOMBSTONES
    [problem] = problems_of(TOMBSTONES.replace(*change, 1))
    assert said in problem


def test_all_problems_of_a_chain_are_told_at_once() -> None:
    told = problems_of(
        f"""
        transforms = a, b, c
        transforms.a.type = {SMT}.InsertField$Value
        transforms.b.type = com.example.Own
        transforms.c.type = {SMT}.Filter
        transforms.c.predicate = p
        predicates = q
        airmirror.record.function = not a function
    """
    )
    keys = [problem.split(": ")[1] for problem in told]
    assert keys == [
        "transforms.a.type",
        "transforms.b.type",
        "transforms.c.predicate",
        "predicates.q.type",
        "airmirror.record.function",
    ]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (f"transforms = all\ntransforms.all.type = {SMT}.Filter", "all has no predicate and drops every record"),
        (TOMBSTONES + "A->B.transforms.drap.negate = true", "drap is not listed in transforms; ignored; did you mean"),
        (TOMBSTONES + "A->B.predicates.gone.pattern = x", "unknown option"),
        ("A.transforms.x.type = Filter", "has no effect for a cluster"),
    ],
)
def test_what_is_doubtful_is_told(lines: str, said: str) -> None:
    assert any(said in str(warning) for warning in loaded(lines).warnings)
