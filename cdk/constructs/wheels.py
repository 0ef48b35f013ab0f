"""The packages that Glue's image lacks, as one zip of wheels in our own bucket (ADR 4)."""

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from aws_cdk import FileAssetPackaging, Stack, Stage
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk.constructs.bundle import LOCKED, wanted
from cdk.constructs.locked import locked_file

SUFFIX = ".gluewheels"  # with .zip the name by which Glue knows a zip of wheels
_EPOCH = (1980, 1, 1, 0, 0, 0)


class Wheels(Construct):
    """`--additional-python-modules`: installed without an index when a job starts."""

    def __init__(self, scope: Construct, id: str, *, root: Path) -> None:
        super().__init__(scope, id)
        stack, stage = Stack.of(self), Stage.of(self)
        assert stage is not None  # noqa: S101
        bundled = bool(self.node.try_get_context("bundle"))
        name = f"{digest(root, bundled=bundled)}{SUFFIX}"
        path = Path(stage.asset_outdir) / f"asset.{name}.zip"
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(build(root) if bundled else pack([]))
        # An `assets.Asset` would be called {hash}.zip, and Glue goes by the suffix.
        self._asset = stack.synthesizer.add_file_asset(
            file_name=os.path.relpath(path, stage.outdir),
            packaging=FileAssetPackaging.FILE,
            source_hash=name,
        )

    @property
    def arguments(self) -> dict[str, str]:
        """The job arguments that install them."""
        return {
            "--additional-python-modules": self._asset.s3_object_url,
            "--python-modules-installer-option": "--no-index",
        }

    def grant_read(self, role: iam.Role) -> None:
        """Let a job's role fetch them."""
        stack = Stack.of(self)
        key = f"{self._asset.bucket_name}/{self._asset.object_key}"
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["s3:GetObject"], resources=[f"arn:{stack.partition}:s3:::{key}"]
            )
        )


def digest(root: Path, *, bundled: bool) -> str:
    """Return a hash of what is wanted and pinned; the same commit gives the same template."""
    parts = [str(bundled), *LOCKED, locked_file(root, wanted(root, ()))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def build(root: Path) -> bytes:
    """Download the wheels of the core's packages, as they are locked, and pack them."""
    with tempfile.TemporaryDirectory() as folder:
        needs = Path(folder, "requirements.txt")
        needs.write_text(locked_file(root, wanted(root, ())))
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", folder,
                   *LOCKED, "-r", str(needs)]  # fmt: skip
        subprocess.run(command, check=True, stdout=sys.stderr)  # noqa: S603
        return pack(sorted(Path(folder).glob("*.whl")))


def pack(wheels: list[Path]) -> bytes:
    """Return the zip that Glue expects: `wheels/` with the wheels and what to install of them.

    The same wheels give the same bytes.
    """
    files = {wheel.name: wheel.read_bytes() for wheel in wheels}
    files["requirements.txt"] = "".join(f"{requirement(name)}\n" for name in files).encode()
    with tempfile.TemporaryFile() as stream:
        with zipfile.ZipFile(stream, "w") as archive:
            for name, body in files.items():
                archive.writestr(zipfile.ZipInfo(f"wheels/{name}", _EPOCH), body)
        stream.seek(0)
        return stream.read()


def requirement(wheel: str) -> str:
    """Return what pip calls the package of a wheel.

    >>> requirement("pydantic_core-2.50.4-cp311-cp311-manylinux_2_17_x86_64.whl")
    'pydantic_core==2.50.4'
    """
    name, version, *_ = wheel.split("-")
    return f"{name}=={version}"
