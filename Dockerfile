# One image for Airflow and Spark: Python, Java, the pinned packages, the project.
FROM python:3.11-slim-bookworm

# Java for Spark; tini, so that a stopped container ends what it started; procps, because Spark's scripts call ps.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends openjdk-17-jre-headless procps tini \
 && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/airmirror
COPY requirements.txt requirements-docker.txt ./
RUN pip install --no-cache-dir --require-hashes -r requirements.txt -r requirements-docker.txt

COPY pyproject.toml README.md ./
COPY include/ include/
COPY dags/ dags/
COPY spark_jobs/ spark_jobs/
COPY docker/ docker/
# Editable, because the Spark job is found beside the package.
RUN pip install --no-cache-dir --no-deps -e . \
 && useradd --create-home --uid 50000 airmirror \
 && mkdir -p /opt/airflow /opt/spark/conf /opt/spark/work \
 && chown -R airmirror /opt/airflow /opt/spark

ENV AIRFLOW_HOME=/opt/airflow \
    AIRFLOW__CORE__DAGS_FOLDER=/opt/airmirror/dags \
    AIRFLOW__CORE__LOAD_EXAMPLES=False \
    AIRMIRROR_CONFIG=/etc/airmirror/mm2.properties \
    PYSPARK_PYTHON=/usr/local/bin/python \
    SPARK_CONF_DIR=/opt/spark/conf \
    SPARK_NO_DAEMONIZE=1
USER airmirror
ENTRYPOINT ["tini", "-g", "--", "/opt/airmirror/docker/entrypoint"]
CMD ["airmirror", "--help"]
