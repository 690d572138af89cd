#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pages.py KIND LADE [SUBCOMMAND]: man pages and shell completion of lade, from what its --help prints.

KIND is man, or the name of the file of a shell: lade.bash, _lade (zsh) or lade.fish. Without SUBCOMMAND man makes the page of lade itself. The page goes to standard output.
"""
import re
import subprocess
import sys

OPTION = re.compile(r"  (--[a-z-]+)(?: (\S+))?(?:  +(.*))?$")
SOURCES = ["synthetic", "synthetic:", "cifar10:", "cifar100:", "idx:", "npy:", "records:", "images:", "tokens:", "megatron:", "tfrecord:", "tar:", "npz:"]
FORMATS = ["cifar10", "idx", "npy", "records", "images"]


class Option:
    def __init__(self, name, takes, text):
        self.name, self.takes, self.text = name, takes, text

    def choices(self):
        words = self.takes.split("|") if self.takes and "|" in self.takes else []
        return [word for word in words if word.islower()]

    def is_file(self):
        return self.takes in ("FILE", "INPUT", "DIR")


class Help:
    """What a --help prints, taken apart."""

    def __init__(self, program, subcommand=None):
        words = [program] + ([subcommand] if subcommand else []) + ["--help"]
        text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        self.usage, self.intro, self.sections, self.examples, self.codes = [], [], [], [], ""
        self.subcommands = []
        state, heading = "usage", None
        for line in text.splitlines():
            option = OPTION.match(line)
            if state == "usage" and line:
                self.usage.append(re.sub(r"^usage: *| {7}", "", line, count=1))
            elif state == "usage":
                state = "intro"
            elif line.startswith("examples:"):
                state = "examples"
            elif line.startswith("exit codes:"):
                state, self.codes = "codes", line.removeprefix("exit codes:").strip()
            elif state == "codes":
                self.codes += " " + line.strip()
            elif state == "examples":
                if line:
                    self.examples.append(line.strip())
            elif option:
                if state == "intro" or heading is not None:
                    self.sections.append((heading or "", []))
                state, heading = "options", None
                self.sections[-1][1].append(Option(*(part or "" for part in option.groups())))
            elif state == "options" and line.startswith("      ") and heading is None:
                last = self.sections[-1][1][-1]
                last.text = (last.text + " " + line.strip()).strip()
            elif re.match(r"[a-z][a-z ,]*$", line) and state in ("intro", "options"):
                heading = line
            elif state == "intro":
                self.intro.append(line)
        if subcommand is None:
            self.subcommands = [tuple(line.split(None, 1)) for line in self.intro if re.match(r"  [a-z]+ {2,}", line)]

    def options(self):
        return [option for _, options in self.sections for option in options]

    def verbs(self):
        """Words that must come first: lade split assign."""
        found = [re.match(r"lade [a-z]+ ([a-z]+)\b", line) for line in self.usage]
        return [match.group(1) for match in found if match]


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def paragraphs(lines):
    """Prose is filled; indented lines stay as they are."""
    out, literal = [], False
    for line in lines:
        if line.startswith("  ") != literal and line:
            out.append(".fi" if literal else ".PP\n.nf")
            literal = not literal
        out.append(roff(line) if line else ".PP")
    if literal:
        out.append(".fi")
    while out and out[-1] == ".PP":
        out.pop()
    return out


def man(program, version, subcommand):
    top = Help(program)
    page = Help(program, subcommand) if subcommand else top
    name = "lade-" + subcommand if subcommand else "lade"
    what = dict(top.subcommands)[subcommand] if subcommand else "data sets from a shell: feed, split, convert, inspect, make"
    out = [f'.TH {name.upper()} 1 "" "{version}" "lade"', ".SH NAME", f"{roff(name)} \\- {roff(what)}", ".SH SYNOPSIS", ".nf"]
    out += [roff(line) for line in page.usage] + [".fi", ".SH DESCRIPTION"]
    if subcommand:
        out += paragraphs(page.intro)
    else:
        for word, text in top.subcommands:
            out += [".TP", f"\\fBlade {word}\\fR", roff(text) + f"; see \\fBlade\\-{word}\\fR(1)"]
        out += [".TP", "\\fB\\-\\-version\\fR", "prints the version", ".TP", "\\fB\\-\\-help\\fR", "prints the subcommands"]
    if subcommand:
        out.append(".SH OPTIONS")
    for heading, options in page.sections:
        if heading:
            out.append(".SS " + heading[0].upper() + heading[1:])
        for option in options:
            takes = f" \\fI{roff(option.takes)}\\fR" if option.takes else ""
            out += [".TP", f"\\fB{roff(option.name)}\\fR{takes}", roff(option.text) or "prints this help"]
    if page.examples:
        out += [".SH EXAMPLES", ".nf"] + [roff(line) for line in page.examples] + [".fi"]
    out += [".SH EXIT STATUS", roff(page.codes)]
    others = ["lade"] + ["lade-" + word for word, _ in top.subcommands]
    out += [".SH SEE ALSO", ", ".join(f"\\fB{roff(other)}\\fR(1)" for other in others if other != name)]
    return "\n".join(out) + "\n"


def positionals(subcommand, page):
    """Words that may stand where no option does."""
    if page.verbs():
        return page.verbs()
    return FORMATS if subcommand == "synth" else SOURCES


def bash(program):
    top, out = Help(program), []
    out += ["# bash completion of lade", "_lade()", "{",
            "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options words", "    COMPREPLY=()",
            "    if [ \"$COMP_CWORD\" -eq 1 ]; then",
            f"        mapfile -t COMPREPLY < <(compgen -W '{' '.join(word for word, _ in top.subcommands)} --help --version' -- \"$word\")",
            "        return", "    fi", "    case ${COMP_WORDS[1]} in"]
    for subcommand, _ in top.subcommands:
        page = Help(program, subcommand)
        out += [f"    {subcommand})", "        case $before in"]
        for option in page.options():
            if option.choices():
                action = f"mapfile -t COMPREPLY < <(compgen -W '{' '.join(option.choices())}' -- \"$word\"); return"
            elif option.is_file():
                action = "mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); return"
            else:
                action = "return" if option.takes else ""
            if action:
                out.append(f"        {option.name}) {action} ;;")
        out += ["        esac", f"        options='{' '.join(option.name for option in page.options())}'",
                f"        words='{' '.join(positionals(subcommand, page))}'", "        ;;"]
    out += ["    *) return ;;", "    esac", "    if [[ $word == -* ]]; then",
            "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")", "    else",
            "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\"; compgen -f -- \"$word\")", "    fi", "}",
            "complete -o filenames -F _lade lade"]
    return "\n".join(out) + "\n"


def zsh(program):
    def quoted(text):
        return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")

    top = Help(program)
    out = ["#compdef lade", "_lade() {", "  local -a commands", "  commands=("]
    out += [f"    '{word}:{quoted(text)}'" for word, text in top.subcommands]
    out += ["  )", "  if (( CURRENT == 2 )); then", "    _describe 'subcommand' commands", "    return", "  fi", "  case $words[2] in"]
    for subcommand, _ in top.subcommands:
        page = Help(program, subcommand)
        out += [f"  {subcommand})", "    shift words", "    (( CURRENT-- ))", "    _arguments \\"]
        for option in page.options():
            what = option.choices()
            action = "" if not option.takes else f":{quoted(option.takes)}:" + (
                f"({' '.join(what)})" if what else "_files" if option.is_file() else "")
            out.append(f"      '{option.name}[{quoted(option.text)}]{action}' \\")
        out += [f"      '*:word:({quoted(' '.join(positionals(subcommand, page)))})' '*:file:_files'", "    ;;"]
    return "\n".join(out + ["  esac", "}", "_lade \"$@\""]) + "\n"


def fish(program):
    def quoted(text):
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    top, out = Help(program), ["# fish completion of lade"]
    for word, text in top.subcommands:
        out.append(f"complete -c lade -n __fish_use_subcommand -f -a {word} -d {quoted(text)}")
    for subcommand, _ in top.subcommands:
        page = Help(program, subcommand)
        seen = f"complete -c lade -n '__fish_seen_subcommand_from {subcommand}'"
        out.append(f"{seen} -a {quoted(' '.join(positionals(subcommand, page)))}")
        for option in page.options():
            takes = "" if not option.takes else f" -x -a {quoted(' '.join(option.choices()))}" if option.choices() else " -r"
            out.append(f"{seen} -l {option.name[2:]} -d {quoted(option.text)}{takes}")
    return "\n".join(out) + "\n"


def main():
    kind, program = sys.argv[1], sys.argv[2]
    if kind == "man":
        version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.strip()
        sys.stdout.write(man(program, version, sys.argv[3] if len(sys.argv) > 3 else None))
    else:
        sys.stdout.write({"lade.bash": bash, "_lade": zsh, "lade.fish": fish}[kind](program))


if __name__ == "__main__":
    main()
