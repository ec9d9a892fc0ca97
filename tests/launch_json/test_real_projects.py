"""What the configurations of twenty projects become, exactly."""

import json
from typing import Any

import pytest

from tests.launch_json.projects import PROJECTS, context, launch_file, names, shown
from trio_debugmcp.errors import UsageError
from trio_debugmcp.launch_json.plan import resolve


def become(project: str, **known: Any) -> dict[str, Any]:
    """What each configuration of a project becomes: its plan, or the code of the error."""
    found: dict[str, Any] = {}
    for name in names(project):
        try:
            found[name] = shown(resolve(launch_file(project), name, context(project, **known)))
        except UsageError as error:
            found[name] = error.code
    return found


def test_flask_shop() -> None:
    assert become("flask-shop") == {
        "Python Debugger: Flask": {
            "type": "debugpy",
            "request": "launch",
            "adapters": ("debugpy", "python"),
            "cwd": "/src/flask-shop",
            "args": ("run", "--no-debugger", "--no-reload", "--port", "5000"),
            "env": {
                "SECRET_KEY": "not a real one",
                "DATABASE_URL": "sqlite:////home/ann/shop.db",
                "CACHE": "sqlite:////home/ann/shop.db?cache",
                "FLASK_APP": "shop/app.py",
                "FLASK_DEBUG": "1",
            },
            "just_my_code": False,
            "options": {"module": "flask", "jinja": True},
        },
    }


def test_django_blog() -> None:
    assert become("django-blog", file="blog/tests.py") == {
        "Django: runserver": {
            "type": "python",
            "request": "launch",
            "adapters": ("debugpy", "python"),
            "cwd": "/src/django-blog",
            "program": "/src/django-blog/manage.py",
            "args": ("runserver", "0.0.0.0:8000", "--noreload"),
            "env": {
                "DB_HOST": "localhost",
                "DB_NAME": "blog",
                "DJANGO_SETTINGS_MODULE": "blog.settings.dev",
                "PYTHONPATH": "/src/django-blog:",
            },
            "options": {"django": True},
            "notes": ("line 3 of '/src/django-blog/config/dev.env' is not NAME=value and was passed over",),
        },
        "Django: this test": {
            "type": "python",
            "request": "launch",
            "adapters": ("debugpy", "python"),
            "cwd": "/src/django-blog",
            "program": "/src/django-blog/manage.py",
            "args": ("test", "--keepdb", "tests"),
            "stop_at_entry": False,
        },
        "Django: in the container": {
            "type": "python",
            "request": "attach",
            "adapters": ("debugpy", "python"),
            "cwd": "/src/django-blog",
            "just_my_code": True,
            "host": "localhost",
            "port": 5678,
            "options": {"pathMappings": [{"localRoot": "/src/django-blog", "remoteRoot": "/code"}]},
        },
    }


def test_pytest_library() -> None:
    assert become("pytest-library", file="tests/test_library.py", pid=77, inputs={"which": "all of them"}) == {
        "Python Debugger: Current File": {
            "type": "debugpy",
            "request": "launch",
            "adapters": ("debugpy", "python"),
            "cwd": "/src/pytest-library",
            "program": "/src/pytest-library/tests/test_library.py",
        },
        "Python Debugger: Current File with Arguments": "INVALID_PARAMETER",
        "pytest: this file": {
            "type": "debugpy",
            "request": "launch",
            "adapters": ("debugpy", "python"),
            "cwd": "/src/pytest-library",
            "args": ("-p", "no:cacheprovider", "tests/test_library.py", "-k", "slow or quick"),
            "env": {"GEVENT_SUPPORT": "True"},
            "options": {"module": "pytest", "python": "/src/pytest-library/.venv/bin/python", "subProcess": False},
        },
        "Attach by process": {
            "type": "debugpy",
            "request": "attach",
            "adapters": ("debugpy", "python"),
            "cwd": "/src/pytest-library",
            "pid": 77,
        },
        "Wait for the worker": "NOT_SUPPORTED",
    }


def test_fastapi_celery() -> None:
    assert become("fastapi-celery") == {
        "FastAPI": {
            "type": "debugpy",
            "request": "launch",
            "adapters": ("debugpy", "python"),
            "cwd": "/src/fastapi-celery",
            "args": ("service.main:app", "--port", "8000"),
            "env": {"HTTP_PROXY": None, "WORKERS": "2", "URL": "http://localhost:8000//api /* as it is */, }"},
            "options": {"module": "uvicorn"},
            "notes": ("there is no envFile '/src/fastapi-celery/secrets/service.env'",),
        },
        "Celery worker": {
            "type": "debugpy",
            "request": "launch",
            "adapters": ("debugpy", "python"),
            "cwd": "/src/fastapi-celery",
            "args": ("-A", "service.queue", "worker", "--pool=solo"),
            "env": {"FORKED_BY_MULTIPROCESSING": "0"},
            "options": {"module": "celery"},
        },
        "Attach, the old way": {
            "type": "python",
            "request": "attach",
            "adapters": ("debugpy", "python"),
            "cwd": "/src/fastapi-celery",
            "host": "10.0.0.5",
            "port": 5678,
            "options": {"localRoot": "/src/fastapi-celery", "remoteRoot": "/srv"},
        },
        "Code": {
            "type": "debugpy",
            "request": "launch",
            "adapters": ("debugpy", "python"),
            "cwd": "/src/fastapi-celery",
            "options": {"code": "import service; service.check()"},
        },
    }


def test_node_express() -> None:
    assert become("node-express", pid=77) == {
        "Launch Program": {
            "type": "node",
            "request": "launch",
            "adapters": ("node", "pwa-node"),
            "cwd": "/src/node-express",
            "program": "/src/node-express/src/index.js",
            "env": {"PORT": "3000", "DEBUG": "true"},
            "options": {"skipFiles": ["<node_internals>/**"], "runtimeArgs": ["--inspect-brk=0"]},
            "notes": ("there is no envFile '/src/node-express/.env.local'",),
        },
        "npm start": {
            "type": "node",
            "request": "launch",
            "adapters": ("node", "pwa-node"),
            "cwd": "/src/node-express",
            "options": {"runtimeExecutable": "npm", "runtimeArgs": ["run", "start"]},
            "notes": ("what `runtimeExecutable` runs does not stop at its entry: set breakpoints",),
        },
        "Docker: Attach to Node": {
            "type": "pwa-node",
            "request": "attach",
            "adapters": ("node", "pwa-node"),
            "cwd": "/src/node-express",
            "host": "localhost",
            "port": 9229,
            "options": {
                "restart": True,
                "localRoot": "/src/node-express",
                "remoteRoot": "/usr/src/app",
                "sourceMaps": True,
            },
        },
        "Attach by Process ID": {
            "type": "node",
            "request": "attach",
            "adapters": ("node", "pwa-node"),
            "cwd": "/src/node-express",
            "pid": 77,
            "options": {"skipFiles": ["<node_internals>/**"]},
        },
    }


def test_typescript_api() -> None:
    assert become("typescript-api", file="test/app.test.ts") == {
        "API": {
            "type": "node",
            "request": "launch",
            "adapters": ("node", "pwa-node"),
            "cwd": "/src/typescript-api",
            "program": "/src/typescript-api/src/server.ts",
            "options": {"outFiles": ["/src/typescript-api/dist/**/*.js"], "smartStep": True},
            "pre_task": "tsc: build - tsconfig.json",
        },
        "API, watched": {
            "type": "node",
            "request": "launch",
            "adapters": ("node", "pwa-node"),
            "cwd": "/src/typescript-api",
            "program": "/src/typescript-api/src/server.ts",
            "options": {"outFiles": ["/src/typescript-api/dist/**/*.js"]},
            "pre_task": "watch",
            "post_task": {"type": "npm", "script": "clean"},
        },
        "Jest: ${relativeFile}": {
            "type": "node",
            "request": "launch",
            "adapters": ("node", "pwa-node"),
            "cwd": "/src/typescript-api",
            "program": "/src/typescript-api/node_modules/.bin/jest",
            "args": ("--runInBand", "--config", "/src/typescript-api/jest.config.ts", "app.test.ts"),
            "options": {"disableOptimisticBPs": True},
        },
    }


def test_next_site() -> None:
    assert become("next-site") == {
        "Next.js: debug server-side": {
            "type": "node-terminal",
            "request": "launch",
            "adapters": ("node", "pwa-node"),
            "cwd": "/src/next-site",
            "options": {"runtimeExecutable": "npm", "runtimeArgs": ["run", "dev", "--", "--port", "4000"]},
            "notes": ("what `runtimeExecutable` runs does not stop at its entry: set breakpoints",),
        },
        "Next.js: debug client-side": "NOT_SUPPORTED",
        "Next.js: debug full stack": {
            "type": "node",
            "request": "launch",
            "adapters": ("node", "pwa-node"),
            "cwd": "/src/next-site",
            "program": "/src/next-site/node_modules/next/dist/bin/next",
            "options": {"runtimeArgs": ["--inspect"], "skipFiles": ["<node_internals>/**"]},
        },
        "Next.js: with the mail server": {
            "type": "node-terminal",
            "request": "launch",
            "adapters": ("node", "pwa-node"),
            "cwd": "/src/next-site",
            "options": {"runtimeExecutable": "/bin/sh", "runtimeArgs": ["-c", "MAIL=off npm run dev | tee dev.log"]},
            "notes": ("what `runtimeExecutable` runs does not stop at its entry: set breakpoints",),
        },
    }


def test_mocha_extension() -> None:
    assert become("mocha-extension", file="src/a.ts") == {
        "Mocha": {
            "type": "pwa-node",
            "request": "launch",
            "adapters": ("node", "pwa-node"),
            "cwd": "/src/mocha-extension/packages/core",
            "program": "/src/mocha-extension/packages/core/node_modules/mocha/bin/_mocha",
            "args": ("--timeout", "999999", "--colors", "test/**/*.test.js"),
            "env": {"NODE_ENV": "test"},
            "stop_at_entry": False,
        },
        "Run Extension": {
            "type": "extensionHost",
            "request": "launch",
            "adapters": ("extensionHost",),
            "cwd": "/src/mocha-extension",
            "args": ("--extensionDevelopmentPath=/src/mocha-extension",),
        },
        "tsx": {
            "type": "node",
            "request": "launch",
            "adapters": ("node", "pwa-node"),
            "cwd": "/src/mocha-extension",
            "program": "/src/mocha-extension/src/a.ts",
            "options": {"runtimeExecutable": "/src/mocha-extension/node_modules/.bin/tsx", "restart": {"delay": 1000}},
        },
    }


def test_go_service() -> None:
    assert become("go-service", file="store/store_test.go", pid=77, inputs={"test": "TestPut"}) == {
        "Launch Package": {
            "type": "go",
            "request": "launch",
            "adapters": ("go",),
            "cwd": "/src/go-service/store",
            "program": "/src/go-service/store",
        },
        "Server": {
            "type": "go",
            "request": "launch",
            "adapters": ("go",),
            "cwd": "/src/go-service",
            "program": "/src/go-service/cmd/server",
            "args": ("-addr", ":8080"),
            "env": {"LOG": "debug", "REGION": "local-eu"},
            "options": {"mode": "debug", "buildFlags": "-tags=integration", "dlvCwd": "/src/go-service/cmd/server"},
        },
        "Test of this file": {
            "type": "go",
            "request": "launch",
            "adapters": ("go",),
            "cwd": "/src/go-service/store",
            "program": "/src/go-service/store/store_test.go",
            "args": ("-test.run", "TestPut"),
        },
        "Tests of this package": {
            "type": "go",
            "request": "launch",
            "adapters": ("go",),
            "cwd": "/src/go-service/store",
            "program": "/src/go-service/store",
            "options": {"mode": "test", "dlvCwd": "/src/go-service/store"},
        },
        "Built before": {
            "type": "go",
            "request": "launch",
            "adapters": ("go",),
            "cwd": "/src/go-service/bin",
            "program": "/src/go-service/bin/server",
        },
        "Attach to Process": {
            "type": "go",
            "request": "attach",
            "adapters": ("go",),
            "cwd": "/src/go-service",
            "pid": 77,
            "options": {"mode": "local"},
        },
        "Remote": {
            "type": "go",
            "request": "attach",
            "adapters": ("go",),
            "cwd": "/src/go-service",
            "host": "127.0.0.1",
            "port": 2345,
            "options": {"mode": "remote", "substitutePath": [{"from": "/src/go-service", "to": "/go/src/app"}]},
        },
    }


def test_rust_tool() -> None:
    assert become("rust-tool", pid=77) == {
        "Debug executable 'tool'": {
            "type": "lldb",
            "request": "launch",
            "adapters": ("lldb", "lldb-dap"),
            "cwd": "/src/rust-tool",
            "args": ("--verbose", "input.txt"),
            "options": {
                "cargo": {"args": ["build", "--bin=tool", "--package=tool"], "filter": {"name": "tool", "kind": "bin"}}
            },
        },
        "Built by a task": {
            "type": "lldb",
            "request": "launch",
            "adapters": ("lldb", "lldb-dap"),
            "cwd": "/src/rust-tool",
            "program": "/src/rust-tool/target/debug/tool",
            "args": ("--name", "two words", "input.txt"),
            "env": {"RUST_BACKTRACE": "1"},
            "stop_at_entry": True,
            "options": {"sourceLanguages": ["rust"], "stdio": ["/src/rust-tool/input.txt", None, None]},
            "pre_task": "rust: cargo build",
        },
        "Attach": {
            "type": "lldb",
            "request": "attach",
            "adapters": ("lldb", "lldb-dap"),
            "cwd": "/src/rust-tool",
            "program": "/src/rust-tool/target/debug/tool",
            "pid": 77,
        },
        "With lldb-dap": {
            "type": "lldb-dap",
            "request": "launch",
            "adapters": ("lldb-dap",),
            "cwd": "/src/rust-tool",
            "program": "/src/rust-tool/target/debug/tool",
            "env": {"RUST_LOG": "debug", "EMPTY": ""},
            "options": {
                "initCommands": ["settings set target.process.thread.step-avoid-regexp ''"],
                "sourceMap": [["/rustc/abc", "/home/ann/rust"]],
            },
        },
    }


def test_cpp_active_file() -> None:
    assert become("cpp-active-file", file="src/main.cpp") == {
        "C/C++: g++ build and debug active file": {
            "type": "cppdbg",
            "request": "launch",
            "adapters": ("gdb",),
            "cwd": "/src/cpp-active-file/src",
            "program": "/src/cpp-active-file/src/main",
            "stop_at_entry": False,
            "pre_task": "C/C++: g++ build active file",
            "notes": (
                "setupCommands are passed over, as gdb is used without cppdbg: -gdb-set disassembly-flavor intel",
            ),
        },
    }


def test_cpp_cmake() -> None:
    assert become("cpp-cmake", pid=77, inputs={"level": "two"}) == {
        "Engine": {
            "type": "cppdbg",
            "request": "launch",
            "adapters": ("gdb",),
            "cwd": "/src/cpp-cmake/build",
            "program": "/src/cpp-cmake/build/engine",
            "args": ("--level", "two"),
            "env": {"LD_LIBRARY_PATH": "/src/cpp-cmake/lib:", "ENGINE_THREADS": "1"},
            "stop_at_entry": True,
            "notes": ("sourceFileMap is passed over, which gdb cannot be given here: /build/src",),
            "pre_task": "build all",
            "post_task": "clean up",
        },
        "Attach to the engine": {
            "type": "cppdbg",
            "request": "attach",
            "adapters": ("gdb",),
            "cwd": "/src/cpp-cmake",
            "program": "/src/cpp-cmake/build/engine",
            "pid": 77,
        },
        "On the board": {
            "type": "cppdbg",
            "request": "attach",
            "adapters": ("gdb",),
            "cwd": "/src/cpp-cmake",
            "program": "/src/cpp-cmake/build/engine",
            "host": "192.168.7.2",
            "port": 2159,
            "notes": ("passed over, as gdb is used without cppdbg: miDebuggerPath",),
        },
        "Core": {
            "type": "cppdbg",
            "request": "attach",
            "adapters": ("gdb",),
            "cwd": "/src/cpp-cmake",
            "program": "/src/cpp-cmake/build/engine",
            "core_file": "/src/cpp-cmake/core",
        },
    }


def test_java_maven() -> None:
    assert become("java-maven", file="src/App.java") == {
        "Current File": {
            "type": "java",
            "request": "launch",
            "adapters": ("java",),
            "cwd": "/src/java-maven",
            "program": "/src/java-maven/src/App.java",
        },
        "Application": {
            "type": "java",
            "request": "launch",
            "adapters": ("java",),
            "cwd": "/src/java-maven",
            "args": ("--spring.profiles.active=dev",),
            "env": {"TZ": "UTC"},
            "options": {
                "mainClass": "com.example.shop.Application",
                "vmArgs": "-Xmx512m",
                "classpath": ":".join(
                    f"/src/java-maven{each}"
                    for each in (
                        *("/target/classes", "/target/test-classes", "/build/classes/java/main"),
                        *("/build/classes/java/test", "/bin", "/out", ""),
                    )
                ),
            },
            "pre_task": "mvn: compile",
        },
        "Attach": {
            "type": "java",
            "request": "attach",
            "adapters": ("java",),
            "cwd": "/src/java-maven",
            "host": "localhost",
            "port": 5005,
        },
    }


def test_ruby_rails() -> None:
    assert become("ruby-rails", file="a.rb") == {
        "Debug current file with rdbg": {
            "type": "rdbg",
            "request": "launch",
            "adapters": ("rdbg",),
            "cwd": "/src/ruby-rails",
            "program": "/src/ruby-rails/a.rb",
        },
        "Rails server": {
            "type": "rdbg",
            "request": "launch",
            "adapters": ("rdbg",),
            "cwd": "/src/ruby-rails/web",
            "program": "/src/ruby-rails/web/bin/rails",
            "args": ("server", "-p", "3001"),
            "env": {"RUBYOPT": "-rbundler/setup"},
        },
        "Attach with rdbg": {
            "type": "rdbg",
            "request": "attach",
            "adapters": ("rdbg",),
            "cwd": "/src/ruby-rails",
            "host": "localhost",
            "port": 12345,
            "options": {"localfsMap": "/app:/src/ruby-rails"},
        },
        "Attach by socket": "NOT_SUPPORTED",
    }


def test_perl_scripts() -> None:
    assert become("perl-scripts", file="bin/a.pl") == {
        "Perl-Debug local": {
            "type": "perl",
            "request": "launch",
            "adapters": ("perl",),
            "cwd": "/src/perl-scripts",
            "program": "/src/perl-scripts/bin/a.pl",
            "args": ("--config=/src/perl-scripts/etc/app.conf",),
            "stop_at_entry": True,
        },
    }


def test_bash_scripts() -> None:
    assert become("bash-scripts", file="lib/a.sh") == {
        "Bash-Debug (with fixed args)": {
            "type": "bashdb",
            "request": "launch",
            "adapters": ("bashdb",),
            "cwd": "/src/bash-scripts",
            "program": "/src/bash-scripts/bin/deploy.sh",
            "args": ("--dry-run", "/srv"),
            "env": {"STAGE": "test"},
        },
        "Bash-Debug (hardcoded script name)": {
            "type": "bashdb",
            "request": "launch",
            "adapters": ("bashdb",),
            "cwd": "/src/bash-scripts/lib",
            "program": "/src/bash-scripts/lib/a.sh",
            "args": ("-v", "a b"),
        },
    }


def test_gdb_native() -> None:
    assert become("gdb-native") == {
        "Debug": {
            "type": "gdb",
            "request": "launch",
            "adapters": ("gdb",),
            "cwd": "/src/gdb-native",
            "program": "/src/gdb-native/bin/kernel-tests",
            "args": ("--filter", "sched*", "-v"),
            "notes": (
                "`autorun` is passed over: set print pretty on",
                "gdbpath '/opt/gdb/bin/gdb' is passed over; set GDB_PATH for the server to use that one",
            ),
        },
        "QEMU": {
            "type": "gdb",
            "request": "attach",
            "adapters": ("gdb",),
            "cwd": "/src/gdb-native",
            "program": "/src/gdb-native/vmlinux",
            "host": "localhost",
            "port": 1234,
        },
        "PID": {"type": "gdb", "request": "attach", "adapters": ("gdb",), "cwd": "/src/gdb-native", "pid": 4285},
        "Plain": {
            "type": "gdb",
            "request": "launch",
            "adapters": ("gdb",),
            "cwd": "/src/gdb-native",
            "program": "/usr/bin/true",
            "stop_at_entry": True,
        },
    }


def test_every_variable() -> None:
    assert become("every-variable", file="sub/thing.py", pid=77, inputs={"name": "given"}) == {
        "Variables": {
            "type": "debugpy",
            "request": "launch",
            "adapters": ("debugpy", "python"),
            "cwd": "/src/every-variable",
            "program": "/src/every-variable/sub/thing.py",
            "env": {
                "workspaceFolder": "/src/every-variable",
                "workspaceFolder:other": "/src/other",
                "workspaceRoot": "/src/every-variable",
                "workspaceFolderBasename": "every-variable",
                "file": "/src/every-variable/sub/thing.py",
                "fileWorkspaceFolder": "/src/every-variable",
                "fileWorkspaceFolderBasename": "every-variable",
                "relativeFile": "sub/thing.py",
                "relativeFileDirname": "sub",
                "fileBasename": "thing.py",
                "fileBasenameNoExtension": "thing",
                "fileExtname": ".py",
                "fileDirname": "/src/every-variable/sub",
                "fileDirnameBasename": "sub",
                "cwd": "/srv",
                "userHome": "/home/ann",
                "pathSeparator": "/",
                "slash": "/",
                "env": "ann",
                "unset": "[]",
                "input": "given",
                "default": "/src/every-variable/place",
                "pid": "77",
                "several": "ann-thing.py",
                "unknown": "${whatever} $HOME",
                "ann": "the name of a variable",
            },
        },
    }


def test_full_stack() -> None:
    assert become("full-stack", folders=("api", "web")) == {
        "API": {
            "type": "debugpy",
            "request": "launch",
            "adapters": ("debugpy", "python"),
            "cwd": "/src/api",
            "args": ("api.main:app", "--port", "8001"),
            "options": {"module": "uvicorn"},
        },
        "Worker": {
            "type": "debugpy",
            "request": "launch",
            "adapters": ("debugpy", "python"),
            "cwd": "/src/full-stack",
            "program": "/src/full-stack/worker/main.py",
        },
        "Web": {
            "type": "node",
            "request": "launch",
            "adapters": ("node", "pwa-node"),
            "cwd": "/src/full-stack",
            "program": "/src/web/server.js",
        },
        "Elsewhere": "INVALID_PARAMETER",
    }


SENTENCES = json.loads((PROJECTS / "sentences.json").read_text())


@pytest.mark.parametrize("project", SENTENCES)
def test_an_error_is_a_whole_sentence_that_names_what_cannot_be_had(project: str) -> None:
    files = {"go-service": "store/store_test.go", "pytest-library": "tests/test_library.py"}
    found = {}
    for name in names(project):
        try:
            resolve(launch_file(project), name, context(project, file=files.get(project), folders=("api", "web")))
        except UsageError as error:
            found[name] = f"{error.code}: {error.message}"
    assert found.items() >= SENTENCES[project].items()


def test_there_are_twenty_projects() -> None:
    assert len(list(PROJECTS.glob("*/.vscode/launch.json"))) == 20
