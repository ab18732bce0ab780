"""The Dags of failover, failback, drill and verify, for every enabled flow in mm2.properties."""

from airflow.sdk import get_parsing_context

from mirror.airflow.operation_dags import operation_dags
from mirror.config import load

# A task's own start wants only its Dag; everybody else asks for none in particular and gets them all.
for dag in operation_dags(load(), only=get_parsing_context().dag_id):
    globals()[dag.dag_id] = dag
