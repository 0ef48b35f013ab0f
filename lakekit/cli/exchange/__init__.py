"""The commands that hand contracts to other tools, and take them from there."""
