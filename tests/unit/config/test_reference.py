"""The reference page says what the tables say."""

from __future__ import annotations

from pathlib import Path

from mirror.config.reference import render

PAGE = Path(__file__).parents[3] / "docs" / "configuration.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == render(), "run: python -m mirror.config.reference > docs/configuration.md"
