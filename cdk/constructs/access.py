"""Which prefixes of the landing bucket each step reads and writes."""

from dataclasses import dataclass

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

from cdk.constructs.keys import use_through
from lakekit import layout

RESULTS = "runs/*/results/"
CALLS = "runs/*/calls.json"


@dataclass(frozen=True)
class Access:
    """Prefixes of the landing bucket. A function may delete below `index/`, and nowhere else.

    parts: where it writes large objects in parts, and gives up those of one that does not end.
    """

    read: tuple[str, ...]
    write: tuple[str, ...]
    delete: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


PENDING, BLOCKED, OPEN = "index/pending/", "index/blocked/", "index/open/"
BACKOFF, ROUTED = "index/backoff/", "index/routed/"
STARTED, LOADED = layout.STARTED, layout.LOADED
# To see whether a landing waits: a HEAD of what is there needs the right to read it.
INDEXED = (PENDING, BLOCKED)
# To give tables back, and to look for what is pending.
HAND_OVER = Access(read=("leases/", BACKOFF), write=("leases/",))
FUNCTION_ACCESS = {
    "start_run": Access(read=("runs/", "tables/"), write=("runs/", OPEN, STARTED)),
    "extract_pages": Access(
        read=("raw/", "runs/", OPEN, *INDEXED), write=("raw/", CALLS, PENDING), parts=("raw/",)
    ),
    "claim_landings": Access(
        read=("raw/", "runs/", "leases/", BACKOFF, OPEN, *INDEXED), write=("runs/", "leases/")
    ),
    "validate_landing": Access(read=("raw/", "runs/"), write=("runs/",)),
    "plan_tables": Access(read=("raw/", "runs/", "tables/"), write=("runs/", "tables/")),
    "complete_run": Access(
        read=("raw/", "runs/", "tables/", *HAND_OVER.read),
        # A result of a merge whose job died before it could say what it had done.
        write=("raw/", "tables/", RESULTS, BLOCKED, BACKOFF, LOADED, *HAND_OVER.write),
        delete=(PENDING, BLOCKED, BACKOFF, OPEN),
    ),
    "record_failure": Access(
        read=("runs/", *HAND_OVER.read),
        write=("runs/", BACKOFF, *HAND_OVER.write),
    ),
    "start_pending": HAND_OVER,
    # It routes what no event has routed, and closes what no run has closed.
    "sweep": Access(
        read=("inbox/", "raw/", "runs/", *INDEXED, *HAND_OVER.read),
        write=("raw/", PENDING, ROUTED, STARTED, LOADED, *HAND_OVER.write),
        delete=(PENDING, BLOCKED, OPEN),
    ),
    "pause_schedules": Access(read=(layout.PAUSED,), write=(layout.PAUSED,)),
    "route_file": Access(
        read=("inbox/", "raw/", "leases/", *INDEXED),
        write=("raw/", PENDING, ROUTED),
    ),
}
JOB_ACCESS = {
    "create_tables": Access(read=("runs/",), write=(RESULTS,)),
    "merge_scd2": Access(read=("raw/", "runs/"), write=(RESULTS,)),
    "maintain_tables": Access(read=("leases/",), write=(RESULTS, "leases/")),
    "rebuild_table": Access(read=("raw/", "runs/", "leases/"), write=(RESULTS, "leases/")),
}


def grant_landing(bucket: s3.Bucket, role: iam.Role, access: Access) -> None:
    """Let a role read and write its prefixes.

    Listing is not narrowed to them: a HEAD or GET of an absent key carries no prefix, and without
    the right to list S3 answers 403 instead of 404.
    """
    role.add_to_policy(
        iam.PolicyStatement(actions=["s3:ListBucket"], resources=[bucket.bucket_arn])
    )
    role.add_to_policy(_objects(bucket, ["s3:GetObject"], access.read))
    role.add_to_policy(_objects(bucket, ["s3:PutObject"], access.write))
    for action, prefixes in (
        ("DeleteObject", access.delete),
        ("AbortMultipartUpload", access.parts),
    ):
        if prefixes:
            role.add_to_policy(_objects(bucket, [f"s3:{action}"], prefixes))
    _grant_key(bucket, role)


def grant_published(bucket: s3.Bucket, role: iam.Role) -> None:
    """Let a role read and write what the page of the environment shows of runs; that key alone."""
    role.add_to_policy(
        iam.PolicyStatement(actions=["s3:ListBucket"], resources=[bucket.bucket_arn])
    )
    key = bucket.arn_for_objects(layout.PUBLISHED)
    role.add_to_policy(
        iam.PolicyStatement(actions=["s3:GetObject", "s3:PutObject"], resources=[key])
    )
    _grant_key(bucket, role)


def grant_lake_metadata(bucket: s3.Bucket, role: iam.Role) -> None:
    """Let a role read what tables say of themselves, not their rows."""
    role.add_to_policy(
        iam.PolicyStatement(actions=["s3:ListBucket"], resources=[bucket.bucket_arn])
    )
    role.add_to_policy(_objects(bucket, ["s3:GetObject"], ("warehouse/*/metadata/",)))


def grant_lake(
    bucket: s3.Bucket, role: iam.Role, *, read: tuple[str, ...], write: tuple[str, ...]
) -> None:
    """Let a job keep tables: a commit deletes old metadata, maintenance deletes expired files."""
    role.add_to_policy(
        iam.PolicyStatement(actions=["s3:ListBucket"], resources=[bucket.bucket_arn])
    )
    role.add_to_policy(_objects(bucket, ["s3:GetObject"], read))
    actions = ["s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"]
    role.add_to_policy(_objects(bucket, actions, write))
    _grant_key(bucket, role)


def _grant_key(bucket: s3.Bucket, role: iam.Role) -> None:
    """Let S3 use a bucket's key for a role, which cannot use it for anything else.

    A write in parts reads what it has encrypted. Nothing is encrypted with the key itself.
    """
    assert bucket.encryption_key  # noqa: S101
    region, key = Stack.of(role).region, bucket.encryption_key.key_arn
    role.add_to_policy(use_through("s3", region, key, "Decrypt", "GenerateDataKey"))


def _objects(
    bucket: s3.Bucket, actions: list[str], prefixes: tuple[str, ...]
) -> iam.PolicyStatement:
    resources = [bucket.arn_for_objects(f"{prefix}*") for prefix in prefixes]
    return iam.PolicyStatement(actions=actions, resources=resources)
