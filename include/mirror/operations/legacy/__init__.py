"""MirrorMaker 1's files and flags, as a configuration of today, and run by the same engine as every flow."""

from mirror.operations.legacy.files import LegacyFiles, LegacyFlags, read_files
from mirror.operations.legacy.run import run_legacy
from mirror.operations.legacy.takeover import TakenOver, take_over
from mirror.operations.legacy.translation import Translated, translate

__all__ = [
    "LegacyFiles",
    "LegacyFlags",
    "TakenOver",
    "Translated",
    "read_files",
    "run_legacy",
    "take_over",
    "translate",
]
