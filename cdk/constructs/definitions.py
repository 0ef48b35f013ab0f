"""The state machine files and the tokens that each of them gets; free of CDK."""

from lakekit.config.timeouts import TimeOuts

FAILURE_TOKENS = ("RecordFailureFunction", "FailureTopic")
GLUE_TOKENS = ("LandingBucket", "Database", "Warehouse")
# Numbers: CloudFormation would put text in their place.
TIME_OUT_TOKENS = ("JobTimeoutSeconds", "ExecutionTimeoutSeconds")
TOKENS: dict[str, tuple[str, ...]] = {
    "load_source": (
        "StartRunFunction",
        "ClaimLandingsFunction",
        "ExtractPagesFunction",
        "ValidateLandingFunction",
        "PlanTablesFunction",
        "CreateTablesJob",
        "MergeScd2Job",
        "CompleteRunFunction",
        "MaintainTablesStateMachine",
        *GLUE_TOKENS,
        *FAILURE_TOKENS,
    ),
    "maintain_tables": ("MaintainTablesJob", "StartPendingFunction", *GLUE_TOKENS, *FAILURE_TOKENS),
}


def insert_timeouts(definition: str, machine: str, timeouts: TimeOuts) -> str:
    """Return the text of a definition with a number for each token of a time-out, quotes and all.

    Example:
        >>> from lakekit.config.timeouts import derive_timeouts
        >>> text = '{"TimeoutSeconds": "${JobTimeoutSeconds}", "Resource": "${MergeScd2Job}"}'
        >>> insert_timeouts(text, "load_source", derive_timeouts(60))
        '{"TimeoutSeconds": 4200, "Resource": "${MergeScd2Job}"}'
    """
    seconds = (timeouts.job_state, timeouts.executions[machine])
    for token, number in zip(TIME_OUT_TOKENS, seconds, strict=True):
        definition = definition.replace(f'"${{{token}}}"', str(number))
    return definition


def token(step: str, kind: str) -> str:
    """Return a step's token.

    >>> token("start_run", "Function")
    'StartRunFunction'
    """
    return "".join(word.capitalize() for word in step.split("_")) + kind


def pick_tokens(name: str, supply: dict[str, str]) -> dict[str, str]:
    """Return the substitutions of one machine; a token that nothing supplies is a KeyError."""
    return {token: supply[token] for token in TOKENS[name]}
