# Sourced by the other scripts: the one virtual environment, made on first use and refreshed when pyproject.toml changes.
# A script's head is its help, unless it has set `own_help`: its program then has one.
if [ -z "${own_help-}" ]; then
  case "${1-}" in
    -h | --help)
      sed -n '2,/^[^#]/s/^# //p' "$0"
      exit
      ;;
  esac
fi
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
