import Application

/// Checks a container: the saved document in it.
struct ContainerCheck {
    private let container: String
    private let repair: String?

    init(_ container: String, repair: String?) {
        self.container = container
        self.repair = repair
    }

    func run() throws {
        try FileCheck(PathText.join(container, "Documents/items.archive"), repair: repair).run()
    }
}
