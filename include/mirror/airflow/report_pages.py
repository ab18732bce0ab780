"""The address of reports in Airflow's web server: open to whoever may read the Dag's results, and to nobody else.

What is imported here of Airflow is internal to it: an upgrade is tested by opening a report.
"""

from __future__ import annotations

from typing import Any

from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity
from airflow.api_fastapi.common.db.common import SessionDep
from airflow.api_fastapi.core_api.security import requires_access_dag
from airflow.models.xcom import XComModel
from fastapi import Depends, FastAPI, HTTPException
from fastapi.responses import HTMLResponse
from sqlalchemy import select

from mirror.airflow.operation_operators import HTML

# Nothing is fetched, nothing is run: a name in a report stays a name.
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, no-store",
}


def reports_app() -> FastAPI:
    """An application with the one page; its own documentation would stand open to everybody, so it has none."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    # The check reads `dag_id` from the address, as for Airflow's own routes.
    may_read = Depends(requires_access_dag("GET", DagAccessEntity.XCOM))

    @app.get("/reports/{dag_id}/{run_id}/{task_id}", dependencies=[may_read])
    def report(dag_id: str, run_id: str, task_id: str, session: SessionDep) -> HTMLResponse:
        page = _xcom(session, dag_id, run_id, task_id, HTML)
        if not isinstance(page, str):
            raise HTTPException(404, "this task has left no report: its log says why")
        return HTMLResponse(page, headers=_HEADERS)

    return app


def _xcom(session: Any, dag_id: str, run_id: str, task_id: str, key: str) -> Any:
    place = {"dag_id": dag_id, "run_id": run_id, "task_id": task_id, "key": key}
    wanted = [getattr(XComModel, name) == value for name, value in place.items()]
    found = session.execute(select(XComModel.value).where(*wanted)).first()
    return None if found is None else XComModel.deserialize_value(found)
