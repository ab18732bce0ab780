"""Flows as Dags. What is imported here when a Dag file is parsed knows neither Spark's nor Kafka's library."""
