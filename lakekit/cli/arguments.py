"""Which files belong to which run, read from the order of `--input` and `--at`."""

from collections.abc import Sequence

from lakekit.errors import InvalidStepInputError


def spread_inputs(arguments: Sequence[str]) -> list[str]:
    """Repeat `--input` before each of its files, so that a shell's `*` works.

    Example:
        >>> spread_inputs(["--input", "a", "b", "--at", "T"])
        ['--input', 'a', '--input', 'b', '--at', 'T']
    """
    spread: list[str] = []
    inside = False
    for argument in arguments:
        if argument == "--input":
            inside = True
        elif argument.startswith("-"):
            inside = False
            spread.append(argument)
        else:
            spread += ["--input", argument] if inside else [argument]
    return spread


def project_first(arguments: Sequence[str]) -> list[str]:
    """Put `--project FOLDER` before the command.

    Example:
        >>> project_first(["run", "shop", "--project", "p"])
        ['--project', 'p', 'run', 'shop']
    """
    words = list(arguments)
    for at, word in enumerate(words):
        if word == "--project" and at + 1 < len(words):
            return [*words[at : at + 2], *words[:at], *words[at + 2 :]]
        if word.startswith("--project="):
            return [word, *words[:at], *words[at + 1 :]]
    return words


def take(arguments: Sequence[str]) -> list[str]:
    """Keep the words of this process, spread, for `given`, and return them.

    `--project` may stand anywhere, though it is an option of all commands together.
    """
    _WORDS[:] = project_first(spread_inputs(arguments))
    return list(_WORDS)


def given() -> list[str]:
    """Return the words of this process; typer loses the order between options."""
    return [part for word in _WORDS for part in (word.split("=", 1) if _joined(word) else [word])]


def _joined(word: str) -> bool:
    return word.startswith(("--input=", "--at="))


_WORDS: list[str] = []


def pair_runs(arguments: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Return (time, files) of each run, in the order in which they stand.

    An `--at` closes the run of the inputs before it. Where all inputs come first and there are as
    many times, or a time comes first, they are paired one by one.

    Raises:
        InvalidStepInputError: Inputs and times do not pair up.
    """
    pairs = [
        (arguments[i], arguments[i + 1])
        for i, word in enumerate(arguments[:-1])
        if word in ("--input", "--at")
    ]
    inputs = [value for word, value in pairs if word == "--input"]
    times = [value for word, value in pairs if word == "--at"]
    if not inputs or not times:
        raise InvalidStepInputError("give --input FILE... and the --at time of its extraction")
    if len(inputs) == len(times):
        return [(time, (file,)) for time, file in zip(times, inputs, strict=True)]
    runs: list[tuple[str, tuple[str, ...]]] = []
    waiting: list[str] = []
    for word, value in pairs:
        if word == "--input":
            waiting.append(value)
        elif waiting:
            runs.append((value, tuple(waiting)))
            waiting = []
    if waiting or len(runs) != len(times):
        raise InvalidStepInputError("each --at needs the --input files of its run before it")
    return runs
