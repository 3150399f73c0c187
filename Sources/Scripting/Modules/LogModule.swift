import Logging
import Lua

/// `log`: lines for standard error, bare on a terminal, in NSLog's form elsewhere.
enum LogModule {
    static func install(in host: ScriptHost) -> LuaModule {
        let module = LuaModule("log", "Log messages on standard error.", in: host.state)
        let levels: [(name: String, level: Logger.Level, documentation: String)] = [
            ("debug", .debug, "Logs a debugging message, shown with --log-level debug."),
            ("info", .info, "Logs an informational message."), ("warning", .warning, "Logs a warning."),
            ("error", .error, "Logs an error."),
        ]
        for (name, level, documentation) in levels {
            module.function(
                name, ["…": "values, shown as print shows them"], documentation,
                example: "log.\(name)(\"items:\", #items)"
            ) { [unowned host] (values: LuaVariadic<LuaValue>) in
                let texts = try values.map {
                    String(decoding: try BaseModule.text(of: $0, in: host.state), as: UTF8.self)
                }
                host.logger.log(level: level, "\(texts.joined(separator: "\t"))")
            }
        }
        return module
    }
}
