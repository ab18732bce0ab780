"""An operation as a person does it in Airflow's pages: the form, the plan, the approval, the report."""

from __future__ import annotations

import urllib.parse
from pathlib import Path

import pytest

from dags.airflow_world import AirflowWorld, wait_until
from dags.browser import MISSING, Browser, is_there
from dags.operating import read_the_plan
from dags.rehearsed import GROUPS, UNCOPIED
from mirror.config import Flow

pytestmark = [
    pytest.mark.long("a person's pace in a real browser"),
    pytest.mark.skipif(not is_there(), reason=MISSING),
]

DAG = "mirror.drill"
FORM = "//*[@role='dialog'][.//*[text()='Run Parameters']]"


def test_form_plan_approval_and_report_in_a_real_browser(
    airflow_world: AirflowWorld, rehearsed: Flow, tmp_path: Path
) -> None:
    airflow = airflow_world.airflow
    wait_until(lambda: DAG in airflow_world.rest.dags(), "the Dag of the drill")
    with Browser(airflow.url, tmp_path) as browser:
        browser.log_in("admin", airflow.passwords["admin"])
        run = fill_in_the_form(browser, rehearsed, f"{airflow_world.prefix}-({'|'.join(GROUPS)})")
        wait_until(lambda: airflow_world.states(DAG, run)["approve"] == "awaiting_input", "the plan to be approved")
        browser.open(f"/dags/{DAG}/runs/{run}/tasks/approve/required_actions")
        browser.see("//button[normalize-space()='Approve']")
        for seen in (f"Drill of {rehearsed.id}: the plan", *(airflow_world.topic(group) for group in GROUPS)):
            assert seen in browser.text
        browser.picture("the plan")
        read_the_plan()
        browser.click("//button[normalize-space()='Approve']")
        assert airflow_world.rest.wait_run(DAG, run, 240) == "success", airflow_world.states(DAG, run)
        assert set(airflow_world.states(DAG, run).values()) == {"success"}
        browser.open(f"/dags/{DAG}/runs/{run}/tasks/drill/details")
        link = browser.see("//a[normalize-space()='Report']")
        browser.picture("the task and its link")
        assert urllib.parse.quote(run, safe="") in str(link.get_attribute("href"))
        link.click()
        browser.see("//h1")
        for seen in (f"Failover drill of {rehearsed.id}: passed", f"up to {UNCOPIED} records would have been lost"):
            assert seen in browser.text
        browser.picture("the report")
    assert len(list(tmp_path.glob("*.png"))) == 5


def fill_in_the_form(browser: Browser, flow: Flow, groups: str) -> str:
    """Trigger a run as a person does; gives its id."""
    browser.open(f"/dags/{DAG}")
    browser.click("//button[contains(., 'Trigger')]")
    browser.see(FORM)
    # A flow has no default: no form can be sent by mistake.
    assert not browser.see(f"{FORM}//button[contains(., 'Trigger')]").is_enabled()
    browser.see(f"{FORM}//input[@role='combobox']").send_keys(flow.source)
    browser.click(f"//*[@role='option'][contains(., '{flow.id}')]")
    browser.see("//*[@id='element_groups']").send_keys(groups)
    browser.picture("the form")
    browser.click(f"{FORM}//button[contains(., 'Trigger')]")
    wait_until(lambda: "/runs/manual__" in browser.driver.current_url, "the page of the new run")
    browser.see("//*[starts-with(normalize-space(), '3 Task Instances')]")
    browser.picture("the run")
    return urllib.parse.unquote(browser.driver.current_url.split("/runs/")[1].split("/")[0].split("?")[0])
