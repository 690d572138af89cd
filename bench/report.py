# SPDX-License-Identifier: MIT
"""Tables on standard output."""


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
    print(f"  {'candidate':<28}{table.unit:>13}   least    most{instructions}")
    for row in table.rows():
        if row["unit"] == "ratio":
            continue
        low, high = row["spread"]
        count = f"{row['instructions']:>14}" if "instructions" in row else ""
        print(f"  {row['candidate']:<28}{number(row['median']):>13}{number(low):>8}{number(high):>8}{count}")
    for row in table.rows():
        if row["unit"] == "ratio":
            low, high = row["spread"]
            print(f"  {row['candidate']:<28}{number(row['median']) + ' times':>13}{number(low):>8}{number(high):>8}")
    for name, reason in table.left_out.items():
        print(f"  {name:<28} left out: {reason}")
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


def print_promises(promises):
    print("\npromised")
    wide = max((len(row["case"]) for row in promises), default=0) + 2
    for row in promises:
        low, high = row["spread"]
        what = row["candidate"] + (f" / {row['against']}" if "against" in row else "")
        verdict = ("kept" if row["kept"] else "MISSED") + (", unsteady" if row["unsteady"] else "")
        print(f"  {row['case']:<{wide}}{what:<28}{number(row['value']):>7} ({number(low)} to {number(high)})  "
              f"{row['sense']} {row['promise']:g}: {verdict}")
    if not promises:
        print("  nothing: no peer is installed")
