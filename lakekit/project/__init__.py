"""A team's project, and the files that Lakekit itself brings along."""
