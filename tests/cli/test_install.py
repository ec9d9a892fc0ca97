"""`trio-debugmcp adapters --install`: the steps of each way to install, by installers that only write them down."""

import io
import tarfile
from pathlib import Path

import pytest

from trio_debugmcp.cli import main
from trio_debugmcp.cli._install import install
from trio_debugmcp.dap.profiles import TableProfile, read_tables
from trio_debugmcp.dap.profiles.installing import command_for

pytestmark = pytest.mark.real

HEAD = """
[adapters.NAME]
language = "M"
command = ["{adapter}"]
launch = {}
"""


class Machine:
    """A machine whose programs are those that a test puts there."""

    def __init__(self, directory: Path) -> None:
        self.programs = directory / "bin"
        self.installed = directory / "installed"
        self.log = directory / "log"
        self.programs.mkdir()

    def has(self, name: str, does: str = "") -> None:
        """Put a program there, which writes down its arguments and then does this."""
        place = self.programs / name
        place.write_text(f'#!/bin/sh\necho "{name} $*" >> {self.log}\n{does}\n')
        place.chmod(0o755)

    def ran(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def adapter(self, text: str, name: str = "mdb") -> TableProfile:
        (only,) = read_tables(HEAD.replace("NAME", name) + text, "mine.toml")
        return only


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine without programs, and its own place for adapters."""
    made = Machine(tmp_path)
    monkeypatch.setenv("PATH", str(made.programs))
    monkeypatch.setenv("TRIO_DEBUGMCP_ADAPTERS_DIR", str(made.installed))
    monkeypatch.setattr("os.geteuid", lambda: 0)
    return made


def packed(path: Path, *names: str) -> Path:
    """A package of npm with these files."""
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            member = tarfile.TarInfo(f"package/{name}")
            member.size = 4
            archive.addfile(member, io.BytesIO(b"text"))
    return path


def test_packages_of_the_system_are_installed_at_once_for_all_that_are_missing(machine: Machine) -> None:
    place = machine.programs
    machine.has("env", f'for word; do case "$word" in one|two) /bin/cp {place}/env {place}/$word; esac; done')
    machine.has("apt-get")
    machine.has("there")
    adapters = [
        machine.adapter(f'find = ["{name}"]\ninstall = {{ apt = "{name} lib{name}" }}', name)
        for name in ("one", "there", "two", "never")
    ]
    assert install(adapters) == ["never: The debug adapter never is not installed (looked for never on PATH)"]
    noninteractive = "env DEBIAN_FRONTEND=noninteractive apt-get -qq"
    assert machine.ran() == [
        f"{noninteractive} update",
        f"{noninteractive} install -y --no-install-recommends one libone two libtwo never libnever",
    ]


def test_without_root_the_system_is_asked_through_sudo_and_a_failure_names_the_command(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    machine.has("apt-get")
    machine.has("sudo", "exit 3")
    apt = "sudo -n env DEBIAN_FRONTEND=noninteractive apt-get -qq"
    command = f"{apt} install -y --no-install-recommends mdb"
    adapter = machine.adapter('find = ["mdb"]\ninstall = { apt = "mdb" }')
    assert install([adapter]) == [f"mdb: `{command}` failed with exit code 3"]
    assert machine.ran() == [f"{apt} update", command]


def test_a_package_that_is_not_to_be_had_keeps_no_other_adapter_away(machine: Machine) -> None:
    place = machine.programs
    machine.has("apt-get")
    machine.has("env", f'case "$*" in *bad*) exit 100;; *good*) /bin/cp {place}/env {place}/good;; esac')
    adapters = [machine.adapter(f'find = ["{name}"]\ninstall = {{ apt = "{name}" }}', name) for name in ("bad", "good")]
    (problem,) = install(adapters)
    assert problem.startswith("bad: `env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y ")
    assert problem.endswith(" bad` failed with exit code 100")


def test_of_a_package_of_npm_only_the_wanted_files_are_kept_and_steps_follow(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = packed(tmp_path / "package.tgz", "dist/adapter/m.js", "dist/adapter.js", "dist/other/huge.js")
    machine.has("npm", f"/bin/cp {package} $4/m-1.2.tgz")
    machine.has("build", "/bin/mkdir $1; echo built > $1/m")
    (machine.installed / "mdb" / "of an earlier version").mkdir(parents=True)
    adapter = machine.adapter(
        'find = ["{installed}/made/m"]\n'
        'install = { npm-pack = "m@1.2", unpack = ["dist/adapter"], then = [["build", "{installed}/made"]], '
        'about = "the work of others (MIT)" }'
    )
    assert install([adapter]) == []
    said = capsys.readouterr().err.splitlines()[0]
    assert said == f"mdb: m@1.2 from npm into {machine.installed}/mdb: the work of others (MIT)"
    assert adapter.locate() == f"{machine.installed}/mdb/made/m"
    files = sorted(str(each.relative_to(machine.installed)) for each in machine.installed.rglob("*") if each.is_file())
    assert files == ["mdb/.made-by", "mdb/dist/adapter/m.js", "mdb/made/m"]
    ran = machine.ran()
    assert install([adapter]) == []
    assert machine.ran() == ran  # what is there is not installed again


def test_a_package_of_npm_with_several_adapters_is_fetched_once(machine: Machine, tmp_path: Path) -> None:
    package = packed(tmp_path / "package.tgz", "a/m.js", "b/m.js")
    machine.has("npm", f"/bin/cp {package} $4/m-1.2.tgz")
    adapters = [
        machine.adapter(
            f'find = ["{{installed}}/{name}/m.js"]\ninstall = {{ npm-pack = "@m/m@1.2", unpack = ["{name}"] }}', name
        )
        for name in ("a", "b")
    ]
    assert install(adapters) == []
    (fetched,) = machine.ran()
    assert fetched.startswith("npm pack --silent --pack-destination ")
    assert fetched.endswith(" @m/m@1.2")
    files = sorted(str(file.relative_to(machine.installed)) for file in machine.installed.rglob("*.js"))
    assert files == ["a/a/m.js", "b/b/m.js"]


@pytest.mark.parametrize(("place", "renewed"), [("{installed}", True), ("elsewhere", False)])
def test_one_of_an_earlier_installation_that_is_older_than_what_is_tested_is_replaced(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str, renewed: bool
) -> None:
    directory = machine.installed / "mdb" if renewed else tmp_path / place
    directory.mkdir(parents=True)
    (directory / "m").write_text("")
    (directory / "version").write_text("1.1")
    machine.has("build", "echo > $1/m; echo 1.2 > $1/version")
    tables = tmp_path / "mine.toml"
    where = place if renewed else str(directory)
    way = f'find = ["{where}/m"]\nversion = {{ file = "{{directory}}/version", tested = "1.2" }}\n'
    way += 'install = { then = [["build", "{installed}"]] }\n'
    tables.write_text(HEAD.replace("NAME", "mdb") + way)
    assert main(["adapters", f"--adapters={tables}"]) == 0
    renewal = ": `trio-debugmcp adapters --install mdb` renews it" if renewed else ""
    line = f"ok      mdb 1.1: M, {directory}/m; older than 1.2, with which our tests debug{renewal}"
    assert line in capsys.readouterr().out.splitlines()
    assert main(["adapters", "--install", "mdb", f"--adapters={tables}"]) == 0
    assert (directory / "version").read_text().strip() == ("1.2" if renewed else "1.1")


def test_one_that_was_made_by_other_steps_is_made_anew_although_its_version_is_the_same(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.has("build", "echo $2 > $1/m; echo 1.2 > $1/version")
    tables = tmp_path / "mine.toml"
    line = f"ok      mdb 1.2: M, {machine.installed}/mdb/m"
    words = ["adapters", f"--adapters={tables}"]
    for step in ("first", "patched"):
        way = 'find = ["{installed}/m"]\nversion = { file = "{directory}/version" }\n'
        way += f'install = {{ then = [["build", "{{installed}}", "{step}"]] }}\n'
        tables.write_text(HEAD.replace("NAME", "mdb") + way)
        if step == "patched":
            assert main(words) == 0
            renewal = "; made by other steps than those of now: `trio-debugmcp adapters --install mdb` renews it"
            assert f"{line}{renewal}" in capsys.readouterr().out.splitlines()
        assert main([*words, "--install", "mdb"]) == 0
        assert capsys.readouterr().out.splitlines() == [line]
        assert (machine.installed / "mdb" / "m").read_text() == f"{step}\n"
    ran = machine.ran()
    assert main([*words, "--install", "mdb"]) == 0
    assert (len(ran), machine.ran()) == (2, ran)


def test_where_a_renewal_fails_what_was_there_stays_and_the_failure_is_said(machine: Machine) -> None:
    machine.has("build", "exit 1")
    directory = machine.installed / "mdb"
    directory.mkdir(parents=True)
    (directory / "m").write_text("")
    (directory / "version").write_text("1.1")
    adapter = machine.adapter(
        'find = ["{installed}/m"]\nversion = { file = "{directory}/version", tested = "1.2" }\n'
        'install = { then = [["build", "{installed}"]] }'
    )
    (problem,) = install([adapter])
    assert problem.startswith("mdb: `build ")
    assert (directory / "version").read_text() == "1.1"


@pytest.mark.parametrize("failing", ["venv", "pip"])
def test_where_a_renewal_by_pip_fails_the_environment_that_was_there_stays(
    machine: Machine, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.has(
        "python", f"[ $3 = pip ] || {{ /bin/rm -rf $5; /bin/mkdir -p $5/bin; /bin/cp $0 $5/bin; }}; [ $3 != {failing} ]"
    )
    monkeypatch.setattr("sys.executable", str(machine.programs / "python"))
    directory = machine.installed / "mdb"
    directory.mkdir(parents=True)
    (directory / "m").write_text("")
    (directory / "version").write_text("1.1")
    adapter = machine.adapter(
        'find = ["{installed}/m"]\nversion = { file = "{directory}/version", tested = "1.2" }\ninstall = { pip = "m" }'
    )
    (problem,) = install([adapter])
    assert problem.startswith("mdb: `")
    assert f"-P -m {failing} " in problem
    assert [each.name for each in machine.installed.iterdir()] == ["mdb"]
    assert (directory / "version").read_text() == "1.1"


def test_at_the_end_what_is_there_is_named_with_version_and_place(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = tmp_path / "mine.toml"
    way = 'find = ["{installed}/m"]\nversion = { command = ["{adapter}"] }\n'
    way += 'install = { then = [["build", "{installed}"]] }\n'
    tables.write_text(HEAD.replace("NAME", "mdb") + way)
    machine.has("build", "printf '#!/bin/sh\\necho M 1.2\\n' > $1/m; /bin/chmod 755 $1/m")
    assert main(["adapters", "--install", "mdb", "--adapters", str(tables)]) == 0
    assert capsys.readouterr().out == f"ok      mdb 1.2: M, {machine.installed}/mdb/m\n"


def test_what_fails_half_way_leaves_nothing_that_is_found(machine: Machine, tmp_path: Path) -> None:
    package = packed(tmp_path / "package.tgz", "m.js")
    machine.has("npm", f"/bin/cp {package} $4/m-1.2.tgz")
    machine.has("build", "exit 1")
    adapter = machine.adapter('find = ["{installed}/m.js"]\ninstall = { npm-pack = "m@1.2", then = [["build", "it"]] }')
    assert install([adapter]) == ["mdb: `build it` failed with exit code 1"]
    assert list(machine.installed.iterdir()) == []


def test_packages_of_the_system_beside_other_steps_are_only_installed_for_programs_that_are_missing(
    machine: Machine,
) -> None:
    machine.has("apt-get")
    machine.has("npm")
    machine.has("node")
    machine.has("env")
    text = 'find = ["{installed}/m"]\nneeds = ["node"]\ninstall = { apt = { node = "nodejs", npm = "npm" }, npm = "m" }'
    install([machine.adapter(text)])
    assert [line.split()[0] for line in machine.ran()] == ["npm"]
    (machine.programs / "node").unlink()
    install([machine.adapter(text)])
    assert [line.split()[0] for line in machine.ran()] == ["npm", "env", "env", "npm"]
    assert machine.ran()[2].endswith("--no-install-recommends nodejs")


def test_python_packages_get_an_environment_where_their_scripts_are(machine: Machine, tmp_path: Path) -> None:
    wheel = tmp_path / "tiny_dap-1-py3-none-any.whl"
    import zipfile

    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny_dap.py", "def main(): print('version 1.0')\n")
        information = "tiny_dap-1.dist-info"
        archive.writestr(f"{information}/METADATA", "Metadata-Version: 2.1\nName: tiny-dap\nVersion: 1\n")
        archive.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{information}/entry_points.txt", "[console_scripts]\ntiny-dap = tiny_dap:main\n")
        archive.writestr(f"{information}/RECORD", "")
    adapter = machine.adapter(
        f'find = ["{{installed}}/bin/tiny-dap"]\nversion = {{ command = ["{{adapter}}"] }}\n'
        f'install = {{ pip = "--no-index {wheel}" }}'
    )
    assert install([adapter]) == []
    assert adapter.locate() == f"{machine.installed}/mdb/bin/tiny-dap"


def test_an_installer_that_is_missing_or_a_way_that_is_not_known_is_a_sentence(machine: Machine) -> None:
    by_npm = machine.adapter('find = ["{installed}/m"]\ninstall = { npm = "m" }', "one")
    by_hand = machine.adapter('find = ["m"]', "two")
    assert install([by_npm, by_hand]) == [
        "one: `npm` cannot be run: No such file or directory",
        "two: there is no known way to install it here",
    ]


def test_the_command_for_a_person_is_that_of_the_first_installer_that_this_machine_has(machine: Machine) -> None:
    ways = machine.adapter('find = ["m"]\ninstall = [{ apt = "a b" }, { brew = "c" }, { pip = "d" }]').table
    assert command_for("mdb", ways) == "trio-debugmcp adapters --install mdb"
    machine.has("brew")
    assert command_for("mdb", ways) == "brew install c"
    machine.has("apt-get")
    assert command_for("mdb", ways) == "apt-get install a b"
    either = machine.adapter('find = ["m"]\ninstall = [{ apt = { npm = "npm" }, npm = "a" }, { pip = "d" }]').table
    assert command_for("mdb", either) == "trio-debugmcp adapters --install mdb"  # apt brings npm
    steps = machine.adapter('find = ["m"]\ninstall = { apt = "a", npm-pack = "m" }').table
    assert command_for("mdb", steps) == "trio-debugmcp adapters --install mdb"
    known = machine.adapter('find = ["m"]\ninstall = { command = "get it from m.example" }').table
    assert command_for("mdb", known) == "get it from m.example"


def test_only_adapters_of_tables_are_installed_and_all_are_those_that_are_tested(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["adapters", "--install", "klingon"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("trio-debugmcp adapters: klingon is none of: all, gdb, lldb-dap, ")
    machine.has("apt-get")
    machine.has("env", "exit 9")
    assert main(["adapters", "--install", "lldb-dap"]) == 1
    said = capsys.readouterr().err
    assert "trio-debugmcp adapters: lldb-dap: `env DEBIAN_FRONTEND=noninteractive apt-get -qq install " in said
