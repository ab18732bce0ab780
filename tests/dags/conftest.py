"""Where Airflow keeps its things while Dags are parsed in this process; before anything imports Airflow."""

from __future__ import annotations

import os
import tempfile

os.environ.setdefault("AIRFLOW_HOME", tempfile.mkdtemp(prefix="airmirror-tests-"))
os.environ["AIRFLOW__CORE__LOAD_EXAMPLES"] = "False"
