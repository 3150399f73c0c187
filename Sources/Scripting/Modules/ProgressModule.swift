import Lua

/// `progress(total, label)`: the progress of long work, drawn on a terminal only.
enum ProgressModule {
    static func install(in host: ScriptHost) -> LuaModule {
        let cls = LuaClass<ProgressBar>(ProgressBar.luaName, "How far a long piece of work has come.", in: host.state)
        cls.method(
            "advance", ["steps": "1 if not given"], "So much more is done.",
            example: "local bar = progress(10) bar:advance() bar:advance(9) bar:finish()"
        ) { [unowned host] (bar, steps: Int64?) in bar.advance(steps ?? 1, host.output) }
        cls.method(
            "finish", [], "The work is done: the bar goes away.",
            example: "local bar = progress(1) bar:advance() bar:finish()"
        ) { [unowned host] bar in bar.finish(host.output) }
        let module = LuaModule("progress", "A bar on the terminal for long work.", in: host.state)
        module.callable(
            ["total": "how many steps there are", "label": "stands before the bar"],
            "A bar for so many steps; nothing is drawn where there is no terminal.",
            example: "local bar = progress(3, \"Copying\") for _ = 1, 3 do bar:advance() end bar:finish()"
        ) { (total: Int64, label: String?) in ProgressBar(total: total, label: label ?? "") }
        return module
    }
}
