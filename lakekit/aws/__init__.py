"""Adapters to AWS: the only place that imports boto3."""
