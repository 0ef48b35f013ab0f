"""The documentation as a site, without a line of it written twice."""
