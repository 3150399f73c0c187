import Items
import Lua
import PredicateFormat
import Scripting

/// The progress in the lessons, and what they leave to be removed.
struct Tutorial {
    static let lampName = "Tutorial Lamp"
    /// The lesson that registers a handler.
    private static let handlerLesson = 10

    /// The current lesson, from 0.
    private(set) var lesson: Int
    /// The number of failed attempts at this lesson.
    var failures = 0
    /// The keys of the items of the lamp's name that were there before.
    private let formerKeys: Set<String>
    /// The key of the lamp.
    private(set) var lampKey: String?
    /// Whether the lamp's value was changed in this lesson.
    private(set) var hasChangedValue = false
    /// The handlers registered before this lesson.
    private(set) var formerHandlers: ScriptHandlers
    /// The handlers that solved a lesson.
    private(set) var handlers = ScriptHandlers()
    /// Whether the process was stopped since the last entry.
    var wasStopped = false

    init(_ host: ScriptHost, lesson: Int = 0) {
        self.lesson = lesson
        formerKeys = Set(Self.lamps(of: host).compactMap { try? $0.itemKey })
        formerHandlers = host.scriptHandlers
    }

    var current: Lesson? { Lesson.all.indices.contains(lesson) ? Lesson.all[lesson] : nil }

    /// Whether the lesson is about the lamp.
    var needsLamp: Bool { (2...9).contains(lesson) }

    /// Goes to another lesson.
    mutating func go(to lesson: Int, _ host: ScriptHost) {
        self.lesson = lesson
        failures = 0
        hasChangedValue = false
        formerHandlers = host.scriptHandlers
    }

    /// The lamp among the values of the variable `lamp`: an item that was not there before.
    func lamp(among values: [LuaValue], _ host: ScriptHost) -> Item? {
        for value in values {
            guard case .item(let item) = host.inspect(value), let key = try? item.itemKey, !formerKeys.contains(key),
                key == lampKey || (try? item.name) == Self.lampName
            else { continue }
            return item
        }
        return nil
    }

    /// Checks an entry.
    ///
    /// - Returns: whether it solves the lesson.
    mutating func check(_ entry: LessonEntry, lamp: Item?, _ host: ScriptHost) -> Bool {
        let state = LessonState(host: host, tutorial: self, lamp: lamp)
        lampKey = lamp.flatMap { try? $0.itemKey } ?? lampKey
        guard let current, current.isSolved(entry, state) else {
            if let value = state.value, value != 45 { hasChangedValue = true }
            return false
        }
        if lesson == Self.handlerLesson { handlers.add(state.handlers) }
        return true
    }

    /// Removes the items and the handlers that the lessons have made.
    ///
    /// - Returns: what was removed, in words; nil for nothing.
    func cleanUp(_ host: ScriptHost) -> String? {
        var removed: [String] = []
        var failure: String?
        var lamps = Self.lamps(of: host)
        if let lampKey, let lamp = host.items.item(forKey: lampKey), (try? lamp.name) != Self.lampName {
            lamps.append(lamp)
        }
        lamps = lamps.filter { lamp in (try? lamp.itemKey).map { !formerKeys.contains($0) } ?? false }
        if !lamps.isEmpty {
            do throws(StoreError) {
                try host.items.removeItems(lamps)
                try host.items.commit()
                removed.append("the lamp")
            } catch { failure = "the lamp of the tutorial stays: \(error.message)" }
        }
        if host.remove(handlers) > 0 { removed.append("the handler") }
        if let failure { return failure }
        let verb = removed.count == 1 ? "was" : "were"
        return removed.isEmpty ? nil : "\(removed.joined(separator: " and ")) of the tutorial \(verb) removed"
    }

    private static func lamps(of host: ScriptHost) -> [Item] {
        guard let query = try? host.items.query(FormatPredicate(format: "name == '\(lampName)'")) else { return [] }
        return (try? query.all()) ?? []
    }
}
