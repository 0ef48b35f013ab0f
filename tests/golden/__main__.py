"""Write the folder of a release: `python -m tests.golden VERSION`, before it is released."""

import re
import sys

from tests.golden.releases import FOLDER, written_today

if __name__ == "__main__":
    [version] = sys.argv[1:]
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        sys.exit(f"expected a version such as 0.2.0, got '{version}'")
    for name, text in written_today().items():
        path = FOLDER / version / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
