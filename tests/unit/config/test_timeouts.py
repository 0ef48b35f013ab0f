import pytest

from lakekit.config.timeouts import derive_timeouts


@pytest.mark.parametrize("minutes", [1, 60, 2880])
def test_each_time_out_is_longer_than_what_it_waits_for(minutes: int) -> None:
    timeouts = derive_timeouts(minutes)
    load, maintain = timeouts.executions["load_source"], timeouts.executions["maintain_tables"]

    assert timeouts.job == 60 * minutes
    assert timeouts.job < timeouts.job_state < timeouts.lease < load
    assert timeouts.job_state < maintain
    # The most that Step Functions takes.
    assert load < 99_999_999
