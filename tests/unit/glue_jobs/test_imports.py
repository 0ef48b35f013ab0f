"""The Glue jobs import only what Glue's image has and what is deployed with them."""

import subprocess
import sys

# The image has Spark, boto3 with its dependencies, and Glue's own. The zip of wheels has the rest.
IMAGE = ("pyspark", "py4j", "awsglue", "boto3", "botocore", "s3transfer", "jmespath", "dateutil",
         "urllib3", "six")  # fmt: skip
ZIP = ("pydantic", "pydantic_core", "msgspec", "yaml", "annotated_types", "typing_extensions",
       "typing_inspection")  # fmt: skip
SCRIPT = """
import sys
from importlib.abc import MetaPathFinder

ALLOWED = {*sys.stdlib_module_names, "glue_jobs", "lakekit", *sys.argv[2:]}

class OnGlue(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in ALLOWED and not top.startswith("_sysconfigdata"):
            raise ModuleNotFoundError(f"{name} is not on Glue")

sys.meta_path.insert(0, OnGlue())
for job in sys.argv[1].split():
    __import__(f"glue_jobs.{job}")
"""


def test_the_jobs_import_only_what_glue_has():
    jobs = "create_tables merge_scd2 maintain_tables rebuild_table"
    command = [sys.executable, "-c", SCRIPT, jobs, *IMAGE, *ZIP]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr


def test_the_check_can_fail():
    command = [sys.executable, "-c", SCRIPT, "merge_scd2", *IMAGE]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert "msgspec is not on Glue" in done.stderr or "pydantic is not on Glue" in done.stderr
