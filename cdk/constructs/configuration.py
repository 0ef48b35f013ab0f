"""Sources and contracts of a project, where functions and jobs read them.

They are an object of their own, which a parameter names. So a new source changes the parameter and
no function, and no role: both are known by names that stay (ADR 24).
"""

import hashlib
import os
import zipfile
from io import BytesIO
from pathlib import Path

from aws_cdk import FileAssetPackaging, Stack, Stage
from aws_cdk import aws_iam as iam
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from lakekit.config.environment import Environment

FOLDERS = ("contracts", "sources")
_EPOCH = (1980, 1, 1, 0, 0, 0)


class Configuration(Construct):
    """The object with the files, and the parameter with its address."""

    def __init__(
        self, scope: Construct, id: str, *, environment: Environment, config: Path
    ) -> None:
        super().__init__(scope, id)
        stack, stage = Stack.of(self), Stage.of(self)
        assert stage is not None  # noqa: S101
        body = pack(config)
        # Roles may read what ends so, whatever it begins with: other deployments share the bucket.
        self._ending = f".{environment.name('config')}"
        name = f"{hashlib.sha256(body).hexdigest()}{self._ending}"
        path = Path(stage.asset_outdir) / f"asset.{name}.zip"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
        asset = stack.synthesizer.add_file_asset(
            file_name=os.path.relpath(path, stage.outdir),
            packaging=FileAssetPackaging.FILE,
            source_hash=name,
        )
        self._bucket = asset.bucket_name
        self.name = environment.parameter("config")
        self.parameter = ssm.StringParameter(
            self,
            "parameter",
            parameter_name=self.name,
            string_value=f"s3://{asset.bucket_name}/{asset.object_key}",
            description="Where the sources and contracts of this deployment are",
        )

    def grant_read(self, role: iam.Role) -> None:
        """Let a role read the parameter, and what it names now and later."""
        stack = Stack.of(self)
        parameter = stack.format_arn(service="ssm", resource=f"parameter{self.name}")
        files = f"arn:{stack.partition}:s3:::{self._bucket}/*{self._ending}.zip"
        for action, resource in (("ssm:GetParameter", parameter), ("s3:GetObject", files)):
            role.add_to_policy(iam.PolicyStatement(actions=[action], resources=[resource]))


def pack(config: Path) -> bytes:
    """Return the files as a zip; the same files give the same bytes."""
    body = BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive:
        for folder in FOLDERS:
            for file in sorted((config / folder).glob("*.yaml")):
                entry = zipfile.ZipInfo(f"{folder}/{file.name}", _EPOCH)
                archive.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
    return body.getvalue()
