"""Build and run the OCaml programs that read theories and sessions as Why3 does.

build/ keeps the answers of `whygate` about a theory's session, with the hash of all their inputs.
"""

import json
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from gate import binaries, closed, theories, toolchain
from gate.facts import Facts, Theory, holds, nodes, proofs
from gate.theories import closure, session_of

KEPT = "build/gate"

# One process keeps one core busy: Why3 prepares a task, then a prover works on it.
PROCESSES = 2

# The bytes of recorded proofs that are replayed in a second.
BYTES_A_SECOND = 6000

# These files, the program and the theories determine the questions and the provers.
DECIDING = ("toolchain.toml", "why3.conf.in", "alt_ergo.drv", "cvc5.drv")


def forget(root: Path) -> None:
    """Delete all built programs and all kept answers."""
    for folder in (binaries.FOLDER, KEPT):
        shutil.rmtree(root / folder, ignore_errors=True)


class Program:
    """An OCaml program, built for a tree."""

    def __init__(self, root: Path, name: str = "whygate") -> None:
        self.root = root
        self.kept = root / KEPT
        self.program = binaries.built(name, root)
        self.running: set[subprocess.Popen[str]] = set()
        self.stopped = False
        if replaced := toolchain.verify():
            raise closed.ToolError("\n".join(map(str, replaced)))
        files = [self.program, *(toolchain.HERE / each for each in DECIDING)]
        self.tools = closed.digest((file.name, file.read_bytes()) for file in files)

    def run(
        self, *arguments: str, cwd: Path | None = None, output: int | None = None
    ) -> tuple[int, str, str]:
        """Run a command in a closed environment; return its exit code, output and messages."""
        process = subprocess.Popen(
            [self.program, self.root / "build/why3.conf", *arguments],
            cwd=cwd or self.root,
            env=closed.environment(proving=True),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            text=True,
        )
        self.running.add(process)
        if self.stopped:  # `pool` sets this before it ends the running programs.
            process.terminate()
        try:
            printed, messages = process.communicate()
        except BaseException:
            process.terminate()
            raise
        finally:
            process.wait()
            self.running.discard(process)
        return process.returncode, printed, messages

    def ask(self, *arguments: str, cwd: Path | None = None) -> Any:
        """Run a command of the program; return the JSON that it prints."""
        code, output, messages = self.run(*arguments, cwd=cwd, output=subprocess.PIPE)
        if code:
            said = f"{self.program.name} {arguments[0]} ended with {code}:\n{messages}"
            raise closed.ToolError(said)
        return json.loads(output)

    @contextmanager
    def pool(self) -> Iterator[ThreadPoolExecutor]:
        """Provide a thread for each process; an exception ends all processes."""
        with ThreadPoolExecutor(PROCESSES) as pool:
            try:
                yield pool
            except BaseException:
                self.stopped = True
                pool.shutdown(wait=False, cancel_futures=True)
                for process in list(self.running):
                    process.terminate()
                raise

    def audit(self, theories: Iterable[str], *, cwd: Path | None = None) -> Facts:
        """Ask for the statements and the unproved items of theories, here or in another tree."""
        return cast(Facts, self.ask("audit", *theories, cwd=cwd))

    def sessions(self, audit: Facts) -> list[Theory]:
        """Replay each theory's session unless its answers are kept, the slowest first."""
        uses = {
            theory["file"]: {use["file"] for use in theory["uses"] if use["file"]}
            for theory in audit["theories"]
        }
        price = {theory: len(self.record(theory)) for theory in uses}
        of = {theory: sorted(closure(theory, uses) & uses.keys()) for theory in uses}
        found = {each: kept for each in uses if (kept := self.kept_session(each, of[each]))}
        left = sorted(uses.keys() - found.keys(), key=lambda theory: -price[theory])
        about = sum(price[each] for each in left) // BYTES_A_SECOND
        what = f"the proofs of {len(left)} of {len(uses)} theories are run"
        print(f"{what}, about {about} s on two idle cores", flush=True)
        with self.pool() as pool:
            asked = [pool.submit(self.session, theory, of[theory]) for theory in left]
            for done, future in enumerate(as_completed(asked), start=1):
                session: Theory = future.result()
                found[session["file"]] = session
                if 10 * done // len(left) > 10 * (done - 1) // len(left):
                    print(f"{done} of {len(left)} theories", flush=True)
        return [found[theory] for theory in uses]

    def answers(self, theory: str) -> Path:
        """Return the file of the kept answers about a theory."""
        return self.kept / f"{theory.replace('/', '.')}.json"

    def record(self, theory: str) -> bytes:
        """Return the recorded proofs of a theory, if any."""
        file = self.root / session_of(theory)
        return file.read_bytes() if file.is_file() else b""

    def kept_session(self, theory: str, sources: list[str]) -> Theory | None:
        """Return the kept answers about a theory, if their inputs are unchanged."""
        with suppress(OSError, ValueError):  # The file may be missing or truncated.
            kept = json.loads(self.answers(theory).read_text(encoding="utf-8"))
            if kept["key"] == self.key(theory, sources, kept["session"]):
                return told(kept["session"], kept=True)
        return None

    def session(self, theory: str, sources: list[str]) -> Theory:
        """Replay one theory; keep the answers if all its recorded proofs hold."""
        session = told(self.ask("replay", theory), kept=False)
        # A version of Why3 that proved other sources has not proved these.
        now = self.source(sources)
        for goal in session["goals"]:
            goal["versions"] = [v for v in goal["versions"] if session["sources"].get(v) == now]
        key = self.key(theory, sources, session)
        answers = [proof for goal in session["goals"] for proof in proofs(goal["tree"])]
        if not session["errors"] and all(map(holds, answers)):
            path = self.answers(theory)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"key": key, "session": session}), encoding="utf-8")
        return session

    def key(self, theory: str, sources: list[str], session: Theory) -> str:
        """Hash a session's inputs, with the comments of files whose lines the session shows."""
        shown = {each["file"] for goal in session["goals"] for each in nodes(goal["tree"])}
        said = [(file, self.text(file, comments=file in {theory, *shown})) for file in sources]
        return closed.digest([(self.tools, b""), ("", self.record(theory)), *said])

    def source(self, sources: Iterable[str]) -> str:
        """Hash theories without comments; the hash is the same for all versions of Why3."""
        return closed.digest((file, self.text(file, comments=False)) for file in sorted(sources))

    def text(self, file: str, *, comments: bool) -> bytes:
        """Return a theory; without `comments`, also without empty lines and trailing blanks."""
        text = (self.root / file).read_text(encoding="utf-8", errors="surrogateescape")
        if not comments:
            ends = [0, *(place for pair in theories.comments(text) for place in pair), len(text)]
            text = " ".join(text[a:b] for a, b in zip(ends[::2], ends[1::2], strict=True))
            text = "\n".join(line.rstrip() for line in text.splitlines() if line.strip())
        return text.encode("utf-8", errors="surrogateescape")


def told(session: Theory, *, kept: bool) -> Theory:
    """Mark every answer with `kept`: whether it is from an earlier run."""
    for goal in session["goals"]:
        for proof in proofs(goal["tree"]):
            if proof["now"]:
                proof["now"]["kept"] = kept
    return session
