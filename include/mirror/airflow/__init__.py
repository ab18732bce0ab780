"""Flows as Dags. What is imported here when a Dag file is parsed knows neither Spark's nor Kafka's library."""

from mirror.airflow.connections import look_up
from mirror.config.providers import ask_for_connections

# Said here, so that whatever a task imports first, `${airflow:...}` is answered; asks nobody yet.
ask_for_connections(look_up)
