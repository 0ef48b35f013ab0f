"""Which tests are of the example, and go with it."""

from pathlib import Path

EXAMPLE = Path(__file__).parents[1] / "examples/airports"
OF_THE_EXAMPLE = (
    "sandbox/test_airports.py",
    "sandbox/test_command_line.py",
    "sandbox/test_demo.py",
    "sandbox/test_demo_report.py",
    "spark/stories/test_airports.py",
    "unit/cli/test_exchange.py",
    "unit/examples/test_airports_server.py",
    "unit/exports/test_dbt.py",
)
