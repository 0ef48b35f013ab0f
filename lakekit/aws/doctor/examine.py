"""All checks, one after the other; one that AWS refuses does not stop the others."""

from collections.abc import Iterator

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

from lakekit.aws.doctor import after, before, governance
from lakekit.aws.doctor.check import Account, State
from lakekit.models import Model

CHECKS = (*before.CHECKS, *governance.CHECKS, *after.CHECKS)


class Finding(Model):
    """What one check has found of one thing, and what to do about it."""

    check: str
    state: State
    subject: str | None
    text: str


def examine(account: Account) -> Iterator[Finding]:
    """Yield what each check finds, as it finds it.

    Raises:
        NoCredentialsError: There are none, so that nothing can be asked.
    """
    for check in CHECKS:
        try:
            for state, subject, text in check.ask(account):
                yield Finding(check=check.name, state=state, subject=subject, text=text)
        except NoCredentialsError:
            raise
        except (BotoCoreError, ClientError) as error:
            yield Finding(check=check.name, state="unknown", subject="AWS", text=str(error))


def unasked() -> Iterator[Finding]:
    """Yield what each check would look at."""
    for check in CHECKS:
        yield Finding(
            check=check.name, state="unknown", subject=None, text=f"would say {check.about}"
        )
