# SPDX-License-Identifier: MIT
"""Tables on standard output, and as a picture."""
import datetime

from draw import bars


def number(value):
    if 0 < value < 0.0995:
        return f"{value:.4f}"
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def state_text(state):
    return (f"line ping-pong {state['pingpong_ns']:.0f} ns, two cores {state['speedup']:.2f} times one, "
            f"load {state['load']:.2f}")


def print_table(table):
    print(f"\n{table.title}")
    state = table.state()
    print(f"  before: {state_text(state['before'])}")
    instructions = "  instructions" if table.instructions else ""
    wide = max([26, *(len(row["candidate"]) for row in table.rows()), *map(len, table.left_out)]) + 2
    print(f"  {'candidate':<{wide}}{table.unit:>13}   least    most{instructions}")
    for row in table.rows():
        if row["unit"] == "ratio":
            continue
        low, high = row["spread"]
        count = f"{row['instructions']:>14}" if "instructions" in row else ""
        print(f"  {row['candidate']:<{wide}}{number(row['median']):>13}{number(low):>8}{number(high):>8}{count}")
    for row in table.rows():
        if row["unit"] == "ratio":
            low, high = row["spread"]
            print(f"  {row['candidate']:<{wide}}{number(row['median']) + ' times':>13}{number(low):>8}{number(high):>8}")
    for name, reason in table.left_out.items():
        print(f"  {name:<{wide}} left out: {reason}")
    print(f"  after:  {state_text(state['after'])}; {len(table.used())} repetitions")
    if table.unsteady:
        print(f"  UNSTEADY: {table.unsteady}")


def live(bench, module):
    """Measures and prints one table after the other."""
    done = []
    for table in module.tables(bench):
        print_table(table)
        done.append(table)
    return done


def named(row):
    return row["candidate"] + (f" / {row['against']}" if "against" in row else "")


def print_promises(promises):
    print("\npromised")
    wide = max((len(row["case"]) for row in promises), default=0) + 2
    wider = max([26, *(len(named(row)) for row in promises)]) + 2
    for row in promises:
        low, high = row["spread"]
        verdict = {"missed": "MISSED"}.get(row["verdict"], row["verdict"]) + (", unsteady" if row["unsteady"] else "")
        print(f"  {row['case']:<{wide}}{named(row):<{wider}}{number(row['value']):>7} ({number(low)} to {number(high)})  "
              f"{row['sense']} {row['promise']:g}: {verdict}")
    if not promises:
        print("  nothing: no peer is installed")


def panel(table, alone, promises):
    """A table as bars, with the promises of its case."""
    kind = ", more is better" if table.higher else ", less is better"
    rows = [row for row in table.rows() if row["unit"] != "ratio"]
    return bars.Panel(
        table.title if alone else table.case, table.unit + kind + (", unsteady" if table.unsteady else ""),
        [bars.Bar(row["candidate"], row["median"], number(row["median"]), *row["quartiles"], row["candidate"].startswith("lade"))
         for row in rows],
        [f"{named(p)}: {number(p['value'])} ({p['sense']} {p['promise']:g}: {p['verdict']})" for p in promises if p["case"] == table.case])


def picture(name, tables, promises):
    """Medians as bars; tables of one case, such as those of several numbers of threads, share a title."""
    cases = {}
    for table in tables:
        cases.setdefault(table.case.split()[0], []).append(table)
    state = tables[0].state()["before"]
    note = (f"Measured on {datetime.date.today()}. Medians; line: quartiles. At the start: line ping-pong {state['pingpong_ns']:.0f} ns, "
            f"two cores {state['speedup']:.2f} times one, load {state['load']:.1f}.")
    return bars.draw(f"bench/run {name}", note, [
        bars.Group(group[0].title.rsplit(", ", 1)[0], [panel(table, len(group) == 1, promises) for table in group])
        for group in cases.values()])
