# SPDX-License-Identifier: MIT
"""What is dead at a call, in gcc's unoptimised x86-64 assembly.

A waiting loop comes back to the same state except for leftovers: registers and stack slots that held the last values
read and that will be overwritten before they are looked at. The engine must not compare those. This is the textbook
backward analysis, per function, over the callee-saved registers and the bytes below the frame pointer; what it does not
understand it takes as a use of everything it mentions.

A slot whose address goes anywhere but into one of the sanitizer's hooks may be used through a pointer: it, and all
above it up to the frame pointer (its size is not known), count as live for ever. The one exception is the `expected`
argument of a compare-exchange, which only that call uses. Hooks for slots that do not escape are needless: no other
thread can reach them. Their lines are returned to be dropped, which makes runs a good deal faster.
"""
import re

FRAME = 8192  # bytes below the frame pointer that are looked at
RANGES = 12
REGISTERS = {}
for _i, _names in enumerate(["rbx ebx bx bl bh", "r12 r12d r12w r12b", "r13 r13d r13w r13b", "r14 r14d r14w r14b",
                             "r15 r15d r15w r15b"]):
    for _n in _names.split():
        REGISTERS[_n] = 1 << (FRAME + _i)
WHOLE = {"rbx", "ebx", "r12", "r12d", "r13", "r13d", "r14", "r14d", "r15", "r15d"}
ALL_REGISTERS = 31 << FRAME

SLOT = re.compile(r"(-?\d+)\(%rbp\)")
INDEXED = re.compile(r"(-?\d+)\(%rbp,")
REG = re.compile(r"%([a-z0-9]+)")
SUFFIX = {"b": 1, "w": 2, "l": 4, "q": 8}
MOVE = re.compile(r"mov(?:abs)?([bwlq])\s+(.+?),\s*(%\w+|-?\d+\(%rbp\))$")
WIDEN = re.compile(r"mov[sz]([bwl])[wlq]\s+(.+?),\s*%(\w+)$")
LEA = re.compile(r"lea[lq]\s+(-?\d+)\(%rbp\),\s*%(\w+)$")
HOOK = re.compile(r"call\s+__tsan_(?:unaligned_|volatile_)?(?:read|write)(?:\d+|_range)\b")
ONE_HOOK = re.compile(r"leaq -?\d+\(%rbp\), %rax movq %rax, %rdi call __tsan_(?:unaligned_|volatile_)?(?:read|write)(\d+)$")
EXCHANGE = re.compile(r"call\s+__tsan_atomic(\d+)_compare_exchange_(?:strong|weak)\b")
COPY = re.compile(r"movq\s+%(\w+),\s*%(\w+)$")
SET = re.compile(r"(?:mov[a-z]*|lea[lq])\s+(.+?),\s*%(\w+)$")
KEPT = {"rbx", "r12", "r13", "r14", "r15"}
FAMILY = {}
for _x in "abcd":
    FAMILY.update({n % _x: "r%sx" % _x for n in ("r%sx", "e%sx", "%sx", "%sl", "%sh")})
for _x in ("si", "di"):
    FAMILY.update({n % _x: "r" + _x for n in ("r%s", "e%s", "%s", "%sl")})
for _x in range(8, 16):
    FAMILY.update({"r%d%s" % (_x, n): "r%d" % _x for n in ("", "d", "w", "b")})
LABEL = re.compile(r"^(\.L\w+|[A-Za-z_]\w*):")


def bits(offset, size):
    low = max(offset + FRAME, 0)
    high = min(offset + size + FRAME, FRAME)
    return ((1 << high) - 1) & ~((1 << low) - 1) if high > low else 0


def size_of(text):
    """Bytes of a memory operand. Only integer instructions have its size in their last letter."""
    m = re.match(r"(?:mov|add|sub|adc|sbb|and|x?or|cmp|test|inc|dec|neg|not|i?mul|i?div|sh[lr]|sa[lr])([bwlq])\s", text)
    return 64 if not m else SUFFIX[m.group(1)]


class Instruction:
    """Uses and definitions as bit sets; next instructions by index."""
    __slots__ = ("use", "define", "follow", "line")

    def __init__(self, line):
        self.use = self.define = 0
        self.follow = []
        self.line = line


def effects(text, i):
    """Fills in what one instruction uses and defines."""
    m, w = MOVE.match(text), WIDEN.match(text)
    if m and "(%rbp," not in text:
        size = SUFFIX[m.group(1)]
        source, target = m.group(2), m.group(3)
        for r in REG.findall(source):
            i.use |= REGISTERS.get(r, 0)
        for off in SLOT.findall(source):
            i.use |= bits(int(off), size)
        slot = SLOT.fullmatch(target)
        if slot:
            i.define = bits(int(slot.group(1)), size)
        elif target[1:] in WHOLE:
            i.define = REGISTERS[target[1:]]
        else:
            i.use |= REGISTERS.get(target[1:], 0)
    elif w and "(%rbp," not in text:
        size, source, target = w.groups()
        for r in REG.findall(source):
            i.use |= REGISTERS.get(r, 0)
        for off in SLOT.findall(source):
            i.use |= bits(int(off), SUFFIX[size])
        if target in WHOLE:
            i.define = REGISTERS[target]
        else:
            i.use |= REGISTERS.get(target, 0)
    else:
        for r in REG.findall(text):
            i.use |= REGISTERS.get(r, 0)
        for off in SLOT.findall(text):
            i.use |= bits(int(off), size_of(text))


def goes_to(code, k, register):
    """Where an address taken into a register at instruction k ends up: "hook", a size for a compare-exchange's expected,
    or None when it may be kept, or is anything else."""
    held = {FAMILY.get(register)}
    for j in range(k + 1, min(k + 14, len(code))):
        text = code[j][1]
        if text.startswith("call"):
            if held & KEPT:
                return None
            if HOOK.match(text) and "rdi" in held and "rsi" not in held:
                return "hook"
            m = EXCHANGE.match(text)
            return int(m.group(1)) // 8 if m and "rsi" in held and not held & {"rdi", "rdx"} else None
        if text.startswith(("j", "ret", "leave")):
            return None
        m = COPY.match(text)
        if m and FAMILY.get(m.group(1)) in held:
            held.add(FAMILY.get(m.group(2)))
            continue
        m = SET.match(text)
        mentioned = {FAMILY.get(r) for r in REG.findall(m.group(1) if m else text)}
        if mentioned & held or None in held:
            return None
        if m:
            held.discard(FAMILY.get(m.group(2)))
    return None


def analyse(lines, first, last):
    """({line number of a call: (mask of dead registers, [[offset, size], ...])}, lines to drop) for one function."""
    code, labels = [], {}
    for n in range(first, last):
        text = lines[n]
        m = LABEL.match(text)
        if m:
            labels[m.group(1)] = len(code)
        elif text[:1] == "\t" and text[1:2] not in ".#":
            code.append((n, text.strip()))
    always = seen = 0
    program, hooks = [], []
    for k, (n, text) in enumerate(code):
        i = Instruction(n)
        lea = LEA.match(text)
        if INDEXED.search(text):
            for off in INDEXED.findall(text):
                always |= bits(int(off), -int(off))
        if lea:
            off, where = int(lea.group(1)), goes_to(code, k, lea.group(2))
            if where is None:
                always |= bits(off, -off)
            elif where == "hook":
                three = [code[k + d] for d in range(3) if k + d < len(code)]
                m = ONE_HOOK.match(" ".join(" ".join(x[1].split()) for x in three))
                if m:
                    hooks.append((bits(off, int(m.group(1))), [x[0] for x in three]))
            else:
                i.use |= bits(off, where)
                seen |= bits(off, where)
            i.define |= REGISTERS.get(lea.group(2), 0) if lea.group(2) in WHOLE else 0
        else:
            effects(text, i)
        seen |= i.use | i.define
        op = text.split(None, 1)[0]
        if op == "jmp" and text.split()[1] in labels:
            i.follow = [labels[text.split()[1]]]
        elif op == "jmp":  # through a table or out of the function: everything may be used
            i.use |= (1 << FRAME) - 1 | ALL_REGISTERS
        elif op == "ret":
            i.use |= ALL_REGISTERS
        else:
            i.follow = [k + 1]
            if op.startswith("j"):
                i.follow.append(labels.get(text.split()[1], k + 1))
                if text.split()[1] not in labels:
                    i.use |= (1 << FRAME) - 1 | ALL_REGISTERS
        program.append(i)
    # A slot without a mask is one that was not looked at: further down, or an argument above the frame pointer.
    drop = [n for mask, numbers in hooks if mask and not mask & always for n in numbers]
    return report(program, code, always, seen), drop


def report(program, code, always, seen):
    live = [0] * (len(program) + 1)
    changed = True
    while changed:
        changed = False
        for k in range(len(program) - 1, -1, -1):
            i = program[k]
            after = 0
            for f in i.follow:
                after |= live[f]
            before = i.use | (after & ~i.define)
            if before != live[k]:
                live[k] = before
                changed = True
    out = {}
    for k, (n, text) in enumerate(code):
        if text.startswith("call") and not HOOK.match(text):
            dead = seen & ~always & ~live[k + 1]
            slots = ranges(dead & ((1 << FRAME) - 1))
            if slots or dead >> FRAME:
                out[n] = (dead >> FRAME, slots)
    return out


def ranges(mask):
    out, at = [], 0
    while mask >> at and len(out) < RANGES:
        rest = mask >> at
        at += (rest & -rest).bit_length() - 1
        run = ~(mask >> at)
        size = (run & -run).bit_length() - 1
        out.append([at - FRAME, size])
        at += size
    return out


def dead_at_calls(lines):
    """The same for a whole file."""
    out, drop, first = {}, set(), None
    for n, text in enumerate(lines):
        if "\t.cfi_startproc" in text:
            first = n
        elif "\t.cfi_endproc" in text and first is not None:
            dead, needless = analyse(lines, first, n)
            out.update(dead)
            drop.update(needless)
            first = None
    return out, drop
