"""The languages of tables: what the adapter of a table is made of, by the language that the table names."""

from typing import ClassVar

from trio_debugmcp.dap.profiles.golang import GoCode, GoExpressions, GoPrograms, GoRepl, GoThrown, GoValues, GoWords
from trio_debugmcp.dap.profiles.java.java import JavaPrograms
from trio_debugmcp.dap.profiles.java.java_expressions import JavaCode, JavaExpressions, JavaValues, JavaWords
from trio_debugmcp.dap.profiles.java.java_thrown import JavaThrown
from trio_debugmcp.dap.profiles.javascript.javascript import (
    JavaScriptCode,
    JavaScriptDialect,
    JavaScriptExpressions,
    JavaScriptPrograms,
    JavaScriptValues,
    JavaScriptWords,
)
from trio_debugmcp.dap.profiles.javascript.v8_exceptions import JavaScriptThrown
from trio_debugmcp.dap.profiles.language import Code, JudgedExpressions
from trio_debugmcp.dap.profiles.native.gdb_values import GdbValues
from trio_debugmcp.dap.profiles.native.machine_code import (
    NativeDialect,
    NativeExpressions,
    NativeValues,
    NativeWords,
)
from trio_debugmcp.dap.profiles.native.native_code import NativeCode
from trio_debugmcp.dap.profiles.native.safe_commands import SafeRepl
from trio_debugmcp.dap.profiles.native.signals import NativeThrown
from trio_debugmcp.dap.profiles.perl import PerlPrograms, PerlValues, PerlWords
from trio_debugmcp.dap.profiles.php import PhpExpressions, PhpPrograms, PhpValues
from trio_debugmcp.dap.profiles.profile import Profile
from trio_debugmcp.dap.profiles.ruby import RubyExpressions, RubyPrograms
from trio_debugmcp.dap.profiles.tables.table_format import Table


class ProjectCode(Code):
    """Source files of a language that the server does not know."""

    by_project: ClassVar[bool] = True


def learn_language(profile: Profile, table: Table) -> None:
    """Give a profile what is known of its language by its name, or from the table."""
    if table.evaluate_safe is not None:
        profile.repl = SafeRepl(table.evaluate_safe)
    profile.code = ProjectCode()
    if table.truth is not None:
        profile.expressions = JudgedExpressions(table.truth)
    if table.hooks == "perl":
        profile.values, profile.words, profile.programs = PerlValues(), PerlWords(), PerlPrograms()
    if table.hooks == "php":
        profile.values, profile.programs, profile.expressions = PhpValues(), PhpPrograms(), PhpExpressions()
    if table.hooks == "ruby":
        profile.programs, profile.expressions = RubyPrograms(), RubyExpressions(table.truth or "{condition}")
    if table.hooks == "go":
        profile.expressions = GoExpressions()
        profile.code = GoCode()
        profile.values = GoValues()
        profile.words = GoWords()
        profile.thrown = GoThrown()
        profile.programs = GoPrograms()
        profile.repl = GoRepl()
    if table.hooks == "java":
        profile.programs = JavaPrograms()
        profile.code = JavaCode()
        profile.expressions = JavaExpressions()
        profile.values = JavaValues()
        profile.thrown = JavaThrown()
        profile.words = JavaWords()
    if table.hooks in ("javascript", "browser"):
        _learn_javascript(profile)
    if table.hooks == "native":
        profile.expressions = NativeExpressions()
        profile.code = NativeCode()
        profile.values = GdbValues() if "gdb" in table.types else NativeValues()
        profile.words = NativeWords(own_streams=table.program_streams == "terminal")
        if table.exceptions is not None:
            profile.dialect = NativeDialect(table.exceptions.raised)
            found = table.exceptions
            profile.thrown = NativeThrown(
                found.thrown, found.panics, found.ends, found.functions, found.errors, found.described
            )


def _learn_javascript(profile: Profile) -> None:
    profile.expressions = JavaScriptExpressions()
    profile.code = JavaScriptCode()
    profile.values = JavaScriptValues()
    profile.words = JavaScriptWords()
    profile.dialect = JavaScriptDialect()
    profile.thrown = JavaScriptThrown()
    profile.programs = JavaScriptPrograms()
