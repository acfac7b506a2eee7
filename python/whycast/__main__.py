"""`python -m whycast` is the command line."""

from whycast._command import main

if __name__ == "__main__":
    raise SystemExit(main())
