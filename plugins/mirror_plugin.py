"""What airmirror adds to Airflow's web server."""

from airflow.plugins_manager import AirflowPlugin

from mirror.airflow.report_pages import reports_app


class MirrorPlugin(AirflowPlugin):
    """The operations' reports."""

    name = "airmirror"
    fastapi_apps = [{"app": reports_app(), "url_prefix": "/airmirror", "name": "airmirror"}]  # noqa: RUF012 - Airflow's way
