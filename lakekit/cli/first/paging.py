"""Ways to page that were tried on an API, and the best of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import yaml

from lakekit.discover.paging import PagingGuess
from lakekit.discover.proofs import Proof
from lakekit.discover.yaml_text import flow


@dataclass(frozen=True)
class Tried:
    """A way to page, and what its second page showed."""

    guess: PagingGuess
    proof: Proof

    @property
    def text(self) -> str:
        """The paginator as a person types it."""
        return flow(self.guess.paginator)


def try_ways(
    guesses: Sequence[PagingGuess],
    others: Sequence[PagingGuess],
    prove: Callable[[PagingGuess], Proof],
) -> tuple[list[Tried], Tried | None]:
    """Return the ways that were tried, up to the first that is proven, and the best one.

    Args:
        guesses: Those that the answer speaks for.
        others: Those that are tried where none of them is left but a single page.
        prove: Asks for two pages.
    """
    tried: list[Tried] = []
    for guess in guesses:
        tried.append(Tried(guess, prove(guess)))
        if tried[-1].proof.holds:
            break
    best = _best(tried)
    if best is not None and best.guess.paginator["type"] != "single_page":
        return tried, best
    known = {each.text for each in tried}
    for guess in others:
        if flow(guess.paginator) not in known:
            tried.append(Tried(guess, prove(guess)))
            if tried[-1].proof.holds or _is_empty(tried[-1]):
                return tried, tried[-1]
    return tried, best and _with_failed(best, tried)


def _best(tried: Sequence[Tried]) -> Tried | None:
    """Return the way that was proven, or else the first one that nothing speaks against."""
    proven = next((each for each in tried if each.proof.holds), None)
    return proven or next((each for each in tried if each.proof.holds is None), None)


def _with_failed(best: Tried, tried: Sequence[Tried]) -> Tried:
    """Return the way that is left, with what was tried in vain."""
    failed = [seen_of(each) for each in tried if each.proof.holds is False]
    saw = "; ".join([best.guess.saw, *failed])
    return replace(best, guess=best.guess._replace(saw=saw))


def _is_empty(tried: Tried) -> bool:
    return tried.proof.holds is None and len(tried.proof.pages) > 1


def seen_of(tried: Tried) -> str:
    """Return what speaks for a way or against it."""
    return f"{tried.guess.saw}; {tried.proof.saw}"


def read_paginator(text: str) -> PagingGuess:
    """Return the paginator that a person has typed.

    Raises:
        ValueError: It is none.
    """
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        found = None
    if not isinstance(found, dict) or "type" not in found:
        raise ValueError("write a paginator as in {type: page_number, page_param: p}")
    sends = [str(value) for name, value in found.items() if str(name).endswith("_param")]
    usual = {"page_number": ["page"], "offset": ["offset", "limit"], "cursor": ["cursor"]}
    sends += usual.get(found["type"], [])
    return PagingGuess(found, "as it was given", tuple(sends))
