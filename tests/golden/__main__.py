"""Write the folder of a release: `python -m tests.golden VERSION`, before it is released."""

import sys

from tests.golden.releases import FOLDER, written_today

if __name__ == "__main__":
    [version] = sys.argv[1:]
    for name, text in written_today().items():
        path = FOLDER / version / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
