"""The run of a check: targets, the child process that runs them, and smaller examples."""
