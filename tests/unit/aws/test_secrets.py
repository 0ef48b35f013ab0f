"""Secrets against recorded answers of Secrets Manager."""

import pytest

from lakekit.aws.secrets import read_secret
from lakekit.errors import SourceRejectedError
from tests.unit.aws.conftest import Stubs


def test_reads_the_text_of_a_secret(stubs: Stubs) -> None:
    stubs.answer("secretsmanager", "get_secret_value", {"SecretString": "v"}, SecretId="n")

    assert read_secret(stubs["secretsmanager"], "n") == "v"


@pytest.mark.parametrize("code", ["ResourceNotFoundException", "AccessDeniedException"])
def test_a_secret_that_cannot_be_read_is_reported_by_its_name(stubs: Stubs, code: str) -> None:
    stubs.refuse("secretsmanager", "get_secret_value", code)

    with pytest.raises(SourceRejectedError, match=f"secret n: {code}"):
        read_secret(stubs["secretsmanager"], "n")


def test_a_secret_without_text_is_refused(stubs: Stubs) -> None:
    stubs.answer("secretsmanager", "get_secret_value", {"SecretBinary": b"v"})

    with pytest.raises(SourceRejectedError, match="secret n: has no text"):
        read_secret(stubs["secretsmanager"], "n")
