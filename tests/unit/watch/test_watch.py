"""What does not come by itself is seen: starts, loads, landings that wait."""

from datetime import datetime, timedelta

from lakekit import layout
from lakekit.config.money import Pause
from lakekit.config.schedule import Schedule
from lakekit.landing.index import Blocked, block
from lakekit.watch.watch import Watched, watch
from tests.unit.runs.kit import NOON, landed, world

DAILY = Schedule(expression="cron(0 6 * * ? *)")
HOURLY = Schedule(expression="rate(1 hour)")
NIGHT = Pause(begins="cron(0 20 ? * MON-FRI *)", ends="cron(0 6 ? * MON-FRI *)")


class Story:
    """An environment with one source of one table."""

    def __init__(self, schedule: Schedule = DAILY, pause: Pause | None = None) -> None:
        self.world = world()
        self.store = self.world.store
        self.schedule, self.pause = schedule, pause

    def at(self, time: datetime) -> "Story":
        self.world.clock.advance((time - self.world.clock()).total_seconds())
        return self

    def starts(self) -> None:
        self.store.put(layout.started_key("shop"), b"")

    def loads(self) -> None:
        self.store.put(layout.loaded_key("shop", "orders"), b"")

    def look(self) -> Watched:
        now = self.world.clock()
        return watch(now, self.store, {"shop": self.schedule}, {"shop": ("orders",)}, self.pause)


def day(number: int, hour: int, minute: int = 0) -> datetime:
    return NOON.replace(day=number, hour=hour, minute=minute)


def test_a_quiet_environment_is_fine() -> None:
    assert Story().look() == Watched()


def test_a_new_source_is_not_overdue_before_its_first_firing() -> None:
    story = Story()
    story.look()

    assert story.at(day(2, 6, 29)).look().overdue == ()
    assert story.at(day(2, 6, 31)).look().overdue == ("shop",)


def test_a_schedule_that_did_not_fire_is_seen_until_it_fires() -> None:
    story = Story()
    story.starts()
    story.at(day(2, 7))

    assert story.look().overdue == ("shop",)
    story.starts()
    assert story.look().overdue == ()


def test_a_flexible_window_is_waited_for() -> None:
    story = Story(Schedule(expression="cron(0 6 * * ? *)", flexible_minutes=60))
    story.starts()

    assert story.at(day(2, 7, 20)).look().overdue == ()
    assert story.at(day(2, 7, 31)).look().overdue == ("shop",)


def test_a_rate_is_overdue_after_its_period() -> None:
    story = Story(HOURLY)
    story.starts()

    assert story.at(day(1, 13, 20)).look().overdue == ()
    assert story.at(day(1, 13, 40)).look().overdue == ("shop",)


def test_a_table_is_stale_when_it_missed_a_whole_firing() -> None:
    story = Story()
    story.loads()

    assert story.at(day(2, 7)).look().stale == ()
    assert story.at(day(3, 7)).look().stale == ("shop.orders",)
    story.loads()
    assert story.look().stale == ()


def test_nothing_is_expected_in_a_pause_nor_right_after_it() -> None:
    story = Story(HOURLY, NIGHT)
    story.starts()

    assert story.at(day(1, 21, 30)).look().overdue == ()
    assert story.at(day(2, 5, 59)).look().overdue == ()
    assert story.at(day(2, 6, 40)).look().overdue == ()
    assert story.at(day(2, 8)).look().overdue == ("shop",)


def test_landings_that_wait_are_counted_with_the_age_of_the_oldest() -> None:
    story = Story()
    landed(story.store, {"id": 1})
    second = landed(story.store, {"id": 2}, hour=13)
    story.at(NOON + timedelta(hours=1))
    why = Blocked(run_id="r", error="E", cause="c", blocked_at=NOON)
    block(story.store, second, why)

    found = story.look()

    assert (found.pending, found.oldest_pending_seconds, found.blocked) == (1, 3600, 1)
