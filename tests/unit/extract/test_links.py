"""Link headers, by RFC 8288."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakekit.errors import SourceShapeError
from lakekit.extract.links import Link, next_link, parse_links


@pytest.mark.parametrize(
    ("header", "target"),
    [
        ('</b>; rel="next"', "/b"),
        ("</b>; rel=next", "/b"),
        ('</b>; REL="Next"', "/b"),
        ('</b>; rel="prefetch next"', "/b"),
        ('</b>;rel="next";title="a; b, c"', "/b"),
        ('</b>; title="; rel=last"; rel="next"', "/b"),
        (r'</b>; title="a \" b"; rel="next"', "/b"),
        ('</a;v=1,2>; rel="next"', "/a;v=1,2"),
        ("</a>; rel=prev, </b>; rel=next, </c>; rel=last", "/b"),
        (', </a>; rel="prev",, </b> ; rel = "next" ,', "/b"),
        ('<>; rel="next"', ""),
        ('</b>; rel="last"; rel="next"', None),
        ('</next>; rel="prev"', None),
        ('</a>; title="next"', None),
        ("</a>", None),
        ("</a>;", None),
        ("", None),
    ],
)
def test_reads_the_next_page_of_a_header(header: str, target: str | None) -> None:
    assert next_link({"Link": header}) == target


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("/b; rel=next", "no <address> at character 1"),
        ("</b; rel=next", "no <address>"),
        ('</b>; rel="next', "neither parameter nor link at character 10"),
        ("</a> </b>; rel=next", "neither parameter nor link"),
        ("</a>; rel=next, </b>; rel=next", "several next pages"),
    ],
)
def test_refuses_a_header_that_it_may_misread(header: str, message: str) -> None:
    with pytest.raises(SourceShapeError, match=message):
        next_link({"Link": header})


_TOKENS = st.from_regex(r"[a-z!#$*]{1,5}", fullmatch=True)
_TARGETS = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="<>"))
_PARAMS = st.lists(st.tuples(_TOKENS.filter(lambda t: t != "rel"), st.text('ab,;<>= \\"')))


@given(st.lists(st.tuples(_TARGETS, st.lists(_TOKENS, min_size=1), _PARAMS)))
def test_reads_whatever_is_written_by_the_rule(
    links: list[tuple[str, list[str], list[tuple[str, str]]]],
) -> None:
    written = ", ".join(
        f"<{target}>"
        + "".join('; {}="{}"'.format(name, re.sub(r'(["\\])', r"\\\1", v)) for name, v in params)
        + f'; Rel="{" ".join(relations)}"'
        for target, relations, params in links
    )

    assert parse_links(written) == [Link(t, frozenset(relations)) for t, relations, _ in links]


@given(st.text(alphabet='<>;,=" \\relnxt/ab\t'))
def test_no_header_breaks_it(header: str) -> None:
    try:
        next_link({"Link": header})
    except SourceShapeError as error:
        assert "Link header" in str(error)
