# SPDX-License-Identifier: MIT
"""The programs of README.md and docs/python.md. Each runs in a separate process and folder, with CIFAR-shaped data in data/."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FRAMEWORKS = ("torch", "jax", "tensorflow")
FRAGMENT = "lade.huggingface.Trainer("  # needs a model and tokens; test_frameworks.py trains with it


def programs(framework=None):
    """(page:line, source) of those that need this framework, or none."""
    for page in ("README.md", "docs/python.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        for match in re.finditer(r"^```python\n(.*?)^```", text, re.M | re.S):
            source = match.group(1)
            needed = [name for name in FRAMEWORKS if re.search(rf"^import (.*, *|lade\.)?{name}\b", source, re.M)]
            if FRAGMENT not in source and needed == ([framework] if framework else []):
                yield f"{page}:{text.count(chr(10), 0, match.start()) + 2}", source


def check(test, framework=None):
    """Runs them; there must be one."""
    count = 0
    for where, source in programs(framework):
        count += 1
        with test.subTest(where), tempfile.TemporaryDirectory() as folder:
            if "cifar10:data" in source:
                subprocess.run([sys.executable, "-m", "lade", "synth", "cifar10", "data", "--samples", "1000"], cwd=folder, check=True, capture_output=True)
            source = source if "import lade" in source else "import lade\n" + source
            environment = os.environ | {"JAX_PLATFORMS": "cpu", "XDG_CACHE_HOME": folder}
            if framework:
                environment |= {"PYTHONDEVMODE": "", "OMP_NUM_THREADS": "1"}
            run = subprocess.run([sys.executable, "-c", source], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
            test.assertEqual(run.returncode, 0, run.stdout + run.stderr)
    test.assertGreater(count, 0)
