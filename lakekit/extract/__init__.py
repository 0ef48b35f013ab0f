"""Request → pages: call a REST source with guards, and cut its records out untouched."""

from lakekit.extract.client import Answer, SourceClient, SourceRequest
from lakekit.extract.pages import Page, extract_pages

__all__ = ["Answer", "Page", "SourceClient", "SourceRequest", "extract_pages"]
