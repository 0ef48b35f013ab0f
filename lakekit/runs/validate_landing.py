"""ValidateLanding: check pending and extracted landings; one that fails stops no other."""

from collections import defaultdict

from lakekit import layout
from lakekit.errors import TerminalError, TooManyRejectedError
from lakekit.landing.validate import Verdict
from lakekit.landing.validate import validate_landing as verdict_of
from lakekit.landing.writer import Manifest, load_manifest
from lakekit.ports import Clock, ObjectStore
from lakekit.runs.documents import EndpointVerdicts, LandingVerdict, Run, read_run, to_json
from lakekit.runs.record_failure import keep, rejection
from lakekit.steps.functions import ValidateLanding, ValidateLandingResult

STEP = "validate_landing"


def validate_landing(
    step: ValidateLanding, store: ObjectStore, clock: Clock
) -> ValidateLandingResult:
    """Check every landing of the run; write verdicts, drift and rejections.

    Raises:
        LandingCorruptError, TooManyRejectedError, UnknownSourceError: All landings are rejected;
            this is the first one's error.
    """
    run = read_run(store, step.run_id)
    extracted = [each.manifest for each in step.extracted if each.manifest]
    verdicts: defaultdict[str, list[LandingVerdict]] = defaultdict(list)
    good: list[str] = []
    rejected: dict[str, TerminalError] = {}
    for key in sorted({*step.pending, *extracted}, key=_age):
        endpoint = key.split("/")[2]
        try:
            verdict = _check(run, store, key)
            good.append(key)
            verdicts[endpoint].append(LandingVerdict(manifest=key, verdict=verdict))
        except TerminalError as error:
            rejected[key] = error
            reason = f"{type(error).__name__}: {error}"
            verdicts[endpoint].append(LandingVerdict(manifest=key, error=reason))
            keep(store, rejection(run, endpoint, error, clock()))
    for endpoint, landings in verdicts.items():
        document = EndpointVerdicts(endpoint=endpoint, landings=tuple(landings))
        store.put(layout.result_key(run.run_id, STEP, endpoint), to_json(document))
    if rejected and not good:
        raise next(iter(rejected.values()))
    return ValidateLandingResult(
        manifests=tuple(good),
        rejected={key: type(error).__name__ for key, error in rejected.items()},
    )


def _check(run: Run, store: ObjectStore, key: str) -> Verdict:
    manifest = load_manifest(store, key)
    contract = run.contract(manifest.endpoint)
    verdict = verdict_of(store, manifest, contract)
    if manifest.format == "csv":
        verdict = verdict_of(store, as_merged(manifest), contract)
    allowed = contract.quality.max_rejected_ratio
    if verdict.rejected_ratio > allowed:
        raise TooManyRejectedError(
            f"{key}: {verdict.unparseable} records do not parse and {verdict.missing_keys} lack a "
            f"key, of {verdict.rows}; quality.max_rejected_ratio allows {allowed}"
        )
    return verdict


def as_merged(manifest: Manifest) -> Manifest:
    """Return a manifest of the objects that a merge reads."""
    if manifest.format == "ndjson":
        return manifest
    return manifest.model_copy(update={"parts": manifest.converted, "format": "ndjson"})


def _age(manifest_key: str) -> tuple[str, str]:
    """Return what orders landings: their extraction time, then their key."""
    return manifest_key.split("/")[-2], manifest_key
