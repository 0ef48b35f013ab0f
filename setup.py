"""Put Lakekit's own files into the wheel, where `lakekit/project/product.py` finds them."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PRODUCT = (
    "cdk", "cdk.json", "examples", "glue_jobs", "lambdas", "pyproject.toml", "requirements.txt",
    "state_machines",
)  # fmt: skip
PACKAGED = "lakekit/project/_product"
NO_CACHES = shutil.ignore_patterns("__pycache__", "*.pyc")


class BuildWithProduct(build_py):
    """Builds the package with a copy of those files inside it."""

    def run(self) -> None:
        """Build; an editable install finds the files of its checkout and gets no copy."""
        if self.editable_mode:
            super().run()
            return
        # Modules of an earlier build would travel with those of today.
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        for name in PRODUCT:
            source, target = Path(name), Path(self.build_lib, PACKAGED, name)
            if source.is_dir():
                shutil.copytree(source, target, ignore=NO_CACHES)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)


setup(cmdclass={"build_py": BuildWithProduct})
