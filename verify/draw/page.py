# SPDX-License-Identifier: MIT
"""Pages that need nothing beside themselves: a template with marks, scripts and data in their places."""
from __future__ import annotations

import hashlib
import json
import re
from html import escape
from pathlib import Path
from typing import Any, Optional

HERE = Path(__file__).resolve().parent


def script(text: str) -> str:
    """What may stand inside of a <script>."""
    return text.replace("</", "<\\/").replace("<!--", "<\\!--")


def assemble(template: Path, marks: dict[str, str]) -> str:
    """The template with each mark replaced; STYLE and DRAW are those of the pictures."""
    page = template.read_text(encoding="utf-8")
    pictures = {"/*STYLE*/": (HERE / "execution.css").read_text(), "/*DRAW*/": script((HERE / "execution.js").read_text(encoding="utf-8"))}
    texts = {**pictures, **marks}
    assert all(mark in page for mark in texts), template
    return re.sub("|".join(map(re.escape, texts)), lambda found: texts[found.group()], page)


def execution(error: Optional[dict[str, Any]], text: str, live: bool) -> str:
    """An error of the engine's JSON, or None, and the text of the result. A live page looks whether its file has changed."""
    first = next((line for line in text.splitlines() if line.startswith(("error: ", "shown: "))), "")
    title = first or next((line for line in reversed(text.splitlines()) if line.startswith(("verdict: ", "explore: "))), "explore")
    lines = "\n".join(f"<p>{escape(line)}</p>" for line in text.splitlines() if line.startswith(("fix: ", "why: ", "weaker: ")))
    data = script(json.dumps(error))
    stamp = hashlib.sha256((text + data).encode()).hexdigest()[:16] if live else ""
    return assemble(HERE / "page.html", {"/*TITLE*/": escape(title), "/*LINES*/": lines, "/*EXECUTION*/null": data, '/*LIVE*/""': json.dumps(stamp),
                                         "/*TEXT*/": escape(text)})
