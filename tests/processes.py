"""Which tests run in one process, when several share the suite."""

from xdist.scheduler import LoadScopeScheduling

# All tests of a group use one session of Spark, sandbox or set of templates, which takes long to
# start. Groups come first; the files of other folders fill what is left.
GROUPS = {
    "tests/sandbox": "sandbox",
    "tests/state_machines": "sandbox",
    "tests/spark": "spark",
    "tests/infra": "templates",
}


def place_of(nodeid: str) -> int:
    """Return where in the order of all tests a test is: by its group."""
    names = [*dict.fromkeys(GROUPS.values())]
    group = GROUPS.get(_folder(nodeid))
    return names.index(group) if group else len(names)


class GroupScheduling(LoadScopeScheduling):
    """Gives a whole group, or file, to a process."""

    def _split_scope(self, nodeid: str) -> str:
        file, group = nodeid.partition("::")[0], GROUPS.get(_folder(nodeid))
        # With those that are marked long, Spark's are more than half of all.
        alone = group == "spark" and self.config.getoption("long")
        return file if group is None or alone else group


def _folder(nodeid: str) -> str:
    return "/".join(nodeid.split("/")[:2])
