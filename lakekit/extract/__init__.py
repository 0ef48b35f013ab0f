"""Request → pages: call a REST source with guards, and cut its records out untouched."""

from lakekit.extract.client import Answer, RunLimits, SourceClient, SourceRequest
from lakekit.extract.pages import Page, extract_pages
from lakekit.extract.walks.children import extract_children
from lakekit.extract.walks.exports import extract_export
from lakekit.extract.walks.steps import (
    end_of_window,
    extract_steps,
    values_of_steps,
    values_of_windows,
    windows_end,
)

__all__ = [
    "Answer", "Page", "RunLimits", "SourceClient", "SourceRequest", "end_of_window",
    "extract_children", "extract_export", "extract_pages", "extract_steps", "values_of_steps",
    "values_of_windows", "windows_end",
]  # fmt: skip
