"""ValidateLanding: check one share of the claimed landings; one that fails stops no other."""

from lakekit import layout
from lakekit.errors import (
    InvalidStepInputError,
    LandingCorruptError,
    NewerDocumentError,
    TerminalError,
    TooManyRejectedError,
)
from lakekit.landing.census import Verdict
from lakekit.landing.validate import validate_landing as verdict_of
from lakekit.landing.writer import Manifest, load_manifest
from lakekit.ports import ObjectStore
from lakekit.runs.documents import Claim, LandingVerdict, Run, Verdicts, read_claim, read_run
from lakekit.steps.functions import ValidateLanding, ValidateLandingResult


def validate_landing(step: ValidateLanding, store: ObjectStore) -> ValidateLandingResult:
    """Check every landing of a share and write the verdicts.

    Raises:
        NewerDocumentError: A newer release landed it. The landing itself is none the worse.
        LandingCorruptError: The run has no claim, or one of landings of another table.
        InvalidStepInputError: The claim has no such share.
    """
    run, claim = read_run(store, step.run_id), read_claim(store, step.run_id)
    name = layout.claim_key(step.run_id)
    if claim is None:
        raise LandingCorruptError(f"{name}: missing")
    if step.share >= claim.shares:
        raise InvalidStepInputError(f"{name}: has {claim.shares} shares, none is {step.share}")
    _refuse_foreign(claim, run.source.source, name)
    found = tuple(_verdict(run, store, key) for key in claim.share(step.share))
    document = Verdicts(share=step.share, landings=found)
    store.put(layout.verdicts_key(run.run_id, step.share), document.to_json())
    good = sum(each.good for each in found)
    refused = sum(each.error is not None for each in found)
    return ValidateLandingResult(good=good, refused=refused)


def is_decided(store: ObjectStore, manifest: str) -> bool:
    """Say whether a landing is merged, or rejected by a person."""
    prefix = layout.prefix_of(manifest)
    markers = (layout.complete_key(prefix), layout.rejected_key(prefix))
    return any(store.head(marker) for marker in markers)


def is_approved(store: ObjectStore, manifest: Manifest) -> bool:
    """Say whether a person has let a landing pass the guards."""
    return store.head(layout.approved_key(manifest.prefix)) is not None


def _refuse_foreign(claim: Claim, source: str, name: str) -> None:
    """Raise if a claim names a landing under another table: the landing is none the worse."""
    for each in claim.tables:
        folder = layout.endpoint_prefix(source, each.table)
        for key in each.manifests:
            if not key.startswith(folder):
                raise LandingCorruptError(f"{name}: names {key}, which is none of {folder}")


def _verdict(run: Run, store: ObjectStore, key: str) -> LandingVerdict:
    if is_decided(store, key):
        return LandingVerdict(manifest=key, decided=True)
    try:
        return LandingVerdict(manifest=key, verdict=_check(run, store, key))
    except NewerDocumentError:
        raise
    except TerminalError as error:
        return LandingVerdict(manifest=key, error=type(error).__name__, cause=str(error))


def _check(run: Run, store: ObjectStore, key: str) -> Verdict:
    manifest = load_manifest(store, key)
    contract = run.contract(manifest.endpoint)
    verdict = verdict_of(store, manifest, contract)
    allowed = contract.quality.max_rejected_ratio
    if verdict.rejected_ratio > allowed and not is_approved(store, manifest):
        raise TooManyRejectedError(
            f"{key}: {verdict.unparseable} records do not parse and {verdict.missing_keys} lack a "
            f"key, of {verdict.rows}; quality.max_rejected_ratio allows {allowed}"
        )
    return verdict


def as_merged(manifest: Manifest) -> Manifest:
    """Return a manifest of the objects that a merge reads."""
    if manifest.format in ("ndjson", "parquet"):
        return manifest
    return manifest.model_copy(update={"parts": manifest.merged, "format": "ndjson"})
