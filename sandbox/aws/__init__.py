"""AWS on one machine: moto, with what it lacks bridged, and the suite's resources in it."""

from sandbox.aws.face import Execution, Outcome, Sandbox, SandboxError

__all__ = ["Execution", "Outcome", "Sandbox", "SandboxError"]
