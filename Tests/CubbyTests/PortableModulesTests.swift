import Foundation
import TestSupport
import Testing

/// The modules that stand alone take the C library from `Platform`, and Linux from nowhere: a port is that room's work.
@Suite("Portable modules") struct PortableModulesTests {
    static let modules = [
        "Lua", "PropertyList", "KeyedArchive", "PredicateFormat", "CSV", "LineEditor", "TimeZones", "Wording",
    ]

    /// Names that Linux or its C library has alone.
    static let linuxNames = [
        "MADV_HUGEPAGE", "MADV_DONTNEED", "MAP_POPULATE", "MAP_NORESERVE", "MAP_ANONYMOUS", "SIGRTMAX", "SIGRTMIN",
        "SIGEV_THREAD_ID", "timer_create", "CLOCK_MONOTONIC_COARSE", "syscall", "gettid", "eventfd", "epoll", "openat2",
        "O_PATH", "memfd_create", "inotify", "signalfd", "prctl", "futex", "sem_init", "/proc/", "_GNU_SOURCE",
    ]
    /// What has them: the layer, and the shim's half for Linux. memmem is in all C libraries, but glibc asks for the macro.
    static let linuxFiles = [
        "CLuaShim/Host/wake_linux.c", "CLuaShim/Host/wake.h", "CLuaShim/Host/signal.c", "CLuaShim/Library/string.c",
    ]

    private func sources(of module: String) throws -> [(name: String, text: String)] {
        let folder = "\(Project.root)/Sources/\(module)"
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        let sources = names.filter { [".swift", ".c", ".h"].contains(where: $0.hasSuffix) }
        try #require(!sources.isEmpty)
        return try sources.map { ("\(module)/\($0)", try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8)) }
    }

    @Test("import no C library and no Foundation", arguments: modules)
    func imports(module: String) throws {
        let import_ = /(?m)^\s*(?:public |package |internal |@\w+ )*import (?<name>\w+)/
        for (name, text) in try sources(of: module) {
            for match in text.matches(of: import_) {
                let imported = String(match.name)
                #expect(!["Glibc", "Musl", "Darwin"].contains(imported), "\(name) imports \(imported)")
                // Foundation's essentials are a module of their own where there is one.
                if imported.hasPrefix("Foundation") {
                    #expect(text.contains("#if canImport(FoundationEssentials)"), "\(name) imports \(imported)")
                }
            }
        }
    }

    @Test("have no name that only Linux has", arguments: modules + ["CLuaShim"])
    func names(module: String) throws {
        for (name, text) in try sources(of: module) where !Self.linuxFiles.contains(name) {
            for linux in Self.linuxNames { #expect(!text.contains(linux), "\(name) has \(linux)") }
        }
    }

    @Test("stand on the platform, and on nothing that is Linux's", arguments: modules)
    func dependencies(module: String) throws {
        let portable = Self.modules + ["Platform", "CPlatform", "CLuaShim"]
        let manifest = try String(contentsOfFile: "\(Project.root)/Package.swift", encoding: .utf8)
        let target = try Regex(#"\.target\(\s*name: "\#(module)"(, dependencies: \[(?<list>[^\]]*)\])?"#)
        let match = try #require(try target.firstMatch(in: manifest))
        for name in match["list"]?.substring?.matches(of: /"(\w+)"/).map({ String($0.1) }) ?? [] {
            #expect(portable.contains(name), "\(module) depends on \(name)")
        }
    }
}
