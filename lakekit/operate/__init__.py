"""What a person who operates Lakekit sees and decides, over ports: landings, runs, tables."""
