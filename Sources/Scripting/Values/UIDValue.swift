import Lua

/// A reference into `$objects` of a keyed archive, as it appears in a property list.
struct UIDValue: LuaInline, Equatable {
    var uid: UInt32

    init(_ uid: UInt32) { self.uid = uid }
    init(luaBits: UInt64) { uid = UInt32(truncatingIfNeeded: luaBits) }
    var luaBits: UInt64 { UInt64(uid) }

    /// The class: its number, compared by value.
    static func makeClass(in state: LuaState) -> LuaClass<UIDValue> {
        let cls = LuaClass<UIDValue>(
            inline: luaName, "A reference to an object of a keyed archive, as in its property list.", in: state)
        cls.property("value", "The index in `$objects`.", get: { $0.uid })
        cls.metamethod("__tostring") { uid, call in call.returns("UID \(uid.uid)") }
        cls.rawMetamethod("__eq") { call in
            call.returns(call.optionalObject(0, cls) == call.optionalObject(1, cls))
        }
        return cls
    }
}
