# Sourced by the other scripts: the virtual environment, made on first use and refreshed when pyproject.toml changes.
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

# prepare PLACE PYTHON EXTRAS
prepare() {
  local stamp=$1/.installed
  if [ -f "$stamp" ] && [ ! "$root/pyproject.toml" -nt "$stamp" ]; then return; fi
  # Otherwise pip would look for minutes for versions of our requirements that an older Python may have.
  if ! "$2" -c "import sys; sys.exit(sys.version_info < (3, 11))"; then
    echo "$("$2" --version) is too old: install Python 3.11 or newer, or name one: PYTHON=python3.12 $0" >&2
    exit 1
  fi
  echo "+ preparing $1, which takes a minute or two" >&2
  "$2" -m venv "$1"
  # What is imported compiles itself then; the rest, most of it, would take half a minute.
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile -e "$root[$3]" >&2
  touch "$stamp"
}

# Where `python3` is too old, a newer one may have its version in the name.
python=${PYTHON-}
for name in python3 python3.13 python3.12 python3.11; do
  if [ -z "$python" ] && "$name" -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null; then python=$name; fi
done

prepare "$venv" "${python:-python3}" test,check,cli
cd "$root" || exit 1
