"""The page in headless Chromium: for everyone by the rules of axe-core, wide, narrow and dark.

It needs Chromium, and axe-core: `npm install --prefix build/axe axe-core@4.14.1`.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from lakekit.page.model import Page
from lakekit.page.render import render
from tests.tiers import long
from tests.unit.page import examples

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
AXE = Path("build/axe/node_modules/axe-core/axe.min.js")
LIGHT, DARK = "--blink-settings=preferredColorScheme=1", "--blink-settings=preferredColorScheme=0"
RUN = """
for (const each of document.querySelectorAll("details")) each.open = true;
axe.run().then((found) => {
  const said = {
    width: document.documentElement.scrollWidth - innerWidth,
    faults: found.violations.map((each) => [each.id, each.nodes[0].html.slice(0, 200)]),
    passes: found.passes.length,
  };
  document.body.innerHTML = "<output>" + encodeURIComponent(JSON.stringify(said)) + "</output>";
});
"""
PAGES = {"trouble": examples.trouble(), "hostile": examples.hostile(), "empty": examples.empty()}


def asked(page: Page, folder: Path, width: int, scheme: str) -> Any:
    file = folder / "page.html"
    scripts = f"<script>{AXE.read_text()}</script><script>{RUN}</script></body>"
    file.write_text(render(page).replace("</body>", scripts))
    command = [
        CHROMIUM, "--headless", "--no-sandbox", f"--window-size={width},900", scheme,
        "--virtual-time-budget=60000", "--dump-dom", file.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    found = re.search("<output>(.*?)</output>", done.stdout)
    assert found, done.stderr

    return json.loads(unquote(found[1]))


@pytest.mark.skipif(not CHROMIUM, reason="needs Chromium")
@pytest.mark.skipif(not AXE.is_file(), reason="needs axe-core")
@pytest.mark.parametrize("scheme", [long(LIGHT, id="light"), long(DARK, id="dark")])
@pytest.mark.parametrize("width", [1280, 500])
@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_axe_finds_no_fault(page: Page, width: int, scheme: str, tmp_path: Path) -> None:
    found = asked(page, tmp_path, width, scheme)

    assert found["faults"] == []
    assert found["passes"] > 20
    assert found["width"] <= 0
