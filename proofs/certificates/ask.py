"""Ask cvc5 for certificates, one line of JSON in and one out; started in a process of its own.

Each task has a process, which has a limit of processor time and of memory.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

MEMORY = 4 << 30
OPTIONS = {
    "produce-proofs": "true",
    # Rewriting is taken apart down to rules that are patterns.
    "proof-granularity": "dsl-rewrite",
    "proof-format-mode": "cpc",
}


def prove(question: dict[str, Any]) -> str:
    """Let cvc5 prove a task and write its certificate; say what it answers."""
    import cvc5

    solver = cvc5.Solver()
    for name, value in {**OPTIONS, **question["options"]}.items():
        solver.setOption(name, value)
    parser = cvc5.InputParser(solver)
    parser.setFileInput(cvc5.InputLanguage.SMT_LIB_2_6, question["task"])
    answer = ""
    while not answer:
        command = parser.nextCommand()
        said = str(command.invoke(solver, parser.getSymbolManager())).strip()
        answer = said if command.getCommandName() == "check-sat" else ""
    if answer == "unsat":
        (proof,) = solver.getProof(cvc5.ProofComponent.FULL)
        text = solver.proofToString(proof, cvc5.ProofFormat.CPC)
        text = text.decode() if isinstance(text, bytes) else text
        Path(question["certificate"]).write_text(text, encoding="utf-8")
    return answer


def answer(question: dict[str, Any]) -> str:
    """Ask in a process of its own, and say what came of it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        seconds = question["seconds"]
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        try:
            said = prove(question)
        except BaseException as error:
            said = f"error: {' '.join(str(error).split())[:200]}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8", errors="replace") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        out_of_time = os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)
        return "timeout" if out_of_time else f"ended by signal {os.WTERMSIG(status)}"
    return said


def main() -> None:
    """Answer questions until there are no more."""
    sys.path.insert(0, sys.argv[1])
    import cvc5

    print(json.dumps(cvc5.__version__), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
