// swift-tools-version: 6.1
import PackageDescription

// Measurements against peers, in a package of their own: users of the libraries build none of this.
let package = Package(
    name: "benchmarks",
    dependencies: [.package(name: "cubby", path: "../..")],
    targets: [
        .executableTarget(name: "Benchmarks", dependencies: [.product(name: "Cubby", package: "cubby")])
    ],
    swiftLanguageModes: [.v6]
)
