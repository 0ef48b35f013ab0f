"""The whole flow, simulated: real steps and state machines, a virtual clock, faults from a seed."""
