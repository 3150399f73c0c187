public import Application
public import Images
public import Items
import KeyedArchive
public import Lua
public import PropertyList

// The classes whose values are arguments and results of functions, by their names for scripts.

extension Item: LuaInstance { public static var luaName: String { "Item" } }
extension Image: LuaInstance { public static var luaName: String { "Image" } }
extension DataValue: LuaInstance { static let luaName = "data" }
extension DateValue: LuaInstance { static let luaName = "date" }
extension UIDValue: LuaInstance { static let luaName = "UID" }
extension FoundationBox: LuaInstance { static let luaName = "FoundationValue" }
extension ArchiveEncoder: LuaInstance { static let luaName = "KeyedArchiver" }
extension ArchiveDecoder: LuaInstance { static let luaName = "KeyedUnarchiver" }
extension GraphValue: LuaInstance { static let luaName = "Graph" }
extension PredicateValue: LuaInstance { static let luaName = "Predicate" }
extension QueryValue: LuaInstance { static let luaName = "Query" }
extension GroupValue: LuaInstance { static let luaName = "Group" }
extension ConflictValue: LuaInstance { static let luaName = "Conflict" }
extension Hook: LuaInstance { static let luaName = "Hook" }
extension ProgressBar: LuaInstance { static let luaName = "Progress" }
extension NotificationToken: LuaInstance { public static var luaName: String { "Observer" } }

// Words for scripts.

extension PropertyListFormat: LuaRepresentable {}
extension ItemGroups.Order: LuaRepresentable {}
extension ItemFieldKind: LuaRepresentable {}
extension ItemFileFormat: LuaRepresentable {}
extension ItemFileEncoding: LuaRepresentable {}
extension ItemStore.Isolation: LuaRepresentable {}
