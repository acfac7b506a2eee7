"""The run of a check: targets, the child process in which they run, and smaller examples."""
