"""The commands of a person who operates Lakekit, on AWS and in the sandbox."""
