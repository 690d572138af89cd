#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""feed_page.py PAGE SECTION...: the page of lade feed --html in a headless Chromium, on a desktop and on a phone.

The console must stay empty, the page has these sections, each with a picture but for arrivals and run, nothing is wider than
the window, and no text of a picture is small, cut or on top of another one. The text of the page goes to standard output.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

WIDTHS = (1280, 360)
WITHOUT_PICTURE = {"arrivals", "run"}
# Runs behind the page's own script and sends what it found to the frame's parent.
PROBE = r"""
<script>
const found = {width: innerWidth, wide: document.documentElement.scrollWidth, sections: [], pictures: [], texts: [], title: document.title};
for (const s of document.querySelectorAll("section")) {
  found.sections.push(s.id);
  if (s.querySelector("svg rect, svg path")) found.pictures.push(s.id);
}
document.querySelectorAll("svg").forEach((svg, picture) => {
  const frame = svg.getBoundingClientRect();
  for (const t of svg.querySelectorAll("text")) {
    const r = t.getBoundingClientRect();
    found.texts.push({picture, text: t.textContent, size: parseFloat(getComputedStyle(t).fontSize), left: r.left, right: r.right,
                      top: r.top, bottom: r.bottom, inside: r.left >= frame.left - 1 && r.right <= frame.right + 1});
  }
});
found.words = document.getElementById("main").innerText;
parent.postMessage(JSON.stringify(found).replace(/[<>&]/g, c => "\\u00" + c.charCodeAt(0).toString(16)), "*");
</script>
"""
# A frame has the width of a phone; a window has not.
FRAME = """<!DOCTYPE html>
<meta charset="utf-8">
<script>addEventListener("message", event => { document.getElementById("probe").textContent = event.data; });</script>
<iframe src="page.html" style="width:%dpx;height:2000px;border:0"></iframe>
<pre id="probe"></pre>
"""


def look(page, width):
    """What the probe finds in a window of this width, and the lines of the console."""
    with tempfile.TemporaryDirectory() as folder:
        frame = pathlib.Path(folder) / "frame.html"
        frame.write_text(FRAME % width, encoding="utf-8")
        (frame.parent / "page.html").write_text(page.replace("</body>", PROBE + "</body>"), encoding="utf-8")
        run = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                              f"--user-data-dir={folder}/profile", "--window-size=1400,2100", "--enable-logging=stderr", "--virtual-time-budget=3000", "--dump-dom",
                              frame.as_uri()], capture_output=True, text=True, timeout=300, check=False)
    probe = re.search(r'<pre id="probe">(.+?)</pre>', run.stdout, re.S)
    console = [line for line in run.stderr.splitlines() if ":CONSOLE" in line]
    assert not console, "\n".join(console)
    assert probe, f"the page did not run\n{run.stderr[-2000:]}"
    return json.loads(probe.group(1))


def overlap(a, b):
    return a["picture"] == b["picture"] and a["left"] < b["right"] - 1 and b["left"] < a["right"] - 1 and \
        a["top"] < b["bottom"] - 3 and b["top"] < a["bottom"] - 3


def main():
    page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    elsewhere = re.search(r"https?:|@import|<link|<img|url\(|\bsrc=|fetch\(", page.replace("http://www.w3.org/2000/svg", ""))
    assert not elsewhere, f"it loads something: {elsewhere}"
    for width in WIDTHS:
        found = look(page, width)
        assert found["width"] == width, f"the frame has {found['width']} pixels, not {width}"
        assert found["wide"] <= width, f"the page has {found['wide']} pixels in a window of {width}"
        assert found["sections"] == sys.argv[2:], found["sections"]
        assert set(found["sections"]) - set(found["pictures"]) <= WITHOUT_PICTURE, found["pictures"]
        for text in found["texts"]:
            assert text["size"] >= 12 and text["inside"], f"{width} pixels: {text}"
        for i, a in enumerate(found["texts"]):
            for b in found["texts"][:i]:
                assert not overlap(a, b), f"{width} pixels: {a} and {b}"
        wrong = re.search(r".*(\bNaN\b|undefined|Infinity|\[object|\s-0\b).*", found["words"])
        assert not wrong, f"no words for people: {wrong.group(0)}"
    print(found["title"])
    print(found["words"])


main()
