import CPlatform
import Lua
import PropertyList
import TimeZones

/// Converts between property-list values and Lua values.
final class ValueBridge {
    let state: LuaState
    let dates: LuaClass<DateValue>
    let datas: LuaClass<DataValue>
    let nulls: LuaClass<NullValue>
    let wideIntegers: LuaClass<WideIntegerValue>
    let uids: LuaClass<UIDValue>
    let readOnly: ReadOnlyTable

    /// The class of the tables with a metatable; nil for others. Set by the owner of the classes.
    var objectClass: (_ metatable: LuaTable) -> String? = { _ in nil }

    /// The dates' zones and texts.
    let clock: LocalClock

    init(_ state: LuaState, zones: ZoneDatabase) {
        self.state = state
        clock = LocalClock(zones)
        dates = DateClass.make(in: state, clock)
        datas = DataModule.makeClass(in: state)
        nulls = NullModule.makeClass(in: state)
        wideIntegers = WideIntegerValue.makeClass(in: state)
        uids = UIDValue.makeClass(in: state)
        readOnly = ReadOnlyTable(state)
    }

    /// The name of a value's type.
    func className(of value: LuaValue) -> String {
        if case .userdata(let userdata) = value { return userdata.className ?? "userdata" }
        return value.typeName
    }
}
