"""A value that a library has got of the program is followed into it: handlers of requests, jobs of pools."""

import ast

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import LINE, ProcessRecord
from trio_debugmcp.runs.slicing.shown.failed_comparisons import message_difference
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

COUPONS = {"TEN": 10, "HALF": 50}
STOCK = {"jam": 1, "tea": 9}


class Client:
    def __init__(self, send):
        self.send = send


def price(order):
    off = COUPONS.get(order.get("coupon"), 0)
    return order["cents"] * (100 - off) // 100


def sell(order):
    order = json.loads(order)
    if STOCK[order["item"]] <= 1:
        raise LookupError("sold out")
    return json.dumps({"total": price(order), "item": order["item"]})


def square(number):
    factor = number if number != 7 else -number
    return number * factor


async def answer(reader, writer):
    count = await reader.readline()
    half = int(count) // 2
    writer.write(b"%d" % half)
    writer.close()
    return half


async def main():
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
    writer.write(b"9\\n")
    reply = await reader.read()
    server.close()
    return reply


pool = ThreadPoolExecutor(1)
ticket = pool.submit(sell, '{"item": "tea", "cents": 800, "coupon": "half"}').result()
error = pool.submit(sell, '{"item": "jam", "cents": 900}').exception()
squares = list(pool.map(square, range(20)))
half = asyncio.run(main())
size = len(pool.submit(bytes, 12).result())
pool.shutdown()
assert json.loads(ticket)["total"] == 400, json.loads(ticket)["total"]
"""


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


@pytest.fixture(scope="module")
def process() -> ProcessRecord:
    return record(PROGRAM, python(3, 13)).processes[0]


def answer_to(process: ProcessRecord, expression: str) -> dict[int, str]:
    """Return the lines of an answer, by their numbers."""
    return {line.line: str(line) for line in why(process, WhyQuestion(expression=expression)).because}


def test_the_code_that_gave_a_pools_job_its_result_is_shown(process: ProcessRecord) -> None:
    lines = answer_to(process, "ticket")
    assert "ran during #" in lines[line_of("return json.dumps")]
    assert "off=0" in lines[line_of("off = COUPONS.get")]


def test_an_exception_that_a_pool_has_kept_leads_to_the_line_that_raised_it_and_why_that_ran(
    process: ProcessRecord,
) -> None:
    lines = answer_to(process, "error")
    assert "raises LookupError('sold out'); ran during #" in lines[line_of("raise LookupError")]
    assert line_of('if STOCK[order["item"]] <= 1') in lines


def test_of_many_jobs_some_are_shown_and_the_others_are_counted(process: ProcessRecord) -> None:
    assert ", as did 18 other calls" in answer_to(process, "squares")[line_of("return number * factor")]


def test_a_task_that_an_event_loop_has_run_meanwhile_is_shown(process: ProcessRecord) -> None:
    assert "ended during read (#" in answer_to(process, "reply")[line_of("return half")]


def test_what_calls_no_code_of_the_program_is_not_said_to_have_run_any(process: ProcessRecord) -> None:
    assert "ran during" not in "".join(answer_to(process, "size").values())


@pytest.mark.parametrize(
    ("line", "message", "said"),
    [
        ("assert code() == 3", "assert {'total': 8} == {'total': 4}", "['total'] is 8, not 4"),
        ("assert 409 == code()", "assert 409 == 200", "it is 200, not 409"),
        ("assert text() == '0'", "assert '3000\\n' == '0\\n'", "it is '3000\\n', not '0\\n'"),
        ("assert reply() == 200", "assert <Response> == 200", ""),
        ("assert code() == 3", "5 != 4", ""),
        ("assert code() == 3, f'assert {a} == {b}'", "assert 5 == 4", ""),
        ("assert code() != 2", "assert 2 != 2", ""),
        ("assert check(a, b) is True", "assert 9 == 4", ""),
        ("assert one() == other()", "assert 3 == 3", ""),
        ("self.assertEqual(code(), 4)", "5 != 4 : wrong sum", "it is 5, not 4"),
    ],
)
def test_operands_that_are_not_recorded_are_those_of_the_message(line: str, message: str, said: str) -> None:
    assert message_difference(message, ast.parse(line).body[0]).said == said


UNDER_WAY = """\
import functools, os, unittest
stop = functools.partial(os._exit, 0)
unittest.TestCase().assertEqual({0}, {1})
"""


@pytest.mark.parametrize(
    ("operands", "said"),
    [
        (("stop()", "1250"), "it is 800, not 1250"),
        (("800", "stop()"), "it is 1250, not 800"),
        (("stop()", "stop()"), "800 is not 1250"),
    ],
)
def test_of_a_line_that_is_stopped_at_what_it_raises_the_message_is_read(operands: tuple[str, str], said: str) -> None:
    process = record(UNDER_WAY.format(*operands), python(3, 13)).processes[0]
    last = max(number for number in range(1, process.last + 1) if process.row(number).kind == LINE)
    answer = why(process, WhyQuestion(at=last, raising="800 != 1250 : wrong sum\nmore"))
    assert answer.value.endswith(f"): {said}")


SUSPENDED = """\
from dataclasses import dataclass
from decimal import Decimal


@dataclass
class Item:
    name: str
    price: Decimal


def parsed(rows):
    for row in rows:
        name, price = row.split("|")
        yield Item(name, Decimal(price))


def doubled(items):
    for item in items:
        if item.name != "a":
            item.price *= 2
        yield item


def add(basket, item):
    if item.price > 5:
        basket.append(item)


def main():
    basket = []
    for item in doubled(parsed(["a|6", "b|4", "c|2", "d|7"])):
        add(basket, item)
    last = basket[-1].price
    assert last == 7, last


main()
"""


def test_what_ran_while_a_generator_was_suspended_did_not_run_during_the_call_that_it_yields() -> None:
    answer = why(record(SUSPENDED, python(3, 13)).processes[0], WhyQuestion(limit=30))
    lines = [str(line) for line in answer.because]
    assert [line for line in lines if "yield Item(name, Decimal(price))" in line], lines
    assert not [line for line in lines if " during " in line], lines
