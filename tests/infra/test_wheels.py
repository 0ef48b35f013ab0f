"""The zip of wheels for Glue."""

import io
import json
import zipfile
from pathlib import Path

from cdk.constructs.wheels import digest, pack
from tests.infra.conftest import ROOT, Stacks


def test_jobs_install_from_our_bucket_without_an_index(dev: Stacks, assembly: Path) -> None:
    for job in dev["compute"].find_resources("AWS::Glue::Job").values():
        arguments = job["Properties"]["DefaultArguments"]
        address = json.dumps(arguments["--additional-python-modules"])
        assert f"{digest(ROOT, bundled=False)}.gluewheels.zip" in address
        assert arguments["--python-modules-installer-option"] == "--no-index"


def test_the_assembly_uploads_the_zip_under_the_name_that_jobs_ask_for(
    dev: Stacks, assembly: Path
) -> None:
    name = f"{digest(ROOT, bundled=False)}.gluewheels"
    stage = assembly / "assembly-dev"
    manifest = next(stage.glob("*compute*.assets.json"))
    asset = json.loads(manifest.read_text())["files"][name]

    assert (stage / asset["source"]["path"]).is_file()
    (destination,) = asset["destinations"].values()
    assert destination["objectKey"] == f"{name}.zip"


def test_packs_wheels_and_what_to_install_of_them_with_the_same_bytes_each_time(
    tmp_path: Path,
) -> None:
    wheels = [tmp_path / "a_b-1.0-py3-none-any.whl", tmp_path / "c-2.1-cp311-cp311-any.whl"]
    for wheel in wheels:
        wheel.write_bytes(wheel.name.encode())

    body = pack(wheels)

    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        assert archive.namelist() == [
            *(f"wheels/{w.name}" for w in wheels),
            "wheels/requirements.txt",
        ]
        assert archive.read("wheels/requirements.txt") == b"a_b==1.0\nc==2.1\n"
    assert pack(wheels) == body
