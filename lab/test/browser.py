# SPDX-License-Identifier: MIT
"""A headless Chromium without network, and a page in it that a script inspects."""
import base64
import contextlib
import json
import os
import select
import subprocess
import tempfile
import time
from pathlib import Path

CHROMIUM = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--disable-background-networking",
            "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe"]
LIMIT = 240  # seconds for a window


class Browser:
    """Chromium, driven through its debugging pipe: messages of JSON that end with a zero byte."""

    def __init__(self, folder):
        there, self.out = os.pipe()
        self.into, here = os.pipe()

        def connect():
            os.dup2(there, 1003)
            os.dup2(here, 1004)
            os.dup2(1003, 3)
            os.dup2(1004, 4)
        self.process = subprocess.Popen([*CHROMIUM, f"--user-data-dir={folder}/profile"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        close_fds=False, preexec_fn=connect)
        os.close(there)
        os.close(here)
        self.number, self.rest, self.console = 0, b"", []

    def message(self):
        end = time.monotonic() + LIMIT
        while b"\0" not in self.rest:
            assert select.select([self.into], [], [], max(end - time.monotonic(), 0))[0], "no answer from the browser"
            read = os.read(self.into, 1 << 16)
            assert read, "the browser has ended"
            self.rest += read
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, session=None, **parameters):
        self.number += 1
        said = {"id": self.number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        os.write(self.out, json.dumps(said).encode() + b"\0")
        while True:
            got = self.message()
            if got.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                self.console.append(json.dumps(got["params"])[:600])
            if got.get("id") == self.number:
                assert "error" not in got, got
                return got["result"]

    def end(self):
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def opened(path, width, picture=None):
    """evaluate(expression), in a page in a window of this width, and evaluate.browser(METHOD, ...); nothing may be on the console in the end."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            target = browser.call("Target.createTarget", url="about:blank")["targetId"]
            session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

            def evaluate(expression):
                found = browser.call("Runtime.evaluate", session, expression=expression, awaitPromise=True)
                assert "exceptionDetails" not in found, found
                return found["result"]["value"]
            evaluate.browser = lambda method, **parameters: browser.call(method, session, **parameters)
            for domain in ("Runtime", "Log", "Page"):
                browser.call(domain + ".enable", session)
            browser.call("Emulation.setDeviceMetricsOverride", session, width=width, height=1400, deviceScaleFactor=1, mobile=width < 500)
            browser.call("Page.navigate", session, url=path.resolve().as_uri())
            while evaluate("location.protocol + document.readyState") != "file:complete":
                pass
            yield evaluate
            if picture:
                shot = browser.call("Page.captureScreenshot", session, captureBeyondViewport=True)
                Path(picture).write_bytes(base64.b64decode(shot["data"]))
        finally:
            browser.end()
    assert not browser.console, "\n".join(browser.console)


def drive(path, width, probe, picture=None):
    """What the probe has seen: a dictionary of its rows, by their first element."""
    with opened(path, width, picture) as evaluate:
        return {row[0]: row[1:] for row in json.loads(evaluate(probe))}
