"""C, C++ and Rust under gdb and lldb: names, paths and types as these debuggers show them."""

from collections.abc import Mapping

import pytest

from trio_debugmcp.dap.messages import DapBreakpoint, DapVariable, Stopped
from trio_debugmcp.dap.profiles.adapter_values import AdapterValues
from trio_debugmcp.dap.profiles.native.machine_code import (
    NativeDialect,
    NativeValues,
    NativeWords,
)
from trio_debugmcp.dap.profiles.native.native_code import NativeCode
from trio_debugmcp.dap.profiles.native.signals import NativeThrown, demangled
from trio_debugmcp.dap.profiles.thrown import Look, ThrownDescription

CPP = NativeValues()


def seen(look: Look, values: Mapping[str, str]) -> ThrownDescription | None:
    """What a look finds in a program where these expressions have values."""
    try:
        expression = next(look)
        while True:
            expression = look.send(values.get(expression))
    except StopIteration as found:
        result: ThrownDescription | None = found.value
        return result


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        ("10OutOfStock", "OutOfStock"),
        ("N4shop5stock5EmptyE", "shop::stock::Empty"),
        ("St13runtime_error", "std::runtime_error"),
        ("NSt8ios_base7failureB5cxx11E", "std::ios_base::failure"),
        ("N12_GLOBAL__N_15OwnerE", "(anonymous namespace)::Owner"),
        ("i", "int"),
        ("PKc", "char const*"),
        ("3BoxIiE", "3BoxIiE"),
    ],
)
def test_the_name_of_a_type_is_read_from_its_mangled_one_unless_it_is_a_template(mangled: str, name: str) -> None:
    assert demangled(mangled) == name


def test_of_an_exception_with_several_bases_all_are_found_and_a_message_only_where_it_is_stored() -> None:
    values = {
        "$type": "100",
        "$object": "0x32",
        "*(char**)108": '"3Bad"',
        "*(char**)(*(long*)(*(long*)100-8)+8)": '0x1 "N10__cxxabiv121__vmi_class_type_infoE"',
        "*(unsigned int*)120": "2",
        "*(long*)124": "500",
        "*(long*)140": "600",
        "*(char**)508": '0x1 "5Base1"',
        "*(char**)608": '0x1 "St11logic_error"',
        "*(char**)58": '0x1 "say \\"no\\""',
    }
    thrown = NativeThrown(("$object", "$type"))
    assert seen(thrown.exception(), values) == ThrownDescription(
        "Bad", 'say "no"', ("Bad", "Base1", "std::logic_error")
    )
    del values["*(long*)140"]
    assert seen(thrown.exception(), values) == ThrownDescription("Bad", None, ("Bad", "Base1"))
    assert seen(thrown.exception(), {}) is None


def test_a_type_whose_bases_lead_back_to_it_is_looked_at_for_a_bounded_time() -> None:
    values = {
        "$type": "100",
        "*(char**)108": '"1A"',
        "*(char**)(*(long*)(*(long*)100-8)+8)": '"__si_class_type_info"',
        "*(long*)116": "100",
    }
    assert seen(NativeThrown(("$object", "$type")).exception(), values) == ThrownDescription("A", None, ("A",))


def test_which_stops_are_about_a_signal() -> None:
    signal = NativeThrown(("", "")).signal
    assert signal(Stopped(reason="signal")) == ""
    assert signal(Stopped(reason="exception", description="signal SIGABRT")) == "SIGABRT"
    assert signal(Stopped(reason="exception", description="C++ Throw")) is None
    assert signal(Stopped(reason="breakpoint", description="signal SIGABRT")) is None


@pytest.mark.parametrize(
    ("shown", "name"),
    [
        ("main", "main"),
        ("check(std::__cxx11::basic_string<char> const&)", "check"),
        ("shop::Order::total(int, char) const", "shop::Order::total"),
        ("(anonymous namespace)::add(int)", "(anonymous namespace)::add"),
        ("Less::operator()(int, int) const", "Less::operator()"),
        ("each(void (*)(int))", "each"),
        ("name[abi:cxx11]()", "name[abi:cxx11]"),
        ("shop::Order::operator()(int) const", "shop::Order::operator()"),
        ("operator()", "operator()"),
        ("app::main::h0123", "app::main::h0123"),
        ("()", "()"),
        ("shop::add::h6dec439d0c832019", "shop::add"),
        ("shop::h6dec439d", "shop::h6dec439d"),
    ],
)
def test_a_function_is_named_without_the_types_of_its_parameters(shown: str, name: str) -> None:
    assert NativeDialect([]).function_name(shown) == name


@pytest.mark.parametrize(
    ("parent", "name", "kind", "path"),
    [
        ("order", "first", "Order", "order.first"),
        ("order", "first", "const Order &", "order.first"),
        ("order", "next", "Order *", "order->next"),
        ("values", "0", "int [4]", "values[0]"),
        ("order.items", "[1]", "std::vector<Item>", "order.items[1]"),
        ("p", "value", "int *", "*p"),
        ("r", "value", "const int &", "r"),
        ("box", "value", "Box", "box.value"),
        ("items", "std::_Vector_base<Item>", "std::vector<Item>", "items"),
        ("prices", '["fig"]', "std::map<std::string, int>", None),
        ("name", "", "std::string", None),
    ],
)
def test_what_is_inside_of_a_value_has_the_path_that_cpp_has(
    parent: str, name: str, kind: str, path: str | None
) -> None:
    assert CPP.member(parent, name, kind) == path


def test_a_path_of_the_adapters_is_taken_unless_it_is_not_cpp() -> None:
    assert CPP.trusts("order.next->first.weights[0]")
    assert CPP.trusts("shop::limit")
    for spelled in ("order.items._M_impl._M_start->[0]", "item.name.", "", None):
        assert not CPP.trusts(spelled)


def test_in_a_language_that_is_not_known_items_have_brackets_and_members_a_dot() -> None:
    member = AdapterValues().member
    assert [member("a", name, None) for name in ("[1]", "2", "b")] == ["a[1]", "a[2]", "a.b"]


def test_the_name_of_a_type_stands_without_what_makes_a_reference_or_a_constant_of_it() -> None:
    kinds = ["const Item &", "struct Order", "Order * const", "std::vector<const int *>", None]
    assert [CPP.bare_type(kind) for kind in kinds] == ["Item", "Order", "Order", "std::vector<const int *>", ""]


def test_which_values_show_nothing_of_what_is_inside() -> None:
    bare = CPP.is_bare
    assert bare("", "Item")
    assert bare("Item @ 0x7ffe", "Item")
    assert bare("@0x7ffe", "const Item &")
    assert not bare("0x7ffe", "Item *")
    assert not bare("size=3", "std::vector<Item>")
    assert CPP.is_leaf('0x55 "fig"', "const std::string &")
    assert not CPP.is_leaf("size=3", "std::vector<std::string>")
    assert NativeDialect([]).hides(DapVariable("number", value="<error: parent is NULL>"))


def test_files_of_the_system_are_library_code() -> None:
    library = NativeCode().is_library
    assert library("/usr/include/c++/12/bits/stl_vector.h")
    assert library("../sysdeps/x86_64/strlen.S")
    assert library("/rustc/0a1b/library/std/src/rt.rs")
    assert not library("/home/me/shop/orders.cpp")


def test_output_is_the_adapters_own_where_the_programs_streams_are_ours() -> None:
    assert NativeWords(own_streams=True).stream("stdout") == "console"
    assert NativeWords(own_streams=False).stream("stdout") == "stdout"


def test_of_a_compilers_errors_the_first_is_shown() -> None:
    line = NativeWords(own_streams=True).telling_line
    assert line("error: <user expression 0>:1:1: undeclared 'a'\n    1 | a\n      | ^\nerror: another") == 0
    assert line('No symbol "a" in current context.') == 0
    assert line("Traceback:\n  File x\nException: error: undeclared 'a'\n    1 | a") == 2  # CodeLLDB's
    assert line("Syntax error: *a\n              ^") == 0


def test_what_a_function_has_returned_is_kept_apart_from_the_programs_variables() -> None:
    values = NativeValues()
    names = ["[return value]", "(Return Value)", "value", "returned"]
    assert [values.is_returned(DapVariable(name, "1")) for name in names] == [True, True, False, False]


def test_what_codelldb_says_of_every_breakpoint_is_left_out_and_one_without_a_place_is_not_set() -> None:
    words = NativeWords(own_streams=False)
    said = {"Resolved locations: 1": (True, None), "Resolved locations: 10": (True, None), "moved": (True, "moved")}
    said["Resolved locations: 0"] = (False, "no code of what is loaded is there")
    for message, expected in said.items():
        found = words.about_breakpoint(DapBreakpoint(verified=True, message=message))
        assert (found.verified, found.message) == expected


@pytest.mark.parametrize(
    ("expression", "parts"),
    [
        ("items[1].price", ["items"]),
        ("/nat items [1]", ["items"]),
        ("a.b[i][j+1].c[2] + a.b[3]", ["a.b", "a.b[i]", "a.b[i][j+1].c"]),
        ("p->all[0]", ["p->all"]),
        ('len + "a[1]"', []),
        ("find(x)[1]", []),  # it would be called twice
        ("(*items)[1]", []),  # no debugger answers that
    ],
)
def test_what_an_expression_of_rust_indexes_is_found_and_nothing_of_other_languages(
    expression: str, parts: list[str]
) -> None:
    values = NativeValues()
    assert values.indexed(expression, "/src/shop.rs") == parts
    assert values.indexed(expression, "/src/shop.cpp") == ()
    assert values.indexed(expression, None) == ()


@pytest.mark.parametrize(
    ("kind", "is_refused"),
    [
        ("*mut alloc::vec::Vec<shop::Item, alloc::alloc::Global>", True),
        ("alloc::vec::Vec<shop::Item, alloc::alloc::Global> *", True),
        ("&mut shop::Matrix", True),
        ("&[shop::Item]", False),
        ("&str", False),
        ("*const u8", False),
        ("[shop::Item; 3]", False),
        ("alloc::vec::Vec<shop::Item, alloc::alloc::Global>", False),
        (None, False),
    ],
)
def test_an_index_of_a_reference_to_what_only_code_can_index_is_refused(kind: str | None, is_refused: bool) -> None:
    problem = NativeValues().index_problem(kind)
    assert (problem is not None) is is_refused


@pytest.mark.parametrize(
    ("kind", "name", "path"),
    [
        ("Type item", "price", "x%price"),
        ("integer(kind=4) (3)", "[2]", "x(2)"),
        ("integer(kind=4), allocatable (:)", "[2]", "x(2)"),
        ("Type item (3)", "[2]", "x(2)"),
        ("real(kind=8) (2,2)", "[2]", None),
        ("array (1 .. 4) of integer", "[2]", "x(2)"),
        ("depot.shelf_list", "[2]", "x(2)"),
        ("depot.shelf", "price", "x.price"),
        ("array (1 .. 4, 1 .. 2) of integer", "[2]", None),
        ("integer [3]", "[2]", "x[2]"),
    ],
)
def test_paths_of_fortran_and_ada_are_spelled_as_these_have_them(kind: str, name: str, path: str | None) -> None:
    assert CPP.member("x", name, kind) == path


@pytest.mark.parametrize(
    ("kind", "name", "path"),
    [
        ("struct []const shop.Item", "[2]", "x.ptr[2]"),
        ("[]const shop.Item", "[2]", "x.ptr[2]"),
        ("struct [:0]u8", "[2]", "x.ptr[2]"),
        ("struct ?shop.Item", "price", "x.payload.price"),
        ("struct anyerror!?shop.Item", "price", "x.payload.payload.price"),
        ("struct error{A,B}![]shop.Item", "[0]", "x.payload.ptr[0]"),
        ("struct shop.Kind", "payload.fruit", "x.payload.fruit"),
        ("?*const shop.Item", "value", "*x"),
        ("*shop.Item", "value", "*x"),
        ("struct shop.Item", "price", "x.price"),
    ],
)
def test_paths_of_zig_lead_through_what_its_values_are_made_of(kind: str, name: str, path: str | None) -> None:
    assert CPP.member("x", name, kind) == path


def test_a_pointer_of_zig_is_its_address() -> None:
    assert not CPP.is_bare("0x0", "?*const shop.Item")
    assert not CPP.is_bare("0x7ffe", "[*]u8")
    assert CPP.is_bare("slice of length 2", "struct []shop.Item")


def test_zigs_own_library_is_not_the_users_wherever_its_compiler_is() -> None:
    code = NativeCode()
    assert code.is_library("/x/site-packages/ziglang/lib/std/start.zig")
    assert code.is_library("/opt/lib/zig/std/Io/Writer.zig")
    assert not code.is_library("/x/lib/shop.zig")
    assert code.calls_program("main", "/opt/zig/lib/std/start.zig", "__libc_start_call_main")
    assert not code.calls_program("shop.main", "/x/shop.zig", "start.callMain")


def test_a_panic_of_zig_is_named_by_what_its_runtime_has_written() -> None:
    thrown = NativeThrown(("", ""))
    stopped = Stopped(reason="signal")
    written = "panic: to be baked\nthread 7 panic: no plum\n/x/shop.zig:3:5: 0x117605e in main (shop)\n"
    look = thrown.ends_in(stopped, "SIGABRT", written)
    assert seen(look, {}) == ThrownDescription("panic", "no plum")
    look = thrown.ends_in(stopped, "SIGABRT", "panic: to be baked\n")
    assert seen(look, {}) == ThrownDescription("SIGABRT", None)


def test_the_main_of_fortrans_runtime_differs_from_the_program_by_what_called_it() -> None:
    code = NativeCode()
    assert code.calls_program("main", "/x/shop.F90", "__libc_start_call_main")
    assert not code.calls_program("main", "/x/shop.f90", None)
    assert not code.calls_program("main", "/x/shop.f90", "main")
    assert not code.calls_program("shop", "/x/shop.f90", "main")
    assert not code.calls_program("main", "/x/shop.cpp", "__libc_start_call_main")
    assert code.calls_program("main", "/usr/lib/d/core/internal/entrypoint.d", "__libc_start_call_main")
    assert not code.calls_program("D main", "/x/shop.d", "main")


def test_the_main_that_gnat_makes_is_known_by_the_unit_that_it_calls() -> None:
    code = NativeCode()
    assert code.calls_program("main", "/x/b~shop.adb", "__libc_start_call_main", "/x/shop")
    assert not code.calls_program("main", "/x/b~shop.adb", "__libc_start_call_main", "/x/renamed")
    assert not code.calls_program("shop", "/x/shop.adb", "main", "/x/shop")


def test_a_signal_in_a_frame_of_fortran_is_named_by_what_gdb_evaluates_there() -> None:
    values = {"$_siginfo%si_signo": "8", "$_siginfo%_sifields%_sigfault%si_addr": "0x55"}
    look = NativeThrown(("", "")).ends_in(Stopped("signal"), "", "")
    assert seen(look, values) == ThrownDescription("SIGFPE", "Floating point exception (address 0x55)")


def test_a_function_that_ends_a_program_of_fortran_or_ada_says_for_what() -> None:
    thrown = NativeThrown(("", ""), ("rust_panic",), ("_gfortran_error_stop_string", "_gfortran_runtime_error_at"))
    assert thrown.raised_in == ("rust_panic", "_gfortran_error_stop_string", "_gfortran_runtime_error_at")
    stop, error = (seen(thrown.ending(name), {}) for name in thrown.raised_in[1:])
    assert stop is not None
    assert error is not None
    assert (stop.type, error.type, stop.mode) == ("error stop", "Fortran runtime error", "unhandled")
    assert seen(thrown.ending("rust_panic"), {}) is None
    ada = seen(NativeThrown(("", ""), (), ("__gnat_unhandled_exception",)).ending("__gnat_unhandled_exception"), {})
    assert ada is not None
    assert (ada.type, ada.mode) == ("Ada exception", "unhandled")
