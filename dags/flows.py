"""The Dags of every enabled flow in mm2.properties ($AIRMIRROR_CONFIG names another file)."""

from airflow.sdk import get_parsing_context

from mirror.airflow.flow_dags import dags_of
from mirror.config import load

# A task's own start wants only its Dag; everybody else asks for none in particular and gets them all.
for dag in dags_of(load(), only=get_parsing_context().dag_id):
    globals()[dag.dag_id] = dag
