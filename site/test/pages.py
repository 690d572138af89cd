#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""site/test/pages.py SITE [--only PATTERN] [--sources N] [--pictures FOLDER PAGE...]

Opens every page of SITE from disk in a headless Chromium that has no network, at 1280 and 360 pixels, dark and light. The console must
stay empty, nothing may be requested that is not a file of SITE, and no request fails; nothing is wider than the window, no
text is cut, words and background differ enough; the search finds names, sections and bugs, its results lead to pages,
and the programs of course and museum open in the lab.
--only checks the pages whose address matches; --sources N every Nth of those that show a source file; --pictures draws these pages in both windows, light and dark, and checks nothing.
"""
import argparse
import base64
import json
import re
import sys
import tempfile
import time
from html import unescape
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "lab" / "test"))
from browser import Browser  # noqa: E402

WIDTHS = (1280, 360)
PROBE = r"""
(width => {
  const faults = [], seen = new Set(), cut = e => (e.textContent || "").trim().replace(/\s+/g, " ").slice(0, 50);
  const note = text => { if (!seen.has(text) && faults.length < 8) { seen.add(text); faults.push(text); } };
  const wide = document.documentElement.scrollWidth;
  if (wide > width) note(`the page has ${wide} pixels in a window of ${width}`);
  const scrolls = new Map();
  const scrolled = e => {
    if (!e || e === document.body) return false;
    if (!scrolls.has(e)) {
      const x = getComputedStyle(e).overflowX;
      scrolls.set(e, x === "auto" || x === "scroll" || scrolled(e.parentElement));
    }
    return scrolls.get(e);
  };
  const light = c => { const v = c.map(x => { x /= 255; return x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4; }); return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
  const numbers = c => (c.match(/[\d.]+/g) || []).map(Number);
  const grounds = new Map();
  const ground = e => {
    if (!e) return [255, 255, 255];
    if (!grounds.has(e)) {
      const c = numbers(getComputedStyle(e).backgroundColor);
      grounds.set(e, c.length === 3 || c[3] > .5 ? c.slice(0, 3) : ground(e.parentElement));
    }
    return grounds.get(e);
  };
  const pairs = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node; node = walker.nextNode();) {
    if (!node.data.trim()) continue;
    const e = node.parentElement;
    if (/^(SCRIPT|STYLE|TITLE|OPTION)$/i.test(e.tagName) || e.closest("[hidden],.skip") || !e.checkVisibility()) continue;
    range.selectNodeContents(node);
    const r = range.getBoundingClientRect();
    if (!r.width) continue;
    if ((r.right > width + 1 || r.left < -1) && !scrolled(e)) note(`cut at the edge: ${cut(e)}`);
    const svg = e.closest("svg");
    if (svg) {
      const f = svg.getBoundingClientRect();
      if (r.left < f.left - 1 || r.right > f.right + 1 || r.top < f.top - 1 || r.bottom > f.bottom + 1) note(`outside of its picture: ${cut(e)}`);
      continue;
    }
    const style = getComputedStyle(e);
    if (parseFloat(style.fontSize) < 12) note(`small (${style.fontSize}): ${cut(e)}`);
    const key = style.color + ground(e);
    if (!pairs.has(key) && e.matches(":not(.here)")) {
      pairs.add(key);
      const [a, b] = [light(numbers(style.color)), light(ground(e))].sort((x, y) => y - x);
      if ((a + .05) / (b + .05) < 4.5) note(`faint (${((a + .05) / (b + .05)).toFixed(1)}): ${cut(e)}`);
    }
  }
  for (const e of document.querySelectorAll("main *, .bar *, .side *")) {
    const s = getComputedStyle(e);
    if ((s.overflowX === "hidden" || s.textOverflow === "ellipsis") && e.scrollWidth > e.clientWidth + 1 && e.clientWidth) note(`cut: ${cut(e)}`);
  }
  for (const e of document.querySelectorAll("button, .home, summary, .tiles a, .steps a, .side a"))
    if (e.clientHeight && (e.scrollHeight > e.clientHeight + 3 || e.scrollWidth > e.clientWidth + 1)) note(`larger than its box: ${cut(e)}`);
  for (const i of document.images) if (i.complete && !i.naturalWidth) note(`no picture ${i.src}`);
  return JSON.stringify(faults);
})(%d)
"""
SEARCH = r"""
(async words => {
  const field = document.getElementById("lade-search"), found = document.getElementById("lade-found");
  field.focus();
  field.value = words;
  field.dispatchEvent(new Event("input"));
  for (let i = 0; i < 400 && found.dataset.query !== words.toLowerCase(); i++) await new Promise(r => setTimeout(r, 10));
  return JSON.stringify([...found.querySelectorAll("a")].map(a => [a.querySelector("b").textContent, a.href]));
})(%s)
"""
# Words, and what the address of the first result ends with.
FINDS = [("lade_mpmc_push", "api/ring.html#lade_mpmc_push"), ("LADE_CLOSED", "api/status.html#lade_status"), ("seqlock cpython", "museum/"),
         ("eventcount", "event.html"), ("ring.spsc.pushed", "certificate"), ("share packed rows", "")]


class Tab:
    """One tab, and what it requests."""

    def __init__(self, folder):
        self.browser = Browser(folder)
        target = self.browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.requests, self.failures, self.console, self.loaded = [], [], [], 0
        plain = self.browser.message

        def message():
            got = plain()
            if got.get("method") == "Network.requestWillBeSent":
                self.requests.append(got["params"]["request"]["url"])
            elif got.get("method") == "Network.loadingFailed" and not got["params"].get("canceled"):
                self.failures.append(got["params"].get("errorText"))
            elif got.get("method") == "Page.loadEventFired":
                self.loaded += 1
            elif got.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                self.console.append(json.dumps(got["params"])[:600])
            return got
        self.browser.message = message
        for domain in ("Runtime", "Log", "Page", "Network"):
            self.call(domain + ".enable")
        self.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def window(self, width, dark):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, address):
        before = self.loaded
        self.call("Page.navigate", url=address)
        while self.loaded == before:
            self.browser.message()

    def value(self, script):
        got = self.call("Runtime.evaluate", expression=script, awaitPromise=True)
        assert "exceptionDetails" not in got, got
        return got["result"].get("value")


def pictures(tab, site, folder, wanted):
    folder.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        name, _, words = name.partition("?")
        path, mark, anchor = name.partition("#")
        for width in WIDTHS:
            for dark in (False, True):
                tab.window(width, dark)
                tab.open("about:blank")
                tab.open((site / path).as_uri() + mark + anchor)
                if words == "menu":
                    tab.value("document.body.classList.add('menu')")
                elif words:
                    tab.value(SEARCH % json.dumps(words))
                shot = tab.call("Page.captureScreenshot")
                file = re.sub(r"\W+", "-", name.replace(".html", "") + ("-" + words if words else "")) + f"-{width}-{'dark' if dark else 'light'}.png"
                (folder / file).write_bytes(base64.b64decode(shot["data"]))


def check_page(tab, site, name):
    """What is wrong with one page, at each width."""
    tab.requests.clear()
    tab.failures.clear()
    tab.console.clear()
    tab.open((site / name).as_uri())
    for width in WIDTHS:
        tab.window(width, width == WIDTHS[1])
        for fault in json.loads(tab.value(PROBE.replace("%d", str(width)))):
            yield f"{width} pixels: {fault}"
    for url in tab.requests:
        if not url.startswith((site.as_uri() + "/", "data:", "blob:")):
            yield f"requests {url}"
    yield from (f"a request fails: {failure}" for failure in tab.failures)
    yield from (f"console: {line}" for line in tab.console)


def check_search(tab, site):
    for start in ("index.html", "api/ring.html"):
        tab.open((site / start).as_uri())
        for words, end in FINDS:
            results = json.loads(tab.value(SEARCH % json.dumps(words)))
            if not results or end not in results[0][1]:
                yield f"'{words}' finds {results[:3]}, first should be {end}"
            for _, address in results:
                path, _, anchor = address.removeprefix(site.as_uri() + "/").partition("#")
                file = site / path
                if not file.is_file() or anchor and f'id="{anchor}"' not in file.read_text(encoding="utf-8"):
                    yield f"'{words}': {address} leads nowhere"
    tab.value(SEARCH % json.dumps("lade_mpmc_push"))
    before = tab.loaded
    tab.value("document.getElementById('lade-search').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', cancelable: true})); 1")
    end = time.monotonic() + 60
    while "lade_mpmc_push" not in tab.value("location.hash") and time.monotonic() < end:
        pass
    assert tab.loaded >= before
    if not tab.value("location.href").endswith("api/ring.html#lade_mpmc_push"):
        yield "the key Enter does not open the first result"


def check_course(tab, site):
    """Each link of a chapter, or of the museum, into the lab opens its program, and the lab lists outcomes."""
    for chapter in [*sorted((site / "course").glob("*.html")), site / "museum/index.html"]:
        targets = re.findall(r'href="([^"]*lab/index\.html#[^"]+)"', chapter.read_text(encoding="utf-8"))
        for target in dict.fromkeys(targets):
            tab.open("about:blank")
            tab.open(f"{chapter.parent.as_uri()}/{unescape(target)}")
            end = time.monotonic() + 60
            while tab.value("document.body.dataset.state") != "ready" and time.monotonic() < end:
                pass
            text, rows = json.loads(tab.value("JSON.stringify([document.getElementById('text').value, document.querySelectorAll('#outcomes tr').length])"))
            if rows < 2 or text != unquote(target.partition("#")[2]):
                yield f"{chapter.name}: {target[:60]} shows {rows} rows of outcomes and the program {text[:40]!r}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--sources", type=int, default=1)
    parser.add_argument("--pictures", nargs="+", metavar=("FOLDER", "PAGE"))
    args = parser.parse_args()
    site = args.site.resolve()
    names = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html"))]
    names = [name for name in names if re.search(args.only, name)]
    names = [name for i, name in enumerate(names) if not name.startswith("source/") or i % args.sources == 0]
    wrong = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        tab = Tab(folder)
        try:
            if args.pictures:
                pictures(tab, site, Path(args.pictures[0]), args.pictures[1:])
                return 0
            for name in names:
                for fault in check_page(tab, site, name):
                    print(f"{name}: {fault}")
                    wrong += 1
            if not args.only:
                checks = [("search", check_search)] + [("course", check_course)] * ("lab/index.html" in names and 'id="outcomes"' in (site / "lab/index.html").read_text())
                for what, check in checks:
                    for fault in check(tab, site):
                        print(f"{what}: {fault}")
                        wrong += 1
        finally:
            tab.browser.end()
    print(f"note: {len(names)} pages at {' and '.join(map(str, WIDTHS))} pixels" if not wrong else f"{wrong} faults")
    return 1 if wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main())
