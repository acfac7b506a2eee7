"""The accelerator, `whycast._native`: built where there is a compiler for it, left out elsewhere.

All else is in pyproject.toml. With WHYCAST_NATIVE=0 in the environment it is not even tried, and
the wheel is one for any machine; with WHYCAST_NATIVE=1 there is no wheel without it.
"""

import os
import re
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

# One build for Python 3.10 and later. A Python without the interpreter lock has no such API.
asked = os.environ.get("WHYCAST_NATIVE")
wanted = asked != "0" and not sysconfig.get_config_var("Py_GIL_DISABLED")
# A source distribution has what it is built of, whatever is asked for here.
wanted = wanted or "sdist" in sys.argv

accelerator = Extension(
    "whycast._native",
    ["python/whycast/_native.c", "c/whycast.c"],
    include_dirs=["c"],
    depends=["c/whycast.h"],
    extra_compile_args=["/O2"] if sys.platform == "win32" else ["-O3", "-fvisibility=hidden"],
    py_limited_api=True,
    optional=asked != "1",
)

# A package index has the readme alone: of a link to a file beside it the text is left.
readme = Path(__file__).with_name("README.md").read_text(encoding="utf-8")

setup(
    long_description=re.sub(r"\[([^]]+)\]\((?!https:)[^)]+\)", r"\1", readme),
    long_description_content_type="text/markdown",
    ext_modules=[accelerator] if wanted else [],
    options={"bdist_wheel": {"py_limited_api": "cp310"}} if wanted else {},
)
