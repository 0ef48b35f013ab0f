"""One endpoint of a REST source: what is asked, how it pages, what its answers hold."""

from lakekit.contract.endpoint.endpoint import Endpoint
from lakekit.contract.endpoint.faults import endpoint_faults

__all__ = ["Endpoint", "endpoint_faults"]
