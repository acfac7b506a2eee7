"""Ask cvc5 for certificates, in a process of its own: questions as JSON in, lines of JSON out."""

import json
import os
import resource
import signal
import sys
from typing import Any

MEMORY = 4 << 30
OPTIONS = {
    "produce-proofs": "true",
    # Each rewrite step names its rule.
    "proof-granularity": "dsl-rewrite",
    "proof-format-mode": "cpc",
}


def prove(text: str, options: dict[str, str]) -> tuple[str, str]:
    """Ask cvc5 to prove a task; return its answer, and the certificate."""
    import cvc5

    solver = cvc5.Solver()
    for name, value in {**OPTIONS, **options}.items():
        solver.setOption(name, value)
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "task")
    answer = ""
    while not answer:
        command = parser.nextCommand()
        said = str(command.invoke(solver, parser.getSymbolManager())).strip()
        answer = said if command.getCommandName() == "check-sat" else ""
    if answer != "unsat":
        return answer, ""
    (proof,) = solver.getProof(cvc5.ProofComponent.FULL)
    found = solver.proofToString(proof, cvc5.ProofFormat.CPC)
    return answer, found.decode() if isinstance(found, bytes) else found


def answer(task: str, options: dict[str, str], seconds: int) -> tuple[str, str]:
    """Ask in a process with limits of time and memory; return the answer and the certificate."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        try:
            said = prove(task, options)
        except BaseException as error:
            said = f"error: {' '.join(str(error).split())[:200]}", ""
        with os.fdopen(writing, "w", encoding="utf-8") as pipe:
            json.dump(said, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        out_of_time = os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)
        return "timeout" if out_of_time else f"ended by signal {os.WTERMSIG(status)}", ""
    answered: tuple[str, str] = json.loads(told)
    return answered


def main() -> None:
    """Answer all questions."""
    sys.path.insert(0, sys.argv[1])
    import cvc5  # noqa: F401 (once, before the forks)

    questions: dict[str, Any] = json.load(sys.stdin)
    for task in questions["tasks"]:
        print(json.dumps(answer(task, questions["options"], questions["seconds"])), flush=True)


if __name__ == "__main__":
    main()
