//! What a Redis server defines for scripts: the global names of its Lua 5.1.
//!
//! Read off the allow lists of the server's source (`src/script_lua.c`).

/// Global names of every server version.
const GLOBALS: [&str; 47] = [
    "KEYS",
    "ARGV",
    "redis",
    "server",
    "string",
    "table",
    "math",
    "cjson",
    "cmsgpack",
    "bit",
    "struct",
    "os",
    "xpcall",
    "tostring",
    "getfenv",
    "setfenv",
    "setmetatable",
    "getmetatable",
    "next",
    "assert",
    "tonumber",
    "rawequal",
    "rawget",
    "rawset",
    "rawlen",
    "collectgarbage",
    "gcinfo",
    "pcall",
    "coroutine",
    "type",
    "_G",
    "select",
    "unpack",
    "pairs",
    "ipairs",
    "loadstring",
    "load",
    "error",
    "_VERSION",
    "newproxy",
    "true",
    "false",
    "nil",
    "...",
    "__redis__err__handler",
    "self",
    "_",
];

/// Names of other hosts of Lua that a server does not have; no file put before a script gives them.
const ELSEWHERE: [&str; 8] =
    ["print", "require", "module", "dofile", "loadfile", "io", "debug", "package"];

/// Tables of the server, which scripts can't write to.
const LIBRARIES: [&str; 9] =
    ["redis", "server", "string", "table", "math", "cjson", "cmsgpack", "bit", "struct"];

/// Whether a server defines a global name.
#[must_use]
pub fn defines(name: &str) -> bool {
    GLOBALS.contains(&name)
}

/// Whether only other hosts of Lua define a global name.
#[must_use]
pub fn is_elsewhere(name: &str) -> bool {
    ELSEWHERE.contains(&name)
}

/// Whether a name is a table of the server.
#[must_use]
pub fn is_library(name: &str) -> bool {
    LIBRARIES.contains(&name)
}
