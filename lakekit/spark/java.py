"""What Java holds, as Python has it: in one call, where Py4J makes several for each entry."""

import json
from typing import Any

from pyspark import SparkContext
from pyspark.sql import Observation


def plain(held: Any) -> Any:
    """Return a Java map, set or list of texts, numbers and nulls as Python's."""
    context: Any = SparkContext
    mapper = context._jvm.com.fasterxml.jackson.databind.ObjectMapper()
    return json.loads(mapper.writeValueAsString(held))


def observed(observation: Observation) -> dict[str, Any]:
    """Return what was counted, by name, once the action is done that counts it."""
    told: Any = observation
    counts: dict[str, Any] = plain(told._jo.getAsJava())
    return counts
