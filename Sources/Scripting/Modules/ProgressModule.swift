import Lua

/// `progress(total, label)`: the progress of long work, drawn on a terminal only.
enum ProgressModule {
    static func install(in host: ScriptHost) -> LuaModule {
        let cls = LuaClass<ProgressBar>(ProgressBar.luaName, "The progress of a long task.", in: host.state)
        cls.method(
            "advance", ["steps": "the number of steps (default: 1)"], "Advances the bar.",
            example: "local bar = progress(10) bar:advance() bar:advance(9) bar:finish()"
        ) { [unowned host] (bar, steps: Int64?) in bar.advance(steps ?? 1, host.output) }
        cls.method(
            "finish", [], "Ends the progress and removes the bar.",
            example: "local bar = progress(1) bar:advance() bar:finish()"
        ) { [unowned host] bar in bar.finish(host.output) }
        let module = LuaModule("progress", "A progress bar on the terminal.", in: host.state)
        module.callable(
            ["total": "the number of steps", "label": "the text before the bar"],
            "Makes a progress bar; without a terminal nothing is drawn.",
            example: "local bar = progress(3, \"Copying\") for _ = 1, 3 do bar:advance() end bar:finish()"
        ) { (total: Int64, label: String?) in ProgressBar(total: total, label: label ?? "") }
        return module
    }
}
