"""Contracts in the forms of other tools: dbt, Open Data Contract Standard, notes for BI. Pure."""
