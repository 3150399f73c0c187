// swift-tools-version: 6.1
import PackageDescription

// Three tools, each on one product of this project: the programs of docs/products.
let package = Package(
    name: "tools",
    dependencies: [.package(name: "cubby", path: "../..")],
    targets: [
        .executableTarget(name: "table", dependencies: [.product(name: "CSV", package: "cubby")]),
        .executableTarget(name: "shopping", dependencies: [.product(name: "LineEditor", package: "cubby")]),
        .executableTarget(name: "notes", dependencies: [.product(name: "KeyedArchive", package: "cubby")]),
    ],
    swiftLanguageModes: [.v6]
)
