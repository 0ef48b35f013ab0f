"""Lakekit: REST sources and files into Apache Iceberg tables with exact SCD2 history."""

__version__ = "0.1.0"
