#!/bin/sh
# Installs trio-debugmcp for all users of a development container. SOURCE: what pip installs; PREFIX: below which directory.
set -eu
source=${SOURCE:-git+https://github.com/trio-debugmcp/trio-debugmcp}
prefix=${PREFIX:-/usr/local}
python=
for name in python3 python3.13 python3.12 python3.11; do
  if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    python=$name
    break
  fi
done
if [ -z "$python" ]; then
  echo "trio-debugmcp needs Python 3.11 or newer: add the feature ghcr.io/devcontainers/features/python" >&2
  exit 1
fi
place=$prefix/share/trio-debugmcp
"$python" -m venv "$place"
"$place/bin/python" -m pip install --quiet --no-cache-dir --disable-pip-version-check "$source"
mkdir -p "$prefix/bin"
ln -sf "$place/bin/trio-debugmcp" "$prefix/bin/trio-debugmcp"
