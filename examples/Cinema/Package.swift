// swift-tools-version: 6.1
import PackageDescription

// An application whose models belong together, by this project's product `Items`; and the same by GRDB, for who compares
// them: it needs SQLite's headers (`libsqlite3-dev`).
let package = Package(
    name: "cinema",
    dependencies: [
        .package(name: "cubby", path: "../.."),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        .executableTarget(name: "Cinema", dependencies: [.product(name: "Items", package: "cubby")]),
        .executableTarget(name: "CinemaInGRDB", dependencies: [.product(name: "GRDB", package: "GRDB.swift")]),
    ],
    swiftLanguageModes: [.v6]
)
