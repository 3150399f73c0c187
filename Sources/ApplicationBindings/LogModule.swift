import Logging
import Lua
package import Scripting

/// `log`: lines for standard error, bare on a terminal, in NSLog's form elsewhere.
package enum LogModule: ScriptModule {
    package static let name = "log"

    package static func declare(in host: ScriptHost) -> [Global] {
        let runtime = host.runtime
        let module = LuaModule("log", "Log messages on standard error.", in: runtime.state)
        let levels: [(name: String, level: Logger.Level, documentation: String)] = [
            ("debug", .debug, "Logs a debugging message, shown with --log-level debug."),
            ("info", .info, "Logs an informational message."), ("warning", .warning, "Logs a warning."),
            ("error", .error, "Logs an error."),
        ]
        for (name, level, documentation) in levels {
            module.function(
                name, ["…": "values, shown as print shows them"], documentation,
                example: "log.\(name)(\"items:\", #items)"
            ) { (values: LuaVariadic<LuaValue>) in
                let texts = try values.map {
                    String(decoding: try BaseModule.text(of: $0, in: runtime.state), as: UTF8.self)
                }
                runtime.log.logger.log(level: level, "\(texts.joined(separator: "\t"))")
            }
        }
        return [module.global]
    }
}

/// `progress(total, label)`: the progress of long work, drawn on a terminal only.
package enum ProgressModule: ScriptModule {
    package static let name = "progress"

    package static func declare(in host: ScriptHost) -> [Global] {
        let (state, output) = (host.state, host.output)
        let cls = LuaClass<ProgressBar>(ProgressBar.luaName, "The progress of a long task.", in: state)
        cls.method(
            "advance", ["steps": "the number of steps (default: 1)"], "Advances the bar.",
            example: "local bar = progress(10) bar:advance() bar:advance(9) bar:finish()"
        ) { (bar, steps: Int64?) in bar.advance(steps ?? 1, output) }
        cls.method(
            "finish", [], "Ends the progress and removes the bar.",
            example: "local bar = progress(1) bar:advance() bar:finish()"
        ) { bar in bar.finish(output) }
        let module = LuaModule("progress", "A progress bar on the terminal.", in: state)
        module.callable(
            ["total": "the number of steps", "label": "the text before the bar"],
            "Makes a progress bar; without a terminal nothing is drawn.",
            example: "local bar = progress(3, \"Copying\") for _ = 1, 3 do bar:advance() end bar:finish()"
        ) { (total: Int64, label: String?) in ProgressBar(total: total, label: label ?? "") }
        return [module.global]
    }
}
