import Application
import Files
import Lua
import PropertyList

/// `defaults`: settings that outlive the run, as Cocoa's user defaults.
enum DefaultsModule {
    static func makeValue(_ host: ScriptHost) -> LuaValue {
        let cls = LuaClass<Defaults>(
            "defaults", "Settings that outlive the run: a property list in Library/Preferences.", in: host.state)
        let key = LuaParameter("key", .text, "the setting's name")
        cls.method(
            "set",
            [
                key,
                LuaParameter(
                    "value",
                    .optional(
                        .union([
                            .boolean, .number, .string, .table, .object("date"), .object("data"), .object("null"),
                        ])), "a property-list value; nil takes back what was set"),
            ],
            "Sets a key; it is written when the chunk, handler or timer ends.",
            example: "defaults:set(\"sortBy\", \"name\") return defaults:get(\"sortBy\")"
        ) { [unowned host] defaults, call in
            try set(try call.text(0), call.value(1), at: 1, call, defaults, host)
            return call.returnsNothing()
        }
        cls.method(
            "remove", [key], "Takes back what was set: the registered value shows again.",
            example: "defaults:set(\"sortBy\", \"name\") defaults:remove(\"sortBy\") return defaults:get(\"sortBy\")"
        ) { [unowned host] defaults, call in
            try set(try call.text(0), .nil, at: 0, call, defaults, host)
            return call.returnsNothing()
        }
        cls.method(
            "get", [key], returns: [.any], "The value of a key: what was set, else what was registered, else nil.",
            example: "defaults:register{ columns = 3 } return defaults:get(\"columns\")"
        ) { [unowned host] defaults, call in
            let value = defaults.value(forKey: try call.text(0))
            return call.returns(try value.map { try host.values.lua($0) } ?? .nil)
        }
        cls.method(
            "register", [LuaParameter("values", .table, "values by key")],
            "Gives values for keys that nobody has set. They are not stored: register them at each launch.",
            example: "defaults:register{ columns = 3, sortBy = \"name\" }"
        ) { [unowned host] defaults, call in
            let table = try call.table(0)
            let given: PropertyListValue
            do throws(ValueBridge.Refusal) { given = try host.values.propertyList(.table(table)) } catch {
                throw call.refuse(0, error.message)
            }
            switch given {
            case .dictionary(let values): defaults.register(values)
            case .array(let elements) where elements.isEmpty: break
            default: throw call.refuse(0, "a table with names as keys expected")
            }
            return call.returnsNothing()
        }
        cls.method(
            "all", returns: [.table], "All that is set or registered, by key.",
            example: "for key, value in pairs(defaults:all()) do print(key, value) end"
        ) { [unowned host] defaults, call in
            call.returns(try host.values.lua(.dictionary(defaults.dictionary)))
        }
        cls.method(
            "synchronize", returns: LuaType.orError(.boolean), "Writes what was set now, and waits for the disk.",
            example: "defaults:set(\"sortBy\", \"name\") return defaults:synchronize()"
        ) { defaults, call in
            do { try defaults.synchronize() } catch { return call.returns(failure: error) }
            return call.returns(true)
        }
        cls.text("path", "The property list's path.", get: { $0.path })
        cls.metamethod("__tostring") { defaults, call in
            call.returns("defaults \(DisplayPath.abbreviate(defaults.path))")
        }
        cls.declareGlobalObject()
        return cls.value(host.defaults)
    }

    private static func set(
        _ key: String, _ value: LuaValue, at position: Int, _ call: LuaCall, _ defaults: Defaults, _ host: ScriptHost
    ) throws {
        guard !host.options.isReadOnly else {
            throw LuaError(.runtime, "the container was opened read-only: its preferences cannot be changed")
        }
        do {
            try defaults.set(value.isNil ? nil : host.values.propertyList(value, path: key), forKey: key)
        } catch let error as ValueBridge.Refusal {
            throw call.refuse(position, error.message)
        } catch let error as DefaultsError {
            throw call.refuse(position, error.message)
        }
        host.notifications.post(ApplicationNotification.Name.defaultsDidChange, object: defaults)
    }
}
