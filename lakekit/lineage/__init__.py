"""Lineage of runs as events of OpenLineage. Pure: what sends them is in `lakekit.aws`."""
