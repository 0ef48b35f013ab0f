"""The shape of the package: short chains of imports, small folders and modules, stated purposes."""

import ast
from collections.abc import Callable, Collection, Iterator
from functools import cache
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
SPARK = "lakekit.spark"
LONGEST_CHAIN = 18
MOST_MODULES = 14
MOST_LINES = 400


def longest_chain(modules: Collection[str], imports: Callable[[str], set[str]]) -> list[str]:
    """Return the modules of the longest chain of imports, the importer first.

    Raises:
        ValueError: The imports form a circle.
    """
    known = frozenset(modules)
    open_modules: list[str] = []

    @cache
    def chain(module: str) -> list[str]:
        if module in open_modules:
            raise ValueError(f"a circle: {' -> '.join([*open_modules, module])}")
        open_modules.append(module)
        below = [chain(each) for each in sorted(imports(module) & known)]
        open_modules.pop()
        return [module, *max(below, key=len, default=[])]

    return max((chain(module) for module in sorted(known)), key=len, default=[])


def folders_above(most: int, package: Path) -> dict[str, int]:
    """Return the folders with more modules than that, not counting `__init__`."""
    counts = {
        str(folder.relative_to(package.parent)): len(
            [file for file in folder.glob("*.py") if file.name != "__init__.py"]
        )
        for folder in folders(package)
    }
    return {folder: count for folder, count in counts.items() if count > most}


def modules_above(most: int, package: Path) -> dict[str, int]:
    """Return the modules with more lines than that."""
    lines = {
        str(file.relative_to(package.parent)): len(file.read_text(encoding="utf-8").splitlines())
        for file in files(package)
    }
    return {file: count for file, count in lines.items() if count > most}


def folders_without_purpose(package: Path) -> list[str]:
    """Return the folders whose `__init__` is missing or has no docstring."""
    inits = [folder / "__init__.py" for folder in folders(package)]
    return [
        str(init.parent.relative_to(package.parent))
        for init in inits
        if not init.is_file() or not ast.get_docstring(ast.parse(init.read_text(encoding="utf-8")))
    ]


def folders(package: Path) -> list[Path]:
    return sorted({file.parent for file in files(package)})


def files(package: Path) -> Iterator[Path]:
    yield from sorted(package.rglob("*.py"))


def test_the_longest_chain_of_imports_in_spark_is_short(
    record_property: Callable[[str, object], None],
) -> None:
    graph = grimp.build_graph("lakekit", cache_dir=None)
    spark = {SPARK, *graph.find_descendants(SPARK)}

    chain = longest_chain(spark, graph.find_modules_directly_imported_by)

    record_property("longest_chain", len(chain))
    assert len(spark) > 30
    assert len(chain) <= LONGEST_CHAIN, chain


def test_the_longest_of_several_chains_is_found() -> None:
    imports = {"a": {"b", "d"}, "b": {"c", "x"}, "c": {"d"}, "d": set(), "e": {"a"}}

    assert longest_chain("abcde", imports.__getitem__) == ["e", "a", "b", "c", "d"]
    assert longest_chain("acd", imports.__getitem__) == ["a", "d"]
    assert longest_chain("", imports.__getitem__) == []


def test_a_circle_of_imports_is_refused() -> None:
    imports = {"a": {"b"}, "b": {"c"}, "c": {"b"}}

    with pytest.raises(ValueError, match="a -> b -> c -> b"):
        longest_chain("abc", imports.__getitem__)


def test_a_folder_has_few_modules() -> None:
    assert folders_above(MOST_MODULES, ROOT / "lakekit") == {}


def test_a_module_holds_one_idea() -> None:
    assert modules_above(MOST_LINES, ROOT / "lakekit") == {}


def test_a_folder_says_what_it_is_for() -> None:
    assert folders_without_purpose(ROOT / "lakekit") == []


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Write a package with one folder of two modules, all in order."""
    package = tmp_path / "p"
    (package / "room").mkdir(parents=True)
    for init in (package, package / "room"):
        (init / "__init__.py").write_text('"""A purpose."""\n')
    for name in ("a", "b"):
        (package / f"room/{name}.py").write_text("x = 1\n" * 3)
    return package


def test_what_is_in_order_is_not_reported(package: Path) -> None:
    assert folders_above(2, package) == {}
    assert modules_above(3, package) == {}
    assert folders_without_purpose(package) == []


def test_a_folder_with_too_many_modules_is_found(package: Path) -> None:
    assert folders_above(1, package) == {"p/room": 2}


def test_a_module_with_too_many_lines_is_found(package: Path) -> None:
    (package / "room/b.py").write_text("x = 1\n" * 4)

    assert modules_above(3, package) == {"p/room/b.py": 4}


def test_a_folder_without_a_purpose_is_found(package: Path) -> None:
    (package / "__init__.py").write_text("# no docstring\n")
    (package / "room/__init__.py").unlink()

    assert folders_without_purpose(package) == ["p", "p/room"]
