"""Pages as Chromium shows them."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gate import toolchain

# Runs a script that opens pages in frames, and writes what it returns into a page of its own.
ASK = """<!DOCTYPE html><html lang="en"><title>asked</title><body><script>
const open = (address, width, height = 800) => new Promise((done) => {
  const frame = document.createElement("iframe");
  const onload = () => setTimeout(() => done(frame), 1000);
  Object.assign(frame, { src: address, width, height, onload });
  document.body.append(frame);
});
const text = (value) => JSON.stringify(value, (_, each) =>
  typeof each === "bigint" ? Number(each) : each);
const ask = async (given) => {
  SCRIPT
};
ask(GIVEN).catch((error) => ({ error: `${error.stack}` }))
  .then((value) => { document.body.dataset.seen = text(value); });
</script></body></html>
"""
FLAGS = "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --dump-dom"


def ask(folder: Path, script: str, given: object, *flags: str) -> tuple[Any, str]:
    """Run a JavaScript function body in a folder of pages; return its result and the console."""
    program = shutil.which("chromium")
    if not program and toolchain.system().startswith("ubuntu"):
        pytest.skip("chromium is not installed: Ubuntu has it as a snap alone")
    assert program, "chromium is missing: `make test` installs it"
    page = ASK.replace("SCRIPT", script).replace("GIVEN", json.dumps(given))
    (folder / "ask.html").write_text(page, encoding="utf-8")
    access = ("--allow-file-access-from-files", "--enable-logging=stderr")
    budget = "--virtual-time-budget=100000"  # Milliseconds that pass at once where nothing is done.
    command = [program, *FLAGS.split(), *access, budget, f"--user-data-dir={folder / 'profile'}"]
    done = subprocess.run(
        [*command, *flags, (folder / "ask.html").as_uri()],
        env={"HOME": str(folder), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    match = re.search(r'data-seen="([^"]*)"', done.stdout)
    assert match, done.stdout + done.stderr
    told = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    found = json.loads(html.unescape(match[1]))
    assert "error" not in found, found
    return found, "\n".join(told)
