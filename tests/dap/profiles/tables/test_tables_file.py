"""Files with tables of debug adapters: how a user's is laid over ours, and what is said of each mistake in one."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import fields

from trio_debugmcp.dap.profiles import (
    PROFILES,
    Attach,
    Launch,
    Profile,
    TableProfile,
    choose,
    profile_of_python,
    profiles_with,
    recorded_profiles,
)
from trio_debugmcp.dap.profiles.opening import attach_values, launch_values
from trio_debugmcp.dap.profiles.tables.table_format import Table
from trio_debugmcp.errors import UsageError

MINE = """
[adapters.mdb]
language = "M"
detect = { suffixes = [".m"] }
find = ["mdb"]
command = ["{adapter}"]
launch = { program = "{program}" }
"""

KEYS = ", ".join(sorted(each.encode_name for each in fields(Table)))
STARTED = {**launch_values(Launch("")), **attach_values(Attach())}
STARTS = ", ".join(f"{{{each}}}" for each in (*STARTED, "adapter", "adapter_directory"))

ONE_WAY = "exactly one of `announced`, `given` and `socket` is needed"


def with_file(directory: Path, *texts: str) -> tuple[Profile, ...]:
    """Our adapters with files of a user."""
    files = [directory / f"{number}.toml" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    return profiles_with(files)


def table(profiles: tuple[Profile, ...], name: str) -> TableProfile:
    (found,) = [each for each in profiles if each.name == name]
    assert isinstance(found, TableProfile)
    return found


# --- Layers -----------------------------------------------------------------------------------------------------------


def test_without_files_the_adapters_are_ours() -> None:
    assert profiles_with([]) == PROFILES


def test_a_table_of_a_new_name_adds_an_adapter_and_is_preferred_to_ours(tmp_path: Path) -> None:
    profiles = with_file(tmp_path, MINE.replace('".m"', '".py", ".rs"'))
    assert [each.name for each in profiles] == ["mdb", *(each.name for each in PROFILES)]
    assert choose(None, "/x/a.rs", profiles, lambda _: "here").name == "mdb"
    assert choose(None, "/x/a.py", profiles, lambda _: "here").name == "mdb"
    # What has no file is Python's, and not that of the first table.
    assert choose(None, None, profiles, lambda _: "here").name == profile_of_python(profiles).name == "debugpy"


def test_a_table_of_a_known_name_is_laid_over_ours_key_by_key_and_lists_are_replaced(tmp_path: Path) -> None:
    ours = table(PROFILES, "gdb").table
    text = """
    [adapters.gdb]
    find = ["/opt/gdb/bin/gdb"]
    version = { at-least = "15.1" }
    launch = { stopAtBeginningOfMainSubprogram = true, env = "{env}" }
    """
    profiles = with_file(tmp_path, text)
    new = table(profiles, "gdb").table
    assert new.find == ("/opt/gdb/bin/gdb",)
    assert (new.version.command, new.version.at_least) == (ours.version.command, "15.1")  # type: ignore[union-attr]
    assert new.launch == {**ours.launch, "env": "{env}", "stopAtBeginningOfMainSubprogram": True}
    assert (new.command, new.hooks, new.evaluate_safe) == (ours.command, "native", ours.evaluate_safe)
    assert [each.name for each in profiles].count("gdb") == 1
    assert profiles[0].name == "gdb"


def test_how_an_adapter_is_installed_is_replaced_as_a_whole(tmp_path: Path) -> None:
    text = '[adapters.js-debug]\ninstall = { npm = "my-js-debug" }\n'
    install = table(with_file(tmp_path, text), "js-debug").table.install
    assert (install.npm, install.npm_pack, install.apt) == ("my-js-debug", None, None)  # type: ignore[union-attr]


def test_files_are_laid_over_each_other_and_the_adapters_of_the_last_come_first(tmp_path: Path) -> None:
    other = MINE.replace("mdb", "odb")
    again = '[adapters.mdb]\nlaunch = { fast = true }\n[adapters.lldb-dap]\nlanguage = "C"\n'
    profiles = with_file(tmp_path, MINE + other, again)
    assert [each.name for each in profiles[:3]] == ["mdb", "lldb-dap", "odb"]
    assert table(profiles, "mdb").launch_arguments(Launch(program="/x")) == {"program": "/x", "fast": True}


def test_a_recording_brings_the_tables_of_its_users_and_their_order(tmp_path: Path) -> None:
    raw: dict[str, Any] = {
        "language": "M",
        "find": ["mdb"],
        "command": ["{adapter}"],
        "launch": {"program": "{program}"},
        "hooks": "native",  # of a table that was laid over one of ours
    }
    profiles = recorded_profiles(["mdb", "gdb", "debugpy", "gone"], {"mdb": raw}, "bug.jsonl")
    assert [each.name for each in profiles[:3]] == ["mdb", "gdb", "debugpy"]
    assert {each.name for each in profiles} == {"mdb", *(each.name for each in PROFILES)}
    with pytest.raises(UsageError, match=r"^bug.jsonl: \[adapters.mdb\] needs the key `find`.$"):
        recorded_profiles([], {"mdb": {key: each for key, each in raw.items() if key != "find"}}, "bug.jsonl")


# --- Mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[adapters.mdb]\nlanguage = ", " is not TOML: Invalid value (at end of document)."),
        (
            "[adapters.mdb]\n[adapters.mdb]\n",
            " is not TOML: Cannot declare ('adapters', 'mdb') twice (at line 2, column 14).",
        ),
        ("[adapter.mdb]", ": `adapter` is not known; tables are called [adapters.NAME]."),
        ("adapters = 3", ": `adapters` is to hold tables: [adapters.NAME]."),
        ("[adapters]\nmdb = 3", ": `adapters.mdb` is to be a table: [adapters.mdb]."),
        (
            '[adapters."../mdb"]',
            ": [adapters.../mdb] needs a name of letters, digits, '.', '_', '+' and '-'.",
        ),
        (
            "[adapters.debugpy]",
            ": [adapters.debugpy] is described by code and cannot be changed; give your table another name.",
        ),
    ],
)
def test_a_file_that_does_not_hold_tables_is_refused_with_its_name(text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        with_file(tmp_path, text)
    assert (refused.value.code, refused.value.message) == ("INVALID_PARAMETER", f"{tmp_path}/0.toml{sentence}")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("command", "comand"), f"has no key `comand`; did you mean `command`? Known there are: {KEYS}"),
        (("launch", "zzz"), f"has no key `zzz`. Known there are: {KEYS}"),
        (('language = "M"', ""), "needs the key `language`"),
        (('find = ["mdb"]', ""), "needs the key `find`"),
        (('["mdb"]', '"mdb"'), "`find` is to be a list of texts, not a text"),
        (('["mdb"]', '["mdb", 3]'), "`find[1]` is to be a text, not a number"),
        (('["mdb"]', "[]"), "`find` is empty"),
        (('["{adapter}"]', "[]"), "`command` is empty"),
        (('[".m"]', "[], elf = 'coff'"), '`detect.elf` is to be one of "c", "go", "native", "rust", not \'coff\''),
        (('[".m"]', "3"), "`detect.suffixes` is to be a list of texts, not a number"),
        (
            ("suffixes", "sufixes"),
            (
                "`detect` has no key `sufixes`; did you mean `suffixes`? "
                "Known there are: elf, files, interpreters, suffixes"
            ),
        ),
        (('{ program = "{program}" }', '"{program}"'), "`launch` is to be a table, not a text"),
    ],
)
def test_a_table_with_a_wrong_key_or_value_is_refused_with_what_is_allowed(
    change: tuple[str, str], sentence: str, tmp_path: Path
) -> None:
    _refused(MINE.replace(*change), "mdb", sentence, tmp_path)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('tested = "no"', "`tested` is to be true or false, not a text"),
        ('program-streams = "tube"', '`program-streams` is to be one of "adapter", "events", "terminal", not \'tube\''),
        ('transport = "tube"', "`transport` is to be \"stdio\" or a table, not 'tube'"),
        ("transport = { given = '{port}', socket = '{socket}' }", f"`transport`: {ONE_WAY}"),
        ("transport = {}", f"`transport`: {ONE_WAY}"),
        (
            "transport = { announced = 'at (\\d+' }",
            "`transport`: `announced` is not a regular expression: missing ), unterminated subpattern at position 3",
        ),
        (
            "transport = { announced = 'at \\d+' }",
            "`transport`: `announced` needs a group for the port: `(...)`",
        ),
        ("transport = { given = '9' }", "`transport`: `given` needs the placeholder {port}"),
        (
            "transport = { given = '{port}' }",
            "`command` needs the placeholder {port}, as `transport` says that the adapter is given it",
        ),
        (
            "transport = { socket = '{socket}' }",
            "`command` needs the placeholder {socket}, as `transport` says that the adapter is given it",
        ),
        (
            "transport = { socket = '{port}' }\ncommand = ['m', '{socket}']",
            "`transport.socket` has {port}, for which there is nothing; known there are: {socket}",
        ),
        (
            "reasons = { exited = 'end' }",
            (
                '`reasons` is to be one of "breakpoint", "data breakpoint", "entry", "exception", '
                '"function breakpoint", "goto", "instruction breakpoint", "pause", "signal", "step", not \'end\''
            ),
        ),
        ("entry = { line = 'last' }", "`entry.line` is to be \"first\", not 'last'"),
        ('hooks = "martian"', "`hooks` may only be named by the tables of this package"),
        ('hooks = "native"', "`hooks` may only be named by the tables of this package"),
        ('entry = "main"', "`entry` is to be a table, not a text"),
        ("version = { at-least = '1' }", "`version`: `command` or `file` is needed"),
        (
            "version = { file = '/v', at-least = 'new' }",
            '`version`: `at-least` is to be a version such as "1.20", not "new"',
        ),
        (
            "version = { file = '/v', atleast = '1' }",
            (
                "`version` has no key `atleast`; did you mean `at-least`? "
                "Known there are: at-least, command, file, tested, why"
            ),
        ),
        ("install = 3", "`install` is to be a table or a list of tables, not a number"),
        ("install = { apt = ['a'] }", "`install.apt` is to be a text or a table, not a list"),
        ("install = [{ pip = 'a' }, { then = ['a'] }]", "`install[1].then[0]` is to be a list of texts, not a text"),
        ("exceptions = { raised = ['a'], thrown = ['a'] }", "`exceptions.thrown` is to be a list of 2 texts, not 1"),
        (
            "evaluate-safe = { command = '{expression}', calls = '(' }",
            "`evaluate-safe`: `calls` is not a regular expression: missing ), unterminated subpattern at position 0",
        ),
        (
            "evaluate-safe = { command = '{expression}', value = '(?P<value>.*)' }",
            "`evaluate-safe`: `value` needs a group `(?P<type>...)`",
        ),
        (
            "evaluate-safe = { command = '{expression}', error = 'error' }",
            "`evaluate-safe`: `error` needs a group for the reason: `(...)`",
        ),
        (
            "evaluate-safe = { command = '{program}' }",
            "`evaluate-safe.command` has {program}, for which there is nothing; known there are: {expression}",
        ),
        (
            "symbols = { functions = 'f {expression}', symbol = '(?P<name>.*)' }",
            "`symbols.functions` has {expression}, for which there is nothing; known there are: {pattern}, {limit}",
        ),
        (
            "symbols = { functions = 'f', symbol = '(.*)' }",
            "`symbols`: `symbol` needs a group `(?P<name>...)`",
        ),
        (
            "symbols = { functions = 'f', symbol = '(?P<name>.*)', counted = '.*' }",
            "`symbols`: `counted` needs a group for the number: `(...)`",
        ),
        (
            "attach = { to = ['pid {pod}'] }",
            f"`attach` has {{pod}}, for which there is nothing; known there are: {STARTS}",
        ),
        (
            "version = { command = ['{program}'] }",
            "`version.command` has {program}, for which there is nothing; known there are: {adapter}, {directory}",
        ),
        (
            "build = [{ suffixes = ['.m'], command = ['mc', '{source}'] }]",
            (
                "`build.command` has {source}, for which there is nothing; known there are: {program}, {package}, "
                "{sources}, {output}, {output_directory}"
            ),
        ),
        ("build = [{ suffixes = ['.m'] }]", "`build[0]` needs the key `command`"),
        ("exit-code = 'exited'", "`exit-code` needs a group for the exit code: `(...)`"),
        ("log-prefix = '['", "`log-prefix` is not a regular expression: unterminated character set at position 0"),
        ("log-prefix = '(a)'", "`log-prefix` is to have no groups `(...)`; write `(?:...)` instead"),
        (
            "install = [{ pip = 'a' }, { then = [['x', '{adapter}']] }]",
            "`install.then` has {adapter}, for which there is nothing; known there are: {installed}",
        ),
    ],
)
def test_each_key_of_a_table_is_checked(line: str, sentence: str, tmp_path: Path) -> None:
    head = MINE.replace('command = ["{adapter}"]\n', "") if "command = ['m'" in line else MINE
    _refused(f"{head}{line}\n", "mdb", sentence, tmp_path)


def test_placeholders_are_checked_where_they_are_filled_in_and_nowhere_else(tmp_path: Path) -> None:
    known = "known there are"
    for change, sentence in (
        (
            ('["mdb"]', '["{adapter}"]'),
            f"`find` has {{adapter}}, for which there is nothing; {known}: {{scripts}}, {{installed}}",
        ),
        (("{program}", "{programme}"), f"`launch` has {{programme}}, for which there is nothing; {known}: {STARTS}"),
        (("{adapter}", "{}{x"), None),
        (('language = "M"', 'language = "{M}"'), None),
        (('language = "M"', 'language = "M"\ninstall = [{ command = "get {it}" }]'), None),
    ):
        if sentence is None:
            assert table(with_file(tmp_path, MINE.replace(*change)), "mdb")
        else:
            _refused(MINE.replace(*change), "mdb", sentence, tmp_path)


def test_a_mistake_in_what_is_laid_over_ours_is_that_of_the_users_file(tmp_path: Path) -> None:
    _refused(
        "[adapters.gdb]\nversion = { at-least = 15 }\n",
        "gdb",
        "`version.at-least` is to be a text, not a number",
        tmp_path,
    )
    _refused(
        '[adapters.gdb]\nhooks = "native"\n', "gdb", "`hooks` may only be named by the tables of this package", tmp_path
    )


def test_a_file_that_cannot_be_read_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        profiles_with([tmp_path / "none.toml"])
    assert refused.value.message == f"{tmp_path}/none.toml cannot be read: No such file or directory."
    (tmp_path / "latin.toml").write_bytes(b"# \xe9\n")
    with pytest.raises(UsageError) as refused:
        profiles_with([tmp_path / "latin.toml"])
    assert refused.value.message == f"{tmp_path}/latin.toml is not UTF-8: invalid continuation byte at 2."


def _refused(text: str, name: str, sentence: str, directory: Path) -> None:
    with pytest.raises(UsageError) as refused:
        with_file(directory, text)
    assert refused.value.message == f"{directory}/0.toml: [adapters.{name}] {sentence}."
    assert refused.value.details == {"file": f"{directory}/0.toml", "table": name}
