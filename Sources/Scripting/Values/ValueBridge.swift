import CPlatform
import Lua
import PropertyList

/// Property-list values to Lua values and back.
final class ValueBridge {
    let state: LuaState
    let dates: LuaClass<DateValue>
    let datas: LuaClass<DataValue>
    let nulls: LuaClass<NullValue>
    let wideIntegers: LuaClass<WideIntegerValue>
    let uids: LuaClass<UIDValue>
    let readOnly: ReadOnlyTable

    /// The class whose instance a table with a metatable is; nil for any other table. Set by who knows the classes.
    var objectClass: (_ metatable: LuaTable) -> String? = { _ in nil }

    init(_ state: LuaState) {
        self.state = state
        dates = DateModule.makeClass(in: state)
        datas = DataModule.makeClass(in: state)
        nulls = NullModule.makeClass(in: state)
        wideIntegers = WideIntegerValue.makeClass(in: state)
        uids = UIDValue.makeClass(in: state)
        readOnly = ReadOnlyTable(state)
    }

    /// What a value is, in a word.
    func className(of value: LuaValue) -> String {
        if case .userdata(let userdata) = value { return userdata.className ?? "userdata" }
        return value.typeName
    }
}
