"""What AWS asks for its services, in US dollars; the one place that knows prices.

Those of us-east-1, before taxes, discounts and free tiers. eu-west-1 is at most a tenth dearer,
other regions up to a half. The pages are https://aws.amazon.com/{service}/pricing/.
"""

from datetime import date
from typing import Literal

AS_OF = date(2026, 11, 28)
HOURS_OF_A_MONTH = 730
NAT_GATEWAY_HOUR, PUBLIC_ADDRESS_HOUR = 0.045, 0.005
ENDPOINT_HOUR = 0.01  # of an interface, in one zone
STREAM_HOUR = 0.04  # of Kinesis, on demand, before what goes through it
# For a DPU (4 vCPU, 16 GB) and an hour.
GLUE_DPU_HOUR = {"STANDARD": 0.44, "FLEX": 0.29}
LAMBDA_GB_SECOND = 0.0000166667
LAMBDA_CALL = 0.20 / 1_000_000
STATES_TRANSITION = 0.025 / 1000
S3_PUT = 0.005 / 1000
S3_GET = 0.0004 / 1000
# For a GB (1,000,000,000 bytes) and a month.
S3_STANDARD = 0.023
S3_INFREQUENT = 0.0125
S3_ARCHIVE = 0.004
LOG_GB = 0.50
# For a month.
KMS_KEY = 1.00
ALARM = 0.10
METRIC = 0.30
DASHBOARD = 3.00
SECRET = 0.40


def glue_cost(dpu_seconds: float, execution_class: Literal["STANDARD", "FLEX"]) -> float:
    """Return what so many DPU seconds of a job cost.

    Example:
        >>> round(glue_cost(2 * 60, "STANDARD"), 4)
        0.0147
    """
    return dpu_seconds / 3600 * GLUE_DPU_HOUR[execution_class]


def network_cost(nat_gateways: int, endpoints: int, zones: int) -> float:
    """Return what a network costs in a month, before its traffic.

    Example:
        >>> round(network_cost(nat_gateways=1, endpoints=7, zones=2), 2)
        138.7
    """
    gateways = nat_gateways * (NAT_GATEWAY_HOUR + PUBLIC_ADDRESS_HOUR)
    return HOURS_OF_A_MONTH * (gateways + endpoints * zones * ENDPOINT_HOUR)
