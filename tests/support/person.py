# SPDX-License-Identifier: Apache-2.0
"""A person with a real browser: opens pages, clicks, types, and counts clicks.

The browser is Debian's chromium without a window. ``faults`` judges a page
with axe-core; ``console`` and ``requests`` tell what the page did. Selenium is
imported when a person is made: only tests with a browser need it.
"""

import base64
import importlib
import json
import os
import pathlib
import shutil
import time
import typing
from collections.abc import Callable

AXE = pathlib.Path(
    os.environ.get('COMPUTE_AGENT_AXE')
    or pathlib.Path(__file__).parents[2] / '.servers/axe-core/axe.min.js'
)
WIDTH, HEIGHT = 1280, 900
_PATIENCE = 60
_ARGUMENTS = (
    '--headless=new',
    '--no-sandbox',  # of root, in a machine of its own
    '--disable-dev-shm-usage',
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-component-update',
    '--no-first-run',
    '--hide-scrollbars',
)


class Person:
    """Somebody at a browser.

    :param profile: the folder of the browser's profile
    :ivar clicks: the clicks, and the Enters that stand for one
    """

    def __init__(self, profile: pathlib.Path) -> None:
        os.environ['SE_AVOID_STATS'] = 'true'
        webdriver: typing.Any = importlib.import_module('selenium.webdriver')
        service = importlib.import_module('selenium.webdriver.chrome.service')
        self._by = importlib.import_module('selenium.webdriver.common.by').By
        self._keys = importlib.import_module(
            'selenium.webdriver.common.keys'
        ).Keys
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which('chromium')
        for argument in (*_ARGUMENTS, f'--user-data-dir={profile}'):
            options.add_argument(argument)
        options.set_capability(
            'goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'}
        )
        self.browser = webdriver.Chrome(
            options=options,
            service=service.Service(shutil.which('chromedriver')),
        )
        self.browser.set_page_load_timeout(_PATIENCE)
        self.browser.set_script_timeout(_PATIENCE)
        self.clicks = 0
        self.look()
        self.open('about:blank')
        self.requests()  # those of the browser's own first page

    def close(self) -> None:
        """End the browser."""
        self.browser.quit()

    # --- what the person does --------------------------------------------------

    def open(self, url: str) -> None:
        """Open an address."""
        self.browser.get(url)

    def look(self, *, zoom: float = 1.0, dark: bool = False) -> None:
        """Look at the pages larger or smaller, in a light or a dark room."""
        command = self.browser.execute_cdp_cmd
        command(
            'Emulation.setDeviceMetricsOverride',
            {
                'width': round(WIDTH / zoom),
                'height': round(HEIGHT / zoom),
                'deviceScaleFactor': zoom,
                'mobile': False,
            },
        )
        scheme = 'dark' if dark else 'light'
        features = [{'name': 'prefers-color-scheme', 'value': scheme}]
        command('Emulation.setEmulatedMedia', {'features': features})

    def click(self, word: str) -> None:
        """Click a link, a button or a field by its words.

        A link and a button lead to another page: wait for it.
        """
        self.clicks += 1
        found = f'//a[normalize-space()="{word}"] | //button[.="{word}"]'
        fields = (
            f'//label[contains(., "{word}")]//*[self::input|self::textarea]'
        )
        links = self.browser.find_elements(self._by.XPATH, found)
        if links:
            self._leave(links[0].click)
        else:
            self.browser.find_element(self._by.XPATH, fields).click()

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.browser.switch_to.active_element.send_keys(text)

    def press(self, name: str, times: int = 1) -> None:
        """Press a key, such as ``TAB``."""
        for _ in range(times):
            key = getattr(self._keys, name)
            self.browser.switch_to.active_element.send_keys(key)

    def enter(self) -> None:
        """Press Enter, and wait for the page that follows."""
        self._leave(lambda: self.press('ENTER'))

    def tab_to(self, word: str) -> None:
        """Press Tab until what has these words has the focus."""
        for _ in range(60):
            self.press('TAB')
            focus = self.browser.switch_to.active_element
            label = self.browser.execute_script(
                'return (arguments[0].labels || [{}])[0]?.innerText || ""',
                focus,
            )
            if word == focus.text.strip() or word in label:
                return
        raise AssertionError(f'Tab never reaches {word}')

    def _leave(self, act: Callable[[], object]) -> None:
        """Do what leads to another page, and wait until that one is there.

        The browser may begin to leave the page only after it has answered.
        """
        script = self.browser.execute_script
        script('document.documentElement.dataset.left = "yes"')
        act()
        end = time.monotonic() + _PATIENCE
        while script(
            'return document.readyState !== "complete"'
            ' || document.documentElement.dataset.left === "yes"'
        ):
            assert time.monotonic() < end, 'no page follows'

    # --- what the person sees --------------------------------------------------

    @property
    def text(self) -> str:
        """All that is written on the page."""
        return str(self.browser.find_element(self._by.TAG_NAME, 'body').text)

    @property
    def title(self) -> str:
        """The page's title."""
        return str(self.browser.title)

    def rows(self) -> list[str]:
        """Return the first cell of each row of the first table."""
        cells = self.browser.find_elements(
            self._by.CSS_SELECTOR, 'table:first-of-type tbody th'
        )
        return [cell.text for cell in cells]

    def cells(self, word: str) -> list[str]:
        """Return the other cells of the row that begins with this word."""
        path = f'//tbody/tr[normalize-space(th)="{word}"]/td'
        found = self.browser.find_elements(self._by.XPATH, path)
        return [cell.text for cell in found]

    def overflow(self) -> int:
        """Return how many pixels the page is wider than the window."""
        return int(
            self.browser.execute_script(
                'return document.documentElement.scrollWidth'
                ' - document.documentElement.clientWidth'
            )
        )

    def picture(self) -> bytes:
        """Return the window as a picture (WebP)."""
        found = self.browser.execute_cdp_cmd(
            'Page.captureScreenshot', {'format': 'webp', 'quality': 70}
        )
        return base64.b64decode(found['data'])

    # --- what the page does ----------------------------------------------------

    def faults(self) -> list[str]:
        """Return the serious faults of accessibility that axe-core finds."""
        self.browser.execute_script(AXE.read_text())
        found = self.browser.execute_async_script(
            'axe.run(document).then(arguments[0])'
        )
        return [
            f'{one["id"]}: {one["help"]}: {node["html"]}'
            for one in found['violations']
            if one['impact'] in {'serious', 'critical'}
            for node in one['nodes']
        ]

    def console(self) -> list[str]:
        """Return what the browser's console says since the last call."""
        return [entry['message'] for entry in self.browser.get_log('browser')]

    def requests(self) -> list[str]:
        """Return the addresses that were asked since the last call."""
        found = []
        for entry in self.browser.get_log('performance'):
            message = json.loads(entry['message'])['message']
            if message['method'] == 'Network.requestWillBeSent':
                found.append(str(message['params']['request']['url']))
        return found
