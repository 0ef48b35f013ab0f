"""The command's exit shows whether Lakekit was right; its options apply to all contestants."""

import pytest

from benchmarks import __main__ as commands
from benchmarks import report
from benchmarks.workloads import full

RIGHT = {"about": "", "runs": 2 * [{"seconds": 1.0, "peak_rss": 1}], "check": {"correct": True}}
WRONG = RIGHT | {
    "check": {"correct": False, "missing": 1, "unexpected": 0, "columns": {}},
}


@pytest.fixture
def run(monkeypatch):
    """Run the command with a contestant that is measured already; returns its exit and heaps."""

    def call(*arguments, lakekit=RIGHT, other=None, measured=None):
        heaps = []

        def course(_, options):
            heaps.append(options.memory)
            return None, {}

        def measure(workload, names, *_):
            (measured if measured is not None else []).append(names)
            return {
                "workload": workload.name, "parameters": workload.as_dict(),
                "contestants": {"lakekit": lakekit},
            }  # fmt: skip

        monkeypatch.setattr(commands, "_course", course)
        monkeypatch.setattr(commands, "measure", measure)
        monkeypatch.setattr(commands, "_other", lambda *_: other or {"text": ""})
        monkeypatch.setattr(report, "write", lambda summary: None)
        monkeypatch.setattr(report, "plot", lambda say: None)
        return commands.main(arguments), heaps

    return call


@pytest.mark.parametrize(("lakekit", "code"), [(RIGHT, 0), (WRONG, 1)])
def test_a_wrong_table_of_lakekit_fails_the_command(run, lakekit, code, capsys):
    assert run("--history", "1", lakekit=lakekit)[0] == code
    assert ("failed: " in capsys.readouterr().out) == bool(code)


@pytest.mark.parametrize(
    ("other", "code"),
    [
        ({"correct": True, "text": ""}, 0),
        ({"correct": False, "text": ""}, 1),
        ({"wrong": ["one_03"], "text": ""}, 1),
        ({"error": "Traceback ...", "text": "failed"}, 1),
    ],
)
def test_a_measurement_apart_from_the_batches_fails_the_command(run, other, code):
    assert run("small", other=other)[0] == code
    assert run(other=other)[0] == code


@pytest.mark.parametrize(
    ("arguments", "heap"),
    [(["--quick"], "3g"), ([], "5g"), (["--quick", "--memory", "4g"], "4g")],
)
def test_all_get_the_heap_that_the_largest_snapshots_need_but_in_the_quick_set(
    run, arguments, heap
):
    assert run(*arguments) == (0, [heap])


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["--history", "1"], ["lakekit", "floor", "article_mor"]),
        (["--history", "1", "--sequence"], ["lakekit", "floor"]),
    ],
)
def test_only_who_takes_the_time_from_the_record_merges_with_a_sequence(run, arguments, names):
    measured = []

    run(*arguments, "--contestants", "lakekit,floor,article_mor", measured=measured)

    assert measured == [names]


def test_a_sequence_without_anyone_who_takes_it_is_refused(run):
    with pytest.raises(SystemExit, match="lakekit, floor"):
        run("--history", "1", "--sequence", "--contestants", "dbt,sqlmesh")


def test_the_sweeps_leave_out_what_none_of_the_contestants_can(run):
    measured = []

    run("--contestants", "dbt", measured=measured)

    assert measured == [["dbt"] for load in full() if not load.sequence]


def test_the_command_says_how_long_it_took(run, capsys):
    run("--history", "1")

    assert capsys.readouterr().out.endswith(" minutes\n")
