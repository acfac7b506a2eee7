"""Build and run the OCaml programs that see theories, sessions and provers as Why3 does.

build/ keeps what `whygate` says of a theory's session, under the hash of all that decides it.
"""

import json
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from gate import binaries, closed, toolchain
from gate.facts import Facts, Theory, holds, nodes, proofs
from gate.theories import closure, comments, session_of

KEPT = "build/gate"

# Why3 prepares a task, then a prover works on it: one process keeps one core busy.
PROCESSES = 2

# Bytes of recorded proofs that run in a second.
BYTES_A_SECOND = 6000

# With a program, these files decide the questions and the provers.
DECIDING = ("toolchain.toml", "why3.conf.in", "alt_ergo.drv", "cvc5.drv")


def forget(root: Path) -> None:
    """Drop every program that was built, and every answer that is kept."""
    for folder in (binaries.FOLDER, KEPT):
        shutil.rmtree(root / folder, ignore_errors=True)


class Program:
    """A program, built for a tree."""

    def __init__(self, root: Path, name: str = "whygate") -> None:
        self.root = root
        self.kept = root / KEPT
        self.program = binaries.built(name, root)
        self.running: set[subprocess.Popen[str]] = set()
        self.stopped = False
        # Never keep answers of replaced provers.
        if replaced := toolchain.verify():
            raise closed.ToolError("\n".join(map(str, replaced)))
        files = [self.program, *(toolchain.HERE / each for each in DECIDING)]
        self.tools = closed.digest((file.name, file.read_bytes()) for file in files)

    def run(
        self, *arguments: str, cwd: Path | None = None, output: int | None = None
    ) -> tuple[int, str, str]:
        """Run a command in a closed environment; give what it ends with and what it prints."""
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
        if self.stopped:  # `stop` sets this before it looks which programs run.
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
        """Run a command of the program and give the value that it prints."""
        code, output, messages = self.run(*arguments, cwd=cwd, output=subprocess.PIPE)
        if code:
            what = f"{self.program.name} {arguments[0]} ended with {code}:\n{messages}"
            raise closed.ToolError(what)
        return json.loads(output)

    @contextmanager
    def pool(self) -> Iterator[ThreadPoolExecutor]:
        """Lend as many threads as there may be processes; however it ends, none goes on."""
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
        """Ask what all theories state and take for granted, of this tree or another one."""
        return cast(Facts, self.ask("audit", *theories, cwd=cwd))

    def sessions(self, audit: Facts) -> list[Theory]:
        """Ask what the provers say now to the session of each theory, dear ones first."""
        uses = {
            theory["file"]: {use["file"] for use in theory["uses"] if use["file"]}
            for theory in audit["theories"]
        }
        files = {theory: self.root / session_of(theory) for theory in uses}
        price = {each: file.stat().st_size if file.exists() else 0 for each, file in files.items()}
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
        """Name the file that keeps what was answered about a theory."""
        return self.kept / f"{theory.replace('/', '.')}.json"

    def kept_session(self, theory: str, sources: list[str]) -> Theory | None:
        """Give what was answered about a theory before, if its files said the same."""
        with suppress(OSError, ValueError):  # It may be missing or cut.
            kept = json.loads(self.answers(theory).read_text(encoding="utf-8"))
            if kept["key"] == self.key(theory, sources, kept["session"]):
                return told(kept["session"], kept=True)
        return None

    def session(self, theory: str, sources: list[str]) -> Theory:
        """Ask about one theory; keep what is answered if all of it is proved."""
        session = told(self.ask("replay", theory), kept=False)
        # A version of Why3 that proved other sources may never have seen these.
        now = self.source(sources)
        for goal in session["goals"]:
            goal["versions"] = [v for v in goal["versions"] if session["sources"].get(v) == now]
        key = self.key(theory, sources, session)
        # An answer that proves nothing is not kept.
        if all(holds(proof) for goal in session["goals"] for proof in proofs(goal["tree"])):
            path = self.answers(theory)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"key": key, "session": session}), encoding="utf-8")
        return session

    def key(self, theory: str, sources: list[str], session: Theory) -> str:
        """Hash what decides a session: comments do, where they move the lines that it names."""
        shown = {each["file"] for goal in session["goals"] for each in nodes(goal["tree"])}
        recorded = self.root / session_of(theory)
        record = recorded.read_bytes() if recorded.is_file() else b""
        said = [(file, self.text(file, comments=file in {theory, *shown})) for file in sources]
        return closed.digest([(self.tools, b""), ("", record), *said])

    def source(self, sources: Iterable[str]) -> str:
        """Hash what some theories say to Why3: any version, on any system."""
        return closed.digest((file, self.text(file, comments=False)) for file in sorted(sources))

    def text(self, file: str, *, comments: bool) -> bytes:
        """Give what a theory says, with or without its comments."""
        text = (self.root / file).read_text(encoding="utf-8", errors="surrogateescape")
        said = text if comments else without_comments(text)
        return said.encode("utf-8", errors="surrogateescape")


def without_comments(source: str) -> str:
    """Give what a theory says to Why3, but for the places at which it says it."""
    ends = [0, *(place for comment in comments(source) for place in comment), len(source)]
    said = " ".join(source[a:b] for a, b in zip(ends[::2], ends[1::2], strict=True))
    return "\n".join(line.rstrip() for line in said.splitlines() if line.strip())


def told(session: Theory, *, kept: bool) -> Theory:
    """Mark every answer to a proof as one of this run or of an earlier one."""
    for goal in session["goals"]:
        for proof in proofs(goal["tree"]):
            if proof["now"]:
                proof["now"]["kept"] = kept
    return session
