import Application
import Lua

/// `app.container`: the folders of the application's data.
final class ContainerBinding: LuaObject {
    private let container: Container
    private let bundle: String

    init(_ host: ScriptHost) {
        container = host.container
        bundle = host.bundles.first?.path ?? host.container.bundle
    }

    static var luaClass: LuaClassDeclaration {
        LuaClassDeclaration(ContainerBinding.self, "container", doc: "The application's own folder.") {
            Property("path", \.container.path, doc: "The container's path.")
            Property("documents", \.container.documents, doc: "The user's documents; backed up.")
            Property("caches", \.container.caches, doc: "Recreatable data; may be deleted at any time.")
            Property("preferences", \.container.preferences, doc: "The user's settings.")
            Property("applicationSupport", \.container.applicationSupport, doc: "The application's own files.")
            Property("tmp", \.container.tmp, doc: "Temporary files; emptied at launch.")
            Property(
                "bundle", \.bundle,
                doc: "The folder of read-only resources, outside of the container; it need not exist.")
            Operator(.text) { (container: ContainerBinding) in container.container.displayPath }
        }
    }
}
