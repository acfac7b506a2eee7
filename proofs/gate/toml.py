"""TOML, read by Python's own library from 3.11 on; before, by the pip that every Python brings."""

import sys

if sys.version_info >= (3, 11):
    from tomllib import loads as loads
else:
    import ensurepip
    from pathlib import Path

    sys.path += map(str, Path(ensurepip.__file__).parent.glob("_bundled/pip-*.whl"))
    from pip._vendor.tomli import loads as loads

    del sys.path[-1]
