"""The exception at a stop of JavaScript: V8 shows it to the conditions of exception breakpoints, and to nothing else.

So a condition that always holds keeps it, and what is asked at the stop is evaluated with what was kept: its type, its
ancestors, and what is behind it. No getter of the program is called. What is kept is held weakly.
"""

import json
from collections.abc import Generator, Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import unquote

from msgspec import Struct, ValidationError, convert

from trio_debugmcp.dap.profiles.javascript.printed_errors import frames_in
from trio_debugmcp.dap.profiles.printed_exceptions import Crash
from trio_debugmcp.dap.profiles.thrown import Look, Thrown, ThrownDescription

_SYMBOL = '"trio_debugmcp.exception"'

_PASSED = '"trio_debugmcp.passed"'
"""Where the program counts, by type, the exceptions that no breakpoint asked for."""

_MOST_TYPES = 20
"""That are counted for themselves; those of more types are counted together."""

BUILT_IN = (
    *("Error", "AggregateError", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError"),
    *("URIError", "AssertionError", "AbortError", "DOMException"),
)
"""Types that exist in every program of node."""

_MAX_BEHIND = 20
"""Exceptions behind one that are fetched: a chain has a few, an AggregateError may have thousands."""

_FACTS = r"""
const own=(o,n)=>{for(;o!==null&&o!==undefined;o=Object.getPrototypeOf(o)){
  const d=Object.getOwnPropertyDescriptor(Object(o),n);if(d)return d.value}};
const text=x=>x===undefined||x===null?undefined:typeof x==="string"?x.slice(0,2000):undefined;
const lineage=e=>{const r=[];for(let p=Object.getPrototypeOf(Object(e));p;p=Object.getPrototypeOf(p)){
  const n=text(own(own(p,"constructor"),"name"));if(n&&r.at(-1)!==n)r.push(n)}
  const n=text(own(e,"name"));if(n&&!r.includes(n))r.unshift(n);return r};
const facts=e=>{if(e===null||typeof e!=="object"&&typeof e!=="function")
  return{type:e===null?"null":typeof e,message:String(e).slice(0,2000),lineage:[]};
  const l=lineage(e);let m=text(own(e,"message")),more;
  // Of a file that cannot be parsed V8 says which, but there is no frame of it.
  const at=l.includes("SyntaxError")&&/^(?:file:|\/)\S+:\d+(?=\n)/.exec(text(e.stack)||"");
  if(at&&m!==undefined)m+=` (${at[0]})`;
  if(m===undefined)try{more=JSON.stringify(e).slice(0,500)}catch{}
  return{type:l[0]||"Object",message:m===undefined?more:m,lineage:l}};
"""

_ANSWER = 'encodeURIComponent(JSON.stringify({})).replace(/\'/g,"%27")'
"""A text without quotes and backslashes, so that js-debug shows it as it is."""


def _asked(*body: str) -> str:
    """Return an expression for what these statements return about the exception that was kept, `k`.

    They are compiled outside of the frame: in one of node itself not even `Symbol` need be what it is elsewhere.
    """
    code = json.dumps("if(!k)return'';" + "".join(body))
    return f"globalThis.Function('k',{code})(globalThis[globalThis.Symbol.for({_SYMBOL})])"


_TAKE = _asked(
    f"if(k.taken){{delete globalThis[Symbol.for({_SYMBOL})];return''}}k.taken=true;",  # that is of an earlier stop
    _FACTS,
    f"const p=globalThis[Symbol.for({_PASSED})];delete globalThis[Symbol.for({_PASSED})];",
    f"return {_ANSWER.format('{...facts(k.get()),mode:k.mode,passed:p}')}",
)

_BEHIND = _asked(
    _FACTS,
    f"let room={_MAX_BEHIND};",
    """
const one=(e,way,above)=>({...facts(e),way,stack:text(e&&e.stack),inner:behind(e,above)});
const behind=(e,above)=>{const r=[];if(e===null||typeof e!=="object"||above.includes(e))return r;
  above=[...above,e];const c=own(e,"cause"),m=own(e,"errors");
  if(c!==undefined&&room-->0)r.push(one(c,"cause",above));
  if(Array.isArray(m))for(const each of m)if(room-->0)r.push(one(each,"member",above));return r};
""",
    f"return {_ANSWER.format('behind(k.get(),[])')}",
)


_IS_OF = (
    "const own=(o,n)=>{for(;o!==null&&o!==undefined;o=g.Object.getPrototypeOf(o)){"
    "const d=g.Object.getOwnPropertyDescriptor(g.Object(o),n);if(d)return d.value}};"
    "const is=n=>typeof n==='string'&&w.includes(n);"
    "let of=e===null||typeof e!=='object'&&typeof e!=='function'?is(e===null?'null':typeof e):is(own(e,'name'));"
    "for(let p=e;!of&&p!==null&&p!==undefined;p=g.Object.getPrototypeOf(g.Object(p)))"
    "of=is(own(own(p,'constructor'),'name'));"
    f"if(!of){{try{{const p=g[g.Symbol.for({_PASSED})]??={{__proto__:null}};"
    "let n=e===null||typeof e!=='object'?typeof e:own(own(e,'constructor'),'name');"
    "n=typeof n==='string'&&n?n.slice(0,100):'Object';"
    f"if(!(n in p)&&g.Object.keys(p).length>={_MOST_TYPES})n='of other types';p[n]=(p[n]||0)+1}}catch{{}}return false}}"
)
"""Statements that count `e` and return, unless it is of one of the types `w`, by its own name or its classes'."""


def keeping(mode: str, types: Sequence[str] = ()) -> str:
    """Return a condition that keeps the exception of a stop with its break mode, if it is of one of these types.

    It holds for these, and without types for all. A runner catches thousands of others, so js-debug itself passes them
    over. It is also evaluated in frames of node itself, which have names of their own for `Symbol` and others.
    """
    only = f"const w={json.dumps(list(types))};try{{{_IS_OF}}}catch{{}}" if types else ""
    return (
        f"((e,g)=>{{{only}try{{g[g.Symbol.for({_SYMBOL})]={{mode:'{mode}',get:e instanceof g.Object?(r=>()=>r.deref())"
        "(new g.WeakRef(e)):()=>e}}catch{}return true})(error,globalThis)"
    )


class _KeptException(Struct):
    """What was kept of an exception. It is where the program can put anything."""

    type: str
    message: str | None = None
    lineage: tuple[str, ...] = ()
    mode: str | None = None
    passed: Any = None


def _counts(passed: Any) -> dict[str, int]:
    kinds = passed.items() if isinstance(passed, dict) else ()
    return {kind: number for kind, number in kinds if type(number) is int and number > 0}


class JavaScriptThrown(Thrown):
    """The exception that was kept at a stop."""

    reads_types: ClassVar[bool] = True
    reports_once: ClassVar[bool] = True

    def may_be(self, wanted: str, shown: str) -> bool:
        # js-debug shows an error of a class without a `name` of its own by that of an ancestor.
        return wanted in (shown, "Error") or wanted not in BUILT_IN

    def is_skipped(self, file: str) -> bool:
        # As adapters.toml has it; js-debug learns only after the start of a program which files are node's own.
        return file.startswith("<node_internals>/") and not file.startswith("<node_internals>/assert")

    def exception(self) -> Look:
        try:
            kept = convert(_parsed((yield _TAKE)), _KeptException)
        except ValidationError:
            return None
        return ThrownDescription(kept.type, kept.message or None, kept.lineage, kept.mode, _counts(kept.passed))

    def behind(self) -> Generator[str, str | None, tuple[Crash, ...]]:
        return tuple(_crash(facts) for facts in _parsed((yield _BEHIND)) or ())


def _crash(facts: Mapping[str, Any]) -> Crash:
    kind, message = facts.get("type"), facts.get("message")
    inner = tuple(_crash(inner_facts) for inner_facts in facts.get("inner") or ())
    return Crash(
        f"{kind}: {message}" if message else f"{kind}",
        frames_in(facts.get("stack") or ""),
        way=facts.get("way"),
        members=sum(crash.way == "member" for crash in inner),
        inner=inner,
    )


def _parsed(value: str | None) -> Any:
    try:
        return json.loads(unquote((value or "").strip("'\"")))
    except ValueError:
        return None
