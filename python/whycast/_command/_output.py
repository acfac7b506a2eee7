from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from whycast._usage import UsageError


@contextmanager
def output(path: Path, option: str, *inputs: Path) -> Iterator[BinaryIO]:
    """Open an output of the command line, the argument of `option`.

    Replaces a regular file, also behind a link, completely or not at all, and keeps its
    permissions; writes to devices, pipes and standard streams directly. Raises UsageError for a
    folder, one of the `inputs` or a lack of permission, and OSError if a write fails.
    """
    try:
        file, target = _opened(path, option, inputs)
    except OSError as error:
        raise UsageError(f"{option}: {path}: {error.strerror}") from None
    try:
        with file:
            yield file
        if target is not None:
            Path(file.name).replace(target)
    except BaseException as error:
        if target is not None:
            Path(file.name).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def _opened(path: Path, option: str, inputs: tuple[Path, ...]) -> tuple[BinaryIO, Path | None]:
    """Open a path, or a new file that will replace it."""
    about = None
    with suppress(FileNotFoundError):
        about = path.stat()
    if about is not None:
        if stat.S_ISDIR(about.st_mode):
            raise UsageError(f"{option}: expected the name of a file, got the folder {path}")
        for each in inputs:
            if each.exists() and os.path.samestat(about, each.stat()):
                raise UsageError(f"{option}: {path} is read, expected another file")
        for stream in filter(None, (sys.__stdout__, sys.__stderr__)):
            # If a shell redirects a stream to this file, replacing it would lose output.
            if os.path.samestat(about, os.fstat(stream.fileno())):
                stream.flush()
                return os.fdopen(os.dup(stream.fileno()), "wb"), None
        if not stat.S_ISREG(about.st_mode):
            return path.open("wb"), None
        if not os.access(path, os.W_OK):
            raise PermissionError(None, "Permission denied")
    target = Path(os.path.realpath(path))
    file = target.with_name(f".whycast-{token_hex(8)}").open("xb")
    if about is not None:
        Path(file.name).chmod(stat.S_IMODE(about.st_mode))
    return file, target
