"""Streams whose records become files of the inbox."""

from typing import Annotated

from pydantic import Field

from lakekit.models import Model, Name

# https://docs.aws.amazon.com/firehose/latest/APIReference/API_CreateDeliveryStream.html
NAME_LENGTH = 64


class Stream(Model):
    """A Kinesis stream, of which Firehose makes files of a contract.

    buffer_mb, buffer_seconds: a file is closed by its size or its age, whichever comes first.
    """

    source: Name
    contract: Name
    buffer_mb: Annotated[int, Field(ge=1, le=128)] = 64
    buffer_seconds: Annotated[int, Field(ge=60, le=900)] = 300
