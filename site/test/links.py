#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""site/test/links.py SITE: every link, picture, style and script of every page is a file of SITE, and every anchor is in its page."""
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote


class Links(HTMLParser):
    """The addresses that a page refers to, and the anchors that it has."""

    def __init__(self):
        super().__init__()
        self.targets, self.anchors, self.twice = set(), set(), set()

    def handle_starttag(self, tag, attrs):
        for key, value in attrs:
            if key == "id":
                (self.twice if value in self.anchors else self.anchors).add(value)
            if key in ("href", "src") and value is not None:
                self.targets.add(value)


def read(path):
    page = Links()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    site = Path(sys.argv[1]).resolve()
    pages = {path: read(path) for path in sorted(site.rglob("*.html"))}
    wrong = number = 0
    for path, page in pages.items():
        name = path.relative_to(site)
        faults = [f"two places have the anchor {anchor}" for anchor in page.twice]
        for target in page.targets:
            where, _, anchor = target.partition("#")
            if where.startswith(("http:", "https:", "mailto:")):
                continue
            number += 1
            file = (path.parent / unquote(where)).resolve() if where else path
            if not file.is_file() or not file.is_relative_to(site):
                faults.append(f"there is no {target}")
            elif anchor and file in pages and name.parts[0] != "lab" and unquote(anchor) not in pages[file].anchors and file.parent.name != "lab":
                faults.append(f"there is no anchor {target}")
        for fault in sorted(faults):
            print(f"{name}: {fault}")
        wrong += len(faults)
    print(f"{wrong} dead" if wrong else f"note: {number} links on {len(pages)} pages")
    return 1 if wrong or not number else 0


if __name__ == "__main__":
    sys.exit(main())
