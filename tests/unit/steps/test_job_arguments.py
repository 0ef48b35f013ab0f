"""A job reads its arguments as `awsglue.utils.getResolvedOptions` does; see ADR 16."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakekit.errors import InvalidStepInputError
from lakekit.steps.events import job_arguments
from lakekit.steps.jobs import CreateTables, MaintainTables, MergeScd2, RebuildTable

utils = pytest.importorskip("awsglue.utils")
Job = pytest.importorskip("awsglue.job").Job

GIVEN = {
    "run_id": "r-1", "source": "s", "landing_bucket": "b", "database": "d",
    "warehouse": "s3://lake/warehouse",
}  # fmt: skip
REFUSED = "refused"
VALUES = (
    "s3://lake/a=b=c", "a b", "", " ", "=", "a=", "=a", "-1", "-1.5", "-", "- x", "--a b", "'q\"",
    '{"a": [1, "--b"], "c": "d=e"}', "ü\u2028x", "a\nb", "$x", "*", "stray",
)  # fmt: skip
# What Glue adds by itself or a person may set on any job, by the names in the docs of Glue.
GLUES = (
    ("--JOB_NAME", "j"), ("--JOB_ID", "j_1"), ("--JOB_RUN_ID", "jr_1"),
    ("--SECURITY_CONFIGURATION", "none"), ("--TempDir", "s3://t/x"), ("--RedshiftTempDir", "s3://t"),
    ("--job-bookmark-option", "job-bookmark-disable"), ("--job-bookmark-from", "jr_0"),
    ("--continuation-option", "continuation-ignore"), ("--encryption-type", "sse-s3"),
    ("--enable-data-lineage", "true"), ("--enable-metrics", ""), ("--enable-metrics",),
    ("--enable-observability-metrics", "true"), ("--enable-auto-scaling", "true"),
    ("--enable-continuous-cloudwatch-log", "true"), ("--enable-glue-datacatalog", "true"),
    ("--enable-spark-ui", "true"), ("--spark-event-logs-path", "s3://l/"),
    ("--job-language", "python"), ("--scriptLocation", "s3://x/job.py"), ("--class", "GlueApp"),
    ("--extra-py-files", "s3://x/a.zip"), ("--additional-python-modules", "s3://x/w.gluewheels.zip"),
    ("--python-modules-installer-option", "--no-index"), ("--datalake-formats", "iceberg"),
    ("--conf", "spark.a=b --conf spark.c=d"),
)  # fmt: skip


@pytest.fixture(autouse=True)
def no_global_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep out of the module what `getResolvedOptions` writes into it."""
    monkeypatch.setattr(utils, "_global_args", {})


def words(arguments: dict[str, str], *, joined: bool = False) -> list[str]:
    """Return `--name value`, or `--name=value`, for each argument."""
    if joined:
        return [f"--{name}={value}" for name, value in arguments.items()]
    return [word for name, value in arguments.items() for word in (f"--{name}", value)]


def by_lakekit(argv: list[str]) -> Any:
    try:
        return job_arguments(CreateTables, ["job.py", *argv]).model_dump()
    except InvalidStepInputError:
        return REFUSED


def by_glue(argv: list[str]) -> Any:
    try:
        found = utils.getResolvedOptions(["job.py", *argv], list(GIVEN))
    except utils.GlueArgumentError:
        return REFUSED
    return {name: found[name] for name in GIVEN}


@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("value", VALUES)
def test_a_value_is_read_as_glue_reads_it(value: str, joined: bool) -> None:
    argv = words(GIVEN | {"warehouse": value}, joined=joined)

    assert by_lakekit(argv) == by_glue(argv) == GIVEN | {"warehouse": value}


@given(value=st.text(), joined=st.booleans())
def test_any_value_that_glue_reads_is_read_alike(value: str, joined: bool) -> None:
    argv = words(GIVEN | {"warehouse": value}, joined=joined)

    assert by_glue(argv) in (REFUSED, by_lakekit(argv))
    assert by_lakekit(argv)["warehouse"] == value


@pytest.mark.parametrize("place", [0, 4, 10])
@pytest.mark.parametrize("added", GLUES, ids=" ".join)
def test_what_glue_adds_is_tolerated_wherever_it_is(added: tuple[str, ...], place: int) -> None:
    argv = words(GIVEN)
    argv[place:place] = added
    joined = [*words(GIVEN, joined=True), "=".join(added)]

    assert by_lakekit(argv) == by_glue(argv) == GIVEN
    assert by_lakekit(joined) == GIVEN


def test_all_options_that_glue_reserves_are_tried() -> None:
    reserved = {
        Job.job_bookmark_options()[0], Job.continuation_options()[0],
        Job.encryption_type_options()[0], *Job.data_lineage_options(), *Job.id_params(),
        Job.job_bookmark_range_options()[0],
    }  # fmt: skip

    assert reserved <= {added[0] for added in GLUES}


@pytest.mark.parametrize("model", [CreateTables, MergeScd2, MaintainTables, RebuildTable])
def test_no_argument_of_ours_has_a_name_that_glue_reserves(model: type[CreateTables]) -> None:
    ours = [field.alias or name for name, field in model.model_fields.items()]
    argv = ["job.py", *(f"--{name}=x" for name in ours)]

    found = utils.getResolvedOptions(argv, ours)

    assert [found[name] for name in ours] == ["x"] * len(ours)


@pytest.mark.parametrize("joined", [False, True])
def test_the_last_of_two_values_is_read(joined: bool) -> None:
    argv = words(GIVEN, joined=joined) + words({"source": "t"}, joined=joined)

    assert by_lakekit(argv) == by_glue(argv) == GIVEN | {"source": "t"}


@pytest.mark.parametrize("name", GIVEN)
def test_a_missing_argument_or_value_is_refused(name: str) -> None:
    others = words({key: value for key, value in GIVEN.items() if key != name})

    for argv in (others, [*others, f"--{name}"]):
        assert by_lakekit(argv) == by_glue(argv) == REFUSED


# Where Lakekit differs, by choice: each is a reason for a reader of our own.


def test_an_abbreviation_is_another_option_which_glue_takes_for_the_whole_one() -> None:
    argv = [*words(GIVEN), "--sour", "other"]

    assert by_glue(argv) == GIVEN | {"source": "other"}
    assert by_lakekit(argv) == GIVEN


def test_an_option_of_a_later_release_is_ignored_unless_a_person_gives_it() -> None:
    for added in (["--later", "x"], ["--later=x"], ["--later", "--x"]):
        argv = ["job.py", *added, *words(GIVEN), "--table", "t", "--lease_seconds=60"]
        assert job_arguments(MaintainTables, argv).source == "s"
        with pytest.raises(InvalidStepInputError, match="--later: unknown option"):
            job_arguments(RebuildTable, argv)


@pytest.mark.parametrize("run_id", ["-r", "--r"])
def test_a_run_may_be_named_with_a_dash_first_which_glue_takes_for_an_option(run_id: str) -> None:
    argv = words(GIVEN | {"run_id": run_id})

    assert by_glue(argv) == REFUSED
    assert by_lakekit(argv) == GIVEN | {"run_id": run_id}


def test_an_argument_may_be_optional_where_glue_wants_all() -> None:
    argv = ["job.py", *words(GIVEN), "--table", "t", "--lease_seconds=60"]

    assert job_arguments(RebuildTable, argv).keys is None
    with pytest.raises(utils.GlueArgumentError, match="--keys"):
        utils.getResolvedOptions(argv, [*GIVEN, "table", "lease_seconds", "keys"])
