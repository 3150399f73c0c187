package import Items
package import Lua
import PropertyList
import SQLite

/// What functions for files of items have in common: options, and long work.
package enum ItemFiles {
    package static let path: LuaArgument = "the file's path; - is the standard stream"
    package static let delimiter: LuaArgument = "the separator of CSV cells (default: a comma; for .tsv a tab)"
    package static let progress: LuaArgument = "whether to show a progress bar on a terminal"

    /// The byte that separates cells.
    package static func delimiter(_ text: String) throws(LuaMismatch) -> UInt8 {
        guard text.utf8.count == 1, let byte = text.utf8.first else {
            throw LuaMismatch("option 'delimiter': one ASCII character expected, got '\(text)'", argument: "options")
        }
        return byte
    }

    /// Returns the body's result, or an error of the store or a database as a result.
    package static func finish<Value>(_ body: () throws -> OrError<Value>) throws -> OrError<Value> {
        do {
            return try body()
        } catch let error as StoreError where !error.code.isProgrammerError {
            return .failure(error)
        } catch let error as SQLiteError {
            if error.code == .interrupted { throw WorkStopped() }
            return .failure(error)
        }
    }

    /// Runs long work that Ctrl-C and time limits interrupt, with an optional progress bar.
    package static func work<Result>(
        _ options: inout ItemFileOptions, _ verb: String, showsBar: Bool, in runtime: Runtime,
        _ body: (ItemFileOptions) throws -> Result
    ) throws -> Result {
        let checkpoint = try runtime.state.load(Array("".utf8), name: "=checkpoint")
        // Streamed input is counted in bytes; everything else in items.
        let isStream = verb == "Importing" && [.csv, .tsv, .jsonLines].contains(options.format)
        var bar: ProgressBar?
        defer { bar?.finish(runtime.output) }
        options.progress = { done, total in
            // The VM checks for interrupts when it enters a function.
            _ = try checkpoint.call()
            guard showsBar else { return }
            let shown = bar ?? ProgressBar(total: Int64(total), label: verb, unit: isStream ? .bytes : .steps)
            bar = shown
            shown.show(Int64(done), runtime.output)
        }
        return try body(options)
    }
}
