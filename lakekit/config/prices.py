"""What AWS asks for its services, in US dollars; the one place that knows prices.

Those of eu-west-1 and us-east-1, before taxes and discounts: https://aws.amazon.com/glue/pricing/.
Other regions cost up to a half more.
"""

from datetime import date
from typing import Literal

AS_OF = date(2026, 11, 28)
# For a DPU (4 vCPU, 16 GB) and an hour.
GLUE_DPU_HOUR = {"STANDARD": 0.44, "FLEX": 0.29}


def glue_cost(dpu_seconds: float, execution_class: Literal["STANDARD", "FLEX"]) -> float:
    """Return what so many DPU seconds of a job cost.

    Example:
        >>> round(glue_cost(2 * 60, "STANDARD"), 4)
        0.0147
    """
    return dpu_seconds / 3600 * GLUE_DPU_HOUR[execution_class]
