// swift-tools-version: 6.1
import PackageDescription

// The floors of the house, ground first; docs/architecture.md has the drawing. A module imports only from below.

let features: [SwiftSetting] = [
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
    .enableUpcomingFeature("ExistentialAny"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
    .enableUpcomingFeature("MemberImportVisibility"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// What `Cubby` exports. Whoever uses it through `Cubby` names it all the same: a build after a change compiles a module
/// again when one that it names has changed, and a class's layout may change while Cubby's own module stays as it is.
let exported: [Target.Dependency] = [
    "Scripting", "REPL", "Gallery", "Images", "SharedItems", "Items", "ItemArchive", "ColumnEngine", "Application",
    "PredicateFormat", "CSV", "KeyedArchive", "PropertyList", "Lua", "Files",
]

/// What scripts see, in the groups that `Cubby` lists for a host.
let bindings: [Target.Dependency] = [
    "ItemBindings", "ImageBindings", "ArchiveBindings", "FileBindings", "ApplicationBindings", "NetworkBindings",
]

/// What `cubby --version` says of a build beside the version: scripts/lib/setup.sh has it from git and the compiler.
let build = Context.environment["CUBBY_BUILD"] ?? ""

let package = Package(
    name: "cubby",
    products: [
        .executable(name: "cubby", targets: ["CubbyCommand"]),
        .library(name: "Cubby", targets: ["Cubby"]),
        .library(name: "Lua", targets: ["Lua"]),
        .library(name: "PropertyList", targets: ["PropertyList"]),
        .library(name: "KeyedArchive", targets: ["KeyedArchive"]),
        .library(name: "PredicateFormat", targets: ["PredicateFormat"]),
        .library(name: "CSV", targets: ["CSV"]),
        .library(name: "Items", targets: ["Items"]),
        .library(name: "SharedItems", targets: ["SharedItems"]),
        .library(name: "LineEditor", targets: ["LineEditor"]),
    ],
    // A dependent that names its traits gets what they need and nothing else: docs/embedding.md. All, if it names none.
    traits: [
        .trait(name: "Items", description: "The product Items: fetches swift-collections."),
        .trait(
            name: "Cubby",
            description: "The product Cubby, and the command: fetches swift-log and swift-argument-parser.",
            enabledTraits: ["Items"]),
        .default(enabledTraits: ["Cubby"]),
    ],
    // The lowest versions that have what is used: a flag with a value, a Sendable Deque, LogHandler.log(event:).
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.1.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.11.0"),
    ],
    targets: [
        // Ground floor: the only C, each file with a stated reason.
        .target(name: "CPlatform", cSettings: [.define("CUBBY_BUILD", to: "\"\(build)\"")]),
        // The C library, and what differs between systems. What stands on it alone can be ported.
        .target(name: "Platform", dependencies: ["CPlatform"]),
        .target(name: "CLuaShim", dependencies: ["CPlatform"], linkerSettings: [.linkedLibrary("lua5.4")]),
        // libvips is loaded when a picture is: linking it costs 38 ms a start.
        .target(name: "CImaging"),
        // Descriptors beneath a folder, atomic replacement, the file layer that a test can fail.
        .target(name: "Files", dependencies: ["CPlatform", "Wording"]),
        // Words for people, of which messages on all floors are made: visible text, nearest names.
        .target(name: "Wording", dependencies: ["Platform"]),

        // Formats and languages: these stand alone.
        .target(name: "PropertyList", dependencies: ["Platform", "CPlatform", "Wording"]),
        .target(name: "KeyedArchive", dependencies: ["Platform", "CPlatform", "PropertyList", "Wording"]),
        // The system's time zones, and a time of day through their changes.
        .target(name: "TimeZones", dependencies: ["Platform", "PropertyList", "Wording"]),
        .target(
            name: "PredicateFormat", dependencies: ["TimeZones", "Platform", "CPlatform", "PropertyList", "Wording"]),
        .target(name: "CSV", dependencies: ["Platform", "PropertyList", "Wording"]),
        // SQLite's library is loaded when a database is opened.
        .target(name: "CSQLite", dependencies: ["CPlatform"]),
        .target(name: "SQLite", dependencies: ["CSQLite", "PropertyList", "Wording"]),
        // zlib, libarchive and expat are loaded when a compressed file or a spreadsheet is read.
        .target(name: "CFileFormats"),
        .target(name: "FileFormats", dependencies: ["CFileFormats", "PropertyList", "Wording"]),
        .target(name: "Spreadsheets", dependencies: ["FileFormats", "CFileFormats", "PropertyList", "Wording"]),
        .target(name: "Lua", dependencies: ["CLuaShim", "Platform", "CPlatform", "Wording"]),
        .target(name: "LineEditor", dependencies: ["Platform", "CPlatform", "Wording"]),

        // What an application has.
        .target(
            name: "Application",
            dependencies: [
                "Files", "Platform", "CPlatform", "PropertyList", "Wording",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        // A client of HTTP within the sandbox's fence. libcurl is loaded when the first request is made.
        .target(name: "CNetwork"),
        .target(name: "Network", dependencies: ["CNetwork", "CFileFormats", "Application", "Files", "Wording"]),
        // The messages of notebooks' front ends. libzmq is loaded when a kernel starts.
        .target(name: "CMessaging"),
        .target(
            name: "Jupyter", dependencies: ["CMessaging", "Files", "PropertyList", "Platform", "CPlatform", "Wording"]),
        // The items: columns, the archive that keeps them, the store; then what is above it.
        .target(
            name: "ColumnEngine",
            dependencies: [
                "PredicateFormat", "Files", "PropertyList", "CPlatform", "Wording",
            ]),
        .target(
            name: "ItemArchive",
            dependencies: ["ColumnEngine", "Files", "KeyedArchive", "PropertyList", "CPlatform", "Wording"]),
        .target(
            name: "Items",
            dependencies: [
                "ItemArchive", "ColumnEngine", "PredicateFormat", "CSV", "SQLite", "Spreadsheets", "FileFormats",
                "TimeZones", "PropertyList", "Files", "CPlatform", "Wording",
                .product(name: "DequeModule", package: "swift-collections"),
            ]),
        // Items of several hosts, kept by PostgreSQL. libpq's own header is needed to build, its library when it is used.
        .target(name: "CPostgres"),
        .target(
            name: "SharedItems",
            dependencies: [
                "ItemArchive", "ColumnEngine", "PropertyList", "Files", "CPostgres", "CPlatform", "Wording",
            ],
            resources: [
                .embedInCode("Schema/schema.sql"), .embedInCode("Schema/functions.sql"),
                .embedInCode("Schema/rights.sql"), .embedInCode("Schema/publish.sql"),
            ]),
        .target(
            name: "Images",
            dependencies: [
                "Items", "ItemArchive", "ColumnEngine", "Application", "Files", "PropertyList", "CImaging", "CPlatform",
                "Wording",
                .product(name: "Logging", package: "swift-log"),
            ]),
        // Pictures of numbers, of columns of values: as text and as SVG.
        .target(name: "Plots", dependencies: ["Platform", "PropertyList", "Wording"]),
        .target(
            name: "Gallery",
            dependencies: [
                "Images", "Items", "Application", "Files", "PropertyList", "Wording",
            ]),

        // Scripts and people.
        .target(
            name: "Scripting",
            dependencies: [
                "Lua", "Application", "Images", "Plots", "SharedItems", "Items", "ItemArchive",
                "PredicateFormat", "CSV", "TimeZones", "SQLite",
                "KeyedArchive", "PropertyList", "Files", "CPlatform", "Wording",
                .product(name: "Logging", package: "swift-log"),
            ]),
        // What scripts see: groups of modules above the host, which know nothing of each other.
        .target(
            name: "ItemBindings",
            dependencies: [
                "Scripting", "Lua", "Application", "Images", "Plots", "Items", "PredicateFormat", "CSV", "PropertyList",
                "Files",
                "Wording",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "ImageBindings",
            dependencies: [
                "Scripting", "Lua", "Application", "Gallery", "Images", "Items", "Files",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "ArchiveBindings",
            dependencies: [
                "Scripting", "Lua", "Application", "Items", "KeyedArchive", "PredicateFormat", "PropertyList", "Files",
                "Wording",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "FileBindings",
            dependencies: [
                "Scripting", "Lua", "Application", "Items", "CSV", "SQLite", "PropertyList", "Files", "CPlatform",
                "Wording",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "ApplicationBindings",
            dependencies: [
                "Scripting", "Lua", "Application", "Items", "TimeZones", "PropertyList", "Files",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "NetworkBindings",
            dependencies: [
                "Scripting", "Lua", "Network", "Application", "PropertyList", "Files", "Wording",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "REPL",
            dependencies: [
                "Plots", "Jupyter",
                "Scripting", "LineEditor", "Lua", "Application", "Images", "Items", "KeyedArchive", "PredicateFormat",
                "PropertyList", "SQLite", "Files", "CPlatform", "Wording",
            ]),
        // What the scripts of cubby test see beside these.
        .target(
            name: "TestBindings",
            dependencies: ["Scripting", "Lua", "Application", "Items", "ColumnEngine", "PropertyList", "Files"]),
        .target(
            name: "DebugAdapter",
            dependencies: [
                "REPL", "Scripting", "LineEditor", "Lua", "Application", "Items", "PropertyList", "Files", "CPlatform",
                "Wording",
            ]),
        // The Model Context Protocol: a client's messages, and the tools that it calls on a host.
        .target(
            name: "Assistants",
            dependencies: [
                "REPL", "Scripting", "LineEditor", "Lua", "Application", "Images", "Items", "KeyedArchive",
                "PredicateFormat", "PropertyList", "SQLite", "Files", "CPlatform", "Wording",
            ],
            resources: [.embedInCode("methods.json"), .embedInCode("tools.json")]),
        .target(
            name: "Cubby",
            dependencies: exported + bindings + ["TestBindings"]),
        // The program, which tests also run in their own process.
        .executableTarget(
            name: "CubbyCommand",
            dependencies: exported + [
                "Cubby", "Assistants", "DebugAdapter", "Jupyter", "LineEditor", "Network", "SQLite", "TimeZones",
                "CPlatform",
                "Wording",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]),

        // Tests, one target a module.
        .target(
            name: "TestSupport", dependencies: ["Files", "LineEditor", "PropertyList", "Wording"],
            path: "Tests/TestSupport"),
        .target(
            name: "CommandTestSupport", dependencies: ["CubbyCommand", "Files", "TestSupport"],
            path: "Tests/CommandTestSupport"),
        .executableTarget(name: "FoundationJudge", path: "Tests/FoundationJudge"),
        .target(name: "FuzzExercise", dependencies: ["KeyedArchive", "PropertyList"], path: "Tests/Fuzz/Sources"),
        .testTarget(name: "TestSupportTests", dependencies: ["TestSupport"]),
        .testTarget(name: "WordingTests", dependencies: ["Wording"]),
        .testTarget(name: "FilesTests", dependencies: ["Files", "TestSupport"]),
        .testTarget(name: "PropertyListTests", dependencies: ["PropertyList", "CPlatform", "TestSupport"]),
        .testTarget(
            name: "KeyedArchiveTests",
            dependencies: ["KeyedArchive", "PropertyList", "CPlatform", "FuzzExercise", "TestSupport"]),
        .testTarget(
            name: "PredicateFormatTests",
            dependencies: ["PredicateFormat", "PropertyList", "CPlatform", "TestSupport"]),
        .testTarget(name: "CSVTests", dependencies: ["CSV", "PropertyList", "TestSupport"]),
        .testTarget(name: "FileFormatsTests", dependencies: ["FileFormats", "TestSupport"]),
        .testTarget(
            name: "SpreadsheetsTests", dependencies: ["Spreadsheets", "FileFormats", "PropertyList", "TestSupport"]),
        .testTarget(name: "TimeZonesTests", dependencies: ["TimeZones", "PropertyList", "Files", "TestSupport"]),
        .testTarget(name: "SQLiteTests", dependencies: ["SQLite", "CSQLite", "CPlatform", "TestSupport"]),
        .testTarget(name: "LuaTests", dependencies: ["Lua", "TestSupport"]),
        .testTarget(name: "LineEditorTests", dependencies: ["LineEditor", "TestSupport"]),
        .testTarget(name: "ApplicationTests", dependencies: ["Application", "PropertyList", "Files", "TestSupport"]),
        .target(
            name: "ItemsTestSupport",
            dependencies: ["Items", "ItemArchive", "ColumnEngine", "PropertyList", "Files", "TestSupport"],
            path: "Tests/ItemsTestSupport"),
        .testTarget(
            name: "ColumnEngineTests",
            dependencies: [
                "ColumnEngine", "Items", "ItemArchive", "CPlatform", "PredicateFormat", "PropertyList", "Files",
                "ItemsTestSupport", "TestSupport",
            ]),
        .testTarget(
            name: "ItemArchiveTests",
            dependencies: [
                "ItemArchive", "Items", "ColumnEngine", "PredicateFormat", "KeyedArchive", "PropertyList", "Files",
                "ItemsTestSupport", "TestSupport",
            ]),
        .testTarget(
            name: "ItemsTests",
            dependencies: [
                "Items", "ItemArchive", "ColumnEngine", "PredicateFormat", "PropertyList", "CSV", "SQLite", "Files",
                "CPlatform", "ItemsTestSupport", "TestSupport",
            ]),
        .testTarget(
            name: "SharedItemsTests",
            dependencies: [
                "SharedItems", "Items", "ItemArchive", "ColumnEngine", "PredicateFormat", "PropertyList", "Files",
                "ItemsTestSupport", "TestSupport",
            ]),
        .testTarget(
            name: "ImagesTests",
            dependencies: [
                "Images", "Items", "Application", "Files", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "JupyterTests", dependencies: ["Jupyter", "Files", "Platform", "PropertyList", "TestSupport"]),
        .testTarget(name: "PlotsTests", dependencies: ["Plots", "PropertyList", "TestSupport"]),
        .testTarget(
            name: "GalleryTests",
            dependencies: [
                "Gallery", "Images", "Items", "PropertyList", "Files", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "ScriptingTests",
            dependencies: [
                "Cubby", "ItemBindings", "Scripting", "Application", "Images", "Items", "ColumnEngine", "KeyedArchive",
                "PropertyList", "PredicateFormat", "SharedItems", "Lua", "Files", "CPlatform", "TestSupport",
            ]),
        .testTarget(
            name: "REPLTests",
            dependencies: [
                "Cubby", "REPL", "Scripting", "Jupyter", "LineEditor", "Lua", "Application", "Images", "Items",
                "PropertyList", "Files",
                "Wording", "CommandTestSupport", "TestSupport",
            ]),
        .testTarget(
            name: "DebugAdapterTests",
            dependencies: [
                "Cubby", "DebugAdapter", "Scripting", "Lua", "Application", "Images", "Items", "PropertyList", "Files",
                "CommandTestSupport", "TestSupport",
            ]),
        .testTarget(
            name: "AssistantsTests",
            dependencies: [
                "Cubby", "Assistants", "REPL", "Scripting", "Application", "ColumnEngine", "Images", "Items",
                "PropertyList", "Files", "CommandTestSupport", "TestSupport",
            ]),
        .testTarget(name: "CubbyTests", dependencies: exported + ["Cubby", "TestSupport"]),
        .testTarget(
            name: "CubbyCommandTests",
            dependencies: [
                "CubbyCommand", "Application", "Files", "CommandTestSupport", "ItemsTestSupport", "TestSupport",
            ]),
        .testTarget(name: "CommandTests", dependencies: ["Application", "Files", "TestSupport"]),
    ],
    swiftLanguageModes: [.v6]
)

/// The trait with which what is used of another package is fetched.
let traits = ["swift-collections": "Items", "swift-log": "Cubby", "swift-argument-parser": "Cubby"]

for target in package.targets where ![.system, .binary, .plugin].contains(target.type) {
    target.swiftSettings = features
    target.dependencies = target.dependencies.map { dependency in
        guard case .productItem(let name, let package?, _, _) = dependency, let trait = traits[package] else {
            return dependency
        }
        return .product(name: name, package: package, condition: .when(traits: [trait]))
    }
}

// Measurements against peers: a part of the package, since they measure what it keeps to itself, and there only for
// scripts/bench and scripts/conformance, which ask for them.
if Context.environment["CUBBY_BENCHMARKS"] != nil {
    func folder(_ name: String) -> String { "Tests/Benchmarks/Sources/\(name)" }
    package.targets += [
        .executableTarget(name: "Benchmarks", dependencies: exported + ["Cubby"], path: folder("Benchmarks")),
        // The codec against Foundation's, and against a floor in C.
        .target(name: "CFloor", path: folder("CFloor"), cSettings: [.unsafeFlags(["-O2"])]),
        .executableTarget(
            name: "ArchiveBenchmark", dependencies: ["CFloor", "KeyedArchive", "PropertyList"],
            path: folder("ArchiveBenchmark")),
        // The bridge between Lua and Swift, against bindings written by hand in C.
        .systemLibrary(
            name: "CSystemLua", path: folder("CSystemLua"), pkgConfig: "lua5.4", providers: [.apt(["liblua5.4-dev"])]),
        .target(name: "CTextbook", dependencies: ["CSystemLua"], path: folder("CTextbook")),
        .executableTarget(
            name: "BridgeBenchmark", dependencies: ["CTextbook", "Lua"], path: folder("BridgeBenchmark")),
        // Lua's own test suite, in a host.
        .executableTarget(name: "Conformance", dependencies: exported + ["Cubby"], path: folder("Conformance")),
        // How late hostile scripts are stopped.
        .executableTarget(name: "StopBenchmark", dependencies: exported + ["Cubby"], path: folder("StopBenchmark")),
        // Shared collections against libpq by hand.
        .target(
            name: "CPostgresFloor", path: folder("CPostgresFloor"), linkerSettings: [.linkedLibrary("pq")]),
        .executableTarget(
            name: "SharedBenchmark",
            dependencies: ["CPostgresFloor", "Items", "ItemArchive", "ColumnEngine", "PredicateFormat", "SharedItems"],
            path: folder("SharedBenchmark")),
    ]
}

/// The test targets that `scripts/sanitize --short` builds, with what they stand on and nothing else; "" builds all.
let testTargets = (Context.environment["CUBBY_TEST_TARGETS"] ?? "").split(separator: " ").map(String.init)
if !testTargets.isEmpty {
    var needed: Set<String> = []
    var names = testTargets
    while let name = names.popLast() {
        guard needed.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else {
            continue
        }
        for case .byNameItem(let name, _) in target.dependencies { names.append(name) }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products = []
}
