# Sourced by the other scripts: the one virtual environment, made on first use and refreshed when pyproject.toml changes.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=${TRIO_DEBUGMCP_VENV:-$root/.venv}
stamp=$venv/.installed
if [ ! -f "$stamp" ] || [ "$root/pyproject.toml" -nt "$stamp" ]; then
  echo "+ preparing $venv" >&2
  "${PYTHON:-python3}" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -e "$root[test,check,cli]" >&2
  touch "$stamp"
fi
cd "$root" || exit 1
