"""Build the accelerator, `whycast._native`, if there is a compiler.

WHYCAST_NATIVE=0 in the environment skips it, WHYCAST_NATIVE=1 requires it. A wheel without it fits
any machine. pyproject.toml has all other settings.
"""

import os
import re
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

asked = os.environ.get("WHYCAST_NATIVE")
if asked not in (None, "0", "1"):
    sys.exit(f"WHYCAST_NATIVE: expected 0, 1 or no value, got {asked!r}")

# If Python has the interpreter lock, one build fits 3.10 and later.
limited = not sysconfig.get_config_var("Py_GIL_DISABLED")


class Build(build_ext):
    """Build the accelerator, or a package without it."""

    def run(self) -> None:
        """Print why if the accelerator is not built."""
        reason = "WHYCAST_NATIVE is 0"
        if asked != "0":
            import numpy

            self.include_dirs.append(numpy.get_include())
            super().run()
            if all(map(os.path.exists, self.get_outputs())):
                return
            reason = "it was not compiled"
        print(f"whycast is built without its accelerator: {reason}", file=sys.stderr)
        self.distribution.ext_modules = []
        wheel = self.distribution.get_command_obj("bdist_wheel", create=False)
        if wheel:
            wheel.root_is_pure = True


accelerator = Extension(
    "whycast._native",
    ["python/whycast/_native.c", "c/whycast.c"],
    include_dirs=["c"],
    define_macros=[("Py_LIMITED_API", "0x030A0000") if limited else ("Py_GIL_DISABLED", "1")],
    depends=["c/whycast.h"],
    extra_compile_args=["/O2"] if sys.platform == "win32" else ["-O3", "-fvisibility=hidden"],
    py_limited_api=limited,
    optional=asked != "1",
)

# A package index shows only the readme: links to other files become plain text.
readme = Path(__file__).with_name("README.md").read_text(encoding="utf-8")

setup(
    long_description=re.sub(r"\[([^]]+)\]\((?!https:)[^)]+\)", r"\1", readme),
    long_description_content_type="text/markdown",
    cmdclass={"build_ext": Build},
    ext_modules=[accelerator],
    options={"bdist_wheel": {"py_limited_api": "cp310"}} if limited else {},
)
