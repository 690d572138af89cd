#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lab/test/course.py [--pages | --write | --measure NAME...]: what the pages of docs/course state, against the programs beside them; and the
museum's programs for the lab.

--pages checks what needs no engine: length, links into the lab, quoted code. --write renews the links into the lab; --measure
also the column "seen", by verify/lab on this processor. Without an option, all checks: the tables by the lab's engine and, where
it is there, herd7; what each exercise and each solution grades; each outcome seen on this processor is allowed.
"""
import importlib.machinery
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[2]
COURSE = ROOT / "docs/course"
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "verify"), str(ROOT / "lab/test")]
import litmus  # noqa: E402
from tool import lab  # noqa: E402

CHAPTERS = ["sb", "mp", "back", "light", "chain", "asking", "seq", "aba", "ticket", "iriw"]
WORDS, WAITING = 900, "still waiting"
MUSEUM = ROOT / "verify/museum"
ROW = rf"^\| `(\d:[^`]*|{WAITING})` \|(.*)\|$"
LINK = re.compile(r"\[Open `([\w.-]+)` in the lab\]\(([^)\s]*)\)")


def link(name, page):
    """From a page to the lab's page, which the build makes, with a program of the course or the museum."""
    path = (COURSE if page.parent == COURSE else MUSEUM) / (name + ".lab")
    return f"{'../' * len(page.parent.relative_to(ROOT).parts)}lab/lab.html#{quote(path.read_text(), safe='')}"


def fault(where, text, faults=[]):
    """Notes a fault; all of them without arguments."""
    if where:
        faults.append(f"{where}: {text}")
    return faults


# ---- pages ----

def linked():
    return [*(COURSE / (name + ".md") for name in CHAPTERS), ROOT / "docs/museum.md"]


def pages():
    for name in CHAPTERS:
        text = (COURSE / (name + ".md")).read_text()
        words = len(re.sub(r"\]\([^)]*\)", "]", text).split())
        if words > WORDS:
            fault(name, f"{words} words, more than {WORDS}")
        opened = {file for file, _ in LINK.findall(text)}
        wanted = {name, name + "-1", name + "-2"}
        if opened != wanted:
            fault(name, f"the page opens {sorted(opened)} in the lab, not {sorted(wanted)}")
        if not quoted(name, text):
            fault(name, "no code of the library")
    for page in linked():
        for file, target in LINK.findall(page.read_text()):
            if target != link(file, page):
                fault(page.name, f"the link of {file} has another program: lab/test/course.py --write")
    pieces, opened = {path.stem for path in MUSEUM.glob("*.lab")}, {file for file, _ in LINK.findall((ROOT / "docs/museum.md").read_text())}
    if pieces != opened:
        fault("museum", f"programs without a link, or links without one: {sorted(pieces ^ opened)}")


def quoted(name, text):
    """Blocks of C: their lines are in the file that the link before them names, in this order; a line "..." leaves some out."""
    number = 0
    for match in re.finditer(r"\]\(\.\./\.\./([\w/]+\.[ch])\):?\s*\n\n```c\n(.*?)```", text, re.S):
        number += 1
        lines, at = [line.strip() for line in (ROOT / match[1]).read_text().splitlines()], 0
        for line in match[2].splitlines():
            if line.strip() in ("", "..."):
                continue
            if line.strip() not in lines[at:]:
                fault(name, f"{match[1]} has no line '{line.strip()}' here")
                break
            at += lines[at:].index(line.strip()) + 1
        if not re.search(r"/\* \[[\w.]+\]", match[2]):
            fault(name, "the quoted code shows no tagged order")
    return number


# ---- outcome tables ----

def table(name):
    """[(outcome, C11, x86, AArch64)] of a chapter; the outcome as {register: value}, or WAITING."""
    text, rows = (COURSE / (name + ".md")).read_text(), []
    for cells in re.findall(ROW, text, re.M):
        columns = [cell.strip() for cell in cells[1].split("|")]
        wanted = WAITING if cells[0] == WAITING else dict(part.split("=") for part in cells[0].split())
        rows.append((wanted, *columns[:3]))
    if not rows:
        fault(name, "no table of outcomes")
    return rows


def has(outcomes, wanted):
    return "allowed" if any(all(o.get(k) == v for k, v in wanted.items()) for o in outcomes) else "forbidden"


def in_lab(name, model):
    """Outcomes under a model of the lab; None: a thread waits forever."""
    found = lab.explore((COURSE / (name + ".lab")).read_text(), model)
    if found["verdict"] == "error":
        if found["error"]["kind"] != "livelock":
            fault(name, f"an error under {model}: {found['error']['message']}")
        return None
    return [dict(part.split("=") for part in o["outcome"].split()) for o in found["outcomes"]]


def tables(herd):
    asked = 0
    for name in CHAPTERS:
        models = {model: in_lab(name, model) for model in lab.MODELS}
        steps = threads(name)
        for wanted, c11, x86, arm in table(name):
            def column(what, said, true):
                if said != true:
                    fault(name, f"{wanted}: {what} is '{true}', not '{said}'")
            if wanted == WAITING or models["rc11"] is None:
                waits = "allowed" if wanted == WAITING and models["sc"] is None else "forbidden"
                for what, said in (("C11", c11), ("x86", x86), ("AArch64", arm)):
                    column(what, said, waits)
                continue
            column("C11", c11, has(models["rc11"], wanted))
            column("x86", x86, has(models["tso"], wanted))
            if has(models["sc"], wanted) == "allowed":
                column("AArch64", arm, "allowed")
            elif not steps:
                fault(name, f"{wanted}: forbidden under SC, and the program is too complex to ask herd7")
            for what, said, write in (("C11", c11, in_c), ("x86", x86, in_x86), ("AArch64", arm, in_arm)):
                program = write(steps, wanted) if herd and steps else None
                if program:
                    asked += 1
                    column(what + " by herd7", said, ask(herd, name, program, write is in_c))
    return asked


STATEMENT = re.compile(r"(?:(\w+) = )?(load|store|exchange|fetch_add|fetch_sub|fence)\((?:(\w+)(?:, (\d+))?, )?(\w+)\);")


def threads(name):
    """Each thread as [(register, operation, variable, value, order)], or None if it has more than that."""
    text = re.sub(r"//.*", "", (COURSE / (name + ".lab")).read_text())
    found = []
    for body in re.findall(r"thread \{\n(.*?)\n\}", text, re.S):
        steps = [STATEMENT.fullmatch(line.strip()) for line in body.splitlines()]
        if not all(steps):
            return None
        found.append([m.groups() for m in steps])
    return {"threads": found, "first": dict(re.findall(r"(\w+) = (\d+)", text.split("thread")[0]))}


def condition(place, wanted):
    return "exists (" + " /\\ ".join(f"{place[key]}={value}" for key, value in wanted.items()) + ")\n"


def start(program, more=""):
    return "{ " + "".join(f"{x}={v}; " for x, v in program["first"].items()) + more + "}\n"


def in_c(program, wanted):
    out, place = "C chapter\n" + start(program), {}
    for t, steps in enumerate(program["threads"]):
        names = sorted({s[2] for s in steps if s[2]})
        out += f"P{t}(" + ", ".join(f"atomic_int* {x}" for x in names) + ") {\n"
        for i, (reg, op, x, value, order) in enumerate(steps):
            local = f"r{i}"
            order = "memory_order_" + order
            if reg:
                place[f"{t + 1}:{reg}"] = f"{t}:{local}"
            left = f"int {local} = " if op not in ("store", "fence") else ""
            name = {"fence": "atomic_thread_fence"}.get(op, f"atomic_{op}_explicit")
            out += f"  {left}{name}({', '.join(filter(None, (x, value, order)))});\n"
        out += "}\n"
    return out + condition(place, wanted)


def columns(arch, program, init, codes, place, wanted):
    longest = max(map(len, codes))
    rows = [" | ".join(f"P{t}" for t in range(len(codes)))]
    rows += [" | ".join(code[i] if i < len(code) else "" for code in codes) for i in range(longest)]
    return f"{arch} chapter\n" + start(program, init) + "".join(f" {row} ;\n" for row in rows) + condition(place, wanted)


def in_x86(program, wanted):
    """None: herd7's x86 has no fetch_add that returns a value."""
    codes, place = [], {}
    for t, steps in enumerate(program["threads"]):
        code, free = [], ["eax", "ebx", "ecx", "edx", "esi", "edi"]
        for reg, op, x, value, order in steps:
            if op.startswith("fetch"):
                return None
            if op == "store":
                code += [f"movl ${value},({x})"] + ["mfence"] * (order == "seq_cst")
            elif op == "fence":
                code += ["mfence"] * (order == "seq_cst")
            else:
                register = free.pop(0)
                code += [f"movl ({x}),%{register}"] if op == "load" else [f"movl ${value},%{register}", f"xchgl %{register},({x})"]
                if reg:
                    place[f"{t + 1}:{reg}"] = f"{t}:r{register[1:]}"
        codes.append(code)
    return columns("X86_64", program, "", codes, place, wanted)


def in_arm(program, wanted):
    codes, place, init = [], {}, ""
    for t, steps in enumerate(program["threads"]):
        code, where, n = [], {}, 10
        for reg, op, x, value, order in steps:
            if x and x not in where:
                where[x] = f"X{len(where)}"
                init += f"{t}:{where[x]}={x}; "
            n += 2
            acquire, release = order in ("acquire", "acq_rel", "seq_cst"), order in ("release", "acq_rel", "seq_cst")
            if op == "fence":
                code.append("DMB ISHLD" if order == "acquire" else "DMB ISH")
            elif op == "load":
                code.append(f"{'LDAR' if acquire else 'LDR'} W{n},[{where[x]}]")
            elif op == "store":
                code += [f"MOV W{n},#{value}", f"{'STLR' if release else 'STR'} W{n},[{where[x]}]"]
            else:
                number = -int(value) if op == "fetch_sub" else int(value)
                code += [f"MOV W{n + 1},#{number}",
                         ("SWP" if op == "exchange" else "LDADD") + "A" * acquire + "L" * release + f" W{n + 1},W{n},[{where[x]}]"]
            if reg:
                place[f"{t + 1}:{reg}"] = f"{t}:X{n}"
        codes.append(code)
    return columns("AArch64", program, init, codes, place, wanted)


def ask(herd, name, program, c11):
    with tempfile.TemporaryDirectory() as tmp:
        path = Path(tmp, "p.litmus")
        path.write_text(program)
        run = subprocess.run([herd, *(["-model", "rc11.cat"] if c11 else []), path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    seen = re.search(r"^Observation \S+ (\w+)", run.stdout, re.M)
    if not seen:
        fault(name, f"herd7 does not take this:\n{program}{run.stdout[-300:]}")
        return ""
    return "forbidden" if seen[1] == "Never" else "allowed"


# ---- grades ----

def grade(path):
    with tempfile.TemporaryDirectory() as tmp:
        subprocess.run([ROOT / "verify/grade", "--json", tmp + "/json", path], stdout=subprocess.DEVNULL)
        out = Path(tmp, "json")
        return json.loads(out.read_text())["verdict"] if out.exists() else "refused"


def grades():
    """A page has the verdict of an exercise's first state behind its link, in italics; each solution is minimal."""
    for name in CHAPTERS:
        text = (COURSE / (name + ".md")).read_text()
        for number in ("1", "2"):
            exercise = f"{name}-{number}"
            said = re.search(rf"\[Open `{exercise}` in the lab\]\([^)]*\)[^*]*\*([^*]+)\*", text)
            true = grade(COURSE / (exercise + ".lab"))
            if not said or said[1] != true:
                fault(name, f"{exercise} grades '{true}', not '{said and said[1]}'")
            true = grade(COURSE / (exercise + ".solution.lab"))
            if true != "minimal":
                fault(name, f"the solution of {exercise} grades '{true}'")


def museum():
    """A program of the museum has the kind of error that its page states, and orders that repair it, or none."""
    text = (ROOT / "docs/museum.md").read_text()
    for path in sorted(MUSEUM.glob("*.lab")):
        section = next(part for part in re.split(r"^## ", text, flags=re.M) if f"verify/museum/{path.stem}.h" in part)
        title = section.split("\n", 1)[0].split(": ", 1)[1]
        kind, repair = re.search(rf"^\| .* \| {re.escape(title)} \| ([\w-]+) \| (.*) \|$", text, re.M).groups()
        program = path.read_text()
        found = lab.explore(program)
        if found["verdict"] != "error" or found["error"]["kind"] != kind:
            fault(path.stem, f"not the error of the page, {kind}: {found.get('error', found['verdict'])}")
        if (lab.explore(lab.strongest(program))["verdict"] == "pass") == (repair == "none"):
            fault(path.stem, f"the page states the repair '{repair}'")


# ---- this processor ----

def rounds():
    loader = importlib.machinery.SourceFileLoader("native_lab", str(ROOT / "verify/lab"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("native_lab", loader))
    loader.exec_module(module)
    return module


def runs():
    """Each outcome seen is allowed; and one of another program is not."""
    native = rounds()
    for name in CHAPTERS:
        done = subprocess.run([ROOT / "verify/lab", "--seconds", "0.5", "--rounds", "20000", name], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            fault(name, f"verify/lab ends with {done.returncode}:\n{done.stdout}")
    text = (COURSE / "sb.lab").read_text()
    seen = native.counts(text, 100, 5)
    if set(seen) & native.allowed(text.replace("store(x, 1", "store(x, 3")):
        fault("sb", "outcomes of another program are taken for allowed ones")


# ---- renewal ----

def measured(name, text):
    with tempfile.TemporaryDirectory() as tmp:
        subprocess.run([ROOT / "verify/lab", "--seconds", "5", "--json", tmp + "/json", name], check=True)
        seen = json.loads(Path(tmp, "json").read_text())["seen"]

    def row(match):
        wanted = match[1].split()
        number = sum(n for text, n in seen.items() if text == match[1] or set(wanted) <= set(text.split()))
        return f"{match[0].rsplit('|', 2)[0]}| {number:,} of {sum(seen.values()):,} |"
    return re.sub(ROW, row, text, flags=re.M)


def write(names, measure):
    for path in linked():
        text = LINK.sub(lambda m: f"[Open `{m[1]}` in the lab]({link(m[1], path)})", path.read_text())
        path.write_text(measured(path.stem, text) if measure and path.stem in names else text)


def main():
    if sys.argv[1:2] in (["--write"], ["--measure"]):
        write(sys.argv[2:] or CHAPTERS, sys.argv[1] == "--measure")
        return 0
    pages()
    if sys.argv[1:2] == ["--pages"]:
        print("\n".join(fault(None, None)) or f"{len(CHAPTERS)} chapters")
        return bool(fault(None, None))
    herd = litmus.herd()
    asked = tables(herd)
    grades()
    museum()
    runs()
    for text in fault(None, None):
        print(text)
    print(f"note: {len(CHAPTERS)} chapters; {asked} entries of their tables by herd7")
    return bool(fault(None, None))


if __name__ == "__main__":
    sys.exit(main())
