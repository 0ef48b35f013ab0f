"""Request → pages: call a REST source with guards, and cut its records out untouched."""

from lakekit.extract.children import extract_children
from lakekit.extract.client import Answer, RunLimits, SourceClient, SourceRequest
from lakekit.extract.exports import extract_export
from lakekit.extract.pages import Page, extract_pages

__all__ = ["Answer", "Page", "RunLimits", "SourceClient", "SourceRequest",
           "extract_children", "extract_export", "extract_pages"]  # fmt: skip
