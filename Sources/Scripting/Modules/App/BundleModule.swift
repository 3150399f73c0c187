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
            "bundle", "Read-only resources: the folder of --bundle first, then what the host brings.", in: host.state)
        let parameters = [
            LuaParameter("name", .text, "the resource's name, with folders below the bundle if need be"),
            LuaParameter("type", .optional(.text), "its extension, when the name does not have it"),
        ]
        cls.method(
            "path", parameters, returns: [.optional(.string)], "Where a resource is; nil when there is none.",
            example: "return bundle:path(\"dogs\", \"png\")"
        ) { [unowned host] bundles, call in
            let path = bundles.path(try call.text(0), try call.optional(1, call.text), host.fence.layer)
            return call.returns(path.map(LuaValue.text) ?? .nil)
        }
        cls.method(
            "read", parameters, returns: LuaType.orError(.string),
            "A resource's bytes; nil and an error when there is none.",
            example: "local text, err = bundle:read(\"household\", \"csv\") return text or err.message"
        ) { [unowned host] bundles, call in
            let (name, type) = (try call.text(0), try call.optional(1, call.text))
            let layer = host.fence.layer
            guard let path = bundles.path(name, type, layer) else {
                let file = type.map { "\(name).\($0)" } ?? name
                let folders = bundles.all.map { DisplayPath.abbreviate($0.path) }.joined(separator: ", ")
                return call.returns(
                    failure: ScriptError(
                        "noSuchResource",
                        "there is no \(file) in the bundle (\(folders.isEmpty ? "--bundle names a folder" : folders))",
                        path: file))
            }
            do {
                return call.returns(LuaString(try layer.contents(of: path, limit: FileSystemModule.readLimit)))
            } catch let error as FileError {
                return call.returns(failure: error)
            }
        }
        cls.property("paths", .array(.string), "The folders, in the order in which they are looked in.") {
            bundles, call in call.returns(array: bundles.all.map(\.path))
        }
        cls.metamethod("__tostring") { bundles, call in
            call.returns("bundle \(bundles.all.map { DisplayPath.abbreviate($0.path) }.joined(separator: ", "))")
        }
        cls.declareGlobalObject()
        return cls.value(Bundles(host.bundles))
    }
}
