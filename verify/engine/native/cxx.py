# SPDX-License-Identifier: MIT
"""C++ in verify/explore: which files and flags are C++, names as a person writes them, and changes of g++'s assembly."""
import os
import re
import subprocess

SUFFIXES = (".cc", ".cpp", ".cxx", ".C", ".c++", ".cp")
# A function of a header there is told apart by the program's own function that called it.
HEADER = re.compile(r"/c\+\+/\d|/lib/gcc/")
# Whether a notify finds a thread waiting. libstdc++ 12 has no fence between the program's store and this load; with a
# relaxed or release store the C++ model then allows a wake-up to be lost, which the standard excludes. The engine adds it.
WAITING = re.compile(r"_ZNKSt8__detail18__waiter_pool_base10_M_waitingEv$")
# Before std::atomic's wait sleeps it looks 16 times; once is enough, each further look would be a load more.
SPIN = re.compile(r"_ZNSt8__detail13__atomic_spinI")
LOOKS = re.compile(r"\tcmpl\t\$15,")
FLAGS = ["-include", os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "include", "lade_cxx.hpp")]
# What the engine has under another name in the program itself (cxxstub.c).
OWN = {"_ZSt15__once_callable": "lade_x_once_callable", "_ZSt11__once_call": "lade_x_once_call",
       "__once_proxy": "lade_x___once_proxy", "__libc_single_threaded": "lade_x___libc_single_threaded"}
# Data of libstdc++ that is only looked at, and what only an exception reaches.
DATA = re.compile(r"_ZT[VISTC]|_ZSt7nothrow$|_ZSt4(cout|cerr|clog)$|_ZSt3cin$|__gxx_personality_v0$|__dso_handle$")


# Streams: templates that are compiled into the program, over objects that libstdc++ sets up.
STREAM = re.compile(r"_ZNK?S[oid][A-Z\d]|_ZNK?S[oid][a-z]{2}E|_ZNK?St\d+basic_(?:ostream|istream|ios|iostream|\w*streambuf|\w*stringstream|"
                    r"filebuf|stringbuf|\w*fstream)I|_ZSt(?:ls|rs|4endl|4ends|5flush|16__ostream_insert)I")


def is_cxx(source):
    return source.endswith(SUFFIXES)


def flags_for(flags, cxx):
    """Without the standards of the other language."""
    out = []
    for f in flags:
        standard = re.match(r"-std=(?:c|gnu)(\+\+)?", f)
        if not standard or bool(standard.group(1)) == cxx:
            out.append(f)
    return out


def demangle(names):
    """{name: as a person writes it} of those that are mangled."""
    names = [n for n in names if n.startswith("_Z")]
    if not names:
        return {}
    r = subprocess.run(["c++filt"], input="\n".join(names) + "\n", stdout=subprocess.PIPE, text=True, check=True)
    return dict(zip(names, r.stdout.splitlines()))


def is_function(name, shown):
    return "(" in shown.get(name, "")
