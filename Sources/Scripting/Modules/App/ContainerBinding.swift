import Application
import Lua

/// `app.container`: the folders of the application's data.
enum ContainerBinding {
    /// A container in an object for Lua.
    private final class Box {
        let container: Container
        let bundle: String
        init(_ container: Container, bundle: String) {
            self.container = container
            self.bundle = bundle
        }
    }

    static func makeValue(_ host: ScriptHost) -> LuaValue {
        let cls = LuaClass<Box>("container", "The application's own folder.", in: host.state)
        cls.text("path", "The container itself.", get: { $0.container.path })
        cls.text("documents", "What the user made; backed up.", get: { $0.container.documents })
        cls.text("caches", "What can be made again; may vanish at any time.", get: { $0.container.caches })
        cls.text("preferences", "The user's settings.", get: { $0.container.preferences })
        cls.text("applicationSupport", "The application's own files.", get: { $0.container.applicationSupport })
        cls.text("tmp", "For this run only; emptied at launch.", get: { $0.container.tmp })
        cls.text(
            "bundle", "The folder of read-only resources, outside of the container; it need not be there.",
            get: { $0.bundle })
        cls.metamethod("__tostring") { box, call in call.returns(box.container.displayPath) }
        return cls.value(Box(host.container, bundle: host.bundles.first?.path ?? host.container.bundle))
    }
}
