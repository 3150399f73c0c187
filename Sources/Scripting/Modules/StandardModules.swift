import Lua

/// All modules of a host, as globals and as the result of `require "cubby"`.
enum StandardModules {
    static func install(in host: ScriptHost, _ itemClasses: ItemClasses) {
        let state = host.state
        var modules: [(String, LuaValue)] = []
        func add(_ module: LuaModule) { modules.append((module.name, .table(module.table))) }

        add(DateModule.install(host.values))
        add(DataModule.install(host.values))
        add(UUIDModule.install(in: state))
        modules.append(("null", host.values.nulls.value(NullValue.shared)))
        modules.append(("app", AppModule.install(in: host, itemClasses.hooks)))
        modules.append(("defaults", DefaultsModule.makeValue(host)))
        modules.append(("notifications", NotificationsModule.makeValue(host)))
        modules.append(("bundle", BundleModule.makeValue(host)))
        modules.append(("items", itemClasses.value))
        modules.append(("images", itemClasses.imageClasses.storeValue))
        add(itemClasses.imageClasses.module)
        add(PredicateModule.install(itemClasses))
        add(FileSystemModule.install(in: host))
        add(CSVModule.install(in: host))
        add(JSONModule.install(itemClasses))
        add(SQLiteModule.install(in: host))
        add(PlistModule.install(in: host))
        add(ArchiverModule.install(in: host, itemClasses))
        add(TimerModule.install(in: host))
        add(LogModule.install(in: host))
        BreakpointFunction.install(in: host)
        add(ProgressModule.install(in: host))
        BaseModule.install(in: host, modules: modules)
        host.output.flushFiles = { [unowned state = host.state] in state.flushFiles() }
        HelpModule.install(in: host)
        for (name, value) in modules { state.globals[name] = value }
        StrictGlobals.install(in: host)
    }
}
