#!/usr/bin/env bash
# Set up all that `make demo` and `make test` need: packages, Java and Node below this folder, jars in ~/.cache/lakekit.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-$(command -v python3.11 || command -v python3 || true)}
"${python:-false}" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null || {
  echo "Python 3.11 is needed (Glue 5.1 runs it); found $("${python:-false}" --version 2>/dev/null || echo none). Set PYTHON=/path/to/python3.11." >&2
  exit 1
}
# An interrupted set-up leaves an environment without pip.
.venv/bin/python -c 'import pip' 2>/dev/null || "$python" -m venv --clear .venv
pip=(.venv/bin/python -m pip --disable-pip-version-check -q)
echo "packages (pinned in requirements.txt) ..."
"${pip[@]}" install --require-hashes -r requirements.txt
"${pip[@]}" install --no-deps --no-build-isolation -e .
echo "jars (Iceberg 1.10.0 for Spark 3.5) ..."
source tools/env.sh
.venv/bin/python -m lakekit.spark.session.jars
