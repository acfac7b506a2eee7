"""Read TOML by tomllib; before Python 3.11, by the tomli in the pip that Python bundles."""

import sys

if sys.version_info >= (3, 11):
    from tomllib import loads as loads
else:
    import ensurepip
    from pathlib import Path

    sys.path += map(str, Path(ensurepip.__file__).parent.glob("_bundled/pip-*.whl"))
    from pip._vendor.tomli import loads as loads

    del sys.path[-1]
