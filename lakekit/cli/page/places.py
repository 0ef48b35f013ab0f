"""What the page of a place is gathered from: a local warehouse, the sandbox, or an environment."""

import shlex
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from lakekit.cli.operate.places import known_environment
from lakekit.cli.operate.places import opened as opened_place
from lakekit.cli.project import place as place_of_project
from lakekit.cli.read.places import Where, opened, resolved
from lakekit.config import load as config
from lakekit.config.environment import Environment
from lakekit.contract.contract import load_contract
from lakekit.errors import InvalidContractError, LandingCorruptError
from lakekit.local.landing import Landing
from lakekit.local.run.log import RunLog
from lakekit.local.run.place import BUCKET, LocalPlace
from lakekit.page.gather import gather_page
from lakekit.page.model import Lineage, Page
from lakekit.page.operated import (
    Around,
    Operated,
    ask_operated,
    lineage_of,
    lineage_of_loads,
)
from lakekit.ports import ObjectStore
from lakekit.warehouse.places import SANDBOX, aws_faults
from lakekit.watch.watch import Watched, watch

_DEAD = ("inbox_dead", "schedules_dead")


def gather(where: Where, now: datetime) -> Page:
    """Return the page of the place that a command names; see `lakekit.cli.read.places.opened`."""
    where = resolved(where)
    if where.warehouse is not None:
        return _of_warehouse(where, where.warehouse, now)
    with opened(where) as reader, aws_faults(where.environment or "sandbox"):
        operated = _operated(where, now)
        option = _option(where)
        place = where.environment or "sandbox"
        return gather_page(reader, place, option, now, operated)


def _of_warehouse(where: Where, warehouse: Path, now: datetime) -> Page:
    """Return the page of a local warehouse, which files were merged into, or sources loaded."""
    project = place_of_project.here()
    is_own = project is not None and project.warehouse.resolve() == warehouse.resolve()
    # What waits is decided by commands that know the warehouse of a project alone.
    option = f"--project {shlex.quote(str(project.folder))}" if project and is_own else (
        f"--warehouse {shlex.quote(str(warehouse))}"
    )  # fmt: skip
    loaded = LocalPlace(warehouse, watched=True) if (warehouse / BUCKET).is_dir() else None
    with opened(where) as reader:
        lineage = {name: _landed(warehouse, name) for name in reader.locations}
        lineage |= lineage_of_loads(loaded.store) if loaded else {}
        operated = None
        if loaded and is_own:
            log = RunLog(loaded.store)
            operated = ask_operated(loaded.flow, log, loaded.store, now, Around())
        return gather_page(reader, str(warehouse), option, now, operated, lineage)


def _option(where: Where) -> str:
    if where.environment is not None:
        return f"--environment {where.environment}"
    folder = "" if where.data == SANDBOX else f" --data {shlex.quote(str(where.data))}"
    return f"--sandbox{folder}"


def _landed(warehouse: Path, table: str) -> Lineage:
    """Return what a local warehouse knows of a table's source: its contract, no address."""
    try:
        contract = load_contract(Landing(warehouse, table).contract(), name=table)
    except (LandingCorruptError, InvalidContractError):
        return Lineage()
    return lineage_of(contract)


def _operated(where: Where, now: datetime) -> Operated:
    from lakekit.aws.catalog import GlueCatalog  # noqa: PLC0415  boto3 takes its time
    from lakekit.aws.object_store import S3ObjectStore  # noqa: PLC0415

    watching: Callable[[ObjectStore], Watched] | None = None
    client: Callable[[str], Any]
    if where.environment is None:
        connection = place_of_project.connect_sandbox(None, where.data)
        names, client = connection.names, connection.client
        bucket, database = names["results_bucket"], names["database"]
        queues = [address.rpartition("/")[2] for name, address in names["queues"].items()
                  if name in _DEAD]  # fmt: skip
    else:
        environment = known_environment(where.environment)
        from lakekit.aws.place import open_session  # noqa: PLC0415

        client = open_session(environment).client
        bucket, database = environment.bucket("results"), environment.database
        queues = [environment.name(each) for each in _DEAD]
        watching = _watching(environment, now)
    around = Around(
        watch=watching,
        dead={name: _messages(client("sqs"), name) for name in queues},
        views=GlueCatalog(database, client("glue"), client("s3")).views(),
    )
    results = S3ObjectStore(bucket, client("s3"))
    with opened_place(where.environment, where.sandbox, where.data) as place:
        return ask_operated(place.flow, place.log, results, now, around)


def _watching(environment: Environment, now: datetime) -> Callable[[ObjectStore], Watched]:
    """Return a function that looks at a landing bucket as the sweeper does."""
    folder = place_of_project.required().config
    name = environment.environment
    schedules = config.read_schedules(folder, name) if environment.schedules else {}
    tables = config.read_tables(folder, schedules)
    return lambda store: watch(now, store, schedules, tables, environment.pause)


def _messages(sqs: Any, name: str) -> int:
    """Return how many messages a queue has; none where it is not deployed."""
    try:
        address = sqs.get_queue_url(QueueName=name)["QueueUrl"]
    except sqs.exceptions.QueueDoesNotExist:
        return 0
    asked = "ApproximateNumberOfMessages"
    found = sqs.get_queue_attributes(QueueUrl=address, AttributeNames=[asked])
    return int(found["Attributes"][asked])
