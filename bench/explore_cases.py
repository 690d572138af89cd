# SPDX-License-Identifier: MIT
"""bench/run explore: how fast verify/explore and GenMC exhaust the same programs."""
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import tempfile

from measure import Candidate, Failure, Table, judged, spread_of

ABOUT = "how fast verify/explore and GenMC exhaust the same programs"
HERE = pathlib.Path(__file__).resolve().parent
EXPLORE = HERE.parent / "verify" / "explore"
# Program, flags. In the last three threads retry a compare-exchange: the two leave out failed retries in different ways.
PROGRAMS = [
    ("count", "-DTHREADS=8"),
    ("circle", "-DTHREADS=10 -DORDER=memory_order_relaxed"),
    ("circle", "-DTHREADS=10 -DORDER=memory_order_seq_cst"),
    ("readers", "-DTHREADS=5 -DWRITES=5"),
    ("sums", "-DTHREADS=2 -DSTEPS=6"),
    ("mutex", "-DTHREADS=5 -DSTEPS=2"),
    ("mutex", "-DTHREADS=3 -DSTEPS=4"),
    ("ticket", "-DTHREADS=6 -DSTEPS=1"),
    ("ticket", "-DTHREADS=7 -DSTEPS=1"),
    ("ticket", "-DTHREADS=3 -DSTEPS=3"),
    ("spinlock", "-DTHREADS=7 -DSTEPS=1"),
    ("turns", "-DTHREADS=7 -DSTEPS=1"),
    ("treiber", "-DTHREADS=6 -DPUSHES=4"),
    ("vyukov", "-DTHREADS=6 -DPUSHES=3"),
    ("vyukov", "-DTHREADS=7 -DPUSHES=4"),
]
MEDIAN, LEAST = 3.0, 0.6  # promised: the median over the programs, and the least


def processor_time():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def exhaust(command, pattern):
    """(executions, seconds). Processor time: other programs then disturb less, and -j gains nothing."""
    begin = processor_time()
    answer = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    seconds = processor_time() - begin
    found = re.search(pattern, answer.stdout)
    if answer.returncode != 0 or not found:
        raise Failure(f"{' '.join(command)}: {answer.stdout[-300:]}{answer.stderr[-300:]}")
    return int(found.group(1)), seconds


def genmc(flags, source):
    return (["genmc", "--rc11", "--disable-estimation", "--disable-mm-detector", "--disable-sr", "--", *flags.split(), source],
            r"complete executions explored: (\d+)")


def one_thread(flags):
    """The same program with next to nothing to explore: what GenMC takes to compile it."""
    return re.sub(r"(THREADS|STEPS|WRITES|PUSHES)=\d+", r"\1=1", flags)


def table_of(bench, folder, name, flags):
    source = str(HERE / "explore" / (name + ".c"))
    program = os.path.join(folder, name)
    subprocess.run([str(EXPLORE), "--build", program, "--", *flags.split(), source], timeout=120, check=True,
                   stdout=subprocess.DEVNULL)
    commands = {"explore": ([program, "--genmc", "--no-leaks", "--quiet"], r"executions: (\d+)"), "GenMC": genmc(flags, source)}
    case = f"{name} {flags.replace('-D', '').replace('memory_order_', '')}"
    table = Table(case, case, "explorations/s", [Candidate(c, c, [], 1) for c in commands], None)
    counts = {}
    for _ in range(3 if bench.quick else 5):
        before, value = bench.state(), {}
        compiling = exhaust(*genmc(one_thread(flags), source))[1]
        for candidate, command in commands.items():
            counts[candidate], seconds = exhaust(*command)
            value[candidate] = 1 / max(seconds - (compiling if candidate == "GenMC" else 0), 0.001)
        table.rounds.append({"before": before, "after": bench.state(), "value": value, "share": 1.0, "disturbed": ""})
    table.title = f"{case}: {counts['explore']} executions, GenMC {counts['GenMC']}"
    table.ratios = [("explore", "GenMC")]
    return table


def tables(bench):
    if not shutil.which("genmc"):
        raise Failure("GenMC is not on PATH: build MPI-SWS/genmc as its README describes")
    with tempfile.TemporaryDirectory() as folder:
        for name, flags in PROGRAMS:
            yield table_of(bench, folder, name, flags)


def promises(done):
    ratios = [statistics.median(table.ratio("explore", "GenMC")) for table in done]
    rows = []
    for case, value, promise in (("median", statistics.median(ratios), MEDIAN), ("least", min(ratios), LEAST)):
        rows.append(judged({"case": case, "candidate": "explore", "against": "GenMC", "threads": 1, "unit": "ratio",
                            **spread_of(ratios), "value": value, "promise": promise, "sense": "at least", "unsteady": ""}))
    return rows
