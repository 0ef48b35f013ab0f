"""Tables are made and follow their contracts."""
