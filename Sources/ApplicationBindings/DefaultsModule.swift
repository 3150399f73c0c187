import Application
import Files
import Lua
import PropertyList
package import Scripting

/// `defaults`: settings that outlive the run, as Cocoa's user defaults.
package enum DefaultsModule: ScriptModule {
    package static let name = "defaults"

    package static func declare(in host: ScriptHost) -> [Global] {
        let (defaults, values, notifications) = (host.defaults, host.values, host.notifications)
        let isReadOnly = host.options.isReadOnly
        func set(_ key: String, _ value: LuaValue?, _ argument: String) throws {
            guard !isReadOnly else {
                throw LuaError(.runtime, "the container was opened read-only: its preferences cannot be changed")
            }
            do {
                try defaults.set(try value.map { try values.propertyList($0, path: key) }, forKey: key)
            } catch let error as ValueBridge.BridgeError {
                throw LuaMismatch(error.message, argument: argument)
            } catch let error as DefaultsError {
                throw LuaMismatch(error.message, argument: argument)
            }
            notifications.post(ApplicationNotification.Name.defaultsDidChange, object: defaults)
        }
        let cls = LuaClass<Defaults>(
            "defaults", doc: "Persistent settings: a property list in Library/Preferences.", in: host.state)
        cls.method(
            "set", ["key": "the setting's name", "value": "a property-list value; nil removes the set value"],
            doc: "Sets a key; it is written when the chunk, handler or timer ends.",
            example: "defaults:set(\"sortBy\", \"name\") return defaults:get(\"sortBy\")"
        ) { (_, key: String, value: Setting?) in try set(key, value?.value, "value") }
        cls.method(
            "remove", ["key": "the setting's name"], doc: "Removes the set value: the registered value applies again.",
            example: "defaults:set(\"sortBy\", \"name\") defaults:remove(\"sortBy\") return defaults:get(\"sortBy\")"
        ) { (_, key: String) in try set(key, nil, "key") }
        cls.method(
            "get", ["key": "the setting's name"],
            doc: "The value of a key: the set value, else the registered one, else nil.",
            example: "defaults:register{ columns = 3 } return defaults:get(\"columns\")"
        ) { (defaults, key: String) in
            try defaults.value(forKey: key).map { try values.lua($0) } ?? LuaValue.nil
        }
        cls.method(
            "register", ["values": "values by key"],
            doc: "Registers default values. They are not stored: register them at each launch.",
            example: "defaults:register{ columns = 3, sortBy = \"name\" }"
        ) { (defaults, table: LuaTable) in
            let given: PropertyListValue
            do throws(ValueBridge.BridgeError) { given = try values.propertyList(.table(table)) } catch {
                throw LuaMismatch(error.message, argument: "values")
            }
            if given == .array([]) { return }
            guard let fields = given.fields else {
                throw LuaMismatch("a table with names as keys expected", argument: "values")
            }
            defaults.register(fields)
        }
        cls.method(
            "all", returns: [.table], doc: "All set and registered values, by key.",
            example: "for key, value in pairs(defaults:all()) do print(key, value) end"
        ) { defaults in try values.lua(.fields(defaults.dictionary)) }
        cls.method(
            "synchronize", doc: "Writes changes now, and waits for the disk.",
            example: "defaults:set(\"sortBy\", \"name\") return defaults:synchronize()"
        ) { defaults -> OrError<Bool> in
            do { try defaults.synchronize() } catch { return .failure(error) }
            return .success(true)
        }
        cls.text("path", doc: "The property list's path.", get: { $0.path })
        cls.metamethod("__tostring") { defaults, call in
            call.returns("defaults \(DisplayPath.abbreviate(defaults.path))")
        }
        cls.declareGlobalObject()
        return [("defaults", cls.value(defaults))]
    }

    /// A property-list value, or a table of these.
    private struct Setting: LuaRepresentable {
        let value: LuaValue

        static var luaType: LuaType {
            .union([.boolean, .number, .string, .table, .object("date"), .object("data"), .object("null")])
        }

        init(lua value: LuaValue) throws(LuaMismatch) { self.value = value }

        func luaValue(in state: LuaState) -> LuaValue { value }
    }
}
