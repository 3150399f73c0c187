// swift-tools-version: 6.1
import PackageDescription

// Prices orders by rules that are scripts, by this project's product `Lua`, and nothing else.
let package = Package(
    name: "rules-engine",
    dependencies: [.package(name: "cubby", path: "../..")],
    targets: [
        .executableTarget(name: "RulesEngine", dependencies: [.product(name: "Lua", package: "cubby")])
    ],
    swiftLanguageModes: [.v6]
)
