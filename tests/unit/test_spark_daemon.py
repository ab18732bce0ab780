"""PySpark's zip gives way to the installed package that it lies in, and to no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from mirror.spark_daemon import without_zips_of_installed


@pytest.fixture
def zip_(tmp_path: Path) -> Path:
    """The zip inside a package, as pip installs it."""
    package = tmp_path / "site-packages" / "pyspark"
    (package / "python" / "lib").mkdir(parents=True)
    (package / "__init__.py").touch()
    return package / "python" / "lib" / "pyspark.zip"


def test_the_zip_of_the_installed_package_is_left_out(zip_: Path) -> None:
    site_packages = str(zip_.parents[3])
    py4j = str(zip_.with_name("py4j-0.10.9.9-src.zip"))
    assert without_zips_of_installed([str(zip_), py4j, "/work", site_packages]) == [py4j, "/work", site_packages]


def test_the_zip_stays_where_python_would_find_another_package_or_none(zip_: Path) -> None:
    path = [str(zip_), "/elsewhere/site-packages"]
    assert without_zips_of_installed(path) == path


def test_the_zip_of_a_spark_that_is_no_package_stays(tmp_path: Path) -> None:
    path = [str(tmp_path / "spark" / "python" / "lib" / "pyspark.zip"), str(tmp_path)]
    assert without_zips_of_installed(path) == path
