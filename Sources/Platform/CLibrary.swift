// The C library, re-exported: what POSIX and C promise. The formats, Lua and the line editor import it from here, and none
// of its names that only Linux has; those are in this module and in CPlatform, with a plain way beside them.
#if canImport(Glibc)
@_exported public import Glibc
#elseif canImport(Musl)
// Untried.
@_exported public import Musl
#elseif canImport(Darwin)
// Untried.
@_exported public import Darwin
#endif
