"""Programs of Lua, debugged by an adapter of our own: our side of the DAP, and what runs in the program.

`lua PROGRAM` is run as `lua inside/main.lua … PROGRAM`, which debugs it by `debug.sethook`: pure Lua, for 5.1 to 5.4
and LuaJIT, with nothing to install. The program's three streams stay its own. Its debugger and this server talk through
two FIFOs in a directory of the session: requests are tables of Lua, a line each, answers and events are lines of JSON.

A stopped program waits for requests. One that runs cannot wait; its hook looks from time to time for a file that is
there while something is to be read. So a program that is blocked in C (it reads, or sleeps) takes nothing until it runs
Lua again.

`lua_adapter` is the adapter, a task of this server and no process: what it answers it knows, or has asked the program.
"""
