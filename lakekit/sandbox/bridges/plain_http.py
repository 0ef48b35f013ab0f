"""S3 over http: S3A's SDK copies an object that names its KMS key over https alone."""

from werkzeug.wrappers import Response

from lakekit.sandbox.http import Call

KEY_HEADER = "x-amz-server-side-encryption-aws-kms-key-id"


def head_object(call: Call) -> Response:
    """Answer as moto does, without the KMS key; Spark's output committer renames by copies."""
    response = call.forward()
    response.headers.pop(KEY_HEADER, None)
    return response
