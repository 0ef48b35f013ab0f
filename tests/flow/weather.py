"""How rough a schedule is: rates of faults and of disturbances, drawn from the seed."""

from dataclasses import dataclass, field
from random import Random


@dataclass
class Weather:
    """Rates lie between 0 and 1; where nothing else is said, per call of a store or service.

    pace: how long calls take: `even` ones leave the order of all tasks to chance, `spread` ones
    differ, a few `slow` ones take seconds, and `stalls` let a task stand for minutes. page: keys
    per page of a listing.
    """

    calm: bool = True
    pace: str = "even"
    page: int = 1000
    # A process dies in the middle; the store fails before or after it did what was asked.
    crash: float = 0
    unavailable: float = 0
    # Per invocation: it is not begun; its answer is lost, while it goes on.
    throttled: float = 0
    answer_lost: float = 0
    # Per job: it is not begun; it is begun and nobody hears of it; it dies; it goes on though its
    # run was stopped.
    job_refused: float = 0
    job_start_lost: float = 0
    job_dies: float = 0
    job_outlives: float = 0
    # Per event of a file.
    event_lost: float = 0
    event_doubled: float = 0
    event_late: float = 0
    # Per request to a source.
    source_fails: float = 0
    # Per landing: a guard refuses it; it changes nothing.
    refused: float = 0
    repeated: float = 0
    # A table of each source that cannot be merged into: its job fails, or it is of another schema.
    broken: str = ""
    # Per execution: people stop it.
    stopped: float = 0
    # Per document: its writer is of the next release, and adds fields.
    next_release: float = 0
    jobs_at_once: int = 8
    landings_at_once: int = 1000
    merge_seconds: tuple[float, float] = field(default=(30, 300))


def draw(random: Random) -> Weather:
    """Return the weather of a schedule; a third of them are calm."""
    weather = Weather(
        pace=random.choice(("even", "spread", "slow")),
        page=random.choice((1000, 1000, 3)),
        event_doubled=random.choice((0, 0.2)),
        repeated=random.choice((0, 0.3)),
        next_release=random.choice((0, 0, 0.3)),
        landings_at_once=random.choice((1000, 1000, 4)),
        merge_seconds=random.choice(((1, 5), (30, 120), (60, 160))),
    )
    if random.random() < 1 / 3:
        return weather
    weather.calm = False
    for name, rates in _FAULTS.items():
        setattr(weather, name, random.choice(rates))
    weather.pace = random.choice(("even", "spread", "slow", "stalls"))
    weather.merge_seconds = random.choice(((1, 5), (30, 300), (600, 2400)))
    weather.jobs_at_once = random.choice((1, 8))
    return weather


def clear_up(weather: Weather) -> None:
    """Let nothing fail any more, so that a schedule can come to rest."""
    for name, rates in _FAULTS.items():
        setattr(weather, name, rates[0])
    if weather.pace == "stalls":
        weather.pace = "spread"


_FAULTS = {
    "crash": (0, 0.001, 0.01),
    "unavailable": (0, 0.001, 0.01),
    "throttled": (0, 0.05),
    "answer_lost": (0, 0.05, 0.3),
    "job_refused": (0, 0.2),
    "job_dies": (0, 0.2, 0.5),
    "job_outlives": (0, 1),
    "event_lost": (0, 0.2, 1),
    "event_doubled": (0, 0.5),
    "event_late": (0, 0.3),
    "source_fails": (0, 0.05, 0.2),
    "refused": (0, 0.1, 0.3),
    "broken": ("", "", "merge", "schema"),
    "stopped": (0, 0.1, 0.3),
    "job_start_lost": (0, 0, 0.2),
}
