import Application
import Files
import Lua

/// `bundle`: read-only resources: the user's own folder first, then the host's.
enum BundleModule {
    private final class Bundles {
        let all: [ApplicationBundle]
        init(_ all: [ApplicationBundle]) { self.all = all }

        func path(_ name: String, _ type: String?, _ layer: FencedFileLayer) -> String? {
            for bundle in all {
                if let path = bundle.path(forResource: name, ofType: type, using: layer) { return path }
            }
            return nil
        }
    }

    static func makeValue(_ host: ScriptHost) -> LuaValue {
        let cls = LuaClass<Bundles>(
            "bundle", "Read-only resources: the folder of --bundle first, then the host's resources.", in: host.state)
        let resource: LuaArguments = [
            "name": "the resource's name, with any folders below the bundle",
            "type": "its extension, if the name has none",
        ]
        cls.method(
            "path", resource, "The path of a resource; nil if there is none.",
            example: "return bundle:path(\"dogs\", \"png\")"
        ) { [unowned host] (bundles, name: String, type: String?) in bundles.path(name, type, host.fence.layer) }
        cls.method(
            "read", resource, "A resource's bytes; nil and an error if there is none.",
            example: "local text, err = bundle:read(\"household\", \"csv\") return text or err.message"
        ) { [unowned host] (bundles, name: String, type: String?) -> OrError<LuaString> in
            let layer = host.fence.layer
            guard let path = bundles.path(name, type, layer) else {
                let file = type.map { "\(name).\($0)" } ?? name
                let folders = bundles.all.map { DisplayPath.abbreviate($0.path) }.joined(separator: ", ")
                return .failure(
                    ScriptError(
                        "noSuchResource",
                        "there is no \(file) in the bundle (\(folders.isEmpty ? "--bundle names a folder" : folders))",
                        path: file))
            }
            return try OrError(returning: FileError.self) {
                LuaString(try layer.contents(of: path, limit: FileSystemModule.readLimit))
            }
        }
        cls.property("paths", "The folders in search order.", get: { $0.all.map(\.path) })
        cls.metamethod("__tostring") { bundles, call in
            call.returns("bundle \(bundles.all.map { DisplayPath.abbreviate($0.path) }.joined(separator: ", "))")
        }
        cls.declareGlobalObject()
        return cls.value(Bundles(host.bundles))
    }
}
