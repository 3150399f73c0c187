// swift-tools-version: 6.1
import PackageDescription

// A program of its own that embeds Lua by this project's product `Lua`, and nothing else.
let package = Package(
    name: "embedded-host",
    dependencies: [.package(name: "cubby", path: "../..")],
    targets: [
        .executableTarget(name: "EmbeddedHost", dependencies: [.product(name: "Lua", package: "cubby")])
    ],
    swiftLanguageModes: [.v6]
)
