// Re-exports the C library for what POSIX and C specify. The formats, Lua and the line editor import it from here, and
// use no Linux-only names; those are used in this module and in CPlatform, with a portable alternative.
#if canImport(Glibc)
@_exported public import Glibc
#elseif canImport(Musl)
// Untried.
@_exported public import Musl
#elseif canImport(Darwin)
// Untried.
@_exported public import Darwin
#endif
