"""Extraction measured: Lakekit, a plain loop of requests and dlt's pipeline on one server.

The server and each contestant are processes of their own. dlt has its own environment too, so what
it imports of this package imports nothing of Lakekit.
"""
