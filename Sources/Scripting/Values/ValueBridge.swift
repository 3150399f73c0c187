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
    private let halfTexts: LuaClass<HalfTextsOfTable>
    /// The texts that are not Unicode, by table, weakly; nil while there are none.
    private var halfTextTable: LuaTable?

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
        halfTexts = LuaClass(hidden: "texts of a table", in: state)
    }

    /// The texts of a table from a property list that are not Unicode. A script sees U+FFFD in them; where it has not
    /// changed them, they are written back as they were.
    struct HalfTexts {
        var values: [ArchiveMemory.Place: PropertyListValue] = [:]
        var keys: [ArchiveMemory.Place: PropertyListValue] = [:]
        /// Those under dates, data and other keys that Lua compares by identity, by the property list's own key.
        var valuesOfOtherKeys: [PropertyListValue: PropertyListValue] = [:]

        var isEmpty: Bool { values.isEmpty && keys.isEmpty && valuesOfOtherKeys.isEmpty }

        /// The value at a place, if what a script has there is still its text.
        static func original(_ kept: PropertyListValue?, _ value: LuaValue) -> PropertyListValue? {
            guard let text = kept?.text, value.textValue?.hasSameBytes(as: text) ?? false else { return nil }
            return kept
        }
    }

    final class HalfTextsOfTable {
        let texts: HalfTexts

        init(_ texts: HalfTexts) { self.texts = texts }
    }

    func halfTexts(of table: LuaTable) -> HalfTexts? {
        halfTextTable.flatMap { halfTexts.object(of: $0[.table(table)]) }?.texts
    }

    func note(_ texts: HalfTexts, of table: LuaTable) {
        if texts.isEmpty { return }
        let all = halfTextTable ?? ArchiveBridge.weakTable(in: state)
        halfTextTable = all
        all[.table(table)] = halfTexts.value(HalfTextsOfTable(texts))
    }

    /// The name of a value's type.
    func className(of value: LuaValue) -> String {
        if case .userdata(let userdata) = value { return userdata.className ?? "userdata" }
        return value.typeName
    }
}
