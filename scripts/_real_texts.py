"""The programs of scripts/real-programs: the line `# here` has a breakpoint, that with `# there` raises."""

_WORK = """
def work(number):
    doubled = number * 2
    return doubled  # here

def fail(number):
    return number // 0  # there
"""

_TESTS = f"""{_WORK}
def test_work():
    assert work(3) == 6

def test_fail():
    fail(3)
"""

_ASYNCHRONOUS = f"""import asyncio
import pytest
{_WORK}
@pytest.mark.asyncio
async def test_work():
    await asyncio.sleep(0)
    assert work(3) == 6

@pytest.mark.asyncio
async def test_fail():
    await asyncio.sleep(0)
    fail(3)
"""

_UNITTEST = f"""import unittest
{_WORK}
class Test(unittest.TestCase):
    def test_work(self):
        self.assertEqual(work(3), 6)

    def test_a_failure(self):
        fail(3)
"""

_FLASK = f"""from flask import Flask
{_WORK}
app = Flask(__name__)
app.add_url_rule("/work", "work", lambda: str(work(3)))
app.add_url_rule("/fail", "fail", lambda: str(fail(3)))
"""

_ASGI = f"""{_WORK}
async def app(scope, receive, send):
    if scope["type"] == "http":
        answer = str(work(3) if scope["path"] == "/work" else fail(3)).encode()
        await send({{"type": "http.response.start", "status": 200, "headers": []}})
        await send({{"type": "http.response.body", "body": answer}})
"""

_DJANGO = f"""import sys
from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import HttpResponse
from django.urls import path
{_WORK}
settings.configure(DEBUG=True, ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], SECRET_KEY="none")
urlpatterns = [
    path("work", lambda request: HttpResponse(str(work(3)))),
    path("fail", lambda request: HttpResponse(str(fail(3)))),
]
if __name__ == "__main__":
    execute_from_command_line(sys.argv)
"""

_CELERY = f"""import os
from celery import Celery
{_WORK}
place = os.path.dirname(os.path.abspath(__file__))
app = Celery("job", broker="filesystem://")
app.conf.broker_transport_options = {{"data_folder_in": place, "data_folder_out": place, "control_folder": place}}

@app.task(name="work")
def task_of_work():
    return work(3)

@app.task(name="fail")
def task_of_fail():
    return fail(3)
"""

CELERY_SENDER = "import job; job.app.send_task('work'); job.app.send_task('fail')"

_DASK = f"""from dask.distributed import Client, LocalCluster
{_WORK}
if __name__ == "__main__":
    from job import fail, work

    with LocalCluster(n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster:
        with Client(cluster) as client:
            print(client.submit(work, 3).result())
            print(client.submit(fail, 3).exception())
"""

_PROCESSES = f"""import multiprocessing
import sys
{_WORK}
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    for target in (work, fail):
        process = context.Process(target=target, args=(3,))
        process.start()
        process.join()
"""

_JUPYTER = f"""{_WORK}
if __name__ == "__main__":
    from jupyter_client.manager import start_new_kernel

    (manager, client) = start_new_kernel()
    for text in ("import job; job.work(3)", "job.fail(3)"):
        print(client.execute_interactive(text, output_hook=lambda _: None, timeout=120)["content"]["status"])
    client.stop_channels()
    manager.shutdown_kernel()
"""

_GEVENT = f"""from gevent import monkey; monkey.patch_all()
import gevent
import time
{_WORK}
def slow(function):
    time.sleep(0.01)
    function(3)

gevent.joinall([gevent.spawn(slow, work), gevent.spawn(slow, fail)])
"""

_EVENTLET = f"""import eventlet; eventlet.monkey_patch()
import time
{_WORK}
def slow(function):
    time.sleep(0.01)
    function(3)

pool = eventlet.GreenPool()
pool.spawn(slow, work)
pool.spawn(slow, fail)
pool.waitall()
"""

TEXTS = {
    "tests": _TESTS,
    "asynchronous tests": _ASYNCHRONOUS,
    "unittest": _UNITTEST,
    "flask": _FLASK,
    "asgi": _ASGI,
    "django": _DJANGO,
    "celery": _CELERY,
    "dask": _DASK,
    "processes": _PROCESSES,
    "jupyter": _JUPYTER,
    "gevent": _GEVENT,
    "eventlet": _EVENTLET,
}
"""By the name of what they are for."""
