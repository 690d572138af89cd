# SPDX-License-Identifier: MIT
"""Small random programs: 2 to 4 threads of loads, stores, read-modify-writes, compare-exchanges and fences.

An instruction is a tuple: ("load", loc, order), ("store", loc, value, order), ("add", loc, value, order),
("xchg", loc, value, order), ("cas", loc, expected, desired, order, fail_order, weak), ("fence", order),
("lock",), ("unlock",), ("trylock",), ("unlock", i): if the trylock of instruction i has succeeded. Every read goes into a separate
register. A location ("at", i) is 0 or 1, by the lowest bit of what the load of instruction i has read.
"""
import random

ORDERS = {
    "load": ["relaxed", "acquire", "seq_cst"],
    "store": ["relaxed", "release", "seq_cst"],
    "rmw": ["relaxed", "acquire", "release", "acq_rel", "seq_cst"],
    "fence": ["acquire", "release", "acq_rel", "seq_cst"],
}
READS = ("load", "add", "xchg", "cas", "trylock")
TYPES = ("int", "unsigned char", "short")  # of a program's locations, which are neighbours


def by_values(rng, code):
    """Some loads and stores of a thread go where an earlier load points to, some locks are only tried."""
    loads = []
    for i, ins in enumerate(code):
        if ins[0] in ("load", "store") and loads and rng.random() < 0.8:
            code[i] = (ins[0], ("at", rng.choice(loads))) + ins[2:]
        if ins[0] == "lock" and rng.random() < 0.6:
            code[i], code[code.index(("unlock",), i)] = ("trylock",), ("unlock", i)
        if ins[0] == "load":
            loads.append(i)


def generate(rng, weak=False, mutex=False, values=False, most=10):
    threads = rng.choice([2, 2, 3, 3, 4])
    total = rng.randint(threads, most)
    places = rng.choice([1, 2, 2, 3])
    sc_bias = rng.random()

    def order(kind):
        return "seq_cst" if rng.random() < sc_bias * 0.6 else rng.choice(ORDERS[kind])

    def one():
        kind = rng.choices(["load", "store", "add", "xchg", "cas", "fence"], [5, 5, 1.2, 1, 1.8, 1.5])[0]
        x = rng.randrange(places)
        if kind == "load":
            return (kind, x, order("load"))
        if kind == "store":
            return (kind, x, rng.randint(1, 2), order("store"))
        if kind in ("add", "xchg"):
            return (kind, x, rng.randint(1, 2), order("rmw"))
        if kind == "cas":
            return (kind, x, rng.randint(0, 1), rng.randint(1, 3), order("rmw"), order("load"), weak and rng.random() < 0.5)
        return (kind, order("fence"))

    program = [[] for _ in range(threads)]
    for i in range(total):
        program[i if i < threads else rng.randrange(threads)].append(one())
    if mutex:
        for t in program:
            if rng.random() < 0.8:
                i = rng.randint(0, len(t))
                j = rng.randint(i, len(t))
                t.insert(j, ("unlock",))
                t.insert(i, ("lock",))
    for t in program if values else ():
        if rng.random() < 0.6:
            t.insert(0, ("load", rng.randrange(places), order("load")))
        by_values(rng, t)
    return program if locations(program) else generate(rng, weak, mutex, values, most)  # fences alone show nothing


def registers(program):
    return [(t, i) for t, code in enumerate(program) for i, ins in enumerate(code) if ins[0] in READS]


def locations(program):
    named = {ins[1] for code in program for ins in code if ins[0] not in ("fence", "lock", "unlock", "trylock")}
    return sorted({x for x in named if not isinstance(x, tuple)} | ({0, 1} if any(isinstance(x, tuple) for x in named) else set()))


def statement(ins, reg, ref="&%s"):
    """One instruction as C11; ref gives the address of a location."""
    k = ins[0]
    if k == "trylock":
        return "%s = pthread_mutex_trylock(&m) == 0;" % reg
    if k in ("lock", "unlock"):
        return "%spthread_mutex_%s(&m);" % ("if (r%d) " % ins[1] if ins[1:] else "", k)
    if k == "fence":
        return "atomic_thread_fence(memory_order_%s);" % ins[1]
    x = "(r%d & 1 ? %s : %s)" % (ins[1][1], ref % "x1", ref % "x0") if isinstance(ins[1], tuple) else ref % ("x%d" % ins[1])
    if k == "load":
        return "%s = atomic_load_explicit(%s, memory_order_%s);" % (reg, x, ins[2])
    if k == "store":
        return "atomic_store_explicit(%s, %d, memory_order_%s);" % (x, ins[2], ins[3])
    if k in ("add", "xchg"):
        f = "atomic_fetch_add_explicit" if k == "add" else "atomic_exchange_explicit"
        return "%s = %s(%s, %d, memory_order_%s);" % (reg, f, x, ins[2], ins[3])
    return None


def as_c(program, name, loops=()):
    """A C function `name` that runs the program and prints its outcome; state is kept in a separate struct.
    loops: (thread, first, last, {instruction: value}), instructions that are repeated until they read these values."""
    kind = TYPES[sum(map(len, program)) % len(TYPES)]
    out = ["static struct { _Atomic %s %s; } %s_s;" % (kind, ", ".join("x%d" % x for x in range(3)), name)]
    regs = registers(program)
    for t, i in regs:
        out.append("static int %s_r%d_%d;" % (name, t, i))
    ref = "&" + name + "_s.%s"
    for t, code in enumerate(program):
        out.append("static void *%s_t%d(void *arg)\n{\n    (void)arg;" % (name, t))
        out += ["    int r%d;" % i for u, i in regs if u == t]
        for i, ins in enumerate(code):
            reg = "r%d" % i
            out += ["    for (;;) {" for loop in loops if loop[:2] == (t, i)]
            if ins[0] == "cas":
                out.append("    { %s e = %d; bool ok = atomic_compare_exchange_%s_explicit(%s, &e, %d, memory_order_%s, "
                           "memory_order_%s); %s = ok ? %d : e; if (!ok && e == %d) %s = 100; }" %
                           (kind, ins[2], "weak" if ins[6] else "strong", ref % ("x%d" % ins[1]), ins[3], ins[4], ins[5], reg,
                            ins[2], ins[2], reg))
            else:
                out.append("    " + statement(ins, reg, ref))
            out += ["    if (%s) break; }" % " && ".join("r%d == %d" % w for w in loop[3].items())
                    for loop in loops if (loop[0], loop[2]) == (t, i)]
        out += ["    %s_r%d_%d = r%d;" % (name, t, i, i) for u, i in regs if u == t]
        out.append("    return NULL;\n}")
    out.append("int %s(void)\n{\n    pthread_t t[%d];" % (name, len(program)))
    for t in range(len(program)):
        out.append("    pthread_create(&t[%d], NULL, %s_t%d, NULL);" % (t, name, t))
    for t in range(len(program)):
        out.append("    pthread_join(t[%d], NULL);" % t)
    out.append('    printf("%s%%s", %s);' % (
        "%d " * (len(regs) + len(locations(program))),
        ", ".join(["%s_r%d_%d" % (name, t, i) for t, i in regs] +
                  ["atomic_load_explicit(&%s_s.x%d, memory_order_relaxed)" % (name, x) for x in locations(program)] + ['""'])))
    out.append("    return 0;\n}")
    return "\n".join(out) + "\n"


HEADER = ("#include <pthread.h>\n#include <stdatomic.h>\n#include <stdbool.h>\n#include <stdio.h>\n"
          "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n")


def cxx_statement(ins, i, where):
    """One instruction as C++; its result goes to ri."""
    k = ins[0]
    if k == "trylock":
        return "r%d = m.try_lock();" % i
    if k in ("lock", "unlock"):
        return "%sm.%s();" % ("if (r%d) " % ins[1] if ins[1:] else "", k)
    if k == "fence":
        return "std::atomic_thread_fence(std::memory_order_%s);" % ins[1]
    x, order = where % ("(r%d & 1)" % ins[1][1] if isinstance(ins[1], tuple) else ins[1]), "std::memory_order_%s"
    if k == "load":
        return "r%d = %s.load(%s);" % (i, x, order % ins[2])
    if k == "store":
        return "%s.store(%d, %s);" % (x, ins[2], order % ins[3])
    if k in ("add", "xchg"):
        return "r%d = %s.%s(%d, %s);" % (i, x, "fetch_add" if k == "add" else "exchange", ins[2], order % ins[3])
    return ("{ int e = %d; bool ok = %s.compare_exchange_%s(e, %d, %s, %s); r%d = ok ? %d : e; if (!ok && e == %d) r%d = 100; }" %
            (ins[2], x, "weak" if ins[6] else "strong", ins[3], order % ins[4], order % ins[5], i, ins[2], ins[2], i))


def as_cxx(program, name):
    """The same function in C++: std::atomic or atomic_ref, std::thread with lambdas, std::mutex."""
    regs, refs = registers(program), len(program) % 2
    out = ["static %s %s_x[3];" % ("int" if refs else "std::atomic<int>", name)]
    where = ("std::atomic_ref<int>(%s_x[%%s])" if refs else "%s_x[%%s]") % name
    out.append('extern "C" int %s()\n{' % name)
    out += ["    int r%d_%d = 0;" % r for r in regs]
    for t, code in enumerate(program):
        mine = [i for u, i in regs if u == t]
        out.append("    std::thread t%d([&] {" % t)
        out += ["        int r%d;" % i for i in mine]
        out += ["        " + cxx_statement(ins, i, where) for i, ins in enumerate(code)]
        out += ["        r%d_%d = r%d;" % (t, i, i) for i in mine]
        out.append("    });")
    out += ["    t%d.join();" % t for t in range(len(program))]
    values = ["r%d_%d" % r for r in regs] + ["%s.load(std::memory_order_relaxed)" % where % x for x in locations(program)]
    out.append('    printf("%s%%s", %s);\n    return 0;\n}' % ("%d " * len(values), ", ".join(values + ['""'])))
    return "\n".join(out) + "\n"


CXX_HEADER = "#include <atomic>\n#include <cstdio>\n#include <mutex>\n#include <thread>\nstatic std::mutex m;\n"


def as_litmus(program, name):
    """The same for herd7; what a compare-exchange expected is a separate private location."""
    locs = locations(program)
    cas = [(t, i) for t, i in registers(program) if program[t][i][0] == "cas"]
    start = ["[x%d] = 0;" % x for x in locs] + ["[e%d_%d] = %d;" % (t, i, program[t][i][2]) for t, i in cas]
    out = ["C %s" % name, "{ %s }" % " ".join(start)]
    for t, code in enumerate(program):
        mine = ["int* e%d_%d" % c for c in cas if c[0] == t]
        out.append("P%d (%s) {" % (t, ", ".join(["atomic_int* x%d" % x for x in locs] + mine)))
        for i, ins in enumerate(code):
            if ins[0] == "cas":
                out.append("  int r%d = atomic_compare_exchange_strong_explicit(x%d, e%d_%d, %d, memory_order_%s, memory_order_%s);"
                           % (i, ins[1], t, i, ins[3], ins[4], ins[5]))
            else:
                out.append("  " + statement(ins, "int r%d" % i, "%s").replace("&", ""))
        out.append("}")
    names = ["%d:r%d;" % r for r in registers(program)] + ["x%d;" % x for x in locs] + ["e%d_%d;" % c for c in cas]
    out.append("locations [%s]\nexists (true)" % " ".join(names))
    return "\n".join(out) + "\n"


def litmus_outcomes(program, text):
    """Outcomes in herd7's output, in the form that as_c prints."""
    out = set()
    for line in text.splitlines():
        if "=" not in line or not line.rstrip().endswith(";"):
            continue
        got = dict(part.strip().split("=") for part in line.rstrip().rstrip(";").split(";"))
        row = []
        for t, i in registers(program):
            v = int(got["%d:r%d" % (t, i)])
            if program[t][i][0] == "cas":
                v = program[t][i][2] if v else int(got["[e%d_%d]" % (t, i)])
            row.append(v)
        out.add(tuple(row + [int(got["[x%d]" % x]) for x in locations(program)]))
    return out


def sample(seed, count, **options):
    rng = random.Random(seed)
    return [generate(rng, **options) for _ in range(count)]
