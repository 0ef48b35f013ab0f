"""How long a state machine may take: its longest path, from its definition alone."""

from typing import Any

Json = dict[str, Any]
# The state that leads back, once.
ONCE_MORE = "OnceMore"


def longest_path(definition: Json, start: str, *, maps: dict[str, int]) -> int:
    """Return the seconds of the longest path from a state to an end.

    Args:
        definition: A machine without circles, but for those inside its maps and the one through
            `OnceMore`, which is passed once.
        start: Where the path begins; this state counts.
        maps: The seconds of a whole Map, by name.
    """
    known: dict[tuple[str, bool], int] = {}

    def after(name: str, again: bool) -> int:
        if name == ONCE_MORE and again:
            return 0
        if (name, again) not in known:
            state = definition["States"][name]
            own = maps[name] if state["Type"] == "Map" else duration(state)
            ways = [after(to, again or name == ONCE_MORE) for to in successors(state)]
            known[name, again] = own + max(ways, default=0)
        return known[name, again]

    return after(start, again=False)


def duration(state: Json) -> int:
    """Return the seconds of one state.

    A retried error comes early, but for a time-out: what fails late is not tried again.
    """
    if state["Type"] == "Wait":
        return int(state["Seconds"])
    if state["Type"] != "Task":
        return 0
    rules = state.get("Retry", [])
    late = sum(rule["MaxAttempts"] for rule in rules if "States.Timeout" in rule["ErrorEquals"])
    return int(state["TimeoutSeconds"]) * (1 + late) + sum(map(pauses, rules))


def pauses(rule: Json) -> int:
    """Return the longest pauses between all attempts of a Retry."""
    waits = (
        rule["IntervalSeconds"] * rule["BackoffRate"] ** attempt
        for attempt in range(rule["MaxAttempts"])
    )
    return int(sum(min(wait, rule["MaxDelaySeconds"]) for wait in waits))


def successors(state: Json) -> set[str]:
    ways = [state, *state.get("Choices", []), *state.get("Catch", [])]
    return {way[key] for way in ways for key in ("Next", "Default") if key in way}
