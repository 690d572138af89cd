#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lab/test/random_programs.py LAB [--page WASM] N [SEED]: random programs of the lab's language against verify/explore on their C.

Executions, verdict and outcomes must be equal under RC11 and one other model. With --page the same programs also run in the page's
WebAssembly, by node, which must give the same as the native build in all four models.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MODELS = ("rc11", "ra", "sc", "tso")
NODE = r"""
const fs = require("fs"), module_ = new WebAssembly.Module(fs.readFileSync(process.argv[2])), imports = {};
for (const i of WebAssembly.Module.imports(module_)) (imports[i.module] = imports[i.module] || {})[i.name] = () => 8;
for (const text of JSON.parse(fs.readFileSync(process.argv[3]))) for (let m = 0; m < 4; m++) {
  const x = new WebAssembly.Instance(module_, imports).exports, bytes = new TextEncoder().encode(text);
  if (x._initialize) x._initialize();
  new Uint8Array(x.memory.buffer, x.lab_text(bytes.length), bytes.length + 1).set([...bytes, 0]);
  const at = x.lab_explore(m, 1e5), memory = new Uint8Array(x.memory.buffer);
  console.log(new TextDecoder().decode(memory.slice(at, memory.indexOf(0, at))));
}
"""


def program(rng):
    orders = ("relaxed", "relaxed", "acquire", "release", "acq_rel", "seq_cst")
    loads, stores = ("relaxed", "acquire", "seq_cst"), ("relaxed", "release", "seq_cst")
    atomics = ["x", "y", "z"][:rng.randint(1, 3)]
    lines = ["atomic int %s;" % ", ".join(atomics), "atomic int a[2];", "int p;"]

    def place(regs):
        if rng.random() < 0.15:
            return "a[%s]" % ("%s & 1" % rng.choice(regs) if regs and rng.random() < 0.5 else rng.randint(0, 1))
        return rng.choice(atomics)

    def statement(regs, depth):
        kind, r = rng.random(), "r%d" % len(regs)
        value = rng.choice([str(rng.randint(1, 3))] + ["%s + 1" % g for g in regs])
        if kind < 0.28:
            text = "store(%s, %s, %s);" % (place(regs), value, rng.choice(stores))
        elif kind < 0.56:
            text = "%s = load(%s, %s);" % (r, place(regs), rng.choice(loads))
            regs.append(r)
        elif kind < 0.66:
            text = "%s = %s(%s, %s, %s);" % (r, rng.choice(("exchange", "fetch_add", "fetch_or", "fetch_sub")), place(regs), value, rng.choice(orders))
            regs.append(r)
        elif kind < 0.74:
            text = "e = %d; %s = %s(%s, e, %s, %s, %s);" % (rng.randint(0, 1), r, rng.choice(("cas", "cas", "cas_weak")), place(regs), value,
                                                            rng.choice(orders), rng.choice(loads))
            regs.append(r)
        elif kind < 0.82:
            text = "fence(%s);" % rng.choice(orders[2:])
        elif kind < 0.88 and regs and depth:
            text = "if (%s %s %d) { %s } else { %s }" % (rng.choice(regs), rng.choice(("==", "!=", "<", ">=")), rng.randint(0, 2),
                                                        statement(list(regs), 0), statement(list(regs), 0))
        elif kind < 0.91 and depth:
            text = "while (load(%s, %s) == 0);" % (rng.choice(atomics), rng.choice(loads))
        elif kind < 0.93 and regs:
            text = "assert(!(%s == 2 && %s > 0) || %s < 3);" % (regs[-1], regs[0], regs[0])
        elif kind < 0.975:
            text = "p = %s;" % value
        elif kind < 0.99:
            text = "q = p;"
        else:
            text = "free(%s);" % rng.choice(["p"] + atomics)
        return text

    for _ in range(rng.randint(2, 3)):
        regs = []
        lines.append("thread { %s }" % " ".join(statement(regs, 1) for _ in range(rng.randint(1, 4))))
    if rng.random() < 0.2:  # a message that a failed compare-exchange receives
        plain = rng.random() < 0.4
        lines[-2:] = ["thread { store(x, 1, relaxed); %sstore(a[0], 1, release); }" % ("p = 1; " * plain),
                      "thread { e = 7; r0 = cas%s(a[0], e, 2, %s, %s); if (e == 1) { r1 = load(x, relaxed); %s} }" %
                      (rng.choice(("", "_weak")), rng.choice(orders), rng.choice(loads), "r2 = p; " * plain)]
    elif rng.random() < 0.15:  # the last of two users frees
        order, last = rng.choice(orders), rng.choice(("", "fence(acquire); ", "load(x, acquire); "))
        lines[-2:] = ["thread { %sif (fetch_sub(x, 1, %s) == %d) { %sfree(p); } }" % (rng.choice(("p = 1; ", "q = p; ", "")), order, n, last)
                      for n in (rng.choice((0, 1)), 0)]
    return "\n".join(lines) + "\n"


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300, **more)


def summary(said):
    """What must be equal: with an error, only its kind; which one is found first may differ."""
    if said["verdict"] == "error":
        return "error"
    return [said["verdict"], said["executions"], sorted((o["outcome"].strip(), o["executions"]) for o in said["outcomes"])]


def explored(prog, model, tmp):
    r = run([prog, "--outcomes", "--quiet", "--model", model, "--max-executions", "100000", "--json", tmp + "/json"])
    said = json.loads(Path(tmp, "json").read_text()) if os.path.exists(tmp + "/json") else {"verdict": r.stderr[-300:], "executions": 0, "outcomes": []}
    return summary(said)


def main():
    args = sys.argv[1:]
    wasm = args.pop(args.index("--page") + 1) if "--page" in args else None
    args = [a for a in args if a != "--page"]
    lab, number = args[0], int(args[1])
    seed = int(args[2]) if len(args) > 2 else random.randrange(1 << 30)
    print("seed %d" % seed)
    rng, bad, kinds, texts, native = random.Random(seed), 0, {}, [], []
    with tempfile.TemporaryDirectory() as tmp:
        for i in range(number):
            text = program(rng)
            Path(tmp, "p.lab").write_text(text)
            here = {m: run([lab, m, tmp + "/p.lab", "100000"]).stdout for m in MODELS}
            texts.append(text)
            native += [here[m] for m in MODELS]
            source = run([lab, "c", tmp + "/p.lab"])
            Path(tmp, "p.c").write_text(source.stdout)
            built = run([str(ROOT / "verify/explore"), "--build", tmp + "/p", "--", "-w", tmp + "/p.c"])
            for m in ("rc11", rng.choice(MODELS[1:])):
                want = explored(tmp + "/p", m, tmp) if built.returncode == 0 else built.stderr
                got = summary(json.loads(here[m]))
                kinds[got if got == "error" else got[0]] = kinds.get(got if got == "error" else got[0], 0) + 1
                if got != want:
                    bad += 1
                    print("DIFFERENT under %s, program %d of seed %d\n%slab     %s\nexplore %s" % (m, i, seed, text, got, want))
        if wasm:
            Path(tmp, "run.js").write_text(NODE)
            Path(tmp, "texts").write_text(json.dumps(texts))
            there = run(["node", tmp + "/run.js", wasm, tmp + "/texts"])
            for k, (a, b) in enumerate(zip(native, there.stdout.splitlines())):
                if a.strip() != b.strip():
                    bad += 1
                    print("page and native differ under %s:\n%s" % (MODELS[k % 4], texts[k // 4]))
            if len(there.stdout.splitlines()) != len(native):
                bad += 1
                print("the page's engine ended early: %s" % there.stderr[-500:])
    print("%d programs, %s%s, %d differ" % (number, ", ".join("%d %s" % (n, k) for k, n in sorted(kinds.items())),
                                            ", page equal" if wasm and not bad else "", bad))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
