"""Pages to look at, and pictures of them: wide, on a phone, in the dark; by headless Chromium.

python -m tools.page_pictures build/pages                             synthetic pages
python -m tools.page_pictures docs/images --page build/demo/report.html
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

WIDE, PHONE = (1180, 1560), (390, 1560)
DARK = "--blink-settings=preferredColorScheme=0"
# Both pages next to each other, as the README shows them. A frame is as narrow as a phone, which
# no window of Chromium is.
BOTH = """<!doctype html><meta charset="utf-8"><style>
body{{margin:0;padding:28px;background:#dfe6ee;display:flex;gap:26px;align-items:flex-start}}
iframe{{border:0;border-radius:14px;box-shadow:0 8px 34px #24405c38;background:#fff}}
.p{{border:8px solid #1b232c;border-radius:20px}}</style>
<iframe src="{page}" width="{wide[0]}" height="{wide[1]}"></iframe>
<iframe src="{page}" class="p" width="{phone[0]}" height="{phone[1]}"></iframe>"""


def main(arguments: list[str]) -> int:
    """Write pages, or pictures of a page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="Where to write.")
    parser.add_argument("--page", type=Path, help="Take pictures of this page.")
    given = parser.parse_args(arguments)
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.page:
        draw(given.page, given.folder)
    else:
        write_examples(given.folder)
    return 0


def write_examples(folder: Path) -> None:
    """Write pages that a test has, each as a file."""
    from lakekit.page.render import render  # noqa: PLC0415
    from tests.unit.page import examples  # noqa: PLC0415

    for name in ("empty", "trouble", "hundred", "hostile"):
        page = getattr(examples, name)()
        (folder / f"{name}.html").write_text(render(page), encoding="utf-8")


def draw(page: Path, folder: Path) -> None:
    """Take a picture in the light and one in the dark."""
    with tempfile.TemporaryDirectory() as place:
        both = Path(place, "both.html")
        address = escape(page.resolve().as_uri())
        both.write_text(BOTH.format(page=address, wide=WIDE, phone=PHONE))
        for name, dark in (("page", []), ("page-dark", [DARK])):
            take(both, folder / f"{name}.webp", (1700, 1640), *dark)


def take(page: Path, picture: Path, size: tuple[int, int], *more: str) -> None:
    """Take a picture of a page in a window of a size."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if not program:
        sys.exit("install Chromium: apt-get install chromium")
    subprocess.run(  # noqa: S603
        [
            program, "--headless", "--no-sandbox", "--hide-scrollbars", "--allow-file-access",
            f"--window-size={size[0]},{size[1]}", f"--screenshot={picture.resolve()}", *more,
            page.resolve().as_uri(),
        ],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
