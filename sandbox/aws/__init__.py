"""AWS on one machine: moto, with what it lacks bridged, and the suite's resources in it."""

from sandbox.aws.connection import Connection, Execution, Outcome, SandboxError
from sandbox.aws.face import Sandbox

__all__ = ["Connection", "Execution", "Outcome", "Sandbox", "SandboxError"]
