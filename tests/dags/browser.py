"""A real browser without a window, as a person would use it, and pictures of what it showed."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import TracebackType

from selenium import webdriver
from selenium.common.exceptions import ElementClickInterceptedException, StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

DEADLINE_S = 120
MISSING = "no chromium here: apt-get install chromium chromium-driver"


def is_there() -> bool:
    return all(shutil.which(name) for name in ("chromium", "chromedriver"))


class Browser:
    """Chromium on one Airflow; every picture is kept in the given directory, numbered."""

    def __init__(self, url: str, pictures: Path) -> None:
        self.url = url
        self._pictures = pictures
        self._count = 0
        options = webdriver.ChromeOptions()
        options.binary_location = str(shutil.which("chromium"))
        # No sandbox: containers have no right to make one. Nothing but our own Airflow is opened.
        for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "no-proxy-server", "lang=en"):
            options.add_argument(f"--{argument}")
        options.add_argument("--window-size=1400,1100")
        # Named, so that selenium does not look for a driver on the network.
        self.driver = webdriver.Chrome(options=options, service=Service(str(shutil.which("chromedriver"))))
        self.driver.set_page_load_timeout(DEADLINE_S)

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.picture("when it failed")
        self.driver.quit()

    def picture(self, name: str) -> None:
        self._count += 1
        self.driver.save_screenshot(str(self._pictures / f"{self._count}-{name.replace(' ', '-')}.png"))

    def open(self, path: str) -> None:
        self.driver.get(self.url + path)

    def see(self, xpath: str) -> WebElement:
        """Wait until something that fits is on the page, and shown."""

        def shown(driver: webdriver.Chrome) -> WebElement | None:
            return next((found for found in driver.find_elements(By.XPATH, xpath) if found.is_displayed()), None)

        wait = WebDriverWait(self.driver, DEADLINE_S, ignored_exceptions=[StaleElementReferenceException])
        return wait.until(shown, f"not on the page in {DEADLINE_S} s: {xpath}")

    def click(self, xpath: str) -> None:
        """Click when it can be clicked; a page that is still moving is tried again."""

        def clicked(driver: webdriver.Chrome) -> bool:
            found = next((each for each in driver.find_elements(By.XPATH, xpath) if each.is_displayed()), None)
            if found is None or not found.is_enabled():
                return False
            found.click()
            return True

        moving = [StaleElementReferenceException, ElementClickInterceptedException]
        wait = WebDriverWait(self.driver, DEADLINE_S, ignored_exceptions=moving)
        wait.until(clicked, f"could not be clicked in {DEADLINE_S} s: {xpath}")

    def log_in(self, user: str, password: str) -> None:
        self.open("/")
        self.see("//input[@name='username']").send_keys(user)
        self.see("//input[@name='password']").send_keys(password)
        self.click("//button[@type='submit']")
        WebDriverWait(self.driver, DEADLINE_S).until(lambda driver: "/login" not in driver.current_url)

    @property
    def text(self) -> str:
        return str(self.driver.find_element(By.TAG_NAME, "body").text)
