import Application
import Lua
import Scripting

/// `fs.watch`: a function that is called when files change.
enum WatchBinding {
    private struct Watching: LuaOptions {
        var watch = FileWatch.Options()

        static var luaOptions: [LuaOption<Watching>] {
            LuaOption("recursive", \.watch.recursive, doc: "watch the folders beneath it, too, and those that come")
            LuaOption(
                "delay", \.watch.delay,
                doc: "seconds for which a path must be quiet before it is reported (default: 0.1)")
            LuaOption(
                "closed", \.watch.closed,
                doc: "report a file when whoever writes it has closed it (default: true), not while it grows")
            LuaOption(
                "hidden", \.watch.hidden,
                doc: "report names that begin with a dot, and those of temporary files, as .tmp and .part, too")
            LuaOption("existing", \.watch.existing, doc: "report what is already there as created, first")
        }
    }

    static func install(_ module: LuaModule, in host: ScriptHost) {
        host.state.addClass(ScriptWatch.self)
        host.state.addClass(WatchEvent.self)
        let watches = ScriptWatches()
        host.atEnd { watches.cancel() }
        host.addStatus("watches") { watches.statuses }
        module.function(
            "watch",
            [
                "path": "a file or a folder",
                "options": .callback("(event: WatchEvent)", "what is reported; or the function, without options"),
                "handler": .callback(
                    "(event: WatchEvent)", "the function to call; omitted if it is the second argument"),
            ],
            doc: """
                Calls a function with each change of a file, or of the entries of a folder, while the host serves events. \
                A file is reported once it is written and closed, under its final name. After three failures in a row the \
                watch is paused.
                """,
            example: """
                local folder = app.container.tmp .. "/inbox" fs.makeDirectory(folder) \
                local seen local w = fs.watch(folder, { delay = 0.01 }, function(event) seen = event end) \
                fs.write(folder .. "/a.txt", "text") while not seen do timer.sleep(0.01) end w:cancel() \
                return seen.kind, seen.path == folder .. "/a.txt"
                """
        ) { [unowned host] (path: String, options: LuaEither<Watching, LuaFunction>, handler: LuaFunction?) in
            let (watching, function): (Watching, LuaFunction)
            switch (options, handler) {
            case (.first(let given), let handler?): (watching, function) = (given, handler)
            case (.second(let handler), nil): (watching, function) = (Watching(), handler)
            case (.first, nil): throw LuaMismatch("function expected, got no value", argument: "handler")
            case (.second, _?): throw LuaMismatch("options before the function expected", argument: "options")
            }
            let seconds = watching.watch.delay
            guard (0...3600).contains(seconds) else {
                throw LuaMismatch("option 'delay': 0 to 3600 expected, got \(seconds)", argument: "options")
            }
            return try host.attempt(path, .read) { _ in
                try host.watch(path, watching.watch, function, in: watches)
            }
        }
    }
}
