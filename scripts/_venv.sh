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
  python=${PYTHON:-python3}
  # Otherwise pip would look for minutes for versions of our requirements that an older Python may have.
  if ! "$python" -c "import sys; sys.exit(sys.version_info < (3, 11))"; then
    echo "$("$python" --version) is too old: install Python 3.11 or newer, or name one: PYTHON=python3.12 $0" >&2
    exit 1
  fi
  echo "+ preparing $venv, which takes a minute or two" >&2
  "$python" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -e "$root[test,check,cli]" >&2
  touch "$stamp"
fi
cd "$root" || exit 1
