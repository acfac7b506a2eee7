"""Build and run the OCaml programs that see theories, sessions and provers as Why3 does.

What `whygate` says about a theory's session is kept in build/, under the hash of all that decides
it; a comment in another theory moves nothing but the places of parts that stand there. No clone
has build/.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, cast

from gate import binaries, closed, toolchain
from gate.facts import Audit, Session, holds, proofs
from gate.theories import closure, comments, session_of

KEPT = "build/gate"

# Why3 prepares a task, then a prover works on it: one process keeps one core busy.
PROCESSES = 2


def forget(root: Path) -> None:
    """Drop every program that was built, and every answer that is kept."""
    for folder in (binaries.FOLDER, KEPT):
        shutil.rmtree(root / folder, ignore_errors=True)


class Program:
    """A program, built for a tree, and what it has said before."""

    def __init__(self, root: Path, name: str = "whygate") -> None:
        self.root = root
        self.kept = root / KEPT
        self.kept.mkdir(parents=True, exist_ok=True)
        self.program = binaries.built(name, root)
        self.running: set[subprocess.Popen[str]] = set()
        self.starting = Lock()
        self.stopped = False
        # Who asks a replaced prover must not keep its answers for the day when it is put right.
        tools = toolchain.read()
        if replaced := toolchain.verify(tools):
            raise closed.ToolError("\n".join(map(str, replaced)))
        pinned = [(n, sha.encode()) for tool in tools.values() for n, sha in tool.files.items()]
        # Of what is said of a session: not where the tree lies.
        self.all = closed.digest([*pinned, (self.program.name, self.program.read_bytes())])

    @contextmanager
    def started(
        self, *arguments: str, cwd: Path | None = None, output: int | None = None
    ) -> Iterator[subprocess.Popen[str]]:
        """Start the program in a closed environment; however it ends, wait for it."""
        command = [str(self.program), str(self.root / "build/why3.conf"), *arguments]
        with self.starting:
            if self.stopped:
                raise closed.ToolError("interrupted")
            process = subprocess.Popen(
                command,
                cwd=cwd or self.root,
                env=closed.environment(proving=True),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.PIPE if output else None,
                text=True,
            )
            self.running.add(process)
        try:
            yield process
        except BaseException:
            process.terminate()
            raise
        finally:
            process.wait()
            self.running.discard(process)

    def ask(self, *arguments: str, cwd: Path | None = None) -> Any:
        """Run a command of the program and give the value that it prints."""
        with self.started(*arguments, cwd=cwd, output=subprocess.PIPE) as process:
            output, messages = process.communicate()
        if process.returncode:
            what = (
                f"{self.program.name} {arguments[0]} ended with {process.returncode}:\n{messages}"
            )
            raise closed.ToolError(what)
        return json.loads(output)

    def run(self, *arguments: str) -> int:
        """Run a command of the program that speaks to the user, and give what it ends with."""
        with self.started(*arguments) as process:
            return process.wait()

    @contextmanager
    def pool(self) -> Iterator[ThreadPoolExecutor]:
        """Lend as many threads as there may be processes; however it ends, none goes on."""
        with ThreadPoolExecutor(PROCESSES) as pool:
            try:
                yield pool
            except BaseException:
                with self.starting:
                    self.stopped = True
                pool.shutdown(wait=False, cancel_futures=True)
                for process in list(self.running):
                    process.terminate()
                raise

    def audit(self, theories: Iterable[str], *, cwd: Path | None = None) -> Audit:
        """Ask what all theories state and take for granted, of this tree or another one."""
        return cast(Audit, self.ask("audit", *theories, cwd=cwd))

    def sessions(
        self, audit: Audit, theories: list[str], progress: Callable[[Session], None]
    ) -> list[Session]:
        """Ask what the provers say now to the session of each theory, dear ones first."""
        found: dict[str, Session] = {}
        used = {
            entry["file"]: {each["file"] for each in entry["uses"] if each["file"]}
            for entry in audit["theories"]
        }

        def work(theory: str) -> None:
            found[theory] = self.session(theory, sorted(closure(theory, used) & used.keys()))
            progress(found[theory])

        def price(theory: str) -> int:
            file = self.root / session_of(theory) / "why3session.xml"
            return -file.stat().st_size if file.exists() else 0

        with self.pool() as pool:
            for done in [pool.submit(work, theory) for theory in sorted(theories, key=price)]:
                done.result()
        return [found[theory] for theory in theories]

    def session(self, theory: str, sources: list[str]) -> Session:
        """Ask about one theory, unless that was asked before of files that say the same."""
        key = self.key(theory, sources)
        path = self.kept / "sessions" / f"{theory.replace('/', '.')}.json"
        # There may be none, or half of one.
        with suppress(OSError, ValueError):
            kept = json.loads(path.read_text(encoding="utf-8"))
            if kept["key"] == key:
                return told(kept["session"], kept=True)
        session = told(self.ask("replay", theory), kept=False)
        # Who proved nothing is asked again.
        if all(map(holds, proofs(session))):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"key": key, "session": session}), encoding="utf-8")
        return session

    def key(self, theory: str, sources: list[str]) -> str:
        """Hash what decides what is said of a session: comments of other theories do not."""
        paths = sorted((self.root / session_of(theory)).glob("*"))
        contents = [(path.relative_to(self.root).as_posix(), path.read_bytes()) for path in paths]
        for file in sources:
            text = (self.root / file).read_text(encoding="utf-8", errors="surrogateescape")
            said = text if file == theory else without_comments(text)
            contents.append((file, said.encode("utf-8", errors="surrogateescape")))
        return closed.digest([(self.all, b""), *contents])


def without_comments(source: str) -> str:
    """Give what a theory says to Why3, but for the places at which it says it."""
    ends = [0, *(place for comment in comments(source) for place in comment), len(source)]
    said = " ".join(source[a:b] for a, b in zip(ends[::2], ends[1::2], strict=True))
    return "\n".join(line.rstrip() for line in said.splitlines() if line.strip())


def told(session: Session, *, kept: bool) -> Session:
    """Mark every answer to a proof as one of this run or of an earlier one."""
    for proof in proofs(session):
        if proof["now"]:
            proof["now"]["kept"] = kept
    return session
