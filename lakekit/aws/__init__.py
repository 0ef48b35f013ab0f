"""Adapters to AWS.

Within `lakekit` nothing else imports boto3. The rims do: a Glue job makes the one client that it
hands to an adapter, the sandbox talks to the services that it plays.
"""
