// swift-tools-version: 6.1
import PackageDescription

// Measurements against peers, in a package of their own: users of the libraries build none of this.
let package = Package(
    name: "benchmarks",
    dependencies: [.package(name: "cubby", path: "../..")],
    targets: [
        .executableTarget(name: "Benchmarks", dependencies: [.product(name: "Cubby", package: "cubby")]),
        // The codec against Foundation's, and against a floor in C.
        .target(name: "CFloor", cSettings: [.unsafeFlags(["-O2"])]),
        .executableTarget(
            name: "ArchiveBenchmark",
            dependencies: [
                "CFloor", .product(name: "KeyedArchive", package: "cubby"),
                .product(name: "PropertyList", package: "cubby"),
            ]),
        // The bridge between Lua and Swift, against bindings written by hand in C.
        .systemLibrary(name: "CSystemLua", pkgConfig: "lua5.4", providers: [.apt(["liblua5.4-dev"])]),
        .target(name: "CTextbook", dependencies: ["CSystemLua"]),
        .executableTarget(
            name: "BridgeBenchmark", dependencies: ["CTextbook", .product(name: "Lua", package: "cubby")]),
        // Lua's own test suite, in a host.
        .executableTarget(name: "Conformance", dependencies: [.product(name: "Cubby", package: "cubby")]),
        // How late hostile scripts are stopped.
        .executableTarget(name: "StopBenchmark", dependencies: [.product(name: "Cubby", package: "cubby")]),
        // Shared collections against libpq by hand.
        .target(name: "CPostgresFloor", linkerSettings: [.linkedLibrary("pq")]),
        .executableTarget(
            name: "SharedBenchmark",
            dependencies: [
                "CPostgresFloor", .product(name: "Items", package: "cubby"),
                .product(name: "SharedItems", package: "cubby"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
