"""A program that answers lines of JSON as `whycast serve` does, but for what its argument names."""

from __future__ import annotations

import json
import sys
import time

from whycast._command._serve import respond
from whycast.testing._lines import read_request


def main(wrong: str) -> None:
    """Answer each line."""
    for line in sys.stdin:
        asked = read_request(json.loads(line))
        if wrong == "hangs" and len(asked.case.shapes) == 3:
            time.sleep(1000)
        found = respond(asked)
        if wrong == "last tensor first" and "arrays" in found:
            found["arrays"].reverse()
        # An answer that waits in a buffer is none.
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
