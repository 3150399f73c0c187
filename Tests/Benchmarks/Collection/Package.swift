// swift-tools-version: 6.1
import PackageDescription

// Models in a collection of items against GRDB's records in SQLite, in a package of its own: only who measures this builds
// GRDB, which needs SQLite's headers (`libsqlite3-dev`).
let package = Package(
    name: "collection-benchmark",
    dependencies: [
        .package(name: "cubby", path: "../../.."),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        .executableTarget(
            name: "CollectionBenchmark",
            dependencies: [
                .product(name: "Items", package: "cubby"), .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        // The documented program, for the page to have it as it builds.
        .executableTarget(name: "FilmsInGRDB", dependencies: [.product(name: "GRDB", package: "GRDB.swift")]),
    ],
    swiftLanguageModes: [.v6]
)
