import Logging
import Lua

/// `log`: lines for standard error, bare on a terminal, in NSLog's form elsewhere.
enum LogModule {
    static func install(in host: ScriptHost) -> LuaModule {
        let module = LuaModule("log", "Lines for standard error.", in: host.state)
        let parameters = [LuaParameter("…", .variadic(.any), "values, shown as print shows them")]
        for (name, documentation) in [
            ("debug", "For whoever looks for a fault; shown with --log-level debug."), ("info", "What happens."),
            ("warning", "What may be wrong."), ("error", "What is wrong."),
        ] {
            module.function(name, parameters, documentation, example: "log.\(name)(\"items:\", #items)") {
                [unowned host] call in
                let texts = try call.allValues.map {
                    String(decoding: try BaseModule.text(of: $0, in: call.state), as: UTF8.self)
                }
                let text = texts.joined(separator: "\t")
                switch name {
                case "debug": host.logger.debug("\(text)")
                case "info": host.logger.info("\(text)")
                case "warning": host.logger.warning("\(text)")
                default: host.logger.error("\(text)")
                }
                return call.returnsNothing()
            }
        }
        return module
    }
}
