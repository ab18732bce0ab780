"""What leader epochs say of a log, for every way in which it can have changed."""

from __future__ import annotations

import pytest

from mirror.copy import witness  # not its names: pytest would take them for tests

# The newest copied record stood at offset 19 and was written in epoch 4.
WITNESS, EPOCH = 19, 4

SAME, TRUNCATED = witness.Testimony.SAME, witness.Testimony.TRUNCATED
SILENT, UNCLEAR = witness.Testimony.SILENT, witness.Testimony.UNCLEAR


@pytest.mark.parametrize(
    ("epochs", "first_look", "last_look"),
    [
        pytest.param([(19, 4)], SAME, SAME, id="it stands there"),
        pytest.param([(19, 4), (20, 5)], SAME, SAME, id="it stands there, and leaders changed since"),
        pytest.param([(19, 5)], TRUNCATED, TRUNCATED, id="another leader wrote at its offset"),
        pytest.param([(19, 3)], TRUNCATED, TRUNCATED, id="an older leader wrote at its offset"),
        pytest.param([(24, 4)], SAME, SAME, id="compacted away, its epoch goes on behind it"),
        pytest.param([(24, 3)], TRUNCATED, TRUNCATED, id="an older epoch behind it"),
        pytest.param([(24, 5)], UNCLEAR, SILENT, id="gone, a newer epoch behind it"),
        pytest.param([], UNCLEAR, SILENT, id="nothing is left"),
        pytest.param([(12, 2), (17, 4), (24, 5)], UNCLEAR, SILENT, id="gone, what is left before it is old"),
        pytest.param([(12, 2), (17, 5), (24, 5)], TRUNCATED, TRUNCATED, id="gone, a newer epoch before it"),
        pytest.param([(12, 2), (17, 3), (19, 4)], SAME, SAME, id="a past of several leaders"),
        pytest.param([(12, 5), (19, 4)], TRUNCATED, TRUNCATED, id="epochs never fall: this is no log of ours"),
    ],
)
def test_the_epochs_around_the_witness_tell_whether_the_log_is_the_one_that_was_copied(
    epochs: list[tuple[int, int]], first_look: witness.Testimony, last_look: witness.Testimony
) -> None:
    assert witness.testify(epochs, WITNESS, EPOCH, last_word=False) is first_look
    assert witness.testify(epochs, WITNESS, EPOCH, last_word=True) is last_look
