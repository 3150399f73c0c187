import Application
import Files
import Glibc
import Lua

/// `fs`: files within the sandbox's grants.
enum FileSystemModule {
    static let readLimit = 1 << 30

    static func install(in host: ScriptHost) -> LuaModule {
        let module = LuaModule(
            "fs", "Files inside of what the sandbox grants: the container, and what was named or allowed.",
            in: host.state)
        let path = LuaParameter("path", .text, "relative paths begin at the working folder")
        module.function(
            "read", [path], returns: LuaType.orError(.string),
            "A file's bytes; nil and an error when it can't be read.",
            example:
                "fs.write(app.container.tmp .. \"/a.txt\", \"text\") return fs.read(app.container.tmp .. \"/a.txt\")"
        ) {
            [unowned host] call in
            let path = try call.text(0)
            return try attempt(call, host, path, .read) { layer in
                call.returns(LuaString(try layer.contents(of: path, limit: readLimit)))
            }
        }
        module.function(
            "write", [path, LuaParameter("bytes", .union([.string, .object("data")]), "what it will hold")],
            returns: LuaType.orError(.boolean),
            "Writes a file whole: into a temporary file first, so that an interrupted write leaves the old one.",
            example: "return fs.write(app.container.tmp .. \"/a.txt\", \"text\")"
        ) { [unowned host] call in
            let path = try call.text(0)
            let bytes = try call.optionalObject(1, host.values.datas)?.bytes ?? call.bytes(1)
            return try write(call, host, path) { write in
                try write(bytes)
                return call.returns(true)
            }
        }
        module.function(
            "list", [path], returns: LuaType.orError(.array(.string)), "The names in a folder, sorted.",
            example: "for _, name in ipairs(fs.list(app.container.path)) do print(name) end"
        ) {
            [unowned host] call in
            let path = try call.text(0)
            return try attempt(call, host, path, .read) { layer in
                let names = try layer.list(path).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                return call.returns(array: names)
            }
        }
        module.function(
            "exists", [path], returns: [.boolean], "Whether there is a file or folder that the sandbox grants.",
            example: "return fs.exists(app.container.documents)"
        ) {
            [unowned host] call in
            call.returns(((try? host.fence.layer.status(try call.text(0))) ?? nil) != nil)
        }
        module.function(
            "remove", [path], returns: LuaType.orError(.boolean),
            "Removes a file or an empty folder; nil and an error when it can't.",
            example:
                "fs.write(app.container.tmp .. \"/a.txt\", \"text\") return fs.remove(app.container.tmp .. \"/a.txt\")"
        ) { [unowned host] call in try remove(call, host) }
        module.function(
            "makeDirectory", [path], returns: LuaType.orError(.boolean),
            "Makes a folder, and those above it that are missing.",
            example: "return fs.makeDirectory(app.container.tmp .. \"/a/b\")"
        ) {
            [unowned host] call in
            let path = try call.text(0)
            return try attempt(call, host, path, .readWrite) { layer in
                try layer.makeDirectories(path)
                return call.returns(true)
            }
        }
        installTransfers(module, path, in: host)
        FolderBinding.install(module, path, in: host)
        return module
    }

    private static func installTransfers(_ module: LuaModule, _ path: LuaParameter, in host: ScriptHost) {
        let paths = [
            LuaParameter("from", .text, "its path"),
            LuaParameter("to", .text, "its new path, not a folder to put it in"),
        ]
        module.function(
            "copy", paths, returns: LuaType.orError(.boolean),
            "Copies a file with its permissions, as a whole: an interrupted copy leaves what was there. A file in its place is replaced.",
            example:
                "fs.write(app.container.tmp .. \"/a.txt\", \"text\") return fs.copy(app.container.tmp .. \"/a.txt\", app.container.tmp .. \"/b.txt\")"
        ) { [unowned host] call in
            let (from, to) = (try call.text(0), try call.text(1))
            return try attempt(call, host, from, .read) { _ in
                try attempt(call, host, to, .readWrite) { layer in
                    try FileTransfer.copy(from, to: to, using: layer)
                    return call.returns(true)
                }
            }
        }
        module.function(
            "move", paths, returns: LuaType.orError(.boolean),
            "Moves a file or a folder. A file in its place is replaced. Links are moved, not followed.",
            example:
                "fs.write(app.container.tmp .. \"/a.txt\", \"text\") return fs.move(app.container.tmp .. \"/a.txt\", app.container.tmp .. \"/b.txt\")"
        ) { [unowned host] call in
            let (from, to) = (try call.text(0), try call.text(1))
            return try attempt(call, host, from, .readWrite) { _ in
                try attempt(call, host, to, .readWrite) { layer in
                    try FileTransfer.move(from, to: to, using: layer)
                    return call.returns(true)
                }
            }
        }
        module.function(
            "hash", [path], returns: LuaType.orError(.string), "The SHA-256 of a file's bytes, in hexadecimal digits.",
            example:
                "fs.write(app.container.tmp .. \"/a.txt\", \"text\") return fs.hash(app.container.tmp .. \"/a.txt\")"
        ) { [unowned host] call in
            let path = try call.text(0)
            return try attempt(call, host, path, .read) { layer in
                call.returns(SHA256.text(try layer.digest(of: path)))
            }
        }
    }

    /// Runs a body that writes a whole file, and returns its result: a regular file is written atomically and durably,
    /// a granted device or pipe directly. The process's own streams need no grant: their output counts as printed.
    static func write(
        _ call: LuaCall, _ host: ScriptHost, _ path: String,
        _ body: (_ write: ([UInt8]) throws -> Void) throws -> LuaResults
    ) throws -> LuaResults {
        switch OwnStream.descriptor(of: path) {
        case 1, 2:
            return try body { bytes in
                guard try call.state.countOutput(bytes.count) else { return }
                host.write(bytes, toStandardError: path.hasSuffix("err") || path.hasSuffix("2"))
            }
        default:
            if path == "/dev/null" { return try body { _ in } }
            return try attempt(call, host, path, .readWrite) { layer in
                try body { bytes in try FileTarget.write(bytes, to: path, using: layer) }
            }
        }
    }

    /// `fs.remove` and `os.remove`.
    static func remove(_ call: LuaCall, _ host: ScriptHost) throws -> LuaResults {
        let path = try call.text(0)
        return try attempt(call, host, path, .readWrite) { layer in
            if try layer.status(path)?.kind == .directory {
                try layer.removeDirectory(path)
            } else {
                try layer.remove(path)
            }
            return call.returns(true)
        }
    }

    /// Runs a body on the fenced files; a file error becomes nil and an error.
    static func attempt(
        _ call: LuaCall, _ host: ScriptHost, _ path: String, _ access: FenceAccess,
        _ body: (FencedFileLayer) throws -> LuaResults
    ) throws -> LuaResults {
        do {
            try host.askConsent(path, access)
            // Before the file is accessed, since that error would suggest to allow reading.
            try host.fence.check(path, access)
            return try host.recreatingFolders(path, access) { try body(host.fence.layer) }
        } catch let error as FileError {
            return call.returns(failure: error)
        }
    }
}

extension ScriptHost {
    /// Asks the user at the prompt, once for each path; granted paths need no question.
    func askConsent(_ path: String, _ access: FenceAccess) throws(FileError) {
        // With the kernel's fence in force, consent would have no effect.
        guard options.isInteractive, fences.kernelABI == nil, let frontEnd = activeFrontEnd,
            case .notGranted(let absolute) = fence.verdict(path, access)
        else {
            return
        }
        switch frontEnd.consent(to: access == .read ? .reading : .writing, path: absolute) {
        case .yes: try fence.grant(access == .read ? absolute : PathText.parent(of: absolute), access)
        case .folder: try fence.grant(PathText.parent(of: absolute), access)
        case .no: break
        }
    }

    /// Caches and tmp may be emptied at any time, folders included: they are created again before a write.
    func recreatingFolders<Result>(
        _ path: String, _ access: FenceAccess, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as FileError where error.code == ENOENT && access == .readWrite {
            let absolute = PathText.absolute(path, from: fence.base)
            guard [container.caches, container.tmp].contains(where: { absolute.hasPrefix($0 + "/") }),
                !PosixFileLayer().exists(PathText.parent(of: absolute))
            else { throw error }
            try container.create()
            return try body()
        }
    }

    /// The search path of `require`.
    var modulePaths: [String] {
        options.modulePaths + [container.scripts] + (options.usesLuaTrees ? LuaTrees.folders : [])
    }
}
