"""`make demo`: two clusters and Airflow on this machine, with a shop's data, replicating both ways."""
