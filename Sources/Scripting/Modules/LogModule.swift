import Logging
import Lua

/// `log`: lines for standard error, bare on a terminal, in NSLog's form elsewhere.
enum LogModule {
    static func install(in host: ScriptHost) -> LuaModule {
        let module = LuaModule("log", "Lines for standard error.", in: host.state)
        let levels: [(name: String, level: Logger.Level, documentation: String)] = [
            ("debug", .debug, "For whoever looks for a fault; shown with --log-level debug."),
            ("info", .info, "What happens."), ("warning", .warning, "What may be wrong."),
            ("error", .error, "What is wrong."),
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
