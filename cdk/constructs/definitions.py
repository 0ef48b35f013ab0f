"""The state machine files and the tokens that each of them gets; free of CDK."""

FAILURE_TOKENS = ("RecordFailureFunction", "FailureTopic")
GLUE_TOKENS = ("LandingBucket", "Database", "Warehouse")
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


def pick_tokens(name: str, supply: dict[str, str]) -> dict[str, str]:
    """Return the substitutions of one machine; a token that nothing supplies is a KeyError."""
    return {token: supply[token] for token in TOKENS[name]}
