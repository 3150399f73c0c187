// swift-tools-version: 6.1
import PackageDescription

// A web service whose requests bring their scripts, by this project's product `Lua` and Hummingbird.
let package = Package(
    name: "script-service",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(name: "cubby", path: "../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    ],
    targets: [
        .executableTarget(
            name: "ScriptService",
            dependencies: [
                .product(name: "Lua", package: "cubby"), .product(name: "Hummingbird", package: "hummingbird"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
