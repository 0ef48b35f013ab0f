"""AWS on one machine: moto, with what it lacks bridged, and the suite's resources in it."""

from lakekit.sandbox.connection import Connection, Execution, Outcome, SandboxError
from lakekit.sandbox.face import Sandbox

__all__ = ["Connection", "Execution", "Outcome", "Sandbox", "SandboxError"]
