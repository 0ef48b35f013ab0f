"""Settings of the whole suite."""

from hypothesis import settings

from tests.sandboxes import config, sandbox

__all__ = ["config", "sandbox"]

# The same examples on every machine: a red suite must mean a change, not a dice roll.
settings.register_profile("suite", derandomize=True, deadline=None)
settings.load_profile("suite")
