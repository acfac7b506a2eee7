"""Settings that hold for every test."""

from hypothesis import settings

# The same examples in every run; a busy machine must not turn a slow example into a failure.
settings.register_profile("whycast", derandomize=True, deadline=None, max_examples=300)
settings.load_profile("whycast")
