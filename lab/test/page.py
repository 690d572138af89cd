#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lab/test/page.py PAGE [FOLDER]: drives the lab in a headless Chromium, in windows of 1280 and of 360 pixels.

A script in the page types programs, changes orders and reads the text of the page; exercises of docs/course must grade there as by verify/grade,
and its cheat sheet must be one printed page. FOLDER receives pictures of both windows.
"""
import base64
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import course
import litmus
from browser import drive, opened

PROBE = r"""
(async () => {
  const seen = [], get = id => document.getElementById(id);
  const ready = async () => {
    await new Promise(r => setTimeout(r, 30));
    for (let i = 0; i < 400 && document.body.dataset.state !== "ready"; i++) await new Promise(r => setTimeout(r, 25));
  };
  const type = async source => { document.body.dataset.state = ""; get("text").value = source; get("text").dispatchEvent(new Event("input")); await ready(); };
  const choose = async (n, order) => {
    document.body.dataset.state = "";
    const s = get("orders").querySelectorAll("select")[n];
    s.value = order; s.onchange(); await ready();
  };
  const table = () => [...document.querySelectorAll("#outcomes tr")].map(r => [...r.cells].map(c => c.innerText));
  const press = async id => {
    get(id).click();
    for (let i = 0; i < 400; i++) { await new Promise(r => setTimeout(r, 25)); if (get("answer").innerText && get("answer").innerText !== "…") break; }
    return get("answer").innerText;
  };
  try {
    await ready();
    const mp = order => `int data;\natomic int flag;\nthread { data = 1; store(flag, 1, ${order}); }\n` +
      "thread { r = load(flag, acquire); if (r == 1) { s = data; assert(s == 1); } }\n";
    await type(mp("release"));
    seen.push(["pass", get("verdict").innerText, table()]);
    const audit = await press("audit");
    seen.push(["audit", audit]);
    await choose(0, "relaxed");
    seen.push(["weakened", get("verdict").innerText, get("text").value.includes("store(flag, 1, relaxed)"), document.querySelectorAll("#picture .bad").length]);
    const repair = await press("repair");
    seen.push(["repair", repair]);
    await type("atomic int x, y;\nthread { store(x, 1, relaxed); r = load(y, relaxed); }\nthread { store(y, 1, relaxed); r = load(x, relaxed); }\n");
    const kinds = [...document.querySelectorAll("#picture .arrow")].map(a => a.dataset.kind).sort().join(" ");
    seen.push(["sb", table(), kinds, get("sentence").innerText]);
    get("on").click(); get("on").click();
    seen.push(["step", get("values").innerText, document.querySelectorAll("#picture .event.later").length > 0]);
    await press("export");
    seen.push(["c", get("answer").querySelector("pre").textContent]);
    get("share").click();
    seen.push(["link", decodeURIComponent(location.hash.slice(1)) === get("text").value]);
    await type("atomic int x;\nthread { store(y, 1, relaxed); }\n");
    seen.push(["text", get("verdict").innerText, (document.querySelector("#orders mark") || {}).innerText]);
    await type("atomic int x;\n" + "thread { a = fetch_add(x, 1, relaxed); b = fetch_add(x, 1, relaxed); c = fetch_add(x, 1, relaxed); }\n".repeat(6));
    seen.push(["large", get("verdict").innerText]);
    await type(mp("relaxed"));
    const grades = [];
    for (const order of ["relaxed", "seq_cst", "release"]) {
      await type(mp(order));
      grades.push(await press("grade"));
      if (order === "relaxed") grades.push(document.querySelectorAll("#picture .bad").length);
    }
    await type("// \u2014 offsets count characters\n" + mp("seq_cst"));
    grades.push(await press("grade"));
    location.hash = encodeURIComponent("// exercise mp: weaken\n" + mp("release"));
    await new Promise(r => setTimeout(r, 50)); await ready();
    grades.push(get("text").value.includes("exercise mp"), await press("grade"));
    await type("// exercise mp: weaken\n" + mp("release").replace("data = 1", "data = 2"));
    grades.push(await press("grade"));
    await type("// another comment\n" + mp("release").replace("store(flag", "fence(release); store(flag"));
    grades.push(await press("grade"));
    seen.push(["grade", ...grades]);
    const exercises = {};
    let slowest = 0;
    for (const [name, source] of EXERCISES) {
      document.body.dataset.state = ""; location.hash = encodeURIComponent(source); await ready();
      const begun = performance.now();
      exercises[name] = (await press("grade")).split(/[:.]/)[0].toLowerCase();
      slowest = Math.max(slowest, performance.now() - begun);
    }
    seen.push(["exercises", exercises, slowest]);
    const times = {};
    for (const [name, source] of LITMUS) {
      await type(source);
      times[name] = Number(document.body.dataset.first);
    }
    seen.push(["first", times]);
    await type(mp("relaxed"));
    seen.push(["wide", document.documentElement.scrollWidth, innerWidth]);
  } catch (e) { seen.push(["problem", String(e)]); }
  return JSON.stringify(seen);
})()
"""


def classical():
    """The classical litmus tests with relaxed orders, in the lab's language."""
    return [(name, litmus.as_lab(litmus.with_orders(test, "relaxed", "relaxed"))) for name, test in litmus.TESTS.items()]


def explored(source):
    """The outcomes of exported C by verify/explore."""
    with tempfile.TemporaryDirectory() as tmp:
        Path(tmp, "lab.c").write_text(source)
        subprocess.run([course.ROOT / "verify/explore", "--outcomes", "--quiet", "--json", tmp + "/json", tmp + "/lab.c"], stdout=subprocess.DEVNULL, check=True)
        return sorted(o["outcome"].strip() for o in json.loads(Path(tmp, "json").read_text())["outcomes"])


def dark(page):
    """The page follows the wish for dark colours."""
    with opened(page, 360) as evaluate:
        for scheme, least, most in (("light", 600, 765), ("dark", 0, 200)):
            evaluate.browser("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            colour = evaluate("getComputedStyle(document.body).backgroundColor")
            assert least <= sum(map(int, re.findall(r"\d+", colour)[:3])) <= most, (scheme, colour)


def exercises():
    return [(path.name, path.read_text()) for path in sorted(course.COURSE.glob("*-?*.lab"))]


def sheet():
    """The cheat sheet of the course is one page of A4 and of Letter, and no wider than a phone."""
    with opened(course.COURSE / "cheat-sheet.html", 360) as evaluate:
        assert evaluate("document.documentElement.scrollWidth") <= 360
        for name, width, height in (("A4", 8.27, 11.69), ("Letter", 8.5, 11)):
            pdf = base64.b64decode(evaluate.browser("Page.printToPDF", paperWidth=width, paperHeight=height)["data"])
            pages = int(re.search(rb"/Count (\d+)", pdf)[1])
            assert pages == 1, f"{pages} pages of {name}"


GRADES = ["Too weak: race in line 4: load and store are not ordered (data). The execution is drawn.", 2,
          "Stronger than needed: line 3, store: release is enough, not seq_cst.", "Minimal: correct, and each order is needed.",
          "Stronger than needed: line 4, store: release is enough, not seq_cst.", True, "Minimal: correct, and each order is needed.",
          "Not a solution of this exercise: only orders and fences may change.", "Stronger than needed: line 4, fence: relaxed is enough, not release; line 4, store: relaxed is enough, not release."]


def judge(found):
    assert "problem" not in found, found["problem"]
    verdict, table = found["pass"]
    assert verdict == "All models: no race, no failed assertion", verdict
    assert len(table) == 3 and table[0] == ["outcome", "RC11", "RA", "TSO", "SC"], table
    assert found["audit"][0].count("needed: with relaxed, race in line 4") == 2, found["audit"]
    verdict, changed, bad = found["weakened"]
    assert changed and bad == 2 and "RC11: race in line 4" in verdict and "SC: no race" in verdict, found["weakened"]
    assert "line 3, store: release instead of relaxed" in found["repair"][0], found["repair"]
    table, kinds, sentence = found["sb"]
    assert [row[1:] for row in table[1:]] == [["1", "1", "1", "–"], ["1", "1", "1", "1"], ["1", "1", "1", "1"], ["1", "1", "1", "1"]], table
    assert "fr fr" in kinds and "old value" in sentence, (kinds, sentence)
    assert found["step"][1] and found["link"][0], found
    assert explored(found["c"][0]) == [row[0] for row in table[1:]], found["c"]
    assert found["text"] == ["Line 2, column 16: no shared variable has this name.", "y"], found["text"]
    assert "too large" in found["large"][0], found["large"]
    assert found["grade"] == GRADES, found["grade"]
    graded, slowest = found["exercises"]
    for name, verdict in graded.items():
        assert verdict == course.grade(course.COURSE / name), (name, verdict)
    print(f"exercises of the course graded as by verify/grade: {len(graded)}, the slowest in {slowest:.0f} ms")
    wide, width = found["wide"]
    assert wide <= width, f"{wide} pixels in a window of {width}"


def main():
    page = Path(sys.argv[1]).read_text(encoding="utf-8")
    assert len(page) < 300_000, len(page)
    elsewhere = re.search(r"https?:|@import|<link|<img|\bsrc=|fetch\(", page.replace("http://www.w3.org/2000/svg", ""))
    assert not elsewhere, f"it loads something: {elsewhere}"
    sheet()
    dark(Path(sys.argv[1]))
    first, probe = {}, PROBE.replace("LITMUS", json.dumps(classical())).replace("EXERCISES", json.dumps(exercises()))
    for width in (1280, 360):
        found = drive(Path(sys.argv[1]), width, probe, f"{sys.argv[2]}/lab-{width}.png" if len(sys.argv) > 2 else None)
        judge(found)
        for name, ms in found["first"][0].items():
            first[name] = min(ms, first.get(name, ms))
    print("the lab at 1280 and 360 pixels: as expected")
    print("note: all models of a litmus test in " + ", ".join(f"{name} {ms:.0f}" for name, ms in first.items()) + " ms")


if __name__ == "__main__":
    main()
