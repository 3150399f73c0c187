// swift-tools-version: 6.1
import PackageDescription

// A tool that keeps items by this project's product `Items`: no Lua, no pictures, no life cycle.
let package = Package(
    name: "inventory",
    dependencies: [.package(name: "cubby", path: "../..")],
    targets: [
        .executableTarget(name: "Inventory", dependencies: [.product(name: "Items", package: "cubby")])
    ],
    swiftLanguageModes: [.v6]
)
